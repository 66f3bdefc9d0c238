//! A part of x on each rank, for a problem that is a sum over its entries, measured in ℓ2: only sums leave a rank.

use std::convert::Infallible;
use std::sync::{Barrier, Mutex};

use melmo::certificate::{Allowance, Evidence, Seen, Shown, Stationarity, Witness};
use melmo::geometry::{Answer, BlockNorm, Bracket};
use melmo::guarantee::{Facts, Numerics};
use melmo::problem::Evaluation;
use melmo::smooth::Rounding;
use melmo::space::{Host, Space};

/// Where ranks meet.
pub struct Together {
    said: Mutex<Vec<f64>>,
    all_said: Barrier,
    all_heard: Barrier,
}

impl Together {
    pub fn new(ranks: usize) -> Self {
        Self { said: Mutex::new(vec![0.0; ranks]), all_said: Barrier::new(ranks), all_heard: Barrier::new(ranks) }
    }

    /// What everybody said, in the order of the ranks, combined: the same bits for all.
    fn all(&self, rank: usize, value: f64, combine: impl Fn(f64, f64) -> f64) -> f64 {
        self.said.lock().unwrap()[rank] = value;
        self.all_said.wait();
        let combined = self.said.lock().unwrap().iter().copied().reduce(combine).unwrap();
        self.all_heard.wait();
        combined
    }
}

pub struct Ranks<'p, 't> {
    host: Host<'p, f64>,
    together: &'t Together,
    rank: usize,
    /// ‖φ‖₂ at the last oracle call: the direction is −φ/‖φ‖₂.
    norm: f64,
}

impl<'p, 't> Ranks<'p, 't> {
    pub fn new(host: Host<'p, f64>, together: &'t Together, rank: usize) -> Self {
        Self { host, together, rank, norm: 0.0 }
    }

    fn sum(&self, value: f64) -> f64 {
        self.together.all(self.rank, value, |a, b| a + b)
    }

    fn hypot(&self, value: f64) -> f64 {
        self.sum(value * value).sqrt()
    }

    /// One β for all: what a rank shows with its own is shown again with the least.
    fn agree(&mut self, own: Shown) -> Shown {
        let beta = self.together.all(self.rank, own.beta, f64::min);
        let (mut u, mut z) = (Vec::new(), Vec::new());
        let room = self.host.witness();
        room.u(&mut u);
        room.z(&mut z);
        u.iter_mut().zip(&z).for_each(|(u, z)| *u = z + (*u - z) * (beta / own.beta));
        room.take_up(Evidence { u: Some(&u), beta })
    }
}

impl<'p> Space for Ranks<'p, '_> {
    type Real = f64;
    type Point = Vec<f64>;
    type Image = Vec<f64>;
    type Metric = Infallible;
    type Witness = Self;

    fn size(&self) -> usize {
        self.host.size()
    }

    /// A sum over entries has the constants of its parts; its sizes and what rounding does are those of all.
    fn facts(&self) -> Facts {
        let facts = Space::facts(&self.host);
        let total = |count: usize| self.sum(count as f64) as usize;
        let Numerics { size, range, .. } = facts.numerics;
        Facts { numerics: Numerics { size: total(size), range: total(range), ..facts.numerics }, ..facts }
    }

    fn norms(&self) -> Vec<BlockNorm> {
        self.host.norms()
    }

    fn witness(&mut self) -> &mut Self {
        self.host.witness();
        self
    }

    fn point(&mut self) -> Vec<f64> {
        self.host.point()
    }

    fn image(&mut self) -> Vec<f64> {
        self.host.image()
    }

    fn write(&mut self, x: &mut Vec<f64>, at: usize, from: &[f64]) {
        self.host.write(x, at, from);
    }

    fn read(&mut self, x: &Vec<f64>, at: usize, to: &mut [f64]) {
        self.host.read(x, at, to);
    }

    fn copy(&mut self, y: &mut Vec<f64>, x: &Vec<f64>) {
        self.host.copy(y, x);
    }

    fn add_scaled(&mut self, y: &mut Vec<f64>, x: &Vec<f64>, a: f64, d: &Vec<f64>) {
        self.host.add_scaled(y, x, a, d);
    }

    fn add(&mut self, y: &mut Vec<f64>, a: f64, x: &Vec<f64>) {
        self.host.add(y, a, x);
    }

    fn scale(&mut self, y: &mut Vec<f64>, a: f64) {
        self.host.scale(y, a);
    }

    fn extrapolate(&mut self, y: &mut Vec<f64>, x: &Vec<f64>, before: &Vec<f64>, theta: f64) {
        self.host.extrapolate(y, x, before, theta);
    }

    fn dot(&mut self, a: &Vec<f64>, b: &Vec<f64>) -> f64 {
        let own = self.host.dot(a, b);
        self.sum(own)
    }

    fn norm_squared(&mut self, x: &Vec<f64>) -> f64 {
        let own = self.host.norm_squared(x);
        self.sum(own)
    }

    fn norm(&mut self, x: &Vec<f64>) -> f64 {
        self.norm_squared(x).sqrt()
    }

    fn gradient(&mut self, phi: &mut Vec<f64>, x: &Vec<f64>, beta: f64) -> Evaluation {
        let own = self.host.gradient(phi, x, beta);
        let squared = own.squared.map(|squared| self.sum(squared));
        Evaluation { f: self.sum(own.f), slope_squared: self.sum(own.slope_squared), squared }
    }

    fn subgradient(&mut self, phi: &mut Vec<f64>, x: &Vec<f64>, tx: &mut Vec<f64>, v: &mut Vec<f64>) -> f64 {
        let own = self.host.subgradient(phi, x, tx, v);
        self.sum(own)
    }

    fn envelope(&mut self, x: &Vec<f64>, beta: f64) -> f64 {
        let own = self.host.envelope(x, beta);
        self.sum(own)
    }

    fn penalty(&mut self, x: &Vec<f64>) -> f64 {
        let own = self.host.penalty(x);
        self.sum(own)
    }

    fn oracle(&mut self, phi: &Vec<f64>, squared: Option<f64>) -> Answer {
        self.norm = squared.unwrap_or_else(|| self.norm_squared(phi)).sqrt();
        Answer::exact(self.norm)
    }

    fn advance(&mut self, y: &mut Vec<f64>, x: &Vec<f64>, phi: &Vec<f64>, gamma: f64) {
        let step = if self.norm > 0.0 { -gamma / self.norm } else { 0.0 };
        self.host.add_scaled(y, x, step, phi);
    }

    fn dual_norm(&mut self, phi: &Vec<f64>) -> f64 {
        self.norm(phi)
    }

    fn solve(&mut self, metric: &mut Infallible, _: &mut Vec<f64>, _: &Vec<f64>, _: f64) {
        match *metric {}
    }

    fn show(&mut self, z: &Vec<f64>, scaled: &Vec<f64>, step: f64) -> Shown {
        // One β for all: the least of what each would take.
        let own = self.host.show(z, scaled, step);
        let beta = self.together.all(self.rank, own.beta, f64::min);
        let u: Vec<f64> = z.iter().zip(scaled).map(|(z, scaled)| z + beta / step * scaled).collect();
        self.host.witness().take_up(Evidence { u: Some(&u), beta })
    }

    fn warm_start(&self) -> Vec<f64> {
        Vec::new()
    }

    fn resume(&mut self, _: &[f64]) {}
}

