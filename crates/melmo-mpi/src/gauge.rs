//! The norm of the steps, on ranks: what each block of it takes together, and the move along its direction.

use melmo::block::Block;
use melmo::error::Error;
use melmo::geometry::{Answer, BlockNorm, Bracket, Geometry, Norm, Oracle, for_block, unit_factor};
use melmo::real::Real;
use melmo::vector::{self, ROUNDINGS};
use std::ops::Range;

use crate::fold::Fold;
use crate::plan::{Held, Plan};
use crate::talk::Talk;

/// A norm on every block, or one ℓ2 norm on all of x.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// ‖x‖₂ over all blocks.
    Euclidean,
    /// max_b ‖x_b‖/r_b: a norm and a radius for each block, in their order.
    Blocks(Vec<(Norm, f64)>),
}

impl Measure {
    /// The norms of blocks that a part of the problem was found to have; ‖x‖₂ of all where there are none.
    pub fn of(norms: Option<Vec<BlockNorm>>) -> Self {
        norms.map_or(Self::Euclidean, |norms| {
            Self::Blocks(norms.into_iter().map(|part| (part.norm, part.radius)).collect())
        })
    }
}

/// One block of it.
struct Part<S> {
    radius: f64,
    held: Held,
    kind: Kind<S>,
}

enum Kind<S> {
    /// Every rank has all of the block, and finds the same.
    Everywhere(Box<dyn Geometry<S>>, Norm),
    L2 {
        norm: f64,
    },
    Linf,
    /// The largest entry, where it is held here.
    L1 {
        at: Option<usize>,
    },
    /// Norms of the rows that are held.
    Row {
        norms: Vec<f64>,
    },
    /// Norms of all columns.
    Column {
        norms: Vec<f64>,
    },
    Fold(Box<Fold<S>>),
}

/// The norm on this rank.
pub(crate) struct Gauge<S> {
    /// One ℓ2 norm: of entries that count here.
    euclidean: Option<(Vec<Range<usize>>, f64)>,
    parts: Vec<Part<S>>,
    pub norms: Vec<BlockNorm>,
}

impl<S: Real> Gauge<S> {
    pub fn new(plan: &Plan, names: &[Block], measure: &Measure, oracle: Oracle, ranks: usize) -> Result<Self, Error> {
        let (mut start, mut whole) = (0, Vec::new());
        for (block, held) in names.iter().zip(&plan.blocks) {
            let (rows, cols) = held.sides(block);
            whole.push(Block { name: block.name.clone(), rows, cols, start });
            start += rows * cols;
        }
        let given = match measure {
            Measure::Euclidean => {
                let block = Block { name: "x".into(), rows: start, cols: 1, start: 0 };
                let norms = vec![BlockNorm { block, norm: Norm::L2, radius: 1.0 }];
                return Ok(Self { euclidean: Some((plan.counted.clone(), 0.0)), parts: Vec::new(), norms });
            }
            Measure::Blocks(given) => given,
        };
        Error::expect_len("norms (one a block)", whole.len(), given.len())?;
        let (mut parts, mut norms) = (Vec::new(), Vec::new());
        for (((held, local), block), &(norm, radius)) in plan.blocks.iter().zip(names).zip(whole).zip(given) {
            let kind = Kind::new(norm, oracle, held, local, ranks)?;
            parts.push(Part { radius: Error::expect_positive("radius", radius)?, held: held.clone(), kind });
            norms.push(BlockNorm { block, norm, radius });
        }
        Ok(Self { euclidean: None, parts, norms })
    }

    /// Brackets ‖φ‖_*, and remembers what the direction needs.
    pub fn oracle(&mut self, phi: &[S], squared: Option<f64>, talk: &mut Talk) -> Answer {
        let roundings = ROUNDINGS + talk.size() as f64;
        if let Some((counted, norm)) = &mut self.euclidean {
            *norm = match squared.filter(|squared| (1e-280..1e280).contains(squared)) {
                Some(squared) => squared.sqrt(),
                None => talk.hypot(norm_of(phi, counted)),
            };
            return Answer::rounded(*norm, roundings);
        }
        let mut total = Answer { dual_norm: Bracket::default(), decrease: 0.0, excess: 0.0 };
        let parts = self.parts.iter_mut().map(|part| {
            let answer = part.oracle(phi, talk);
            total.decrease += part.radius * answer.decrease;
            total.excess = total.excess.max(answer.excess);
            answer.dual_norm.times(part.radius)
        });
        total.dual_norm = Bracket::sum(parts);
        total
    }

    /// a with γd = aφ, where the direction is a multiple of the gradient.
    pub fn multiple(&self, gamma: f64) -> Option<f64> {
        let euclidean = self.euclidean.as_ref().map(|(_, norm)| -unit_factor::<S>(gamma, *norm));
        match &self.parts[..] {
            [Part { kind: Kind::L2 { norm }, radius, .. }] => Some(-unit_factor::<S>(gamma * radius, *norm)),
            _ => euclidean,
        }
    }

