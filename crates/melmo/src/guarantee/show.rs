//! Guarantees as text.

use std::fmt;

use super::{Count, Facts, Guarantee, Rate, Verdict};

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Iterations { exponent, .. } if exponent >= 0.0 => write!(f, "does not shrink"),
            Self::Iterations { exponent, log } => {
                write!(f, "O({}k^{})", if log { "log k · " } else { "" }, Fraction(exponent))
            }
            Self::Certificate { exponent } => write!(f, "an ε-certificate in O(ε^{}) steps", Fraction(exponent)),
            Self::Residuals { exponent } => {
                write!(f, "‖∇f(x) + T*w‖₂ and ‖Tx − z‖₂, w ∈ ∂g(z), are O(k^{})", Fraction(exponent))
            }
            Self::Unknown => write!(f, "nothing is proven"),
        }
    }
}

/// Writes an exponent as the small fraction it is, where it is one.
struct Fraction(f64);

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let small = (1..=24).find(|&d| (self.0 * d as f64 - (self.0 * d as f64).round()).abs() < 1e-9);
        match small {
            Some(1) => write!(f, "{}", self.0.round()),
            Some(d) => write!(f, "({}/{d})", (self.0 * d as f64).round()),
            None => write!(f, "{:.3}", self.0),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proven => write!(f, "proven"),
            Self::UpTo(left) => write!(f, "proven up to: {}", left.join("; ")),
            Self::NoProof(reason) => write!(f, "no proof: {reason}"),
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.regime)?;
        if self.smoothed != Rate::Unknown {
            let two = self.smoothed.is_of_gradients();
            if two {
                writeln!(f, "  smoothed gradient ‖∇F_β(x)‖_*: {}", self.smoothed)?;
                writeln!(f, "  composite measure dist(−∇f(x̃), T*∂g(Tx̃)): {}", self.composite)?;
            } else {
                writeln!(f, "  {}", self.smoothed)?;
            }
            constants(f, &self.facts)?;
            if let Some(count) = &self.count {
                writeln!(f, "  {count}")?;
            }
            for condition in self.conditions.iter().chain(two.then_some(&self.surjective)) {
                let mark = if condition.holds { "holds" } else { "fails, or is not known to hold" };
                writeln!(f, "  {}: {mark}", condition.statement)?;
            }
            let bounds = match (self.applies(), self.applies_to_composite()) {
                (true, true) => "both bounds apply",
                (true, false) if !two => "it applies",
                (true, false) => "only the bound on the smoothed gradient applies",
                _ => "the theorem does not apply as it stands; the method runs, without this promise",
            };
            writeln!(f, "  so: {bounds}")?;
        }
        write!(f, "  {}", self.verdict())
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "N(ε) = {}, in {}", self.formula, self.of)?;
        self.constants.iter().enumerate().try_for_each(|(at, (name, value))| {
            let number = value.map_or("not known".into(), |value| format!("{value:.4}"));
            write!(f, "{}{name}: {number}", if at == 0 { "; " } else { ", " })
        })
    }
}

fn constants(f: &mut fmt::Formatter<'_>, facts: &Facts) -> fmt::Result {
    let known = |value: Option<f64>| value.map_or("none known".into(), |value| format!("{value:.4}"));
    let Facts { rho, lipschitz_f, lipschitz_g, operator_squared, infimum, start, oracle, .. } = *facts;
    writeln!(f, "  ρ = {rho:.4}, L_g: {}", known(lipschitz_g))?;
    writeln!(f, "  in the norm of the steps, L_f: {}, ‖T‖² ≤ {operator_squared:.4}", known(lipschitz_f))?;
    writeln!(f, "  F(x₁): {}, inf F at least: {}", known(start), known(infimum))?;
    match oracle {
        Some(oracle) => {
            let rounding = if oracle.proven { "" } else { ", for rounding of its usual size" };
            writeln!(f, "  oracle: η ≤ {:.4}, ξ ≤ {:.4} on every φ of this shape{rounding}", oracle.eta, oracle.excess)
        }
        None => writeln!(f, "  oracle: no η below 1 is known for every φ of this shape"),
    }
}
