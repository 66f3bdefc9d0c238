//! A problem whose steps are links of a chain: Tx is written down, the penalty answers part by part, and T* takes the answers back. So
//! operators and penalties go together in any way; what is walked through in one pass is faster, and told apart in `plan.rs`.

use melmo::error::Error;
use melmo::operator::{self, Convolution, Jet, LinOp};
use melmo::penalty::{self, Form, Grouping, Piece, Prox, Psi, Shape};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{self, Responses};

use crate::formula::{Formula, Kind};
use crate::plan::{Loss, Told, refuse, stretch};

/// What is told apart of a problem that is evaluated link by link.
#[derive(Clone)]
pub struct Chain<'p, S> {
    /// T.
    pub(crate) operator: Linear<'p, S>,
    /// Entries of Tx.
    pub(crate) range: usize,
    /// What is penalised of them, each entry in one part.
    pub(crate) parts: Vec<Part<'p, S>>,
    /// The operator of the loss, and what is known of its rows.
    pub(crate) blurred: Option<Blurred<'p, S>>,
}

/// ½‖Kx − y‖² for a convolution K.
#[derive(Clone, Copy)]
pub(crate) struct Blurred<'p, S> {
    pub kernel: &'p Convolution<S>,
    pub operator: &'p dyn LinOp<S>,
    pub rows: &'p Responses<S>,
}

/// T, as kernels know it.
#[derive(Clone, Copy)]
pub(crate) enum Linear<'p, S> {
    /// So many entries from one on, times a mask where there is one.
    Select {
        first: usize,
        count: usize,
        mask: Option<&'p [S]>,
    },
    /// Of an image (whose rows are slices) or a volume.
    Differences {
        shape: [usize; 3],
        components: usize,
    },
    /// Of an image of several channels.
    Jet(&'p Jet),
    Convolution(&'p Convolution<S>),
}

/// Groups of entries with one formula: `Part` of the kernels.
#[derive(Clone)]
pub(crate) struct Part<'p, S> {
    pub start: usize,
    pub groups: usize,
    /// Members of a group, at most.
    pub length: usize,
    pub step: usize,
    pub stride: usize,
    pub by_norm: bool,
    pub weight: f64,
    pub weights: Option<&'p [S]>,
    /// Members of every group, and where each begins, where they are listed.
    pub listed: Option<(Vec<usize>, Vec<usize>)>,
    pub psi: Option<Psi>,
}

/// Members of a group that a thread looks at, at most.
const SHARE: usize = 64;

impl<'p, S: Real> Part<'p, S> {
    /// ψ of each of these entries.
    fn entries(start: usize, groups: usize, psi: Option<Psi>, weights: Option<&'p [S]>, weight: f64) -> Self {
        Self { start, groups, length: 1, step: 1, stride: 0, by_norm: false, weight, weights, listed: None, psi }
    }

    /// ψ of the norms of a matrix's rows or columns.
    fn piece(start: usize, piece: Piece, psi: Psi, weights: Option<&'p [S]>, weight: f64) -> Self {
        let Piece { start: at, groups, len, strided } = piece;
        let (step, stride) = if strided { (1, groups) } else { (len, 1) };
        let all = Self::entries(start + at, groups, Some(psi), weights, weight);
        Self { length: len, step, stride, by_norm: true, ..all }
    }

    /// Threads of a group.
    pub fn shares(&self) -> usize {
        self.length.div_ceil(SHARE).max(1)
    }

    /// Not penalised: 0 times any ψ.
    fn free(start: usize, count: usize) -> Self {
        Self::entries(start, count, None, None, 0.0)
    }
}

impl<'p, S: Real> Chain<'p, S> {
    /// Reads it from the forms of the terms, and the data of the loss with their mask.
    pub(crate) fn of(problem: &'p Problem<S>) -> Result<(Self, Told<'p, S>), Error> {
        let (told, blurred) = loss(problem)?;
        let operator = linear(problem, problem.layout().size())?;
        let range = problem.t().range().size();
        let mut parts = Vec::new();
        read(problem.g(), (0, range), 1.0, &mut parts)?;
        Ok((Self { operator, range, parts, blurred }, told))
    }

    /// Planes of x.
    pub(crate) fn channels(&self) -> usize {
        if let Linear::Jet(jet) = self.operator { jet.shape().2 } else { 1 }
    }

    /// Columns of a plane of x, where T or the loss know any.
    pub(crate) fn cols(&self, size: usize) -> usize {
        match (self.operator, self.blurred) {
            (Linear::Jet(jet), _) => jet.shape().1,
            (Linear::Convolution(kernel), _) | (_, Some(Blurred { kernel, .. })) => kernel.shape().1,
            (Linear::Differences { shape, .. }, _) => shape[2],
            _ => size,
        }
    }

    /// The number of its operator in the kernels.
    pub(crate) fn number(&self) -> u32 {
        match self.operator {
            Linear::Select { .. } => 1,
            Linear::Differences { .. } => 2,
            Linear::Jet(_) => 3,
            Linear::Convolution(_) => 4,
        }
    }

    /// The formula of its first part; λ = 0 where nothing is penalised.
    pub(crate) fn psi(&self) -> Psi {
        let first = self.parts.iter().find_map(|part| part.psi);
        first.unwrap_or(Psi::from(Shape::L1 { lambda: 0.0 }))
    }

