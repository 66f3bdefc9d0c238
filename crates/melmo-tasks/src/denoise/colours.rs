//! Red, green and blue as light and two differences of colour: turned, not stretched, so that white noise stays what it is.

use melmo::real::Real;

/// An orthogonal matrix, by rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Turn([[f64; 3]; 3]);

/// Rounds of rotations that make a 3×3 matrix diagonal to the last digit.
const ROUNDS: usize = 12;

impl Turn {
    /// For any picture: the first row is what a grey picture has, √3 times as large.
    pub const OPPONENT: Self = Self([
        [0.577_350_269_189_625_8, 0.577_350_269_189_625_8, 0.577_350_269_189_625_8],
        [std::f64::consts::FRAC_1_SQRT_2, 0.0, -std::f64::consts::FRAC_1_SQRT_2],
        [0.408_248_290_463_863, -0.816_496_580_927_726, 0.408_248_290_463_863],
    ]);

    /// For this one: the directions in which colours differ most, from pixels of 2×2 to those two further on. What stays alike along them
    /// has the least to lose. A picture without differences has the usual ones.
    pub fn of<S: Real>(planes: &[S], (rows, cols): (usize, usize)) -> Self {
        let pixels = rows * cols;
        let mean = |c: usize, i: usize, j: usize| {
            let at = |i: usize, j: usize| planes[c * pixels + i * cols + j].f64();
            at(i, j) + at(i, j + 1) + at(i + 1, j) + at(i + 1, j + 1)
        };
        let mut moments = [[0.0; 3]; 3];
        let mut take = |from: (usize, usize), to: (usize, usize)| {
            let d = [0, 1, 2].map(|c| mean(c, to.0, to.1) - mean(c, from.0, from.1));
            moments.iter_mut().zip(d).for_each(|(row, a)| row.iter_mut().zip(d).for_each(|(m, b)| *m += a * b));
        };
        for i in (0..rows.saturating_sub(5)).step_by(2) {
            for j in (0..cols.saturating_sub(5)).step_by(2) {
                take((i, j), (i, j + 4));
                take((i, j), (i + 4, j));
            }
        }
        Self::principal(moments).unwrap_or(Self::OPPONENT)
    }

    /// Eigenvectors of a symmetric matrix, that of the largest eigenvalue first (Jacobi's rotations).
    fn principal(mut m: [[f64; 3]; 3]) -> Option<Self> {
        let size = m[0][0] + m[1][1] + m[2][2];
        if !(size > 0.0 && size.is_finite()) {
            return None;
        }
        m.iter_mut().flatten().for_each(|v| *v /= size);
        let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for round in 0..3 * ROUNDS {
            let (p, q) = [(0, 1), (0, 2), (1, 2)][round % 3];
            let angle = 0.5 * (2.0 * m[p][q]).atan2(m[q][q] - m[p][p]);
            let (sin, cos) = angle.sin_cos();
            for row in &mut m {
                (row[p], row[q]) = (cos * row[p] - sin * row[q], sin * row[p] + cos * row[q]);
            }
            for k in 0..3 {
                (m[p][k], m[q][k]) = (cos * m[p][k] - sin * m[q][k], sin * m[p][k] + cos * m[q][k]);
                (vectors[p][k], vectors[q][k]) =
                    (cos * vectors[p][k] - sin * vectors[q][k], sin * vectors[p][k] + cos * vectors[q][k]);
            }
        }
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| m[b][b].total_cmp(&m[a][a]));
        let rows = order.map(|k| vectors[k]);
        rows.iter().flatten().all(|v| v.is_finite()).then_some(Self(rows))
    }

    /// Three planes, one after another, turned.
    pub fn apart<S: Real>(&self, planes: &mut [S]) {
        turn(planes, |v, k| (0..3).map(|c| self.0[k][c] * v[c]).sum());
    }

    /// And back.
    pub fn together<S: Real>(&self, planes: &mut [S]) {
        turn(planes, |v, c| (0..3).map(|k| self.0[k][c] * v[k]).sum());
    }
}

fn turn<S: Real>(planes: &mut [S], entry: impl Fn([f64; 3], usize) -> f64) {
    let (first, rest) = planes.split_at_mut(planes.len() / 3);
    let (second, third) = rest.split_at_mut(first.len());
    for ((a, b), c) in first.iter_mut().zip(second).zip(third) {
        let v = [a.f64(), b.f64(), c.f64()];
        (*a, *b, *c) = (S::of(entry(v, 0)), S::of(entry(v, 1)), S::of(entry(v, 2)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_and_back_is_no_change_and_lengths_stay() {
        let given: Vec<f64> = melmo::seeded::Seeded::new(1).normals(3 * 12 * 10);
        for kind in [Turn::OPPONENT, Turn::of(&given, (12, 10)), Turn::of(&[0.5f64; 360], (12, 10))] {
            let mut turned = given.clone();
            kind.apart(&mut turned);
            let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
            assert!((length(&turned) - length(&given)).abs() < 1e-12 * length(&given));
            kind.together(&mut turned);
            assert!(turned.iter().zip(&given).all(|(a, b)| (a - b).abs() < 1e-13));
        }
    }

    #[test]
    fn the_first_plane_is_that_in_which_a_picture_differs_most() {
        let shade: Vec<f64> = melmo::seeded::Seeded::new(2).normals(400);
        let picture: Vec<f64> = [0.8, 0.6, 0.0].iter().flat_map(|c| shade.iter().map(move |v| c * v)).collect();
        let turn = Turn::of(&picture, (20, 20));
        assert!((turn.0[0][0].abs() - 0.8).abs() < 1e-9 && (turn.0[0][1].abs() - 0.6).abs() < 1e-9, "{turn:?}");
        assert_eq!(Turn::of(&[1.0f64; 48], (4, 4)), Turn::OPPONENT);
    }
}
