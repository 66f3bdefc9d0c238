//! Ranks as a place for x: every solver that touches no entry runs there.

use std::convert::Infallible;
use std::ops::Range;

use melmo::certificate::Shown;
use melmo::geometry::{Answer, BlockNorm};
use melmo::guarantee::Facts;
use melmo::problem::Evaluation;
use melmo::real::Real;
use melmo::space::Space;
use melmo::vector;

use crate::distributed::{Distributed, square_of};
use crate::gauge::norm_of;

/// Copies between the entries `at..` of what lies in some ranges of a buffer, and a slice: `act(in the buffer, in the slice)`.
fn each(ranges: &[Range<usize>], at: usize, len: usize, mut act: impl FnMut(Range<usize>, Range<usize>)) {
    let mut before = 0;
    for range in ranges {
        let (first, last) = (at.max(before), (at + len).min(before + range.len()));
        if first < last {
            let start = range.start + first - before;
            act(start..start + last - first, first - at..last - at);
        }
        before += range.len();
    }
}

impl<'p, S: Real> Space for Distributed<'p, S> {
    type Real = S;
    /// The rows that are held: those beside this rank's own are the neighbours', and always theirs of now.
    type Point = Vec<S>;
    type Image = Vec<S>;
    type Metric = Infallible;
    type Witness = Self;

    fn size(&self) -> usize {
        self.plan.own.iter().map(|range| range.len()).sum()
    }

    fn facts(&self) -> Facts {
        self.facts
    }

    fn norms(&self) -> Vec<BlockNorm> {
        self.gauge.norms.clone()
    }

    fn witness(&mut self) -> &mut Self {
        self.make_room();
        self
    }

    fn point(&mut self) -> Vec<S> {
        vec![S::ZERO; self.problem.layout().size()]
    }

    fn image(&mut self) -> Vec<S> {
        vec![S::ZERO; self.problem.t().range().size()]
    }

    /// The piece that ends a point tells the neighbours: everybody writes all of a point, from its beginning.
    fn write(&mut self, x: &mut Vec<S>, at: usize, from: &[S]) {
        each(&self.plan.own, at, from.len(), |there, here| x[there].copy_from_slice(&from[here]));
        if at + from.len() == self.size() {
            self.refresh(x);
        }
    }

    fn read(&mut self, x: &Vec<S>, at: usize, to: &mut [S]) {
        each(&self.plan.own, at, to.len(), |there, here| to[here].copy_from_slice(&x[there]));
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
        let own = self.plan.counted.iter().map(|range| vector::dot(&a[range.clone()], &b[range.clone()])).sum();
        self.talk.sum(own)
    }

    fn norm_squared(&mut self, x: &Vec<S>) -> f64 {
        let own = square_of(x, &self.plan.counted);
        self.talk.sum(own)
    }

    fn norm(&mut self, x: &Vec<S>) -> f64 {
        let own = norm_of(x, &self.plan.counted);
        self.talk.hypot(own)
    }

    fn gradient(&mut self, phi: &mut Vec<S>, x: &Vec<S>, beta: f64) -> Evaluation {
        self.evaluate(phi, x, beta)
    }

    fn subgradient(&mut self, phi: &mut Vec<S>, x: &Vec<S>, tx: &mut Vec<S>, v: &mut Vec<S>) -> f64 {
        self.subgradient_at(phi, x, [tx, v])
    }

    fn envelope(&mut self, x: &Vec<S>, beta: f64) -> f64 {
        self.penalty_at(x, Some(beta))
    }

    fn penalty(&mut self, x: &Vec<S>) -> f64 {
        self.penalty_at(x, None)
    }

    fn oracle(&mut self, phi: &Vec<S>, squared: Option<f64>) -> Answer {
        self.gauge.oracle(phi, squared, &mut self.talk)
    }

    fn advance(&mut self, y: &mut Vec<S>, x: &Vec<S>, phi: &Vec<S>, gamma: f64) {
        if self.gauge.advance(y, x, phi, gamma) {
            self.refresh(y);
        }
    }

    fn advance_and_evaluate(
        &mut self,
        y: &mut Vec<S>,
        x: &Vec<S>,
        phi: &mut Vec<S>,
        [gamma, beta]: [f64; 2],
    ) -> Evaluation {
        let (problem, multiple) = (self.problem, self.gauge.multiple(gamma).filter(|_| self.in_one_pass()));
        let at_once = multiple.and_then(|a| problem.smoothed_gradient_after([y, phi], x, a, beta, self.work()));
        match at_once {
            Some(found) => self.agreed(phi, found),
            None => {
                self.advance(y, x, phi, gamma);
                self.evaluate(phi, y, beta)
            }
        }
    }

    fn dual_norm(&mut self, phi: &Vec<S>) -> f64 {
        self.gauge.dual_norm(phi, &mut self.talk)
    }

    fn solve(&mut self, metric: &mut Infallible, _: &mut Vec<S>, _: &Vec<S>, _: f64) {
        match *metric {}
    }

    fn show(&mut self, z: &Vec<S>, scaled: &Vec<S>, step: f64) -> Shown {
        self.show_pair(z, scaled, step)
    }

    /// Oracles of ranks start from nothing.
    fn warm_start(&self) -> Vec<S> {
        Vec::new()
    }

    fn resume(&mut self, _: &[S]) {}
}