impl Witness for Ranks<'_, '_> {
    type Real = f64;
    type Point = Vec<f64>;

    fn facts(&self) -> Facts {
        Space::facts(self)
    }

    fn look(&mut self, x: &Vec<f64>, shown: Shown) -> Seen {
        let own = self.host.witness().look(x, shown);
        Seen {
            beta: own.beta,
            stored: own.stored,
            f: self.sum(own.f),
            at_z: self.sum(own.at_z),
            at_tx: self.sum(own.at_tx),
            overlap: self.sum(own.overlap),
            of_f: self.hypot(own.of_f),
            of_g: self.hypot(own.of_g),
            of_sum: self.hypot(own.of_sum),
            prox_gap: self.hypot(own.prox_gap),
            x_norm: self.hypot(own.x_norm),
            tx_norm: self.hypot(own.tx_norm),
            u_norm: self.hypot(own.u_norm),
            w_norm: self.hypot(own.w_norm),
            rounding: Rounding { value: self.sum(own.rounding.value), grad: self.hypot(own.rounding.grad) },
        }
    }

    fn strengthen(&mut self) -> Shown {
        let own = self.host.witness().strengthen();
        self.agree(own)
    }

    fn residual(&mut self, norms: &[BlockNorm]) -> Option<Bracket> {
        let own = self.host.witness().residual(norms)?;
        Some(Bracket { lower: self.hypot(own.lower), upper: self.hypot(own.upper) })
    }

    /// The least of a sum over entries is the sum of the least.
    fn lower_bound(
        &mut self,
        x: &Vec<f64>,
        seen: &Seen,
        allowance: &Allowance,
        radius: Option<f64>,
    ) -> Result<f64, String> {
        let own = self.host.witness().lower_bound(x, seen, allowance, radius);
        let total = self.sum(*own.as_ref().unwrap_or(&f64::NAN));
        own.map(|_| total)
    }

    fn near(&mut self, x: &Vec<f64>) -> Option<Stationarity<f64>> {
        let own = self.host.witness().near(x)?;
        let (distance, bound) = (self.hypot(own.distance), self.hypot(own.bound));
        let residual = self.hypot(own.residual.unwrap_or(0.0));
        Some(Stationarity { distance, bound, residual: Some(residual), ..own })
    }

    fn u(&mut self, to: &mut Vec<f64>) {
        self.host.witness().u(to);
    }

    fn image(&mut self, x: &Vec<f64>, to: &mut Vec<f64>) {
        self.host.witness().image(x, to);
    }

    fn z(&mut self, to: &mut Vec<f64>) {
        self.host.witness().z(to);
    }
}
