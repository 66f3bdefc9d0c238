//! This machine's memory: points are vectors, and everything is evaluated on slices.

use crate::certificate::{Room, Shown};
use crate::error::Error;
use crate::geometry::{Answer, Between, BlockNorm, Geometry, check_tiling, euclidean};
use crate::guarantee::Facts;
use crate::metric::Metric;
use crate::problem::{Evaluation, Problem};
use crate::real::Real;
use crate::space::{Sampled, Space, in_turn};
use crate::vector;

/// A problem, the norm it is measured in (and, by most methods, stepped in), and the scratch of both.
pub struct Host<'p, S> {
    problem: &'p Problem<S>,
    geometry: Box<dyn Geometry<S>>,
    between: Between,
    work: Vec<S>,
    room: Option<Room<'p, S>>,
}

impl<'p, S: Real> Host<'p, S> {
    /// Refuses a geometry that does not measure the problem's variable.
    pub fn new(problem: &'p Problem<S>, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        let work = vec![S::ZERO; problem.work_len()];
        let mut host = Self { problem, geometry, between: Between::new(&[]), work, room: None };
        host.check()?;
        Ok(host)
    }

    /// The same for steps by minibatches: refuses a loss that offers none.
    pub fn sampled(problem: &'p Problem<S>, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        if problem.f().sampled().is_none() {
            let message =
                "minibatches need a loss that is a sum: regression on a matrix, ½‖M⊙(X − Y)‖² or a factorisation";
            return Err(Error::Unsupported(message.into()));
        }
        let mut host = Self::new(problem, geometry)?;
        let len = host.work.len().max(problem.chained_work_len());
        host.work.resize(len, S::ZERO);
        Ok(host)
    }

    /// One ℓ2 norm over all blocks.
    pub(crate) fn euclidean(problem: &'p Problem<S>) -> Result<Self, Error> {
        Self::new(problem, euclidean(problem.layout()))
    }

    /// The problem.
    pub fn problem(&self) -> &'p Problem<S> {
        self.problem
    }

    /// The problem and scratch for its evaluations.
    pub(crate) fn parts(&mut self) -> (&'p Problem<S>, &mut [S]) {
        (self.problem, &mut self.work)
    }

    /// Measured in another norm from here on.
    pub(crate) fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.geometry = geometry;
        self.check()
    }

    fn check(&mut self) -> Result<(), Error> {
        let (size, norms) = (self.problem.layout().size(), self.geometry.norms());
        Error::expect_len("the geometry measures the variable", size, self.geometry.size())?;
        check_tiling(&norms, size)?;
        self.between = Between::new(&norms);
        Ok(())
    }

    /// What ‖·‖₂ says about the norm.
    pub(crate) fn between(&self) -> Between {
        self.between
    }

    fn room(&mut self) -> &mut Room<'p, S> {
        self.room.get_or_insert_with(|| Room::new(self.problem))
    }

    /// As [`Space::show`], from slices.
    pub(crate) fn show_pair(&mut self, z: &[S], scaled: &[S], step: f64) -> Shown {
        self.room().show(z, scaled, step)
    }

    /// As [`Space::dual_norm`], of a slice.
    pub(crate) fn dual_norm_of(&mut self, v: &[S]) -> f64 {
        self.geometry.dual_norm(v)
    }
}

impl<'p, S: Real> Space for Host<'p, S> {
    type Real = S;
    type Point = Vec<S>;
    type Image = Vec<S>;
    type Metric = Box<dyn Metric<S> + 'p>;
    type Witness = Room<'p, S>;

    fn size(&self) -> usize {
        self.problem.layout().size()
    }

    fn facts(&self) -> Facts {
        self.problem.facts()
    }

    fn norms(&self) -> Vec<BlockNorm> {
        self.geometry.norms()
    }

