//! The device as a place for x: every solver that touches no entry runs there.

use std::convert::Infallible;

use melmo::certificate::Shown;
use melmo::geometry::{Answer, BlockNorm, Bracket, Norm, unit_factor};
use melmo::guarantee::Facts;
use melmo::problem::Evaluation;
use melmo::real::Real;
use melmo::space::Space;

use crate::device::{Device, Point};
use crate::machine::{Args, Kernel, Machine};

impl<S: Real, M: Machine> Device<'_, S, M> {
    fn norm_kind(&self) -> Norm {
        self.norms[0].norm
    }

    /// Σ (scale·xᵢ)², Σ |xᵢ| and max |xᵢ| over n entries.
    pub(crate) fn measure(&mut self, x: &Point, n: usize, scale: f64) -> [f64; 3] {
        let args = Args { x: self.at(x), a: scale, ..Args::default() };
        self.entries(Kernel::Measure, n, args);
        let [squares, absolute, largest, ..] = self.results();
        [squares, absolute, if largest < 0.0 { 0.0 } else { largest }]
    }

    /// ‖x‖₂ from its square, or from another look where that left the range of numbers.
    fn length_of(&mut self, x: &Point, squared: f64) -> f64 {
        if (1e-280..1e280).contains(&squared) {
            return squared.sqrt();
        }
        let [_, _, largest] = self.measure(x, self.plan.size(), 1.0);
        if largest == 0.0 || !largest.is_finite() {
            return if squared == 0.0 { 0.0 } else { squared + largest };
        }
        let scale = largest.recip().min(f64::MAX);
        self.measure(x, self.plan.size(), scale)[0].sqrt() / scale
    }

    /// What a walk to x left.
    pub(crate) fn evaluation(&mut self, x: &Point) -> Evaluation {
        let [twice_f, slope_squared, squared, ..] = self.results();
        if twice_f.is_finite() && squared.is_finite() {
            self.keep(x);
        }
        Evaluation { f: 0.5 * twice_f, slope_squared, squared: Some(squared) }
    }
}

