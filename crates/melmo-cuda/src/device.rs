//! A problem on a machine: its data, the points there, and the launches that everything else is made of.

use melmo::certificate::{Room, Shown};
use melmo::error::Error;
use melmo::geometry::{BlockNorm, Norm, check_tiling};
use melmo::guarantee::Facts;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::space::{Host, Space};

use crate::chained::Links;
use crate::formula::Formula;
use crate::kept::Kept;
use crate::linalg::{Arithmetic, Batch, Factors, Part};
use crate::lines::Lines;
use crate::machine::{Address, Args, Fault, Kernel, Machine, Product, RESULTS, bytes, bytes_mut};
use crate::plan::{Loss, Plan, entry_threads};
use crate::program::Program;

/// A place among the arrays of a device. It can be moved, not copied.
pub struct Point(pub(crate) usize);

/// A problem and one of the norms ℓ1, ℓ2, ℓ∞, of rows or of columns, with points in a machine's memory.
///
/// A fault of the machine is kept ([`Device::fault`]), and everything that is asked from then on is NaN: a run ends there, and what is read
/// is the last point that was copied to this side, which happens every second or fifty copies' time, up to 1 GiB.
pub struct Device<'p, S: Real, M: Machine> {
    pub(crate) problem: &'p Problem<S>,
    pub(crate) plan: Plan<'p, S>,
    pub(crate) norms: Vec<BlockNorm>,
    pub(crate) facts: Facts,
    pub(crate) machine: M,
    fault: Option<Fault>,
    /// What every walk through the problem is told.
    pub(crate) told: Args,
    arrays: Vec<Address>,
    /// Steps write where they read: there is no room for the point before.
    pub(crate) frugal: bool,
    /// Where a gradient goes that is made of the one it replaces.
    pub(crate) spare: Option<usize>,
    /// ‖φ‖₂ at the last oracle call, or the first entry of largest magnitude.
    pub(crate) length: f64,
    pub(crate) largest: Option<i64>,
    /// The point that was read last, all of it: where data were lent, it is left there.
    pub(crate) last_read: Option<usize>,
    /// A copy of the run's point on this side, and room for the next.
    pub(crate) kept: Option<Kept<S>>,
    pub(crate) copied: Vec<S>,
    pub(crate) lines: Option<Lines>,
    /// What a chain is told, and where Tx is written down.
    pub(crate) links: Option<Links>,
    /// The sums of a chain's last walk.
    pub(crate) found: Option<[f64; RESULTS]>,
    /// The blocks, each with its norm, where that is not one simple norm over everything.
    pub(crate) parts: Vec<Part>,
    /// What the loss needs, where products make it.
    pub(crate) factors: Option<Factors>,
    /// Room for minibatches, made with the first.
    pub(crate) batch: Batch,
    /// u, z and w, and the v of the last look, where they are wanted.
    pub(crate) images: Option<[Point; 3]>,
    pub(crate) residual: Option<Point>,
    /// The array that was looked at last, and how.
    pub(crate) looked: Option<(usize, Shown, [f64; RESULTS])>,
    /// Whoever answers what only slices can.
    pub(crate) host: Option<Host<'p, S>>,
}

/// One norm over the whole variable that needs no products.
fn simple(norms: &[BlockNorm]) -> bool {
    matches!(norms, [BlockNorm { norm: Norm::L1 | Norm::L2 | Norm::Linf | Norm::Row | Norm::Column, radius, .. }] if *radius == 1.0)
}

/// Points that every method has where there is room: x, the point before it, φ. With one simple norm and one pass, steps can be in place.
const USUAL: usize = 3;

impl<'p, S: Real, M: Machine> Device<'p, S, M> {
    /// Refuses terms and norms without kernels, and a problem whose data and points do not fit, before anything is copied.
    pub fn new(problem: &'p Problem<S>, norms: Vec<BlockNorm>, machine: M) -> Result<Self, Error> {
        Self::with(problem, norms, Arithmetic::default(), machine)
    }

