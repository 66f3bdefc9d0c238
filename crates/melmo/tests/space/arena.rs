//! Opaque handles into an arena that nobody else sees: what a device's memory is to a solver.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use melmo::certificate::{Allowance, Seen, Shown, Stationarity, Witness};
use melmo::geometry::{Answer, BlockNorm, Bracket};
use melmo::guarantee::Facts;
use melmo::problem::Evaluation;
use melmo::space::{Host, Space};

/// A place in the arena. It can be moved, not copied, and says nothing about what is there.
pub struct Handle(usize);

pub struct Arena<'p> {
    host: Host<'p, f64>,
    arrays: Vec<Vec<f64>>,
    reads: Arc<AtomicUsize>,
}

impl<'p> Arena<'p> {
    pub fn new(host: Host<'p, f64>) -> Self {
        Self { host, arrays: Vec::new(), reads: Arc::default() }
    }

    /// How often a point was read.
    pub fn reads(&self) -> Arc<AtomicUsize> {
        self.reads.clone()
    }

    fn keep(&mut self, array: Vec<f64>) -> Handle {
        self.arrays.push(array);
        Handle(self.arrays.len() - 1)
    }

    /// Works on the array of y, and on others that stay where they are. Nothing is allocated.
    fn on<R>(&mut self, y: &Handle, work: impl FnOnce(&mut Host<'p, f64>, &mut Vec<f64>, &[Vec<f64>]) -> R) -> R {
        let mut array = std::mem::take(&mut self.arrays[y.0]);
        let result = work(&mut self.host, &mut array, &self.arrays);
        self.arrays[y.0] = array;
        result
    }
}

impl<'p> Space for Arena<'p> {
    type Real = f64;
    type Point = Handle;
    type Image = Handle;
    type Metric = <Host<'p, f64> as Space>::Metric;
    type Witness = Self;

    fn size(&self) -> usize {
        self.host.size()
    }

    fn facts(&self) -> Facts {
        Space::facts(&self.host)
    }

    fn norms(&self) -> Vec<BlockNorm> {
        self.host.norms()
    }

    fn witness(&mut self) -> &mut Self {
        self.host.witness();
        self
    }

    fn point(&mut self) -> Handle {
        let array = self.host.point();
        self.keep(array)
    }

    fn image(&mut self) -> Handle {
        let array = self.host.image();
        self.keep(array)
    }

    fn write(&mut self, x: &mut Handle, at: usize, from: &[f64]) {
        self.on(x, |host, x, _| host.write(x, at, from));
    }

    fn read(&mut self, x: &Handle, at: usize, to: &mut [f64]) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.host.read(&self.arrays[x.0], at, to);
    }

    fn copy(&mut self, y: &mut Handle, x: &Handle) {
        self.on(y, |host, y, all| host.copy(y, &all[x.0]));
    }

    fn add_scaled(&mut self, y: &mut Handle, x: &Handle, a: f64, d: &Handle) {
        self.on(y, |host, y, all| host.add_scaled(y, &all[x.0], a, &all[d.0]));
    }

    fn add(&mut self, y: &mut Handle, a: f64, x: &Handle) {
        self.on(y, |host, y, all| host.add(y, a, &all[x.0]));
    }

    fn scale(&mut self, y: &mut Handle, a: f64) {
        self.on(y, |host, y, _| host.scale(y, a));
    }

    fn extrapolate(&mut self, y: &mut Handle, x: &Handle, before: &Handle, theta: f64) {
        self.on(y, |host, y, all| host.extrapolate(y, &all[x.0], &all[before.0], theta));
    }

    fn dot(&mut self, a: &Handle, b: &Handle) -> f64 {
        self.host.dot(&self.arrays[a.0], &self.arrays[b.0])
    }

    fn norm_squared(&mut self, x: &Handle) -> f64 {
        self.host.norm_squared(&self.arrays[x.0])
    }

    fn norm(&mut self, x: &Handle) -> f64 {
        self.host.norm(&self.arrays[x.0])
    }

    fn gradient(&mut self, phi: &mut Handle, x: &Handle, beta: f64) -> Evaluation {
        self.on(phi, |host, phi, all| host.gradient(phi, &all[x.0], beta))
    }

    fn subgradient(&mut self, phi: &mut Handle, x: &Handle, tx: &mut Handle, v: &mut Handle) -> f64 {
        let [mut of_tx, mut of_v] = [&tx, &v].map(|handle| std::mem::take(&mut self.arrays[handle.0]));
        let found = self.on(phi, |host, phi, all| host.subgradient(phi, &all[x.0], &mut of_tx, &mut of_v));
        (self.arrays[tx.0], self.arrays[v.0]) = (of_tx, of_v);
        found
    }

    fn envelope(&mut self, x: &Handle, beta: f64) -> f64 {
        self.host.envelope(&self.arrays[x.0], beta)
    }

    fn penalty(&mut self, x: &Handle) -> f64 {
        self.host.penalty(&self.arrays[x.0])
    }

    fn oracle(&mut self, phi: &Handle, squared: Option<f64>) -> Answer {
        self.host.oracle(&self.arrays[phi.0], squared)
    }

    fn advance(&mut self, y: &mut Handle, x: &Handle, phi: &Handle, gamma: f64) {
        self.on(y, |host, y, all| host.advance(y, &all[x.0], &all[phi.0], gamma));
    }

    fn dual_norm(&mut self, phi: &Handle) -> f64 {
        self.host.dual_norm(&self.arrays[phi.0])
    }

    fn solve(&mut self, metric: &mut Self::Metric, d: &mut Handle, x: &Handle, beta: f64) {
        self.on(d, |host, d, all| host.solve(metric, d, &all[x.0], beta));
    }

    fn show(&mut self, z: &Handle, scaled: &Handle, step: f64) -> Shown {
        self.host.show(&self.arrays[z.0], &self.arrays[scaled.0], step)
    }

    fn warm_start(&self) -> Vec<f64> {
        self.host.warm_start()
    }

    fn resume(&mut self, warm_start: &[f64]) {
        self.host.resume(warm_start);
    }
}

impl Witness for Arena<'_> {
    type Real = f64;
    type Point = Handle;

    fn facts(&self) -> Facts {
        Space::facts(&self.host)
    }

    fn look(&mut self, x: &Handle, shown: Shown) -> Seen {
        self.host.witness().look(&self.arrays[x.0], shown)
    }

    fn strengthen(&mut self) -> Shown {
        self.host.witness().strengthen()
    }

    fn residual(&mut self, norms: &[BlockNorm]) -> Option<Bracket> {
        self.host.witness().residual(norms)
    }

    fn lower_bound(
        &mut self,
        x: &Handle,
        seen: &Seen,
        allowance: &Allowance,
        radius: Option<f64>,
    ) -> Result<f64, String> {
        self.host.witness().lower_bound(&self.arrays[x.0], seen, allowance, radius)
    }

    fn near(&mut self, x: &Handle) -> Option<Stationarity<f64>> {
        self.host.witness().near(&self.arrays[x.0])
    }

    fn u(&mut self, to: &mut Vec<f64>) {
        self.host.witness().u(to);
    }

    fn image(&mut self, x: &Handle, to: &mut Vec<f64>) {
        self.host.witness().image(&self.arrays[x.0], to);
    }

    fn z(&mut self, to: &mut Vec<f64>) {
        self.host.witness().z(to);
    }
}
