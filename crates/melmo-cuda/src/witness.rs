//! What certificates ask, of points on the device: sums are made there, and only what a certificate stores is read.

use melmo::certificate::{Allowance, At, Evidence, Seen, Shown, Stationarity, Witness, lower_bound};
use melmo::geometry::{BlockNorm, Bracket, Norm, product_dual};
use melmo::guarantee::Facts;
use melmo::real::Real;

use crate::device::{Device, Point};
use crate::machine::{Args, Kernel, Machine};

/// The sums of a look, in the order of `Looked` in `kernels/problem.cu`.
mod sums {
    pub const AT_Z: usize = 0;
    pub const AT_TX: usize = 1;
    pub const OVERLAP: usize = 2;
    pub const OF_F: usize = 3;
    pub const OF_G: usize = 4;
    pub const OF_SUM: usize = 5;
    pub const GAP: usize = 6;
    pub const X: usize = 7;
    pub const TX: usize = 8;
    pub const U: usize = 9;
    pub const W: usize = 10;
    pub const ABSOLUTE: usize = 11;
    pub const LARGEST: usize = 12;
    /// 2f, where a chain found it.
    pub const LOSS: usize = 13;
}

impl<'p, S: Real, M: Machine> Device<'p, S, M> {
    /// u ← z + βw for w = scaled/step, kept for the looks that follow.
    pub(crate) fn restate(&mut self, z: &Point, scaled: &Point, step: f64) -> Shown {
        self.make_images();
        let Some(images) = self.images.take() else { return Shown::smoothed(step) };
        let shown = self.pair(&images[0], z, scaled, step);
        self.images = Some(images);
        shown
    }

    fn pair(&mut self, u: &Point, z: &Point, scaled: &Point, step: f64) -> Shown {
        let n = self.plan.range();
        let [of_z, of_scaled] = [z, scaled].map(|image| self.measure(image, n, 1.0)[2]);
        let shown = Shown::of_pair([of_z, of_scaled / step], self.problem.beta_limit());
        let args = Args { y: self.at(u), x: self.at(z), d: self.at(scaled), a: shown.beta / step, ..Args::default() };
        self.entries(Kernel::AddScaled, n, args);
        shown
    }

    /// ‖φ‖_* of a point by its definition, on this machine.
    pub(crate) fn proven_dual(&mut self, phi: &Point) -> Option<Bracket> {
        let mut read = vec![S::ZERO; self.plan.size()];
        self.download(&mut read, phi, 0);
        product_dual(&self.norms, &read)
    }

    /// The same of the v of the last look, in any norms.
    fn proven_residual(&mut self, norms: &[BlockNorm]) -> Option<Bracket> {
        let residual = self.residual.take()?;
        let mut v = vec![S::ZERO; self.plan.size()];
        self.download(&mut v, &residual, 0);
        self.residual = Some(residual);
        product_dual(norms, &v)
    }

    /// Room for u, z and w.
    fn make_images(&mut self) {
        if self.images.is_none() {
            let range = self.plan.range();
            self.images = Some([self.array(range), self.array(range), self.array(range)]);
        }
    }

    /// u where it is stored, nowhere where it is Tx.
    fn stored(&self, shown: Shown) -> u64 {
        self.images.as_ref().filter(|_| shown.stored).map_or(0, |[u, ..]| self.at(u))
    }

    /// The point that was looked at, and u where it was stored.
    fn read_looked(&mut self) -> Option<(Vec<S>, Option<Vec<S>>, Shown)> {
        let (x, shown, _) = self.looked?;
        let mut point = vec![S::ZERO; self.plan.size()];
        self.download(&mut point, &Point(x), 0);
        let mut u = Vec::new();
        if shown.stored {
            self.u(&mut u);
        }
        Some((point, shown.stored.then_some(u), shown))
    }
}

