//! The weights as they were learned (`training/`), read from the text that the program holds.

use std::sync::OnceLock;

use melmo::penalty::Spline;

use crate::error::Error;

/// Filters in families; a family shares a potential.
pub(super) struct Weights {
    /// Filters are side×side.
    pub side: usize,
    /// Where potentials bend, before they are scaled.
    knots: Vec<f64>,
    /// The logarithm of the noise, as part of the full range, at which scales and values are known.
    nodes: Vec<f64>,
    families: Vec<Family>,
}

#[derive(Default)]
struct Family {
    /// The logarithm of α times the noise at each node.
    scale: Vec<f64>,
    /// ψ′ at the knots, node after node.
    values: Vec<f64>,
    /// Filters, one after another.
    filters: Vec<f64>,
}

/// Of the plain prior: read once.
pub(super) fn plain() -> Result<&'static Weights, Error> {
    static READ: OnceLock<Option<Weights>> = OnceLock::new();
    whole(READ.get_or_init(|| Weights::read(include_str!("plain.txt"))))
}

/// Of a plain prior of fewer and smaller filters, for a first picture: read once.
pub(super) fn first() -> Result<&'static Weights, Error> {
    static READ: OnceLock<Option<Weights>> = OnceLock::new();
    whole(READ.get_or_init(|| Weights::read(include_str!("first.txt"))))
}

/// Of the prior whose potentials follow the picture: read once.
pub(super) fn adapted() -> Result<&'static Weights, Error> {
    static READ: OnceLock<Option<Weights>> = OnceLock::new();
    whole(READ.get_or_init(|| Weights::read(include_str!("adapted.txt"))))
}

/// What was read, or why it cannot be used.
pub(super) fn whole<T>(read: &'static Option<T>) -> Result<&'static T, Error> {
    let refused = || Error::input("the learned prior", "weights that cannot be read", "those of training/export.py");
    read.as_ref().ok_or_else(refused)
}

impl Weights {
    /// A name and numbers a line; every `scale` begins a family.
    fn read(text: &str) -> Option<Self> {
        let mut read = Self { side: 0, knots: Vec::new(), nodes: Vec::new(), families: Vec::new() };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, numbers) = line.split_once(' ')?;
            let numbers: Vec<f64> = numbers.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
            match name {
                "side" => read.side = numbers[0] as usize,
                "knots" => read.knots = numbers,
                "nodes" => read.nodes = numbers.iter().map(|node| (node / 255.0).ln()).collect(),
                "scale" => read.families.push(Family { scale: numbers, ..Family::default() }),
                "values" => read.families.last_mut()?.values = numbers,
                "filter" => read.families.last_mut()?.filters.extend(numbers),
                _ => return None,
            }
        }
        let (nodes, taps) = (read.nodes.len(), read.side * read.side);
        let whole = |family: &Family| {
            let sizes = [family.scale.len(), family.values.len()] == [nodes, nodes * read.knots.len()];
            sizes && !family.filters.is_empty() && family.filters.len().is_multiple_of(taps.max(1))
        };
        (nodes > 1 && !read.families.is_empty() && read.families.iter().all(whole)).then_some(read)
    }

    /// How many filters there are.
    pub fn channels(&self) -> usize {
        self.filters().count() / (self.side * self.side)
    }

    /// The family of each filter.
    pub fn family(&self) -> impl Iterator<Item = usize> {
        let count = |family: &Family| family.filters.len() / (self.side * self.side);
        self.families.iter().enumerate().flat_map(move |(f, family)| std::iter::repeat_n(f, count(family)))
    }

    /// All filters, one after another.
    pub fn filters(&self) -> impl Iterator<Item = &f64> {
        self.families.iter().flat_map(|family| &family.filters)
    }

    /// The potential of each filter for data in units of the noise: between the nodes everything is linear in its logarithm, beyond them as at the
    /// last one.
    pub fn potentials(&self, noise: f64) -> Result<Vec<Spline>, Error> {
        let last = self.nodes.len() - 1;
        let place = noise.max(f64::MIN_POSITIVE).ln().clamp(self.nodes[0], self.nodes[last]);
        let right = self.nodes.partition_point(|&node| node < place).clamp(1, last);
        let t = (place - self.nodes[right - 1]) / (self.nodes[right] - self.nodes[right - 1]);
        let mut potentials = Vec::new();
        for family in &self.families {
            let knots = self.knots.len();
            let scale = (1.0 - t) * family.scale[right - 1] + t * family.scale[right];
            let [before, after] = [right - 1, right].map(|node| &family.values[node * knots..][..knots]);
            let values: Vec<f64> = before.iter().zip(after).map(|(a, b)| (1.0 - t) * a + t * b).collect();
            let spline = Spline::new(&self.knots, &values)?.scaled(scale.exp())?;
            potentials.extend(std::iter::repeat_n(spline, family.filters.len() / (self.side * self.side)));
        }
        Ok(potentials)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_whole() {
        for weights in [plain().unwrap(), first().unwrap(), adapted().unwrap()] {
            assert_eq!(weights.filters().count() % (weights.side * weights.side), 0);
            assert_eq!(weights.potentials(0.1).unwrap().len(), weights.channels());
            assert_eq!(weights.family().count(), weights.channels());
        }
    }

    #[test]
    fn what_is_no_text_of_weights_is_refused() {
        for text in [
            "",
            "side 3",
            "side x",
            "nonsense 1",
            "values 1",
            "side 1\nknots 1\nnodes 1 2\nscale 1 1\nvalues 1\nfilter 1",
        ] {
            assert!(Weights::read(text).is_none(), "{text}");
        }
    }
}
