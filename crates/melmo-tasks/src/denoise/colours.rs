//! Red, green and blue as light and two differences of colour: turned, not stretched, so that white noise stays what it is.

use melmo::real::Real;

/// Rows are orthonormal; the first is what a grey picture has, √3 times as large.
const OPPONENT: [[f64; 3]; 3] = [
    [0.577_350_269_189_625_8, 0.577_350_269_189_625_8, 0.577_350_269_189_625_8],
    [std::f64::consts::FRAC_1_SQRT_2, 0.0, -std::f64::consts::FRAC_1_SQRT_2],
    [0.408_248_290_463_863, -0.816_496_580_927_726, 0.408_248_290_463_863],
];

/// Three planes, one after another, become light and colour.
pub(super) fn apart<S: Real>(planes: &mut [S]) {
    turn(planes, |v, k| (0..3).map(|c| OPPONENT[k][c] * v[c]).sum());
}

/// And back.
pub(super) fn together<S: Real>(planes: &mut [S]) {
    turn(planes, |v, c| (0..3).map(|k| OPPONENT[k][c] * v[k]).sum());
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
        let given: Vec<f64> = melmo::seeded::Seeded::new(1).normals(12);
        let mut turned = given.clone();
        apart(&mut turned);
        let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        assert!((length(&turned) - length(&given)).abs() < 1e-12);
        let mut grey = vec![0.5; 3];
        apart(&mut grey);
        assert!((grey[0] - 0.5 * 3f64.sqrt()).abs() < 1e-15 && grey[1].abs() + grey[2].abs() < 1e-15);
        together(&mut turned);
        assert!(turned.iter().zip(&given).all(|(a, b)| (a - b).abs() < 1e-15));
    }
}
