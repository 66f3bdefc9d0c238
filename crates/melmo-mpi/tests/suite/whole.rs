//! A problem as a whole and in pieces, and how to run something on every rank.

use melmo::block::Layout;
use melmo::geometry::{Norm, Oracle};
use melmo::operator::{Difference2d, Difference3d, Identity, Jet, LinOp, Select};
use melmo::penalty::Prox;
use melmo::problem::Problem;
use melmo::smooth::{Factorization, LeastSquares, MaskedLeastSquares, Smooth};
use melmo_mpi::{Distributed, Measure, Piece, Thread, Way, threads};

/// g on the layout that T gives.
type Penalty = dyn Fn(&Layout) -> Box<dyn Prox<f64>> + Sync;

/// What a problem is made of: enough to build any rank's part.
pub struct Whole {
    pub kind: Kind,
    pub y: Vec<f64>,
    pub mask: Option<Vec<f64>>,
    pub rows: usize,
    pub cols: usize,
    pub penalty: Box<Penalty>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// ½‖M⊙(X − Y)‖² + g(X).
    Entries,
    /// The same with differences.
    Image,
    /// The same of a volume: `rows` slices of so many rows each.
    Volume(usize),
    /// The same with first and second differences of so many channels, one after another.
    Jet(usize),
    /// ‖Y − WH‖² + g(W) of this rank, or with g of both factors.
    Factors(usize, bool),
    /// ½‖Ax − b‖² + g(x): Y is [A | b].
    Regression,
}

/// A rank's part.
pub struct Part {
    pub problem: Problem<f64>,
    pub pieces: Vec<Option<Piece>>,
}

impl Whole {
    pub fn part(&self, rank: usize, size: usize) -> Part {
        let halo = match self.kind {
            Kind::Image | Kind::Volume(_) => 1,
            Kind::Jet(_) => 2,
            _ => 0,
        };
        let piece = Piece::of(self.rows, halo, rank, size);
        let (held, width) = (piece.held.clone(), self.width());
        let plane = |plane: &[f64]| plane[held.start * width..held.end * width].to_vec();
        let of = |whole: &[f64]| whole.chunks_exact(self.rows * width).flat_map(plane).collect::<Vec<f64>>();
        let (y, mask, rows, cols) = (of(&self.y), self.mask.as_deref().map(of), held.len(), self.cols);
        let masked = |rows: usize| {
            let layout = Layout::matrix(rows, cols).unwrap();
            Box::new(MaskedLeastSquares::new(layout, y.clone(), mask.clone()).unwrap())
        };
        let (f, t, pieces): (Box<dyn Smooth<f64>>, Box<dyn LinOp<f64>>, _) = match self.kind {
            Kind::Entries => {
                (masked(rows), Box::new(Identity::new(Layout::matrix(rows, cols).unwrap())), vec![Some(piece.clone())])
            }
            Kind::Image => (masked(rows), Box::new(Difference2d::new(rows, cols).unwrap()), vec![Some(piece.clone())]),
            Kind::Jet(channels) => {
                let t = Jet::new(rows, cols, channels, 0.5).unwrap();
                (masked(channels * rows), Box::new(t), vec![Some(piece.clone())])
            }
            Kind::Volume(high) => {
                (masked(rows * high), Box::new(Difference3d::new(rows, high, cols).unwrap()), vec![Some(piece.clone())])
            }
            Kind::Factors(rank, both) => {
                let f = Factorization::new(y.clone(), rows, cols, rank).unwrap();
                let names: &[&str] = if both { &["W", "H"] } else { &["W"] };
                let t = Select::new(f.layout(), names).unwrap();
                (Box::new(f), Box::new(t), vec![Some(piece.clone()), None])
            }
            Kind::Regression => {
                let a: Vec<f64> = y.chunks_exact(cols).flat_map(|row| row[..cols - 1].to_vec()).collect();
                let b: Vec<f64> = y.chunks_exact(cols).map(|row| row[cols - 1]).collect();
                let dense = melmo::operator::Dense::new(a, rows, cols - 1).unwrap();
                let layout = Layout::vector(cols - 1).unwrap();
                let f = LeastSquares::new(Box::new(dense), b).unwrap();
                (Box::new(f), Box::new(Identity::new(layout)), vec![None])
            }
        };
        let g = (self.penalty)(t.range());
        let mut problem = Problem::from_boxes(f, g, t).unwrap();
        if self.kind == Kind::Image && size > 1 && problem.g().streamed().is_some() {
            problem = problem.within(piece.within()).unwrap();
        }
        Part { problem, pieces }
    }

