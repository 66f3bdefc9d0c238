//! How a problem lies on ranks: what of x and of Tx is held here, and what of it counts in sums.

use std::ops::Range;

use melmo::block::Block;
use melmo::error::Error;
use melmo::operator::Form;
use melmo::penalty;
use melmo::problem::Problem;
use melmo::real::Real;

use crate::piece::Piece;

/// One block of x on this rank.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// Where its entries stand in the buffer.
    pub range: Range<usize>,
    /// Entries of a row (of a slice of a volume).
    pub width: usize,
    /// Its rows; none where all of the block is on every rank.
    pub piece: Option<Piece>,
    /// So many stretches of as many rows follow one another: the channels of a picture, of which a rank has the same rows each, or the
    /// rows of a matrix, of which it has the same columns.
    pub planes: usize,
}

impl Held {
    /// Entries of a plane that are held.
    pub fn stride(&self) -> usize {
        self.range.len() / self.planes
    }

    /// Its own entries, as a range of the buffer; all of them where every rank has all. Of several planes those of the first.
    pub fn own(&self) -> Range<usize> {
        self.own_of(0)
    }

    /// Its own entries of a plane.
    fn own_of(&self, plane: usize) -> Range<usize> {
        let rows = self.piece.as_ref().map_or(0..self.range.len() / self.width, Piece::within);
        let start = self.range.start + plane * self.stride();
        start + rows.start * self.width..start + rows.end * self.width
    }

    /// Its own entries of every plane.
    pub fn owns(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.planes).map(|plane| self.own_of(plane))
    }

    /// Rows and columns of the whole of a block.
    pub fn sides(&self, block: &Block) -> (usize, usize) {
        match &self.piece {
            None => (block.rows, block.cols),
            Some(piece) if piece.stretches > 1 => (block.rows, piece.rows * self.width),
            // A row of a piece may be a slice of a volume: so many rows of the block.
            Some(piece) => (self.planes * piece.rows * (self.width / block.cols), block.cols),
        }
    }

    /// The first and the last of its own rows of a plane go to the neighbours, as many as they hold, and theirs come beside them; empty
    /// where there is nobody.
    pub fn borders(&self, plane: usize) -> [[Range<usize>; 2]; 2] {
        let (own, start) = (self.own_of(plane), self.range.start + plane * self.stride());
        let (before, after) = (own.start - start, start + self.stride() - own.end);
        let halo = self.piece.as_ref().is_some_and(Piece::has_halo);
        let (before, after) = if halo { (before, after) } else { (0, 0) };
        let send = [own.start..own.start + before, own.end - after..own.end];
        [send, [own.start - before..own.start, own.end..own.end + after]]
    }
}

/// All blocks, and the entries of x and of Tx that are this rank's.
pub(crate) struct Plan {
    pub blocks: Vec<Held>,
    /// Entries of x that are held for good: its own, and those that every rank has.
    pub own: Vec<Range<usize>>,
    /// Those of them that this rank counts in sums: its own, and on rank 0 those that every rank has.
    pub counted: Vec<Range<usize>>,
    /// The same of Tx.
    pub image_own: Vec<Range<usize>>,
    pub image_counted: Vec<Range<usize>>,
    /// Blocks that every rank has: their gradients are sums.
    pub everywhere: Vec<Range<usize>>,
    /// This rank has no row.
    pub idle: bool,
    /// Differences reach to so many rows of neighbours.
    pub reach: usize,
}

fn refuse<T>(what: impl Into<String>) -> Result<T, Error> {
    Err(Error::Unsupported(format!("{}; one machine does that (without mpirun)", what.into())))
}

impl Plan {
    /// Reads it from the forms of the terms; refuses what ranks cannot share, with the reason.
    ///
    /// A penalty that talks to the other ranks by itself (`shared`) may have groups that cross them.
    pub fn of<S: Real>(
        problem: &Problem<S>,
        pieces: &[Option<Piece>],
        first: bool,
        shared: bool,
    ) -> Result<Self, Error> {
        let layout = problem.layout();
        Error::expect_len("pieces (one a block)", layout.blocks().len(), pieces.len())?;
        let mut blocks = Vec::new();
        let reach = if pieces.iter().any(Option::is_some) { reach(problem) } else { 0 };
        for (block, piece) in layout.blocks().iter().zip(pieces) {
            let stretches = piece.as_ref().map_or(1, |piece| piece.stretches);
            let planes = piece.as_ref().map_or(1, |_| channels(problem).max(stretches));
            let rows = planes * piece.as_ref().map_or(block.rows, |piece| piece.held.len());
            expect_beside(piece.as_ref(), reach)?;
            let shared = if stretches > 1 { block.size() } else { block.rows };
            if rows == 0 || shared % rows != 0 {
                return refuse(format!("block `{}` has {} rows here, its piece {rows}", block.name, block.rows));
            }
            blocks.push(Held { range: block.range(), width: block.size() / rows, piece: piece.clone(), planes });
        }
        let idle = blocks.iter().any(|held| held.piece.as_ref().is_some_and(Piece::is_idle));
        let [own, image_own] = ranges(problem, &blocks, |_| true)?;
        let [counted, image_counted] = ranges(problem, &blocks, |held| held.piece.is_some() || first)?;
        let everywhere = blocks.iter().filter(|held| held.piece.is_none()).map(|held| held.range.clone()).collect();
        let plan = Self { blocks, own, counted, image_own, image_counted, everywhere, idle, reach };
        plan.check(problem, shared)?;
        Ok(plan)
    }

