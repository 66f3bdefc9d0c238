//! Newton rounds, for losses that are not quadratic: sweeps on a quadratic model of f, then a step towards its minimiser.

use std::ops::ControlFlow;

use crate::penalty::Coordinates;
use crate::real::Real;
use crate::solver::coordinate::descent::{Descent, ENOUGH, WHOLE};
use crate::vector;

/// Models of one round, at most.
const MODELS: usize = 20;
/// Sweeps over one model, at most.
const SWEEPS: usize = 100;
/// Sweeps over a model end when what moves is so small next to the first sweep's moves.
const INNER: f64 = 0.05;
/// Halvings of a step, at most.
const HALVINGS: i32 = 12;
/// A step has to lower F by this part of what the model promises.
const ARMIJO: f64 = 1e-3;

/// The model f(x) + ⟨h′, Ad⟩ + ½Σwᵢ(Ad)ᵢ² with w = h″(Ax), around the point that the round stands at.
pub(super) struct Newton<S> {
    weights: Vec<S>,
    /// h′ + w⊙Ad.
    residual: Vec<S>,
    /// Ad.
    moved: Vec<S>,
    /// Σwᵢaᵢⱼ² summed over the entries of a unit: above the curvature of the model along it.
    curvature: Vec<f64>,
    /// x and x + d on the set's entries, in their order.
    from: Vec<S>,
    target: Vec<S>,
}

impl<S: Real> Newton<S> {
    pub fn new(rows: usize, units: usize, entries: usize) -> Self {
        let [weights, residual, moved] = [(); 3].map(|()| vec![S::ZERO; rows]);
        let [from, target] = [(); 2].map(|()| vec![S::ZERO; entries]);
        Self { weights, residual, moved, curvature: vec![0.0; units], from, target }
    }
}

impl<S: Real> Descent<'_, S> {
    /// Models and steps on the set, until a model's first sweep moves little more than `ENOUGH` of the largest score. F never rises.
    /// Yuan, Ho and Lin, "An improved GLMNET" (2012). Where no step along d lowers F, false: plain sweeps then go on.
    pub(super) fn newton_round(
        &mut self,
        g: &dyn Coordinates<S>,
        largest: f64,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> ControlFlow<(), bool> {
        for _ in 0..MODELS {
            let before = self.model.value() + self.set_penalty(g);
            self.build();
            let first = self.minimise(g, go_on)?;
            if !self.walk(g, before) {
                return ControlFlow::Continue(false);
            }
            if first <= ENOUGH * largest {
                break;
            }
        }
        ControlFlow::Continue(true)
    }

    /// The model at the point where the round stands.
    fn build(&mut self) {
        let Self { model, newton, set, set_entries, x, entries, offsets, .. } = self;
        let Newton { weights, residual, curvature, target, .. } = newton;
        model.bends(weights);
        residual.copy_from_slice(model.slopes());
        for &c in &*set {
            let members = &entries[offsets[c]..offsets[c + 1]];
            curvature[c] = members.iter().map(|&j| model.weighted_square(j, weights)).sum();
        }
        target.iter_mut().zip(&*set_entries).for_each(|(target, &j)| *target = x[j]);
    }

    /// Sweeps over the model; returns the largest L_c‖change of x_c‖ of the first.
    fn minimise(&mut self, g: &dyn Coordinates<S>, go_on: &mut dyn FnMut() -> ControlFlow<()>) -> ControlFlow<(), f64> {
        let (mut first, mut whole) = (0.0, true);
        for sweep in 0..SWEEPS {
            let moved = self.sweep_model(g, whole);
            first = if sweep == 0 { moved } else { first };
            let enough = moved <= INNER * first || moved.is_nan();
            if enough && whole {
                break;
            }
            whole = enough || (sweep + 1) % WHOLE == 0;
            go_on()?;
        }
        ControlFlow::Continue(first)
    }

    /// x_c + d_c ← prox_{g_c/L_c}(x_c + d_c − ∇_c/L_c) over the set, ∇ that of the model, or over what is not zero of
    /// it; returns the largest L_c‖change‖.
    fn sweep_model(&mut self, g: &dyn Coordinates<S>, whole: bool) -> f64 {
        let Self { model, newton, set, entries, offsets, unit, .. } = self;
        let Newton { weights, residual, curvature, target, .. } = newton;
        let (mut largest, mut at) = (0.0, 0);
        for &c in &*set {
            let members = &entries[offsets[c]..offsets[c + 1]];
            let here = &mut target[at..at + members.len()];
            at += members.len();
            if !whole && here.iter().all(|&v| v == S::ZERO) {
                continue;
            }
            let modulus = curvature[c].max(2.0 * g.rho_of(c));
            let modulus = if modulus > 0.0 { modulus } else { 1.0 };
            let unit = &mut unit[..members.len()];
            for ((u, &j), &v) in unit.iter_mut().zip(members).zip(&*here) {
                *u = v - S::of(model.dot(j, residual) / modulus);
            }
            g.prox_of(c, unit, 1.0 / modulus);
            let mut squared = 0.0;
            for ((&u, &j), v) in unit.iter().zip(members).zip(here) {
                let change = u.f64() - v.f64();
                if change != 0.0 {
                    model.add_weighted(j, change, weights, residual);
                    *v = u;
                    squared += change * change;
                }
            }
            let moved = modulus * squared.sqrt();
            largest = if moved <= largest { largest } else { moved };
        }
        largest
    }

    /// x ← x + td with the first t = 1, ½, ¼, … at which F falls by a part of what the model promises; false, and x as it was,
    /// where there is none.
    fn walk(&mut self, g: &dyn Coordinates<S>, before: f64) -> bool {
        self.model.keep();
        let penalty = self.set_penalty(g);
        let Self { model, newton: Newton { moved, from, target, .. }, set_entries, x, .. } = self;
        moved.fill(S::ZERO);
        for ((&j, from), target) in set_entries.iter().zip(from).zip(target) {
            *from = x[j];
            let change = target.f64() - from.f64();
            if change != 0.0 {
                model.add(j, change, moved);
            }
        }
        let slope = vector::dot(model.slopes(), moved);
        self.place(1.0);
        // Where a penalty is not convex the model may promise a rise: F has to fall all the same.
        let promised = (slope + self.set_penalty(g) - penalty).min(0.0);
        for length in (0..HALVINGS).map(|halvings| 0.5f64.powi(halvings)) {
            self.place(length);
            let after = self.model.value_along(&self.newton.moved, length) + self.set_penalty(g);
            if after <= before + ARMIJO * length * promised {
                return true;
            }
        }
        self.place(0.0);
        self.model.go_back();
        false
    }

    /// x ← from + t(target − from) on the set.
    fn place(&mut self, t: f64) {
        let Newton { from, target, .. } = &self.newton;
        for ((&j, from), &target) in self.set_entries.iter().zip(from).zip(target) {
            let between = || S::of(from.f64() + t * (target.f64() - from.f64()));
            self.x[j] = if t == 1.0 { target } else { between() };
        }
    }
}
