//! Findings as people read them.

use std::fmt::{Display, Formatter, Result};

use crate::check::{Checked, Finding};
use crate::real::Real;

/// Entries of a point that are shown.
const SHOWN: usize = 6;

impl<S: Real> Display for Finding<S> {
    /// A line for a law that holds; where it fails, the two sides, what more is known, and the points.
    fn fmt(&self, to: &mut Formatter<'_>) -> Result {
        let mark = match (self.holds, self.tests) {
            (true, 0) => "untold",
            (true, _) => "holds ",
            (false, _) => "FAILS ",
        };
        write!(to, "{mark} {} {}: {}", self.term.name(), self.law, self.formula)?;
        if self.holds {
            return write!(to, " ({} times)", self.tests);
        }
        write!(to, "\n       {} against {}, rounding {:.0e}", number(self.left), number(self.right), self.slack)?;
        if !self.advice.is_empty() {
            write!(to, "\n       {}", self.advice)?;
        }
        for (name, point) in &self.witness {
            write!(to, "\n       {name} = {}", brief(point))?;
        }
        Ok(())
    }
}

impl<S: Real> Display for Checked<S> {
    fn fmt(&self, to: &mut Formatter<'_>) -> Result {
        self.findings.iter().try_for_each(|finding| writeln!(to, "{finding}"))
    }
}

fn number(value: f64) -> String {
    let plain = value == 0.0 || (1e-4..1e7).contains(&value.abs()) || !value.is_finite();
    if plain { format!("{}", (value * 1e6).round() / 1e6) } else { format!("{value:.6e}") }
}

/// A point: all of a short one; of a long one the entries that are not 0, if they are few, else the first.
fn brief<S: Real>(point: &[S]) -> String {
    let list = |entries: &[S]| entries.iter().map(|v| number(v.f64())).collect::<Vec<_>>().join(", ");
    match point {
        [one] => number(one.f64()),
        few if few.len() <= SHOWN => format!("[{}]", list(few)),
        many => {
            let set: Vec<usize> = (0..many.len()).filter(|&i| many[i] != S::ZERO).take(SHOWN + 1).collect();
            if set.len() > SHOWN {
                return format!("[{}, …] ({} entries)", list(&many[..SHOWN]), many.len());
            }
            let told = set.iter().map(|&i| format!("{} at entry {i}", number(many[i].f64())));
            let told: Vec<String> = told.chain(["0 elsewhere".into()]).collect();
            format!("{} ({} entries)", told.join(", "), many.len())
        }
    }
}
