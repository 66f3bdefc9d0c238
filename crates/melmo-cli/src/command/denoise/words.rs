//! What a certificate says of a picture, for people who look at pictures.

use melmo::certificate::Certificate;
use melmo::geometry::{BlockNorm, Norm};
use melmo::real::Real;

use crate::render::{Summary, short};

/// Of a pixel, root mean square, in the picture's units: what is left where data and penalty pull against each other, and how
/// far a difference is from one that this is said of.
#[derive(Clone, Copy)]
pub struct Rest {
    pull: f64,
    difference: f64,
}

/// How near the picture comes to the best one, where there is only one and it is known how near.
pub fn to_the_least<S: Real>(certificate: &Certificate<S>) -> Option<String> {
    let found = certificate.optimality.as_ref().filter(|found| found.gap.is_finite() && found.objective > 0.0)?;
    let part = found.gap / found.objective;
    Some(format!("the picture's energy is within {} % of the global minimum", short(100.0 * part)))
}

impl Rest {
    /// From ‖∇f(x) + T*w‖₂ and ‖Tx − z‖₂, where the certificate speaks of ℓ2; `scale` is one unit of the problem's.
    pub fn of<S: Real>(certificate: &Certificate<S>, pixels: usize, scale: f64) -> Option<Self> {
        let euclidean = |norm: &BlockNorm| norm.norm == Norm::L2 && norm.radius == 1.0;
        let all = certificate.norms.iter().all(euclidean);
        let unit = scale / (pixels.max(1) as f64).sqrt();
        all.then_some(Self { pull: certificate.dual_norm.upper * unit, difference: certificate.prox_gap * unit })
    }

    pub fn tell(self, summary: &mut Summary) {
        let text = format!(
            "on average data and penalty still pull a pixel by {}, and a difference of pixels is {} off (in the picture's units)",
            short(self.pull),
            short(self.difference)
        );
        summary.add("rest", self.pull, "in words", text);
        summary.silent("rest_of_differences", self.difference);
    }
}