    /// y ← x + γd. Answers whether the rows beside this rank's own have to be asked for again.
    pub fn advance(&self, y: &mut [S], x: &[S], phi: &[S], gamma: f64) -> bool {
        if let Some(a) = self.multiple(gamma) {
            vector::add_scaled(y, x, a, phi);
            return false;
        }
        let mut stale = false;
        for part in &self.parts {
            stale |= part.advance(y, x, phi, gamma * part.radius);
        }
        stale
    }

    /// ‖φ‖_* to rounding.
    pub fn dual_norm(&mut self, phi: &[S], talk: &mut Talk) -> f64 {
        if let Some((counted, _)) = &self.euclidean {
            return talk.hypot(norm_of(phi, counted));
        }
        self.parts.iter_mut().map(|part| part.radius * part.dual_norm(phi, talk)).sum()
    }

    /// ‖v‖_* bracketed whatever rounding does; none for other norms than its own.
    pub fn proven(&mut self, v: &[S], norms: &[BlockNorm], talk: &mut Talk) -> Option<Bracket> {
        if norms != self.norms {
            return None;
        }
        let roundings = ROUNDINGS + 4.0 * talk.size() as f64;
        if let Some((counted, _)) = &self.euclidean {
            return Some(Bracket::rounded(talk.hypot(norm_of(v, counted)), roundings + 16.0));
        }
        let parts = self.parts.iter_mut().map(|part| Some(part.proven(v, roundings, talk)?.times(part.radius)));
        Some(Bracket::sum(parts.collect::<Option<Vec<_>>>()?.into_iter()))
    }
}

impl<S: Real> Kind<S> {
    fn new(norm: Norm, oracle: Oracle, held: &Held, local: &Block, ranks: usize) -> Result<Self, Error> {
        let Some(piece) = &held.piece else {
            return Ok(Self::Everywhere(for_block(norm, &Block { start: 0, ..local.clone() }, oracle)?, norm));
        };
        if held.planes > 1 && norm != Norm::L2 {
            return Err(Error::Unsupported(format!(
                "the norm `{norm}` of several channels, or of split columns, on several ranks: take l2"
            )));
        }
        Ok(match norm {
            Norm::L2 => Self::L2 { norm: 0.0 },
            Norm::Linf => Self::Linf,
            Norm::L1 => Self::L1 { at: None },
            Norm::Row => Self::Row { norms: vec![0.0; local.rows] },
            Norm::Column => Self::Column { norms: vec![0.0; local.cols] },
            Norm::Spectral | Norm::Nuclear if held.width == local.cols => {
                Self::Fold(Box::new(Fold::new(norm, oracle, piece, local.cols, ranks)?))
            }
            other => return Err(Error::Unsupported(format!("the norm `{other}` of a volume on several ranks"))),
        })
    }
}