    /// Whether nothing but what counts is here.
    pub fn all_counted(&self, size: usize) -> bool {
        matches!(&self.counted[..], [all] if *all == (0..size))
    }

    pub fn all_image_counted(&self, range: usize) -> bool {
        matches!(&self.image_counted[..], [all] if *all == (0..range))
    }

    /// Refuses so many ranks that what differences reach lies on others than the next.
    pub fn expect_near(&self, ranks: usize) -> Result<(), Error> {
        let pieces = self.blocks.iter().filter_map(|held| held.piece.as_ref());
        match pieces.map(|piece| piece.rows).find(|rows| ranks > 1 && self.reach > 1 && rows / ranks < self.reach) {
            None => Ok(()),
            Some(rows) => {
                let reach = self.reach;
                refuse(format!(
                    "{rows} rows on {ranks} ranks: these differences reach {reach} rows, and every rank needs as many"
                ))
            }
        }
    }

    fn check<S: Real>(&self, problem: &Problem<S>, shared: bool) -> Result<(), Error> {
        if self.reach > 0 && problem.f().pointwise().is_none() {
            return refuse("a loss that is no sum over pixels, with differences that reach to other ranks");
        }
        if self.everywhere.len() == self.blocks.len() {
            return Ok(()); // all of x is on every rank: only the loss is shared
        }
        let zero = vec![S::ZERO; problem.g().size()];
        let at_zero = problem.g().value(&zero, &mut vec![S::ZERO; problem.g().work_len()]);
        if at_zero != 0.0 {
            return refuse("a penalty that is not 0 at 0");
        }
        if shared { Ok(()) } else { self.check_units(problem) }
    }

    /// Refuses a penalty of which a unit (a group, singular values) may lie on several ranks.
    fn check_units<S: Real>(&self, problem: &Problem<S>) -> Result<(), Error> {
        // What is known of a pixel has the rows of its pixel, wherever it stands.
        let pixels = self.reach > 0;
        match problem.g().form() {
            penalty::Form::Entries { .. } => return Ok(()),
            penalty::Form::Pixels { .. } if pixels => return Ok(()),
            _ => {}
        }
        let crosses = "a penalty whose groups (columns, singular values) lie on several ranks";
        let Some(g) = problem.g().coordinates() else { return refuse(crosses) };
        let rows = self.rows_of_image(problem);
        let mut entries = Vec::new();
        for unit in 0..g.units() {
            entries.clear();
            g.members(unit, &mut entries);
            let row = |entry: usize| {
                rows.iter().find(|(range, _)| range.contains(&entry)).map(|(range, width)| {
                    (if pixels { 0 } else { range.start }, width.map_or(0, |width| (entry - range.start) / width))
                })
            };
            let first = entries.first().map(|&entry| row(entry));
            if !entries.iter().all(|&entry| Some(row(entry)) == first) {
                return refuse(crosses);
            }
        }
        Ok(())
    }

    /// What this rank has of every block of Tx: how many entries, where they begin in the whole, and whether it is the one that counts them.
    pub fn images<S: Real>(&self, problem: &Problem<S>, first: bool) -> Vec<(usize, usize, bool)> {
        let mut start = 0;
        let mut place = |held: &Held| {
            let rows = held.piece.as_ref().map_or(0, |piece| piece.own.start);
            let size = held.piece.as_ref().map_or(held.range.len(), |piece| piece.rows * held.width);
            // Of several planes one.
            let found = (held.own().len(), start + rows * held.width, held.piece.is_some() || first);
            start += size;
            found
        };
        match problem.t().form() {
            Form::Identity => {
                self.blocks.iter().flat_map(|held| std::iter::repeat_n(held, held.planes)).map(place).collect()
            }
            Form::Select(t) => {
                let of = |range: &Range<usize>| self.blocks.iter().find(|held| held.range == *range);
                t.pairs().filter_map(|(in_x, _)| of(&in_x)).map(place).collect()
            }
            Form::Difference2d(_) | Form::Difference3d(_) => {
                problem.t().range().blocks().iter().map(|_| place(&self.blocks[0])).collect()
            }
            Form::Jet(_) if self.reach > 0 => {
                image_planes(problem, &self.blocks[0]).map(|_| place(&self.blocks[0])).collect()
            }
            _ => vec![(problem.t().range().size(), 0, first)], // every rank has all of it
        }
    }

