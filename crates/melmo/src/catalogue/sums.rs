//! Sums of penalties: which of them have a prox that is known, and in which order.

use crate::block::Layout;
use crate::catalogue::{Arguments, Lift, PenaltyRow, find, penalties};
use crate::error::Error;
use crate::penalty::{Prox, Sum};
use crate::real::Real;

/// A penalty of a sum.
pub struct Addend<S> {
    /// Its row.
    pub row: PenaltyRow<S>,
    /// Its parameters.
    pub arguments: Arguments,
    /// What it is applied to.
    pub lift: Lift<S>,
}

/// What the addends amount to, in the order of their proxes.
struct Parts<'a, S> {
    /// Σλ of λ|x| on entries.
    lambda: f64,
    /// Σν of ν/2·‖u‖².
    nu: f64,
    /// No entry may be negative.
    sign: bool,
    /// λ|x| and signs of entries, with weights.
    weighted: Vec<&'a Addend<S>>,
    /// λ‖·‖ of norms, or of singular values.
    radial: Vec<&'a Addend<S>>,
    /// Any other ψ, with what it is applied to; there can be one.
    other: Option<(&'a Addend<S>, Lift<S>)>,
    boxes: Vec<&'a Addend<S>>,
}

/// The sum of penalties, where its prox is known exactly; `None` where it is not.
///
/// Known are: a ridge with anything; λ|x| of entries (weighted or not) and a sign with one other ψ of entries, rows, columns, pixels or
/// groups; λ‖·‖ with another ψ of the same norms or singular values; and a box with whatever is of entries. What a single penalty of the
/// catalogue is (ℓ1 and a ridge, any ψ and a sign), is built as that one.
pub fn sum<S: Real>(addends: &[Addend<S>], layout: &Layout) -> Result<Option<Box<dyn Prox<S>>>, Error> {
    for addend in addends {
        (addend.row.build)(&addend.arguments, &addend.lift, layout)?; // what cannot be built alone says why
    }
    let Some(parts) = Parts::of(addends) else { return Ok(None) };
    parts.expect_a_point()?;
    parts.build(layout).map(Some)
}

/// A lift without its weights, and whether it had any.
fn bare<S>(lift: &Lift<S>) -> (&Lift<S>, bool) {
    match lift {
        Lift::Weighted(lift, _) => (lift, true),
        lift => (lift, false),
    }
}

impl<'a, S: Real> Parts<'a, S> {
    fn of(addends: &'a [Addend<S>]) -> Option<Self> {
        let mut parts = Self {
            lambda: 0.0,
            nu: 0.0,
            sign: false,
            weighted: Vec::new(),
            radial: Vec::new(),
            other: None,
            boxes: Vec::new(),
        };
        for addend in addends {
            parts.take(addend)?;
        }
        parts.are_exact().then_some(parts)
    }

    fn take(&mut self, addend: &'a Addend<S>) -> Option<()> {
        use Lift::{Columns, Entries, Nonnegative, Pixels, Rows, SingularValues};
        let (lift, weighted) = bare(&addend.lift);
        let number = |name| addend.arguments.number(name);
        match (addend.row.entry.name, lift, weighted) {
            ("ridge", Entries | Rows | Columns | Pixels | SingularValues, false) => self.nu += number("nu"),
            ("l1", Entries, false) => self.lambda += number("lambda"),
            ("elastic-net", Entries, false) => {
                self.lambda += number("lambda");
                self.nu += number("nu");
            }
            ("nonnegative", Entries, false) => self.sign = true,
            ("l1", Nonnegative, false) => {
                self.sign = true;
                self.lambda += number("lambda");
            }
            ("l1" | "nonnegative", Entries, true) => self.weighted.push(addend),
            ("box", ..) => self.boxes.push(addend),
            ("l1", lift, _) if !matches!(lift, Nonnegative) => self.radial.push(addend),
            _ if self.other.is_some() => return None,
            (_, Nonnegative, _) => {
                self.sign = true;
                let entries = match &addend.lift {
                    Lift::Weighted(_, weights) => Entries.weighted(weights.clone()),
                    _ => Entries,
                };
                self.other = Some((addend, entries));
            }
            _ => self.other = Some((addend, addend.lift.clone())),
        }
        Some(())
    }

    /// The proxes can follow one another.
    fn are_exact(&self) -> bool {
        let other = self.other.iter().map(|(_, lift)| bare(lift).0);
        let mut norms = self.radial.iter().map(|addend| bare(&addend.lift).0).chain(other);
        let Some(first) = norms.next() else { return true };
        let of_entries = self.lambda > 0.0 || self.sign || !self.weighted.is_empty() || !self.boxes.is_empty();
        match first {
            Lift::Entries => norms.next().is_none(),
            Lift::SingularValues => norms.all(|lift| lift == first) && !of_entries,
            _ => norms.all(|lift| lift == first) && self.boxes.is_empty(),
        }
    }

    /// Refuses boxes that have no point in common.
    fn expect_a_point(&self) -> Result<(), Error> {
        let whole = self.boxes.iter().filter(|addend| !bare(&addend.lift).1);
        let start = (if self.sign { 0.0 } else { f64::NEG_INFINITY }, f64::INFINITY);
        let (lower, upper) = whole.fold(start, |(lower, upper), addend| {
            let end = |name| addend.arguments.number(name);
            (end("lower").max(lower), end("upper").min(upper))
        });
        match lower <= upper {
            true => Ok(()),
            false => {
                Err(Error::Unsupported(format!("no number is at least {lower} and at most {upper}, as the sum asks")))
            }
        }
    }