    /// The formulas of its parts, each once; `None` where there is one that kernels do not have.
    pub(crate) fn kinds(&self) -> Option<Vec<Kind>> {
        let mut kinds = Vec::new();
        for psi in self.parts.iter().filter_map(|part| part.psi).chain([self.psi()]) {
            let kind = Formula::of(psi)?.kind;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        Some(kinds)
    }

    /// Numbers beside the data and the points: Tx, residuals, norms of groups, and what parts are told.
    pub(crate) fn numbers(&self) -> usize {
        let part = |part: &Part<'_, S>| {
            let listed = part.listed.as_ref().map_or(0, |(members, ends)| 2 * (members.len() + ends.len()));
            let long = if part.shares() > 1 { part.groups * (2 * part.shares() + 4) } else { 0 };
            part.weights.map_or(0, <[S]>::len) + listed + long
        };
        let residual = self.blurred.map_or(0, |blurred| blurred.rows.target().len());
        let masked = if let Linear::Select { mask: Some(mask), .. } = self.operator { mask.len() } else { 0 };
        self.range + residual + masked + self.parts.iter().map(part).sum::<usize>()
    }
}

fn loss<S: Real>(problem: &Problem<S>) -> Result<(Told<'_, S>, Option<Blurred<'_, S>>), Error> {
    let smooth::Form::Linear { operator, rows } = problem.f().form() else { return Ok((Told::of(problem)?, None)) };
    match operator.form() {
        operator::Form::Convolution(kernel) if rows.is_plain() && !rows.is_shifted() => {
            let told = Told { loss: Loss::Proximity, target: rows.target(), mask: None, lent: None };
            Ok((told, Some(Blurred { kernel, operator, rows })))
        }
        _ if rows.is_plain() && !rows.is_shifted() => refuse("least squares with an operator other than a convolution"),
        _ => Told::of(problem).map(|told| (told, None)),
    }
}

fn linear<S: Real>(problem: &Problem<S>, size: usize) -> Result<Linear<'_, S>, Error> {
    Ok(match problem.t().form() {
        operator::Form::Identity => Linear::Select { first: 0, count: size, mask: None },
        operator::Form::Select(t) => {
            let [first, count] = stretch(t)?;
            Linear::Select { first, count, mask: None }
        }
        operator::Form::Mask(t) => Linear::Select { first: 0, count: size, mask: Some(t.mask()) },
        operator::Form::Difference2d(t) => Linear::Differences { shape: [t.shape().0, 1, t.shape().1], components: 2 },
        operator::Form::Difference3d(t) => {
            Linear::Differences { shape: [t.shape().0, t.shape().1, t.shape().2], components: 3 }
        }
        operator::Form::Jet(t) => Linear::Jet(t),
        operator::Form::Convolution(t) => Linear::Convolution(t),
        _ => {
            return refuse(
                "an operator other than the identity, a choice of blocks, a mask, differences, jets or a convolution",
            );
        }
    })
}

/// Appends the parts of a penalty of these entries, times a weight.
fn read<'p, S: Real>(
    g: &'p dyn Prox<S>,
    (start, size): (usize, usize),
    weight: f64,
    parts: &mut Vec<Part<'p, S>>,
) -> Result<(), Error> {
    match g.form() {
        Form::Entries { psi, weights } => parts.push(Part::entries(start, size, Some(psi), weights, weight)),
        Form::Pixels { psi, weights, blocks } => {
            let piece = Piece { start: 0, groups: size / blocks, len: blocks, strided: true };
            parts.push(Part::piece(start, piece, psi, weights, weight));
        }
        Form::Groups { psi, weights, groups: Grouping::Pieces(pieces) } => {
            let mut first = 0;
            for &piece in pieces {
                let own = weights.map(|weights| &weights[first..first + piece.groups]);
                parts.push(Part::piece(start, piece, psi, own, weight));
                first += piece.groups;
            }
        }
        Form::Groups { psi, weights, groups: Grouping::Given { indices, offsets } } => {
            given(
                start,
                size,
                (indices, offsets),
                Part { psi: Some(psi), weights, weight, ..Part::free(start, 0) },
                parts,
            );
        }
        Form::Blocks(blocks) => {
            let mut end = start;
            let mut blocks = blocks;
            blocks.sort_by_key(|part| part.range.start);
            for penalty::form::Part { range, weight: own, g } in blocks {
                free(end, start + range.start, parts);
                end = start + range.end;
                read(g, (start + range.start, range.len()), weight * own, parts)?;
            }
            free(end, start + size, parts);
        }
        _ => return refuse("a penalty other than one on entries or on groups of them"),
    }
    Ok(())
}

/// Entries that nothing penalises, where there are any.
fn free<S: Real>(from: usize, to: usize, parts: &mut Vec<Part<'_, S>>) {
    if to > from {
        parts.push(Part::free(from, to - from));
    }
}

/// Groups that are listed, and the entries in none of them.
fn given<'p, S: Real>(
    start: usize,
    size: usize,
    (indices, offsets): (&'p [usize], &'p [usize]),
    part: Part<'p, S>,
    parts: &mut Vec<Part<'p, S>>,
) {
    let length = offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let listed = Some((indices.to_vec(), offsets.to_vec()));
    parts.push(Part { groups: offsets.len() - 1, length, step: 0, stride: 1, by_norm: true, listed, ..part });
    let mut taken = vec![false; size];
    indices.iter().for_each(|&i| taken[i] = true);
    let rest: Vec<usize> = (0..size).filter(|&i| !taken[i]).collect();
    if !rest.is_empty() {
        let ends = (0..=rest.len()).collect();
        parts.push(Part { step: 0, listed: Some((rest.clone(), ends)), ..Part::free(start, rest.len()) });
    }
}