impl<S: Real, M: Machine> Space for Device<'_, S, M> {
    type Real = S;
    type Point = Point;
    type Image = Point;
    type Metric = Infallible;
    type Witness = Self;

    fn size(&self) -> usize {
        self.plan.size()
    }

    fn facts(&self) -> Facts {
        self.facts
    }

    fn norms(&self) -> Vec<BlockNorm> {
        self.norms.clone()
    }

    fn witness(&mut self) -> &mut Self {
        let kept = self.plan.picks() || self.by_lines() || !self.parts.is_empty();
        if kept && self.residual.is_none() {
            self.residual = Some(self.array(self.plan.size()));
        }
        self
    }

    fn point(&mut self) -> Point {
        self.array(self.plan.size())
    }

    fn image(&mut self) -> Point {
        self.array(self.plan.range())
    }

    fn write(&mut self, x: &mut Point, at: usize, from: &[S]) {
        if at == 0 {
            self.keep_start(from);
        }
        self.upload(x, at, from);
    }

    fn read(&mut self, x: &Point, at: usize, to: &mut [S]) {
        self.download(to, x, at);
        if at == 0 && to.len() == self.plan.size() {
            self.last_read = Some(x.0);
        }
        if Self::fault(self).is_some() {
            self.recall(at, to);
        }
    }

    fn is_frugal(&self) -> bool {
        self.frugal
    }

    fn step(&mut self, x: &mut Point, phi: &Point, gamma: f64) {
        let from = Point(x.0);
        self.advance(x, &from, phi, gamma);
    }

    fn fault(&self) -> Option<String> {
        Self::fault(self).map(String::from)
    }

    fn copy(&mut self, y: &mut Point, x: &Point) {
        Self::copy(self, y, x, self.plan.size());
    }

    fn add_scaled(&mut self, y: &mut Point, x: &Point, a: f64, d: &Point) {
        let args = Args { y: self.at(y), x: self.at(x), d: self.at(d), a, ..Args::default() };
        self.entries(Kernel::AddScaled, self.plan.size(), args);
    }

    fn add(&mut self, y: &mut Point, a: f64, x: &Point) {
        let args = Args { y: self.at(y), x: self.at(y), d: self.at(x), a, ..Args::default() };
        self.entries(Kernel::AddScaled, self.plan.size(), args);
    }

    fn scale(&mut self, y: &mut Point, a: f64) {
        let args = Args { y: self.at(y), a, ..Args::default() };
        self.entries(Kernel::Scale, self.plan.size(), args);
    }

    fn extrapolate(&mut self, y: &mut Point, x: &Point, before: &Point, theta: f64) {
        let args = Args { y: self.at(y), x: self.at(x), d: self.at(before), a: theta, ..Args::default() };
        self.entries(Kernel::Extrapolate, self.plan.size(), args);
    }

    fn dot(&mut self, a: &Point, b: &Point) -> f64 {
        let args = Args { x: self.at(a), d: self.at(b), ..Args::default() };
        self.entries(Kernel::Dot, self.plan.size(), args);
        self.results()[0]
    }

    fn norm_squared(&mut self, x: &Point) -> f64 {
        self.measure(x, self.plan.size(), 1.0)[0]
    }

    fn norm(&mut self, x: &Point) -> f64 {
        let squared = self.norm_squared(x);
        self.length_of(x, squared)
    }

    fn gradient(&mut self, phi: &mut Point, x: &Point, beta: f64) -> Evaluation {
        let given = self.plan.given().then(|| self.loss_gradient(phi, x, false));
        let (out, at) = (self.at(phi), self.at(x));
        self.walk(Kernel::Gradient, Args { out, target: out, x: at, beta, ..Args::default() });
        let found = self.evaluation(x);
        Evaluation { f: given.unwrap_or(found.f), ..found }
    }

    fn subgradient(&mut self, phi: &mut Point, x: &Point, tx: &mut Point, v: &mut Point) -> f64 {
        let given = if self.plan.given() { self.loss_gradient(phi, x, false) } else { 0.0 };
        let (out, x, tx, z) = (self.at(phi), self.at(x), self.at(tx), self.at(v));
        self.walk(Kernel::Subgradient, Args { out, target: out, x, tx, z, beta: 1.0, ..Args::default() });
        given + self.results()[0]
    }

    fn envelope(&mut self, x: &Point, beta: f64) -> f64 {
        let args = Args { x: self.at(x), beta, ..Args::default() };
        self.walk(Kernel::Value, args);
        self.results()[1]
    }

    fn penalty(&mut self, x: &Point) -> f64 {
        // With any β: the envelope is not looked at.
        let args = Args { x: self.at(x), beta: self.problem.default_beta(), ..Args::default() };
        self.walk(Kernel::Value, args);
        self.results()[0]
    }

    fn oracle(&mut self, phi: &Point, squared: Option<f64>) -> Answer {
        if !self.parts.is_empty() {
            return self.oracle_by_parts(phi);
        }
        let n = self.plan.size();
        match (self.norm_kind(), squared) {
            (Norm::L2, Some(squared)) => {
                self.length = self.length_of(phi, squared);
                Answer::rounded(self.length, self.roundings(true, n))
            }
            (Norm::L2, None) => {
                self.length = self.norm(phi);
                Answer::rounded(self.length, self.roundings(false, n))
            }
            (Norm::Row | Norm::Column, _) => {
                let total = self.measure_lines(phi, true);
                Answer::rounded(total, self.roundings_of_lines())
            }
            (Norm::Linf, _) => Answer::rounded(self.measure(phi, n, 1.0)[1], self.roundings(false, n)),
            _ => {
                let largest = self.measure(phi, n, 1.0)[2];
                self.entries(Kernel::Find, n, Args { x: self.at(phi), a: largest, ..Args::default() });
                self.largest = Some(-self.results()[1] as i64).filter(|_| largest > 0.0);
                Answer::exact(largest)
            }
        }
    }

    fn advance(&mut self, y: &mut Point, x: &Point, phi: &Point, gamma: f64) {
        if !self.parts.is_empty() {
            return self.step_by_parts([y, x, phi], gamma);
        }
        if self.by_lines() {
            return self.step_by_lines(y, x, phi, gamma);
        }
        let args = Args { y: self.at(y), x: self.at(x), d: self.at(phi), ..Args::default() };
        let (kernel, args) = match self.norm_kind() {
            Norm::L2 => (Kernel::AddScaled, Args { a: -unit_factor::<S>(gamma, self.length), ..args }),
            Norm::Linf => (Kernel::SignStep, Args { a: gamma, ..args }),
            _ => (Kernel::CoordinateStep, Args { a: gamma, first: self.largest.unwrap_or(-1), ..args }),
        };
        self.entries(kernel, self.plan.size(), args);
    }

    /// In ℓ2 in one pass: in place where T picks entries, by way of the spare array where it looks at neighbours.
    fn advance_and_evaluate(
        &mut self,
        y: &mut Point,
        x: &Point,
        phi: &mut Point,
        [gamma, beta]: [f64; 2],
    ) -> Evaluation {
        let out = match (self.norm_kind(), self.plan.components, self.spare) {
            (Norm::L2, 1, _) if self.parts.is_empty() && !self.plan.given() && self.links.is_none() => phi.0,
            (Norm::L2, 2.., Some(spare)) if self.parts.is_empty() => spare,
            _ => {
                self.advance(y, x, phi, gamma);
                return self.gradient(phi, y, beta);
            }
        };
        let a = -unit_factor::<S>(gamma, self.length);
        let out_at = self.at(&Point(out));
        let args = Args { y: self.at(y), x: self.at(x), d: self.at(phi), out: out_at, a, beta, ..Args::default() };
        self.walk(Kernel::AdvanceGradient, args);
        self.exchange(phi, out);
        self.evaluation(y)
    }

    fn dual_norm(&mut self, phi: &Point) -> f64 {
        if !self.parts.is_empty() {
            return self.proven_dual(phi).map_or(f64::NAN, Bracket::middle);
        }
        match self.norm_kind() {
            Norm::L2 => self.norm(phi),
            Norm::Row | Norm::Column => self.measure_lines(phi, false),
            Norm::Linf => self.measure(phi, self.plan.size(), 1.0)[1],
            _ => self.measure(phi, self.plan.size(), 1.0)[2],
        }
    }

    fn solve(&mut self, metric: &mut Infallible, _: &mut Point, _: &Point, _: f64) {
        match *metric {}
    }

    fn show(&mut self, z: &Point, scaled: &Point, step: f64) -> Shown {
        self.restate(z, scaled, step)
    }

    fn warm_start(&self) -> Vec<S> {
        Vec::new()
    }

    fn resume(&mut self, _: &[S]) {}
}
