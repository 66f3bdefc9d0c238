//! What an experiment asks of a run, beside its rows.

use std::ops::ControlFlow;

use melmo::drive::Observer;
use melmo::geometry::{Geometry, Norm, Oracle, for_block};
use melmo::problem::Problem;
use melmo::solver::{Info, Solver};
use melmo::trace::{Points, Record, Row};
use melmo::vector::dot;

use crate::instance::{Epoch, Point};
use crate::prepared::Measure;

/// Thresholds ε for which the first certificate is noted: 1, 2^{−1/2}, …
const EPSILONS: usize = 30;

/// Which points are recorded: eight to each doubling.
pub(crate) const RECORD: Record = Record { points: Points::PerDoubling(8), exact_dual_norms: true, capacity: 256 };

/// Measures what is recorded, notes certificates, and looks how good an inexact oracle is.
pub(crate) struct Probe<'a> {
    measure: &'a Measure,
    /// The oracle to compare with the exact one, where that is the experiment.
    judged: Option<(Oracle, &'a Problem<f64>)>,
    /// Steps of the run, for the last point.
    iterations: u64,
    /// Told of every share of the run; says whether to stop.
    watch: &'a (dyn Fn(f64) -> ControlFlow<()> + 'a),
    told: u64,
    least: f64,
    pub points: Vec<Point>,
    pub certificates: Vec<(f64, u64)>,
    pub epochs: Vec<Epoch>,
}

impl<'a> Probe<'a> {
    pub fn new(
        measure: &'a Measure,
        judged: Option<(Oracle, &'a Problem<f64>)>,
        iterations: u64,
        watch: &'a (dyn Fn(f64) -> ControlFlow<()> + 'a),
    ) -> Self {
        let (points, certificates, epochs) = (Vec::new(), Vec::new(), Vec::new());
        Self { measure, judged, iterations, watch, told: 0, least: f64::INFINITY, points, certificates, epochs }
    }

    fn certify(&mut self, info: &Info) {
        let Some(l) = info.epoch.filter(|_| info.candidate) else { return };
        // A candidate is the best of its epoch so far.
        self.epochs.pop_if(|epoch| epoch.l == l);
        self.epochs.push(Epoch { l, least: info.dual_norm.upper, gap: info.prox_gap });
        let reached = info.dual_norm.upper.max(info.prox_gap);
        while self.certificates.len() < EPSILONS {
            let epsilon = (-0.5 * self.certificates.len() as f64).exp2();
            if reached > epsilon {
                return;
            }
            self.certificates.push((epsilon, info.k));
        }
    }
}

impl Observer<f64> for Probe<'_> {
    fn recorded(&mut self, row: &Row, solver: &mut dyn Solver<f64>) {
        let x = solver.x();
        let (objective, mut extra) = self.measure.at(&x);
        if let Some((oracle, problem)) = self.judged {
            extra.extend(judge(oracle, problem, row.beta, &x));
        }
        let tame = |value: f64| if value.is_finite() { value } else { f64::MAX };
        let dual_norm = tame(row.dual_norm_known());
        let least = tame(self.least.min(row.bracket.upper).min(dual_norm));
        let (objective, gap) = (tame(objective), tame(row.prox_gap));
        extra.iter_mut().for_each(|value| *value = tame(*value));
        self.points.push(Point { k: row.k, seconds: row.seconds, objective, dual_norm, least, gap, extra });
    }

    fn observe(&mut self, info: &Info, _: &mut dyn Solver<f64>) -> ControlFlow<()> {
        self.least = self.least.min(info.dual_norm.upper);
        self.certify(info);
        let step = (self.iterations / 50).max(1);
        if info.k - self.told < step && info.k <= self.iterations {
            return ControlFlow::Continue(());
        }
        let share = (info.k - self.told) as f64 / (self.iterations + 1) as f64;
        self.told = info.k;
        (self.watch)(share)
    }
}

/// η, ξ and δ of the oracle's direction d̃ at the current gradient, against the singular value decomposition's d:
/// ⟨φ, d̃⟩ = −(1 − η)‖φ‖_*, ‖d̃‖ = 1 + ξ, ‖d̃ − d‖ = δ, in the spectral norm, the largest over the blocks.
fn judge(oracle: Oracle, problem: &Problem<f64>, beta: f64, x: &[f64]) -> [f64; 3] {
    let (mut phi, mut work) = (vec![0.0; x.len()], vec![0.0; problem.work_len()]);
    problem.smoothed_gradient(&mut phi, x, beta, &mut work);
    let (mut decrease, mut whole, mut xi, mut delta) = (0.0, 0.0, f64::NEG_INFINITY, 0.0f64);
    for block in problem.layout().blocks() {
        let phi = &phi[block.range()];
        let own = melmo::block::Block { start: 0, ..block.clone() };
        let direction = |oracle| -> Option<Vec<f64>> {
            let mut geometry: Box<dyn Geometry<f64>> = for_block(Norm::Spectral, &own, oracle).ok()?;
            let mut d = vec![0.0; phi.len()];
            geometry.lmo(&mut d, phi);
            Some(d)
        };
        // The dual norm of the nuclear norm's ball is the spectral norm.
        let size = |d: &[f64]| for_block::<f64>(Norm::Nuclear, &own, oracle).map_or(f64::NAN, |mut g| g.dual_norm(d));
        let (Some(rough), Some(exact)) = (direction(oracle), direction(Oracle::Svd)) else { continue };
        let apart: Vec<f64> = rough.iter().zip(&exact).map(|(a, b)| a - b).collect();
        decrease -= dot(phi, &rough);
        whole -= dot(phi, &exact);
        xi = xi.max(size(&rough) - 1.0);
        delta = delta.max(size(&apart));
    }
    [1.0 - decrease / whole, xi, delta]
}
