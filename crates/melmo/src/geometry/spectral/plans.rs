//! Polynomials to choose from, and what is known of each: for whoever evaluates them, on slices or on a device.

use std::ops::RangeInclusive;

use super::bounds::{Arithmetic, Bounds, Found, Path};
use super::minimax::{Margin, minimax, with_margin};
use super::newton_schulz;
use super::quintic::Quintic;
use super::shape::Shape;
use crate::geometry::{Answer, Inexactness};

/// In Gram space rounding may move ⟨φ, d⟩ by so much of ‖φ‖_F: well below what the polynomials leave.
const GRAM_SPACE_SLACK: f64 = 1e-4;

/// How far above 1 upper/lower may come out where a longer polynomial can help it; on most φ it is a third of that.
const WIDE: f64 = 0.08;

/// The same where entries are rounded to eleven digits: a step costs more there than a bracket a little wider.
const WIDE_OF_SHORT: f64 = 0.12;

/// Compositions of odd quintics for matrices of one shape, the shortest first, each with the bracket that it leaves.
#[derive(Clone, Debug)]
pub struct Polynomials {
    plans: Vec<Plan>,
    wide: f64,
}

/// A composition of quintics and what is known about it.
#[derive(Clone, Debug)]
struct Plan {
    steps: Vec<Quintic>,
    bounds: Bounds,
}

impl Polynomials {
    pub(super) fn new(all: Vec<Vec<Quintic>>, shape: Shape, arithmetic: Arithmetic, path: Path) -> Self {
        let wide = if arithmetic == Arithmetic::Short { WIDE_OF_SHORT } else { WIDE };
        let mut plans: Vec<Plan> = Vec::new();
        for steps in all {
            // Longer ones than any φ can need are left out (s ≤ ‖φ‖_F); in Gram space there is no choice.
            if plans.last().is_none_or(|plan| path == Path::Direct && plan.bounds.widest(1.0) > wide) {
                plans.push(Plan { bounds: Bounds::new(&steps, shape, arithmetic, path), steps });
            }
        }
        Self { plans, wide }
    }

    /// Minimax polynomials of so many steps for a rows×cols matrix, evaluated as X ← X(aI + bG + cG²), G = XᵀX.
    pub fn direct(rows: usize, cols: usize, steps: RangeInclusive<u8>, arithmetic: Arithmetic) -> Self {
        let half_of_single = 0.5 * f64::from(f32::EPSILON);
        let of = |steps: u8| match arithmetic {
            Arithmetic::Plain(epsilon) => minimax(steps, 0.5 * epsilon),
            Arithmetic::Short => with_margin(steps, half_of_single, Margin::Wide),
        };
        Self::new(steps.map(of).collect(), Shape { rows, cols }, arithmetic, Path::Direct)
    }

    /// Newton–Schulz with the paper's coefficients, 1 to 6 steps of it, evaluated as [`Polynomials::direct`] does.
    pub fn newton_schulz(rows: usize, cols: usize, steps: u8, arithmetic: Arithmetic) -> Self {
        let steps = newton_schulz::newton_schulz(steps.min(newton_schulz::MOST));
        Self::new(vec![steps], Shape { rows, cols }, arithmetic, Path::Direct)
    }

    /// One minimax polynomial of so many steps in `f64`, evaluated on G alone: X(aI + bG + cG²)…, G ← G(aI + bG + cG²)². `None` where
    /// rounding would show.
    pub fn in_gram_space(rows: usize, cols: usize, steps: u8) -> Option<Self> {
        let (shape, steps) = (Shape { rows, cols }, minimax(steps, 0.5 * f64::EPSILON));
        let serves = Self::serve_in_gram_space(&steps, shape, f64::EPSILON);
        serves.then(|| Self::new(vec![steps], shape, Arithmetic::Plain(f64::EPSILON), Path::GramSpace))
    }

    /// Whether a polynomial loses next to nothing in Gram space.
    pub(super) fn serve_in_gram_space(steps: &[Quintic], shape: Shape, epsilon: f64) -> bool {
        let bounds = Bounds::new(steps, shape, Arithmetic::Plain(epsilon), Path::GramSpace);
        bounds.slack(1.0) <= GRAM_SPACE_SLACK
    }

    #[cfg(test)]
    pub(super) fn first(&self) -> &Bounds {
        &self.plans[0].bounds
    }

    /// s/‖φ‖_F for X = φ/‖φ‖_F, from the computed ‖(XᵀX)²‖_F.
    pub fn scale(&self, fourth: f64) -> f64 {
        self.plans[0].bounds.scale(fourth)
    }

    /// The shortest whose bracket cannot be too wide at this s/‖φ‖_F; if there is none, the one with the tightest.
    pub fn choose(&self, s: f64) -> usize {
        let mut best = (0, f64::INFINITY);
        for (at, plan) in self.plans.iter().enumerate() {
            match plan.bounds.widest(s) {
                widest if widest <= self.wide => return at,
                widest if widest < best.1 => best = (at, widest),
                _ => {}
            }
        }
        best.0
    }

    /// The quintics of one of them.
    pub fn steps(&self, chosen: usize) -> &[Quintic] {
        &self.plans[chosen].steps
    }

    /// What is known of the direction that one of them gave.
    pub fn answer(&self, chosen: usize, found: Found, frobenius: f64) -> Answer {
        self.plans[chosen].bounds.answer(found, frobenius)
    }

    /// η and ξ that no answer exceeds, whatever φ: the one that is taken has a bracket no wider than `wide`, or than the tightest has
    /// at worst.
    pub fn inexactness(&self) -> Inexactness {
        match &self.plans[..] {
            [plan] => plan.bounds.inexactness(),
            plans => {
                let tightest = plans.iter().map(|plan| plan.bounds.widest(1.0)).fold(f64::INFINITY, f64::min);
                let proven = plans.iter().all(|plan| plan.bounds.is_proven());
                let each = plans.iter().map(|plan| plan.bounds.rounded(tightest.max(self.wide).min(1.0), proven));
                each.fold(Inexactness::NONE, Inexactness::or)
            }
        }
    }
}