    fn witness(&mut self) -> &mut Room<'p, S> {
        self.room()
    }

    fn point(&mut self) -> Vec<S> {
        vec![S::ZERO; self.size()]
    }

    fn image(&mut self) -> Vec<S> {
        vec![S::ZERO; self.problem.t().range().size()]
    }

    fn write(&mut self, x: &mut Vec<S>, at: usize, from: &[S]) {
        x[at..at + from.len()].copy_from_slice(from);
    }

    fn read(&mut self, x: &Vec<S>, at: usize, to: &mut [S]) {
        to.copy_from_slice(&x[at..at + to.len()]);
    }

    fn copy(&mut self, y: &mut Vec<S>, x: &Vec<S>) {
        y.copy_from_slice(x);
    }

    fn add_scaled(&mut self, y: &mut Vec<S>, x: &Vec<S>, a: f64, d: &Vec<S>) {
        vector::add_scaled(y, x, a, d);
    }

    fn add(&mut self, y: &mut Vec<S>, a: f64, x: &Vec<S>) {
        vector::axpy(y, a, x);
    }

    fn scale(&mut self, y: &mut Vec<S>, a: f64) {
        vector::scale(y, a);
    }

    fn extrapolate(&mut self, y: &mut Vec<S>, x: &Vec<S>, before: &Vec<S>, theta: f64) {
        vector::extrapolate(y, x, before, theta);
    }

    fn dot(&mut self, a: &Vec<S>, b: &Vec<S>) -> f64 {
        vector::dot(a, b)
    }

    fn norm_squared(&mut self, x: &Vec<S>) -> f64 {
        vector::norm2_squared(x)
    }

    fn norm(&mut self, x: &Vec<S>) -> f64 {
        vector::norm2(x)
    }

    fn gradient(&mut self, phi: &mut Vec<S>, x: &Vec<S>, beta: f64) -> Evaluation {
        self.problem.smoothed_gradient(phi, x, beta, &mut self.work)
    }

    fn subgradient(&mut self, phi: &mut Vec<S>, x: &Vec<S>, tx: &mut Vec<S>, v: &mut Vec<S>) -> f64 {
        self.problem.subgradient(phi, x, [tx, v], &mut self.work)
    }

    fn envelope(&mut self, x: &Vec<S>, beta: f64) -> f64 {
        self.problem.envelope(x, beta, &mut self.work)
    }

    fn penalty(&mut self, x: &Vec<S>) -> f64 {
        self.problem.penalty(x, &mut self.work)
    }

    fn oracle(&mut self, phi: &Vec<S>, squared: Option<f64>) -> Answer {
        match squared {
            Some(squared) => self.geometry.oracle_knowing(phi, squared),
            None => self.geometry.oracle(phi),
        }
    }

    fn advance(&mut self, y: &mut Vec<S>, x: &Vec<S>, phi: &Vec<S>, gamma: f64) {
        self.geometry.advance(y, x, phi, gamma);
    }

    fn advance_and_evaluate(
        &mut self,
        y: &mut Vec<S>,
        x: &Vec<S>,
        phi: &mut Vec<S>,
        [gamma, beta]: [f64; 2],
    ) -> Evaluation {
        let Self { problem, geometry, work, .. } = self;
        let at_once = geometry.multiple(gamma);
        let at_once = at_once.and_then(|a| problem.smoothed_gradient_after([y, phi], x, a, beta, work));
        at_once.unwrap_or_else(|| in_turn(self, y, x, phi, [gamma, beta]))
    }

    fn dual_norm(&mut self, phi: &Vec<S>) -> f64 {
        self.geometry.dual_norm(phi)
    }

    fn solve(&mut self, metric: &mut Self::Metric, d: &mut Vec<S>, x: &Vec<S>, beta: f64) {
        metric.prepare(x, beta);
        metric.solve(d);
    }

    fn show(&mut self, z: &Vec<S>, scaled: &Vec<S>, step: f64) -> Shown {
        self.show_pair(z, scaled, step)
    }

    fn warm_start(&self) -> Vec<S> {
        self.geometry.warm_start()
    }

    fn resume(&mut self, warm_start: &[S]) {
        self.geometry.resume(warm_start);
    }
}

impl<S: Real> Sampled for Host<'_, S> {
    fn samples(&self) -> usize {
        self.problem.f().sampled().map_or(0, |f| f.samples())
    }

    /// NaN, which ends a run, where the loss offers no minibatches: [`Host::sampled`] refuses such a loss.
    fn batch_gradient(&mut self, grad: &mut Vec<S>, x: &Vec<S>, batch: &[usize]) {
        match self.problem.f().sampled() {
            Some(f) => f.batch_grad(grad, x, batch, &mut self.work),
            None => grad.fill(S::of(f64::NAN)),
        }
    }

    fn part_bound(&mut self, x: &Vec<S>) -> Option<f64> {
        self.problem.f().sampled()?.part_bound(x)
    }

    fn penalty_gradient_add(&mut self, phi: &mut Vec<S>, x: &Vec<S>, beta: f64) -> f64 {
        self.problem.penalty_gradient_add(phi, x, beta, &mut self.work)
    }
}