    /// The whole on one machine.
    pub fn alone(&self) -> Problem<f64> {
        self.part(0, 1).problem
    }

    /// A rank's entries of a point of the whole, and where they stand in it.
    pub fn own(&self, x: &[f64], rank: usize, size: usize) -> Vec<f64> {
        let piece = Piece::of(self.rows, 0, rank, size).own;
        match self.kind {
            Kind::Factors(r, _) => [&x[piece.start * r..piece.end * r], &x[self.rows * r..]].concat(),
            Kind::Regression => x.to_vec(),
            _ => {
                let width = self.width();
                let plane = |plane: &[f64]| plane[piece.start * width..piece.end * width].to_vec();
                x.chunks_exact(self.rows * width).flat_map(plane).collect()
            }
        }
    }

    /// Numbers of a row, of one channel.
    fn width(&self) -> usize {
        let channels = if let Kind::Jet(channels) = self.kind { channels } else { 1 };
        self.y.len() / self.rows / channels
    }

    /// A point of the whole from everybody's entries.
    pub fn joined(&self, parts: &[Vec<f64>]) -> Vec<f64> {
        match self.kind {
            Kind::Factors(r, _) => {
                let shared = self.alone().layout().size() - self.rows * r;
                let h = parts[0][parts[0].len() - shared..].to_vec();
                for part in parts {
                    assert_eq!(&part[part.len() - shared..], h, "every rank has the same H");
                }
                [parts.iter().flat_map(|part| part[..part.len() - shared].to_vec()).collect(), h].concat()
            }
            Kind::Regression => {
                assert!(parts.iter().all(|part| *part == parts[0]), "every rank has the same x");
                parts[0].clone()
            }
            Kind::Jet(channels) => {
                let plane = |part: &Vec<f64>, at: usize| {
                    part[at * part.len() / channels..(at + 1) * part.len() / channels].to_vec()
                };
                (0..channels).flat_map(|at| parts.iter().flat_map(move |part| plane(part, at))).collect()
            }
            _ => parts.concat(),
        }
    }

    pub fn measure(&self, norm: Option<Norm>) -> Measure {
        match norm {
            None => Measure::Euclidean,
            Some(norm) => Measure::Blocks(self.alone().layout().blocks().iter().map(|_| (norm, 1.0)).collect()),
        }
    }

    /// Does something on every rank of so many, and collects what it answers.
    pub fn on<R: Send>(
        &self,
        size: usize,
        norm: Option<Norm>,
        oracle: Oracle,
        act: impl Fn(Distributed<'_, f64>, usize) -> R + Sync,
    ) -> Vec<R> {
        let measure = self.measure(norm);
        on_ranks(size, |thread, rank| {
            let part = self.part(rank, size);
            let idle = self.kind == Kind::Regression && Piece::of(self.rows, 0, rank, size).is_idle();
            let way = if idle { Way::WithoutRows } else { Way::Plain };
            let space = Distributed::by(way, &part.problem, &part.pieces, &measure, oracle, Box::new(thread)).unwrap();
            act(space, rank)
        })
    }
}

/// Runs every rank in a thread of its own.
pub fn on_ranks<R: Send>(size: usize, act: impl Fn(Thread, usize) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let act = &act;
        let ranks: Vec<_> = threads(size)
            .into_iter()
            .enumerate()
            .map(|(rank, thread)| scope.spawn(move || act(thread, rank)))
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}