    /// The same with products of another arithmetic than what is chosen by shape and precision.
    pub fn with(
        problem: &'p Problem<S>,
        norms: Vec<BlockNorm>,
        arithmetic: Arithmetic,
        mut machine: M,
    ) -> Result<Self, Error> {
        let plan = Plan::of(problem)?;
        check_tiling(&norms, plan.size())?;
        if norms.iter().any(|block| block.norm == Norm::Other) {
            return Err(Error::Unsupported(
                "the GPU steps in no norm of your own: take one by name, or device cpu".into(),
            ));
        }
        let program = Program::of(&plan)?;
        let parts = if simple(&norms) { Vec::new() } else { arithmetic.parts::<S>(&norms)? };
        if parts.iter().any(Part::multiplies) || matches!(plan.loss, Loss::Factors(_)) {
            machine.prepare_products().map_err(Error::Unsupported)?;
        }
        let beside = parts.iter().map(Part::bytes).fold(Factors::bytes(&plan), usize::saturating_add);
        let least = if parts.is_empty() && !plan.given() { USUAL - 1 } else { USUAL };
        let need = plan.bytes(least).saturating_add(beside);
        let free = machine.available().map_err(Error::Unsupported)?;
        if need > free {
            let [need, free] = [need, free].map(|bytes| bytes as f64 / (1u64 << 30) as f64);
            let message = format!(
                "the data and {least} points take {need:.2} GiB, and {free:.2} GiB of the GPU's memory are free: take f32, or device cpu"
            );
            return Err(Error::Unsupported(message));
        }
        machine.load(&program).map_err(Error::Unsupported)?;
        let mut device = Self {
            problem,
            plan,
            norms,
            facts: problem.facts(),
            machine,
            fault: None,
            told: Args::default(),
            arrays: Vec::new(),
            spare: None,
            length: 0.0,
            largest: None,
            kept: None,
            last_read: None,
            copied: Vec::new(),
            frugal: false,
            lines: None,
            links: None,
            found: None,
            parts,
            factors: None,
            batch: Batch::default(),
            images: None,
            residual: None,
            looked: None,
            host: None,
        };
        device.tell();
        device.make_parts();
        device.make_factors(arithmetic);
        device.make_links();
        device.frugal = least < USUAL && device.plan.bytes(USUAL) > free / 10 * 8;
        device.kept = Kept::new(device.plan.size());
        device.copied = device.kept.as_ref().map_or(Vec::new(), |_| vec![S::ZERO; device.plan.size()]);
        // A fifth array makes a step one pass; it is the first to be left out.
        let room = !device.frugal && device.plan.bytes(USUAL + 1) <= free / 10 * 9;
        if device.plan.components > 1 && device.parts.is_empty() && room {
            device.spare = Some(device.array(device.plan.size()).0);
        }
        device.fault.take().map_or(Ok(device), |fault| Err(Error::Unsupported(fault)))
    }

    /// Copies the data.
    fn tell(&mut self) {
        let Plan { shape, picked, target, mask, weights, lent, .. } = self.plan;
        let [slices, rows, cols] = shape.map(|n| n as i64);
        let mut put = |numbers: Option<&[S]>| {
            let Some(numbers) = numbers else { return 0 };
            self.put(bytes(numbers))
        };
        let (target, mask, weights) = (put(Some(target)), put(mask), put(weights));
        let target = lent.map_or(target, |lent| lent.address());
        let formula = Formula::of(self.plan.psi);
        self.told = Args {
            n: self.plan.size() as i64,
            slices,
            rows,
            cols,
            strip: self.plan.strip() as i64,
            first: picked[0] as i64,
            count: picked[1] as i64,
            target,
            mask,
            weights,
            psi: formula.map_or([0.0; 2], |formula| formula.parameters),
            pieces: formula.map_or(0, |formula| self.table(&formula)),
            ..Args::default()
        };
    }

    /// What a formula is told beside its parameters, there; nowhere where that is nothing.
    pub(crate) fn table(&mut self, formula: &Formula) -> Address {
        if formula.table().is_empty() { 0 } else { self.put(formula.table()) }
    }

    /// Data, there.
    pub(crate) fn put(&mut self, data: &[u8]) -> Address {
        let address = self.raw(data.len());
        self.guarded(|machine| machine.upload(address, data));
        address
    }

    /// What went wrong on the machine, if something did.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// The machine.
    pub fn machine(&mut self) -> &mut M {
        &mut self.machine
    }

