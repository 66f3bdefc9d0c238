//! The shell around a step: which point it is, whether the sequence has ended, and all that is asked at a point.

use std::borrow::Borrow;

use crate::certificate::{
    Asked, Certificate, Certified, Evidence, Optimality, Proven, Seen, Shown, Witness, strongest,
};
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::solver::state::{self, Memo, State};
use crate::solver::{Info, Solver};
use crate::space::Space;

/// What a solver is: its state and its step. [`Run`] does the rest.
pub trait Method: Send {
    /// Where its points live.
    type Space: Space;

    /// It judges the point that a step led to: the first step is taken before anything is shown.
    const STEPS_FIRST: bool = false;

    /// A step that leads nowhere leaves everything as it was: no state has to be saved before one that may be given up.
    const WHOLE_STEPS: bool = false;

    /// One step from x_k, and the evaluation of where it leads; k = 0: evaluates the start. `None` where no step leads anywhere.
    fn step(&mut self, k: u64) -> Option<Info>;

    /// Back to x_k, k > 0: the step from it led to something that is not finite. A step that keeps its point until the next one is
    /// known to be finite has nothing to undo.
    fn retreat(&mut self) {}

    /// The point x_k, and who can be asked about it.
    fn standing(&mut self, k: u64) -> impl Standing<Self::Space>;

    /// What relative thresholds are relative to, where that is not the first point shown.
    fn start_measure(&self) -> Option<[f64; 2]> {
        None
    }

    /// Everything that the rest of the run depends on.
    fn save(&mut self, k: u64) -> Memo<Real<Self>>;

    /// Stands at x_k again.
    fn restore(&mut self, k: u64, memo: &Memo<Real<Self>>) -> Result<(), Error>;
}

/// The numbers of a method.
pub(super) type Real<M> = <<M as Method>::Space as Space>::Real;

/// A method's current point, and what can be asked there.
pub trait Standing<X: Space> {
    /// The space and the point.
    fn place(&mut self) -> (&mut X, &X::Point);

    /// F(x).
    fn objective(&mut self) -> f64;

    /// F_β(x) with the β of the evaluation; F(x) for a method that does not smooth.
    fn smoothed(&mut self) -> f64 {
        self.objective()
    }

    /// ‖∇F_β(x)‖_* to rounding; ‖∇f(x) + T*w‖_* for a method that does not smooth.
    fn exact_dual_norm(&mut self) -> f64;

    /// The dual side of a certificate at x; u is shown to the space's witness where it is not Tx.
    fn show(&mut self) -> Shown;
}

impl<X: Space, T: Standing<X>> Standing<X> for &mut T {
    fn place(&mut self) -> (&mut X, &X::Point) {
        (**self).place()
    }

    fn objective(&mut self) -> f64 {
        (**self).objective()
    }

    fn smoothed(&mut self) -> f64 {
        (**self).smoothed()
    }

    fn exact_dual_norm(&mut self) -> f64 {
        (**self).exact_dual_norm()
    }

    fn show(&mut self) -> Shown {
        (**self).show()
    }
}

/// A method whose steps need no norm: certificates can speak of any.
pub trait Measured: Method {
    /// Measured in a norm from here on.
    fn measure_in(&mut self, geometry: Box<dyn Geometry<Real<Self>>>) -> Result<(), Error>;
}

/// A method, and where it stands: a sequence of points.
pub struct Run<M> {
    pub(super) method: M,
    /// k of the current point; 0 before the first.
    pub(super) k: u64,
    ended: bool,
    start: Option<[f64; 2]>,
}

impl<M: Method> Run<M> {
    pub(super) fn new(method: M) -> Self {
        Self { method, k: 0, ended: false, start: None }
    }

    /// The method has been put somewhere else: what follows is a sequence of its own.
    pub(super) fn begin(&mut self) {
        (self.k, self.ended, self.start) = (0, false, None);
    }

    pub(super) fn standing(&mut self) -> impl Standing<M::Space> {
        self.method.standing(self.k)
    }

    /// Shows what the method shows, or the same with more digits where rounding would show.
    fn shown<R>(
        &mut self,
        strong: bool,
        ask: impl FnOnce(&mut <M::Space as Space>::Witness, &<<M::Space as Space>::Witness as Witness>::Point, Shown) -> R,
    ) -> R {
        let mut standing = self.method.standing(self.k);
        let shown = standing.show();
        let (space, x) = standing.place();
        let (witness, x) = (space.witness(), x.borrow());
        let shown = if strong { strongest(witness, x, shown) } else { shown };
        ask(witness, x, shown)
    }
}

