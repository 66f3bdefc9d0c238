//! ADMM's penalty by the run itself: neither of its two residuals is left behind.

/// The first look, and by how much later each next one is: changes get rarer, as a proof of convergence wants it.
const FIRST: f64 = 8.0;
const RARER: f64 = 1.3;
/// A change below this factor is not worth it, one above that is not believed at once.
const LEAST: f64 = 1.5;
const MOST: f64 = 10.0;

/// Step k looks: k = 8, 11, 14, 18, …; which ones follows from k alone, so that a resumed run is the same run.
pub(super) fn looks(k: u64) -> bool {
    let place = |k: u64| ((k as f64 / FIRST).ln() / RARER.ln()).floor();
    k as f64 >= FIRST && (k as f64 == FIRST || place(k) > place(k - 1))
}

/// Both residuals of a step, relative to the sizes of what they are residuals of.
pub(super) struct Relative {
    /// ‖Tx − z‖/max(‖Tx‖, ‖z‖).
    pub gap: f64,
    /// ‖Δz‖/‖u‖: how far ∇f(x) + T*w is from 0, next to T*w.
    pub slope: f64,
}

/// β·√(slope/gap), within limits: a large gap asks for a large penalty 1/β (He, Yang & Wang 2000; the root as in OSQP).
pub(super) fn balanced(beta: f64, Relative { gap, slope }: &Relative) -> f64 {
    let factor = (slope / gap).sqrt().clamp(1.0 / MOST, MOST);
    // Also where a residual is 0, or the size of what it belongs to.
    let worth = factor.is_finite() && !(1.0 / LEAST..LEAST).contains(&factor);
    if worth { beta * factor } else { beta }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_get_rarer() {
        let at: Vec<u64> = (1..1000).filter(|&k| looks(k)).collect();
        assert_eq!(at[..4], [8, 11, 14, 18]);
        assert!(at.len() < 25, "{at:?}");
    }

    #[test]
    fn the_residual_that_lags_is_helped() {
        let at = |gap, slope| balanced(1.0, &Relative { gap, slope });
        assert!(at(1.0, 0.01) < 0.2 && at(0.01, 1.0) > 5.0);
        assert_eq!([at(1.0, 1.0), at(0.0, 0.0), at(f64::NAN, 1.0)], [1.0; 3]);
        assert_eq!((at(1e-30, 1.0), at(1.0, 1e-30)), (MOST, 1.0 / MOST));
    }
}
