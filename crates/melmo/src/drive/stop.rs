//! When a run stops.

use std::time::Duration;

/// How small both certificate numbers have to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Epsilon {
    /// ‖∇f(x) + T*w‖_* ≤ ε and ‖Tx − z‖₂ ≤ ε.
    Absolute(f64),
    /// Each at most ε times its value at the very start, x₁ with β₁ (the gap: ε itself where that value is 0); a resumed run
    /// keeps its start's values.
    Relative(f64),
}

/// How far F(x) may be from F*, where a lower bound on F* exists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gap {
    /// F(x) − F* ≤ gap.
    Absolute(f64),
    /// F(x) − F* ≤ gap·|F(x)|.
    Relative(f64),
}

impl Gap {
    /// What F(x) − F* must not exceed at an F(x).
    pub fn limit(self, objective: f64) -> f64 {
        match self {
            Self::Absolute(gap) => gap,
            Self::Relative(gap) => gap * objective.abs(),
        }
    }
}

/// When to stop. The number of steps always limits a run; the rest is optional.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// At most so many steps.
    pub iterations: u64,
    /// At most so much time. Where steps take longer than half a second, one that would end too late is not begun.
    pub time: Option<Duration>,
    /// Until a certificate.
    pub epsilon: Option<Epsilon>,
    /// Until F(x) − F* is proven to be small. Where no bound exists it never is: ask [`can_bound`](crate::certificate::can_bound).
    pub gap: Option<Gap>,
    /// ‖y‖₂ of every minimiser y is at most this: for bounds on F* that need to know.
    pub radius: Option<f64>,
    /// Until there is nothing more to do: ‖∇f(x) + T*w‖₂ ≤ tolerance·(‖∇f(x)‖₂ + ‖T*w‖₂) and ‖Tx − z‖₂ ≤ tolerance·‖Tx‖₂, or
    /// F(x) − F* ≤ tolerance·|F(x)|. It knows no scale, and nothing of the start.
    pub tolerance: Option<f64>,
    /// Until F ≤ target.
    pub target: Option<f64>,
}

impl Stop {
    /// After so many steps.
    pub fn after(iterations: u64) -> Self {
        Self { iterations, time: None, epsilon: None, gap: None, radius: None, tolerance: None, target: None }
    }

    /// Also when both certificate numbers are at most ε.
    pub fn at_epsilon(self, epsilon: Epsilon) -> Self {
        Self { epsilon: Some(epsilon), ..self }
    }

    /// Also where there is nothing more to do.
    pub fn at_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance: Some(tolerance), ..self }
    }

    /// Also where F(x) − F* is proven to be small.
    pub fn at_gap(self, gap: Gap) -> Self {
        Self { gap: Some(gap), ..self }
    }
}
