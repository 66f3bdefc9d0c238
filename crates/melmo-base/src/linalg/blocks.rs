//! Long sums of products, in blocks of fixed size: the order of summation, and so every bit of the result, is fixed, and the
//! error hardly grows with the length.
//!
//! A block's [`BLOCK`] terms are summed in any order; the blocks of a [`STRETCH`] are added in their order; so are the
//! stretches. A term of the sum has then been rounded [`roundings`] times at most, and the sum is off by no more than so many
//! units of rounding times the sum of the terms' sizes, whatever they are (docs/brackets.md).

use std::cell::Cell;
use std::ops::Range;

/// Terms of a block: what the linear algebra crate keeps packed at a time.
pub(super) const BLOCK: usize = 512;

/// Terms of a stretch: 32 blocks.
pub(super) const STRETCH: usize = 32 * BLOCK;

/// How often a term of a sum of so many products is rounded at most, its own rounding included.
pub fn roundings(terms: usize) -> f64 {
    (terms.min(BLOCK) + terms.min(STRETCH).div_ceil(BLOCK) + terms.div_ceil(STRETCH)) as f64
}

/// The blocks of a range.
pub(super) fn blocks(of: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    of.clone().step_by(BLOCK).map(move |from| from..(from + BLOCK).min(of.end))
}

/// C ← the sum over all terms, `part` being C ← that over a stretch of them.
pub(super) fn in_stretches<T: Lent + std::ops::AddAssign>(
    c: &mut [T],
    terms: usize,
    mut part: impl FnMut(&mut [T], Range<usize>),
) {
    part(c, 0..terms.min(STRETCH));
    if terms > STRETCH {
        T::lend(Place::Stretch, c.len(), |next| {
            for from in (STRETCH..terms).step_by(STRETCH) {
                part(next, from..(from + STRETCH).min(terms));
                c.iter_mut().zip(&*next).for_each(|(c, &next)| *c += next);
            }
        });
    }
}

/// What memory is lent for.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// The sum of a stretch.
    Stretch,
    /// The sums of its blocks.
    Blocks,
}

/// Memory that a thread keeps for the sums of stretches and blocks.
pub(super) trait Lent: Copy + 'static {
    fn lend(place: Place, len: usize, work: impl FnOnce(&mut [Self]));
}

macro_rules! lent {
    ($($t:ty),*) => {$(
        impl Lent for $t {
            fn lend(place: Place, len: usize, work: impl FnOnce(&mut [Self])) {
                thread_local!(static KEPT: [Cell<Vec<$t>>; 2] = const { [Cell::new(Vec::new()), Cell::new(Vec::new())] });
                let mut kept = KEPT.with(|kept| kept[place as usize].take());
                kept.resize(len.max(kept.len()), 0.0);
                work(&mut kept[..len]);
                KEPT.with(|places| places[place as usize].set(kept));
            }
        }
    )*};
}
lent!(f32, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_is_in_one_block() {
        for terms in [1, 511, 512, 513, 16384, 16385, 100_000] {
            let mut seen = [0.0f64];
            in_stretches(&mut seen, terms, |c, stretch| c[0] = blocks(stretch).map(|block| block.len() as f64).sum());
            assert_eq!(seen[0], terms as f64);
        }
    }

    #[test]
    fn roundings_are_few() {
        let counted = [(1, 3.0), (100, 102.0), (512, 514.0), (1000, 515.0), (1_000_000, 512.0 + 32.0 + 62.0)];
        assert!(counted.iter().all(|&(terms, expected)| roundings(terms) == expected));
    }
}