    /// The blocks of Tx with the width of a row; none where every rank has all of it.
    fn rows_of_image<S: Real>(&self, problem: &Problem<S>) -> Vec<(Range<usize>, Option<usize>)> {
        let width = |held: &Held| held.piece.as_ref().map(|_| held.width);
        match problem.t().form() {
            Form::Select(t) => t
                .pairs()
                .map(|(in_x, in_tx)| (in_tx, self.blocks.iter().find(|held| held.range == in_x).and_then(width)))
                .collect(),
            Form::Identity => self.blocks.iter().map(|held| (held.range.clone(), width(held))).collect(),
            Form::Jet(_) => {
                let (held, stride) = (&self.blocks[0], self.blocks[0].stride());
                image_planes(problem, held).map(|start| (start..start + stride, width(held))).collect()
            }
            _ => problem.t().range().blocks().iter().map(|block| (block.range(), width(&self.blocks[0]))).collect(),
        }
    }
}

/// Rows of neighbours that differences reach.
fn reach<S: Real>(problem: &Problem<S>) -> usize {
    match problem.t().form() {
        Form::Difference2d(_) | Form::Difference3d(_) => 1,
        // A second difference of the row beside has a part of the row beyond.
        Form::Jet(t) => 1 + usize::from(t.weight() > 0.0),
        _ => 0,
    }
}

/// Planes that the rows of x are of.
fn channels<S: Real>(problem: &Problem<S>) -> usize {
    if let Form::Jet(t) = problem.t().form() { t.shape().2 } else { 1 }
}

/// Refuses a piece that does not hold the rows of its neighbours that are reached.
fn expect_beside(piece: Option<&Piece>, reach: usize) -> Result<(), Error> {
    let Some(piece) = piece.filter(|piece| !piece.is_idle() && reach > 0) else { return Ok(()) };
    let wanted = piece.own.start.saturating_sub(reach)..(piece.own.end + reach).min(piece.rows);
    match piece.held == wanted {
        true => Ok(()),
        false => refuse(format!(
            "rows {:?} of which {:?} are held: these differences reach {reach} beside",
            piece.own, piece.held
        )),
    }
}

/// Where the planes of a jet begin: as many numbers each as a plane of x.
fn image_planes<S: Real>(problem: &Problem<S>, held: &Held) -> impl Iterator<Item = usize> {
    (0..problem.t().range().size()).step_by(held.stride())
}

/// Own entries of the blocks that are wanted, in x and in Tx.
fn ranges<S: Real>(
    problem: &Problem<S>,
    blocks: &[Held],
    wanted: impl Fn(&Held) -> bool,
) -> Result<[Vec<Range<usize>>; 2], Error> {
    let of_x = || blocks.iter().filter(|held| wanted(held)).flat_map(Held::owns);
    let range = problem.t().range();
    let image = match problem.t().form() {
        Form::Identity => joined(of_x()),
        Form::Select(t) => joined(t.pairs().filter_map(|(in_x, in_tx)| {
            let held = blocks.iter().find(|held| held.range == in_x).filter(|held| wanted(held))?;
            let (start, own) = (held.range.start, held.own());
            Some(in_tx.start + own.start - start..in_tx.start + own.end - start)
        })),
        Form::Difference2d(_) | Form::Difference3d(_) if wanted(&blocks[0]) => {
            let own = blocks[0].own();
            joined(range.blocks().iter().map(|block| block.start + own.start..block.start + own.end))
        }
        Form::Jet(_) if blocks[0].piece.is_some() && wanted(&blocks[0]) => {
            let own = blocks[0].own();
            joined(image_planes(problem, &blocks[0]).map(|start| start + own.start..start + own.end))
        }
        Form::Difference2d(_) | Form::Difference3d(_) => Vec::new(),
        Form::Jet(_) if blocks[0].piece.is_some() => Vec::new(),
        _ if blocks.iter().all(|held| held.piece.is_none()) => match wanted(&blocks[0]) {
            true => joined(std::iter::once(0..range.size())),
            false => Vec::new(),
        },
        _ => {
            return refuse(
                "an operator other than the identity, a choice of blocks, or differences and jets of a picture or volume",
            );
        }
    };
    Ok([joined(of_x()), image])
}

/// Ranges that follow one another as one; empty ones are left out.
fn joined(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for range in ranges.filter(|range| !range.is_empty()) {
        match all.last_mut().filter(|last| last.end == range.start) {
            Some(last) => last.end = range.end,
            None => all.push(range),
        }
    }
    all
}
