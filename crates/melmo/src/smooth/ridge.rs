use crate::error::Error;
use crate::operator::{FilterBank, LinOp};
use crate::penalty::{Scale, Separable, Spline, Table};
use crate::real::Real;
use crate::smooth::Rounding;
use crate::vector::{norm2, sum_error};

/// R(x) = Σ_c Σᵢ ψ_c((T_c x)ᵢ): a smooth prior of one plane of an image, T a bank of filters, ψ_c a spline for each.
///
/// With ρ = max ρ_c and M = max sup ψ_c″: −ρ‖T‖² ⪯ ∇²R ⪯ max(M, ρ)‖T‖². Goujon, Neumayer, Unser, "Learning weakly convex
/// regularizers for convergent image-reconstruction algorithms" (2023).
///
/// Scales s make it s²ψ_c(·/s) at each response: second derivatives are as without them.
pub struct Ridge<S> {
    pub(super) bank: FilterBank<S>,
    pub(super) potentials: Vec<Spline>,
    /// The same, as the loops read them.
    tables: Vec<Table<S>>,
    /// For every row its filters, for every filter the row's pixels; empty where all are 1.
    scales: Vec<Scale>,
    /// The largest of them.
    widest: f64,
}

impl<S: Real> Ridge<S> {
    /// Filters of a plane, and a potential for each of them.
    pub fn new(bank: FilterBank<S>, potentials: Vec<Spline>) -> Result<Self, Error> {
        Error::expect_len("potentials", bank.channels(), potentials.len())?;
        let tables = potentials.iter().map(Spline::table).collect();
        Ok(Self { bank, potentials, tables, scales: Vec::new(), widest: 1.0 })
    }

    /// A scale for every response: row after row, in a row filter after filter.
    pub fn scaled(mut self, scales: Vec<Scale>) -> Result<Self, Error> {
        Error::expect_len("scales", self.bank.range().size(), scales.len())?;
        self.widest = scales.iter().map(|s| s.get()).fold(0.0, f64::max);
        self.scales = scales;
        Ok(self)
    }

    /// How many pixels the plane has.
    pub fn size(&self) -> usize {
        self.bank.domain().size()
    }

    /// Scratch of [`Ridge::add`], in numbers.
    pub(super) fn work_len(&self) -> usize {
        self.bank.through_work_len()
    }

    /// grad ← grad + ∇R(x); returns R(x).
    pub(super) fn add(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        self.bank.through(grad, x, work, |c, i, row| match self.scales_of(c, i, row.len()) {
            Some(scales) => self.tables[c].replace_scaled(row, scales),
            None => self.tables[c].replace(row),
        })
    }

    /// The scales of a row of a filter's responses; none where all are 1.
    fn scales_of(&self, c: usize, i: usize, cols: usize) -> Option<&[Scale]> {
        self.scales.get((i * self.tables.len() + c) * cols..)?.get(..cols)
    }

    /// The largest of something over the potentials.
    fn most(&self, of: impl Fn(&Spline) -> f64) -> f64 {
        self.potentials.iter().map(of).fold(0.0, f64::max)
    }

    /// ρ‖T‖²: how far it bends down.
    pub(super) fn bent(&self) -> f64 {
        self.most(Separable::<S>::rho) * self.bank.norm_bound().powi(2)
    }

    /// max(M, ρ): the Lipschitz constant of every ψ_c′.
    fn steepest(&self) -> f64 {
        self.most(|psi| psi.curvature().max(Separable::<S>::rho(psi)))
    }

    /// A Lipschitz constant of ∇R.
    pub(super) fn lipschitz(&self) -> f64 {
        self.steepest() * self.bank.norm_bound().powi(2)
    }

    /// Of the responses (ϑ‖x‖, enlarged by ψ′ and T*), of ψ′ (a few of its pieces) and of T*. Of the value: what the responses move it by,
    /// and its sum, of which all is at most `value`: as many additions as a number goes through, for none is negative.
    pub(super) fn rounding(&self, x: &[S], value: f64) -> Rounding {
        let (norm, applied) = (self.bank.norm_bound(), LinOp::<S>::rounding(&self.bank) * norm2(x));
        let responses = norm * norm2(x) + applied;
        let slopes = (self.steepest() * responses).min(
            self.most(|psi| Separable::<S>::slope(psi).unwrap_or(f64::INFINITY))
                * self.widest
                * (self.bank.range().size() as f64).sqrt(),
        );
        let of_slopes = self.steepest() * applied + 64.0 * S::EPSILON * slopes;
        Rounding {
            value: slopes * applied + (64.0 * S::EPSILON + sum_error(self.bank.additions())) * value.abs(),
            grad: norm * of_slopes + LinOp::<S>::rounding(&self.bank) * slopes,
        }
    }
}
