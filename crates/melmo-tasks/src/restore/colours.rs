//! Red, green and blue as brightness and two differences of colours: what a grey prior can take one by one.

use melmo::real::Real;

/// Orthonormal, so that white noise stays what it is.
const OPPONENT: [[f64; 3]; 3] = [
    [0.577_350_269_189_625_8, 0.577_350_269_189_625_8, 0.577_350_269_189_625_8],
    [std::f64::consts::FRAC_1_SQRT_2, 0.0, -std::f64::consts::FRAC_1_SQRT_2],
    [0.408_248_290_463_863, -0.816_496_580_927_726, 0.408_248_290_463_863],
];

/// The planes of a picture taken apart; other numbers of planes than three stay as they are.
pub(super) fn apart<S: Real>(planes: Vec<Vec<S>>) -> Vec<Vec<S>> {
    mixed(planes, |to, from| OPPONENT[to][from])
}

/// The same backwards.
pub(super) fn together<S: Real>(planes: Vec<Vec<S>>) -> Vec<Vec<S>> {
    mixed(planes, |to, from| OPPONENT[from][to])
}

/// How wide the range of a plane is, in ranges of the picture.
pub(super) fn width(plane: usize, planes: usize) -> f64 {
    if planes == 3 && plane == 0 { 3f64.sqrt() } else { 1.0 }
}

fn mixed<S: Real>(planes: Vec<Vec<S>>, weight: impl Fn(usize, usize) -> f64) -> Vec<Vec<S>> {
    if planes.len() != 3 {
        return planes;
    }
    let mix = |to: usize| {
        let at = |i: usize| (0..3).map(|from| weight(to, from) * planes[from][i].f64()).sum();
        (0..planes[0].len()).map(|i| S::of(at(i))).collect()
    };
    (0..3).map(mix).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_come_back_and_greys_have_none() {
        let planes = vec![vec![0.1f64, 0.5], vec![0.9, 0.5], vec![0.3, 0.5]];
        let taken = apart(planes.clone());
        assert!(taken[1][1].abs() < 1e-15 && taken[2][1].abs() < 1e-15);
        let back = together(taken);
        assert!(back.iter().flatten().zip(planes.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-15));
        assert_eq!(apart(vec![vec![0.25f32]]), [[0.25]]);
    }
}