    /// Does it, unless something went wrong before.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut M) -> Result<T, Fault>) -> Option<T> {
        if self.fault.is_some() {
            return None;
        }
        work(&mut self.machine).map_err(|fault| self.fault = Some(fault)).ok()
    }

    /// So many bytes, all 0.
    pub(crate) fn raw(&mut self, bytes: usize) -> Address {
        self.guarded(|machine| machine.allocate(bytes)).unwrap_or(0)
    }

    /// A new array, all 0.
    pub(crate) fn array(&mut self, len: usize) -> Point {
        let address = self.raw(len * size_of::<S>());
        self.arrays.push(address);
        Point(self.arrays.len() - 1)
    }

    /// Whether so many numbers can still be had.
    pub(crate) fn has_room(&mut self, numbers: usize) -> bool {
        let free = self.guarded(Machine::available).unwrap_or(0);
        numbers.saturating_mul(size_of::<S>()) <= free / 10 * 9
    }

    pub(crate) fn at(&self, point: &Point) -> Address {
        self.arrays[point.0]
    }

    /// An array and the spare one change places.
    pub(crate) fn exchange(&mut self, point: &Point, spare: usize) {
        self.arrays.swap(point.0, spare);
    }

    pub(crate) fn upload(&mut self, to: &Point, at: usize, from: &[S]) {
        let address = self.at(to) + (at * size_of::<S>()) as Address;
        self.guarded(|machine| machine.upload(address, bytes(from)));
    }

    /// NaN where the machine has failed.
    pub(crate) fn download(&mut self, to: &mut [S], from: &Point, at: usize) {
        let address = self.at(from) + (at * size_of::<S>()) as Address;
        if self.guarded(|machine| machine.download(bytes_mut(to), address)).is_none() {
            to.fill(S::of(f64::NAN));
        }
    }

    pub(crate) fn copy(&mut self, to: &Point, from: &Point, len: usize) {
        let (to, from) = (self.at(to), self.at(from));
        self.guarded(|machine| machine.copy(to, from, len * size_of::<S>()));
    }

    /// Y and M of a loss that products make.
    pub(crate) fn data(&self) -> [Address; 2] {
        [self.told.target, self.told.mask]
    }

    /// C ← αAB + βC.
    pub(crate) fn multiply(&mut self, product: Product) {
        self.guarded(|machine| machine.multiply(&product));
    }

    /// Memory there ← memory there.
    pub(crate) fn copy_raw(&mut self, to: Address, from: Address, bytes: usize) {
        self.guarded(|machine| machine.copy(to, from, bytes));
    }

    /// Memory there ← bytes.
    pub(crate) fn overwrite(&mut self, to: Address, from: &[u8]) {
        self.guarded(|machine| machine.upload(to, from));
    }

    /// Memory there ← numbers.
    pub(crate) fn upload_raw(&mut self, to: Address, from: &[S]) {
        self.guarded(|machine| machine.upload(to, bytes(from)));
    }

    /// Runs a kernel on so many threads.
    pub(crate) fn run(&mut self, kernel: Kernel, threads: usize, args: Args) {
        self.guarded(|machine| machine.launch(kernel, threads, args));
    }

    /// Runs a kernel over entries.
    pub(crate) fn entries(&mut self, kernel: Kernel, n: usize, args: Args) {
        self.run(kernel, entry_threads(n), Args { n: n as i64, ..args });
    }

    /// Runs a kernel that walks through f and g∘T; `args` says what differs from walk to walk.
    pub(crate) fn walk(&mut self, kernel: Kernel, args: Args) {
        if self.links.is_some() {
            return self.chained(kernel, args);
        }
        let Args { n, slices, rows, cols, strip, first, count, mut target, mask, weights, psi, pieces, .. } = self.told;
        if self.plan.given() {
            target = args.target;
        }
        let args = Args { n, slices, rows, cols, strip, first, count, target, mask, weights, psi, pieces, ..args };
        self.run(kernel, self.plan.threads(), args);
    }

    /// What the last kernel left; NaN where the machine has failed.
    pub(crate) fn results(&mut self) -> [f64; RESULTS] {
        if let Some(found) = self.found.take() {
            return found;
        }
        self.guarded(Machine::results).unwrap_or([f64::NAN; RESULTS])
    }

    /// How often a sum over a walk, or over n entries, is rounded: in its thread, in its block, over all blocks, and at the end.
    pub(crate) fn roundings(&self, walk: bool, n: usize) -> f64 {
        let (terms, threads) = if walk { (self.plan.terms(), self.plan.threads()) } else { (16, entry_threads(n)) };
        (terms + threads.div_ceil(256 * 256) + 32) as f64
    }

    /// Whoever answers what only slices can, on this side.
    pub(crate) fn room(&mut self) -> Option<&mut Room<'p, S>> {
        if self.host.is_none() {
            let geometry = melmo::geometry::euclidean(self.problem.layout());
            self.host = Host::new(self.problem, geometry).ok();
        }
        self.host.as_mut().map(Space::witness)
    }
}

impl<S: Real, M: Machine> Drop for Device<'_, S, M> {
    fn drop(&mut self) {
        let (Some(lent), Some(read), None) = (self.plan.lent, self.last_read, &self.fault) else { return };
        let address = self.arrays[read];
        if self.machine.forget(address) {
            lent.leave(address);
        }
    }
}