impl<S: Real> Part<S> {
    fn own<'a>(&self, phi: &'a [S]) -> &'a [S] {
        &phi[self.held.own()]
    }

    /// Columns of a row, which is a part of a slice in a volume.
    fn cols(&self) -> usize {
        match &self.kind {
            Kind::Row { norms } => self.held.range.len() / norms.len(),
            Kind::Column { norms } => norms.len(),
            _ => self.held.width,
        }
    }

    fn oracle(&mut self, phi: &[S], talk: &mut Talk) -> Answer {
        let roundings = ROUNDINGS + talk.size() as f64;
        if let Kind::Everywhere(geometry, _) = &mut self.kind {
            return geometry.oracle(&phi[self.held.range.clone()]);
        }
        if let Kind::L1 { .. } = self.kind {
            return Answer::exact(self.find_largest(phi, talk));
        }
        if let Kind::Fold(fold) = &mut self.kind {
            return fold.oracle(&phi[self.held.own()], talk);
        }
        Answer::rounded(self.dual_norm(phi, talk), 2.0 * roundings)
    }

    /// The first of the largest entries of all ranks, by its place in the whole.
    fn find_largest(&mut self, phi: &[S], talk: &mut Talk) -> f64 {
        let Some(piece) = self.held.piece.clone() else { return f64::NAN };
        let (own, width) = (self.own(phi), self.held.width);
        let largest = vector::norm_inf(own);
        let at = own.iter().position(|v| v.abs().f64() == largest).unwrap_or(0);
        let place = (piece.own.start * width + at) as f64;
        let larger = |best: [f64; 2], next: [f64; 2]| if next[0] > best[0] || next[0].is_nan() { next } else { best };
        let [most, place] = talk.each([largest, place]).reduce(larger).unwrap_or([largest, place]);
        let held = piece.held.start * width..piece.held.end * width;
        let here = (most > 0.0 && held.contains(&(place as usize))).then(|| place as usize - held.start);
        self.kind = Kind::L1 { at: here.map(|at| self.held.range.start + at) };
        most
    }

    fn dual_norm(&mut self, phi: &[S], talk: &mut Talk) -> f64 {
        let (own, cols, start) = (&phi[self.held.own()], self.cols(), self.held.own().start - self.held.range.start);
        match &mut self.kind {
            Kind::Everywhere(geometry, _) => geometry.dual_norm(&phi[self.held.range.clone()]),
            Kind::L2 { norm } => {
                let own = self.held.owns().map(|own| vector::norm2(&phi[own]));
                *norm = talk.hypot(own.reduce(f64::hypot).unwrap_or(0.0));
                *norm
            }
            Kind::Linf => talk.sum(vector::norm1(own)),
            Kind::L1 { .. } => talk.largest(vector::norm_inf(own)),
            Kind::Row { norms } => {
                let rows = phi[self.held.range.clone()].chunks_exact(cols);
                norms.iter_mut().zip(rows).for_each(|(norm, row)| *norm = vector::norm2(row));
                talk.sum(vector::norm1(&norms[start / cols..][..own.len() / cols]))
            }
            Kind::Column { norms } => {
                norms.fill(0.0);
                for row in own.chunks_exact(cols) {
                    norms.iter_mut().zip(row).for_each(|(sum, v)| *sum += v.f64() * v.f64());
                }
                let all = 0..cols;
                talk.sum_all(&mut [], norms, std::slice::from_ref(&all));
                norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
                vector::norm1(norms)
            }
            Kind::Fold(fold) => fold.dual_norm(own, talk),
        }
    }

    fn advance(&self, y: &mut [S], x: &[S], phi: &[S], gamma: f64) -> bool {
        let (range, cols) = (self.held.range.clone(), self.cols());
        let (y, x, phi) = (&mut y[range.clone()], &x[range.clone()], &phi[range.clone()]);
        match &self.kind {
            Kind::Everywhere(geometry, _) => geometry.advance(y, x, phi, gamma),
            Kind::L2 { norm } => vector::add_scaled(y, x, -unit_factor::<S>(gamma, *norm), phi),
            Kind::Linf => {
                let gamma = S::of(gamma);
                y.iter_mut().zip(x).zip(phi).for_each(|((y, &x), phi)| *y = x - gamma * phi.sign());
            }
            Kind::L1 { at } => {
                y.copy_from_slice(x);
                if let Some(at) = at.map(|at| at - range.start) {
                    y[at] -= S::of(gamma) * phi[at].sign();
                }
            }
            Kind::Row { norms } => {
                let rows = y.chunks_exact_mut(cols).zip(x.chunks_exact(cols)).zip(phi.chunks_exact(cols));
                for (((y, x), phi), &norm) in rows.zip(norms) {
                    vector::add_scaled(y, x, -unit_factor::<S>(gamma, norm), phi);
                }
            }
            Kind::Column { norms } => {
                let gamma = S::of(gamma);
                let rows = y.chunks_exact_mut(cols).zip(x.chunks_exact(cols)).zip(phi.chunks_exact(cols));
                for ((y, x), phi) in rows {
                    for (((y, &x), &phi), &norm) in y.iter_mut().zip(x).zip(phi).zip(norms) {
                        *y = x - gamma * (phi * S::of(unit_factor::<S>(1.0, norm)));
                    }
                }
            }
            Kind::Fold(fold) => {
                y.copy_from_slice(x);
                let own = self.held.own().start - range.start..self.held.own().end - range.start;
                vector::add_scaled(&mut y[own.clone()], &x[own], gamma, &fold.direction);
                return true;
            }
        }
        false
    }

    fn proven(&mut self, v: &[S], roundings: f64, talk: &mut Talk) -> Option<Bracket> {
        let own = self.held.own();
        let rows = self.held.piece.as_ref().map_or(0, |piece| piece.rows) as f64;
        match &mut self.kind {
            Kind::Everywhere(geometry, norm) => {
                let shape = geometry.norms().first().map(|b| (b.block.rows, b.block.cols))?;
                norm.dual(&v[self.held.range.clone()], shape.0, shape.1)
            }
            Kind::L1 { .. } => Some(Bracket::exact(talk.largest(vector::norm_inf(&v[own])))),
            Kind::Fold(fold) => fold.proven(&v[own], talk),
            // Squares of a column are added one after another.
            Kind::Column { .. } => Some(Bracket::rounded(self.dual_norm(v, talk), 2.0 * (roundings + rows))),
            _ => Some(Bracket::rounded(self.dual_norm(v, talk), 2.0 * roundings)),
        }
    }
}

/// ‖x‖₂ of some ranges.
pub(crate) fn norm_of<S: Real>(x: &[S], ranges: &[Range<usize>]) -> f64 {
    match ranges {
        [] => 0.0,
        [range] => vector::norm2(&x[range.clone()]),
        _ => {
            let norms = ranges.iter().map(|range| vector::norm2(&x[range.clone()]));
            norms.fold(0.0, f64::hypot)
        }
    }
}