    fn build(&self, layout: &Layout) -> Result<Box<dyn Prox<S>>, Error> {
        let plain = self.weighted.is_empty() && self.radial.is_empty() && self.boxes.is_empty();
        let entries = || if self.sign { Lift::Nonnegative } else { Lift::Entries };
        match &self.other {
            None if plain && self.lambda > 0.0 && self.nu > 0.0 => {
                return named("elastic-net", &[("lambda", self.lambda), ("nu", self.nu)], &entries(), layout);
            }
            None if plain && self.lambda > 0.0 => return named("l1", &[("lambda", self.lambda)], &entries(), layout),
            None if plain && self.nu > 0.0 => return named("ridge", &[("nu", self.nu)], &entries(), layout),
            Some((addend, Lift::Entries)) if plain && self.lambda == 0.0 && self.nu == 0.0 => {
                return (addend.row.build)(&addend.arguments, &entries(), layout);
            }
            _ => {}
        }
        Ok(Box::new(Sum::new(self.in_order(layout)?, self.nu)?))
    }

    fn in_order(&self, layout: &Layout) -> Result<Vec<Box<dyn Prox<S>>>, Error> {
        let mut parts = Vec::new();
        if self.lambda > 0.0 {
            parts.push(named("l1", &[("lambda", self.lambda)], &Lift::Entries, layout)?);
        }
        if self.sign {
            parts.push(named("nonnegative", &[], &Lift::Entries, layout)?);
        }
        let build = |addend: &Addend<S>, lift: &Lift<S>| (addend.row.build)(&addend.arguments, lift, layout);
        for addend in self.weighted.iter().chain(&self.radial) {
            parts.push(build(addend, &addend.lift)?);
        }
        if let Some((addend, lift)) = &self.other {
            parts.push(build(addend, lift)?);
        }
        for addend in &self.boxes {
            parts.push(build(addend, &addend.lift)?);
        }
        Ok(parts)
    }
}

/// A penalty by its name.
fn named<S: Real>(
    name: &str,
    given: &[(&str, f64)],
    lift: &Lift<S>,
    layout: &Layout,
) -> Result<Box<dyn Prox<S>>, Error> {
    let rows = penalties::<S>();
    let row = find("penalty", &rows, name)?;
    (row.build)(&Arguments::new(&row.entry, given)?, lift, layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::{Form, Shape};

    fn addend(name: &str, lift: Lift<f64>) -> Addend<f64> {
        let row = penalties::<f64>().into_iter().find(|row| row.entry.name == name).unwrap();
        Addend { arguments: Arguments::defaults(&row.entry).unwrap(), row, lift }
    }

    fn built(addends: &[Addend<f64>]) -> Option<Box<dyn Prox<f64>>> {
        sum(addends, &Layout::matrix(3, 4).unwrap()).unwrap()
    }

    #[test]
    fn what_has_a_name_is_built_by_it() {
        let net = built(&[addend("l1", Lift::Entries), addend("ridge", Lift::Rows), addend("l1", Lift::Entries)]);
        let net = net.unwrap();
        let Form::Entries { psi, .. } = net.form() else { panic!("no form") };
        assert_eq!(psi.shape, Shape::ElasticNet { lambda: 2.0, nu: 1.0 });
        let signed = built(&[addend("nonnegative", Lift::Entries), addend("mcp", Lift::Entries)]).unwrap();
        let Form::Entries { psi, .. } = signed.form() else { panic!("no form") };
        assert!(psi.nonnegative && psi.shape == Shape::Mcp { lambda: 1.0, mu: 3.0 });
    }

    #[test]
    fn what_has_no_known_prox_is_said_to_have_none() {
        let (entries, rows, values) = (|| Lift::Entries, || Lift::Rows, || Lift::SingularValues);
        assert!(built(&[addend("mcp", entries()), addend("scad", entries())]).is_none());
        assert!(built(&[addend("l1", entries()), addend("l1", values())]).is_none());
        assert!(built(&[addend("l1", rows()), addend("l1", Lift::Columns)]).is_none());
        assert!(built(&[addend("mcp", entries()), addend("l1", rows())]).is_none());
        assert!(built(&[addend("box", entries()), addend("l1", rows())]).is_none());
        assert!(built(&[addend("nonnegative", entries()), addend("mcp", values())]).is_none());
        assert!(built(&[addend("l1", values()), addend("mcp", values()), addend("ridge", entries())]).is_some());
    }

    #[test]
    fn a_sign_belongs_to_even_penalties_weighted_or_not() {
        let layout = Layout::vector(2).unwrap();
        for lift in
            [Lift::Nonnegative, Lift::Nonnegative.weighted(vec![1.0, 2.0]), Lift::Nonnegative.weighted(vec![0.0, 1.0])]
        {
            let addends = [addend("box", lift.clone())];
            assert!(matches!(sum(&addends, &layout), Err(Error::Unsupported(_))));
            let g = sum(&[addend("l1", lift)], &layout).unwrap().unwrap();
            assert_eq!(g.value(&[-1.0, 1.0], &mut vec![0.0; g.work_len()]), f64::INFINITY);
        }
    }

    #[test]
    fn boxes_apart_are_refused() {
        let layout = Layout::vector(2).unwrap();
        let mut apart = addend("box", Lift::Entries);
        apart.arguments = Arguments::new(&apart.row.entry, &[("lower", 2.0), ("upper", 3.0)]).unwrap();
        assert!(matches!(sum(&[addend("box", Lift::Entries), apart], &layout), Err(Error::Unsupported(_))));
    }
}