impl<M: Measured> Run<M> {
    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<Real<M>>>) -> Result<Self, Error> {
        self.method.measure_in(geometry)?;
        Ok(self)
    }
}

impl<M: Method> Iterator for Run<M> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended {
            return None;
        }
        let Some(info) = self.method.step(self.k) else {
            self.ended = true;
            return None;
        };
        if info.finite {
            self.k = info.k;
            if self.start.is_none() {
                self.start = Some(self.method.start_measure().unwrap_or([info.dual_norm.upper, info.prox_gap]));
            }
        } else {
            self.ended = true;
            if self.k > 0 {
                self.method.retreat();
            }
        }
        Some(info)
    }
}

impl<M: Method> Solver<Real<M>> for Run<M> {
    fn size(&mut self) -> usize {
        self.standing().place().0.size()
    }

    fn read(&mut self, to: &mut [Real<M>]) {
        let mut standing = self.standing();
        let (space, x) = standing.place();
        space.read(x, 0, to);
    }

    fn image(&mut self, to: &mut Vec<Real<M>>) {
        let mut standing = self.standing();
        let (space, x) = standing.place();
        space.witness().image(x.borrow(), to);
    }

    fn fault(&mut self) -> Option<String> {
        self.standing().place().0.fault()
    }

    fn objective(&mut self) -> f64 {
        self.standing().objective()
    }

    fn smoothed(&mut self) -> f64 {
        self.standing().smoothed()
    }

    fn exact_dual_norm(&mut self) -> f64 {
        self.standing().exact_dual_norm()
    }

    fn norms(&mut self) -> Vec<BlockNorm> {
        self.standing().place().0.norms()
    }

    fn start_measure(&self) -> Option<[f64; 2]> {
        self.start
    }

    fn steps_first(&self) -> bool {
        M::STEPS_FIRST
    }

    fn whole_steps(&self) -> bool {
        M::WHOLE_STEPS
    }

    fn make_room(&mut self) {
        self.standing().place().0.witness();
    }

    fn look(&mut self, strong: bool) -> Seen {
        self.shown(strong, |witness, x, shown| witness.look(x, shown))
    }

    fn optimality(&mut self, seen: &Seen, radius: Option<f64>) -> Result<Optimality, String> {
        let mut standing = self.standing();
        let (space, x) = standing.place();
        Optimality::of(space.witness(), x.borrow(), seen, radius)
    }

    fn keeps_promise(&mut self, seen: &Seen) -> bool {
        seen.keeps_promise::<Real<M>>(&self.standing().place().0.witness().facts())
    }

    fn proven(&mut self, norms: &[BlockNorm]) -> Proven {
        self.shown(true, |witness, x, shown| Proven::of(witness, x, shown, norms))
    }

    fn certify(&mut self, asked: Asked) -> Certified<Real<M>> {
        let norms = self.norms();
        self.shown(true, |witness, x, shown| Certificate::seen_by(witness, x, shown, norms, asked))
    }

    fn certificate(&mut self, asked: Asked) -> Result<Certificate<Real<M>>, Error> {
        let norms = self.norms();
        self.shown(true, |witness, x, shown| Certificate::shown_by(witness, x, shown, norms, asked))
    }

    fn evidence<'u>(&mut self, u: &'u mut Vec<Real<M>>) -> Evidence<'u, Real<M>> {
        let Shown { beta, stored } = self.standing().show();
        if stored {
            self.standing().place().0.witness().u(u);
        }
        Evidence { u: stored.then_some(&u[..]), beta }
    }

    fn save(&mut self) -> State<Real<M>> {
        State { k: self.k, start: self.start, memo: self.method.save(self.k) }
    }

    fn restore(&mut self, state: &State<Real<M>>) -> Result<(), Error> {
        let k = state::count(state.k)?;
        Error::expect_finite("the start's measure in a saved state", state.start.as_slice().as_flattened())?;
        self.method.restore(k, &state.memo)?;
        (self.k, self.ended, self.start) = (k, false, state.start.filter(|_| k > 0));
        Ok(())
    }
}