impl<S: Real, M: Machine> Witness for Device<'_, S, M> {
    type Real = S;
    type Point = Point;

    fn facts(&self) -> Facts {
        self.facts
    }

    fn look(&mut self, x: &Point, shown: Shown) -> Seen {
        let residual = self.residual.take();
        // The value is made of the residual: no digit is lost to a difference of squares.
        let given = residual.as_ref().filter(|_| self.plan.given()).map(|v| self.loss_gradient(v, x, true));
        let out = residual.as_ref().map_or(0, |v| self.at(v));
        self.residual = residual;
        let args = Args { x: self.at(x), u: self.stored(shown), out, target: out, beta: shown.beta, ..Args::default() };
        self.walk(Kernel::Look, args);
        let found = self.results();
        self.looked = Some((x.0, shown, found));
        let root = |k: usize| found[k].sqrt();
        let of_f = root(sums::OF_F);
        let f = match given {
            None if self.links.is_some() => 0.5 * found[sums::LOSS],
            None => 0.5 * found[sums::OF_F],
            Some(f) => f,
        };
        let rounding = match self.links {
            Some(_) if !self.plan.given() => self.rounding_of_link(f, of_f, root(sums::X)),
            _ => self.rounding_of_loss(x, f, of_f, root(sums::X)),
        };
        Seen {
            beta: shown.beta,
            stored: shown.stored,
            f,
            at_z: found[sums::AT_Z],
            at_tx: found[sums::AT_TX],
            overlap: found[sums::OVERLAP],
            of_f,
            of_g: root(sums::OF_G),
            of_sum: root(sums::OF_SUM),
            prox_gap: root(sums::GAP),
            x_norm: root(sums::X),
            tx_norm: root(sums::TX),
            u_norm: root(sums::U),
            w_norm: root(sums::W),
            rounding,
        }
    }

    /// Where u, z and w do not fit beside the points, what is shown stays as it was.
    fn strengthen(&mut self) -> Shown {
        let Some((x, shown, _)) = self.looked else { return Shown::smoothed(self.problem.default_beta()) };
        if self.images.is_none() && !self.has_room(3 * self.plan.range()) {
            return shown;
        }
        self.make_images();
        let Some(images) = self.images.take() else { return shown };
        let [u, z, w] = &images;
        let args = Args { x: self.at(&Point(x)), z: self.at(z), tx: self.at(w), beta: shown.beta, ..Args::default() };
        self.walk(Kernel::Dual, Args { u: if shown.stored { self.at(u) } else { 0 }, ..args });
        let shown = self.pair(u, z, w, 1.0);
        self.images = Some(images);
        shown
    }

    fn residual(&mut self, norms: &[BlockNorm]) -> Option<Bracket> {
        let (_, _, found) = self.looked?;
        let [BlockNorm { norm, radius: 1.0, .. }] = norms else { return self.proven_residual(norms) };
        let roundings = self.roundings(true, 0);
        match norm {
            Norm::Row | Norm::Column if *norms == self.norms && self.by_lines() => {
                let v = self.residual.take()?;
                let total = self.measure_lines(&v, false);
                self.residual = Some(v);
                Some(Bracket::rounded(total, self.roundings_of_lines()))
            }
            Norm::L2 => Some(Bracket::rounded(found[sums::OF_SUM].sqrt(), roundings)),
            Norm::Linf => Some(Bracket::rounded(found[sums::ABSOLUTE], roundings)),
            Norm::L1 => Some(Bracket::exact(found[sums::LARGEST])),
            _ => self.proven_residual(norms),
        }
    }

    fn lower_bound(
        &mut self,
        x: &Point,
        seen: &Seen,
        allowance: &Allowance,
        radius: Option<f64>,
    ) -> Result<f64, String> {
        let (mut point, mut v) = (Vec::new(), Vec::new());
        if let Some(residual) = self.residual.take() {
            (point, v) = (vec![S::ZERO; self.plan.size()], vec![S::ZERO; self.plan.size()]);
            self.download(&mut point, x, 0);
            self.download(&mut v, &residual, 0);
            self.residual = Some(residual);
        }
        lower_bound(&At { problem: self.problem, x: &point, v: &v, seen, allowance }, radius)
    }

    /// By this machine: it is asked once, and for operators that pick entries alone.
    fn near(&mut self, _: &Point) -> Option<Stationarity<S>> {
        self.problem.t().right_inverse()?;
        let (x, u, shown) = self.read_looked()?;
        let room = self.room()?;
        let shown = room.take_up(Evidence { u: u.as_deref(), beta: shown.beta });
        room.look(&x, shown);
        room.near(&x)
    }

    fn image(&mut self, x: &Point, to: &mut Vec<S>) {
        let mut point = vec![S::ZERO; self.plan.size()];
        self.download(&mut point, x, 0);
        *to = self.problem.image(&point);
    }

    fn u(&mut self, to: &mut Vec<S>) {
        let Some([u, z, w]) = self.images.take() else { return };
        to.resize(self.plan.range(), S::ZERO);
        self.download(to, &u, 0);
        self.images = Some([u, z, w]);
    }

    /// By this machine, from the point: a certificate asks for it once.
    fn z(&mut self, to: &mut Vec<S>) {
        if let Some((x, u, shown)) = self.read_looked() {
            *to = self.problem.prox_point(&x, Evidence { u: u.as_deref(), beta: shown.beta });
        }
    }
}
