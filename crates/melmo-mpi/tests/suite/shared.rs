//! Penalties of singular values of a matrix whose rows, or columns, lie on ranks.

use melmo::block::Layout;
use melmo::drive::{Options, Stop, run};
use melmo::error::Error;
use melmo::geometry::{Oracle, euclidean};
use melmo::operator::Identity;
use melmo::penalty::{Blocks, Entrywise, L1, Mcp, Prox, Spectral};
use melmo::problem::Problem;
use melmo::schedule::Power;
use melmo::seeded::Seeded;
use melmo::smooth::RobustPca;
use melmo::solver::Melmo;
use melmo_mpi::{Alone, Distributed, Measure, Piece, Shared, Split, Thread, Way, threads};

use crate::whole::on_ranks;

fn spectral(layout: &Layout) -> Result<Box<dyn Prox<f64>>, Error> {
    Ok(Box::new(Spectral::new(Mcp::new(1.5, 3.0)?, layout)?))
}

/// A matrix, and which lines of it a rank has.
struct Matrix {
    rows: usize,
    cols: usize,
    by_columns: bool,
}

impl Matrix {
    fn split(&self) -> Split {
        if self.by_columns { Split::Columns(self.rows) } else { Split::Rows(self.cols) }
    }

    fn piece(&self, rank: usize, size: usize) -> Piece {
        match self.by_columns {
            true => Piece::of(self.cols, 0, rank, size).in_stretches(self.rows),
            false => Piece::of(self.rows, 0, rank, size),
        }
    }

    /// What a rank holds of a matrix, rows after rows.
    fn held(&self, whole: &[f64], lines: std::ops::Range<usize>) -> Vec<f64> {
        match self.by_columns {
            true => whole.chunks_exact(self.cols).flat_map(|row| row[lines.clone()].to_vec()).collect(),
            false => whole[lines.start * self.cols..lines.end * self.cols].to_vec(),
        }
    }

    /// The sides of what a rank holds.
    fn sides(&self, piece: &Piece) -> (usize, usize) {
        if self.by_columns { (self.rows, piece.held.len()) } else { (piece.held.len(), self.cols) }
    }

    fn shared(&self, piece: &Piece, thread: Thread) -> Shared<f64> {
        Shared::new(spectral, piece, self.split(), Box::new(thread)).unwrap()
    }
}

const MATRICES: [Matrix; 3] = [
    Matrix { rows: 6, cols: 40, by_columns: true },
    Matrix { rows: 40, cols: 6, by_columns: false },
    Matrix { rows: 5, cols: 3, by_columns: true },
];

fn near(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-11)
}

#[test]
fn singular_values_of_what_is_split_are_those_of_the_whole() {
    for matrix in MATRICES {
        let u: Vec<f64> = Seeded::new(3).normals(matrix.rows * matrix.cols);
        let alone = spectral(&Layout::matrix(matrix.rows, matrix.cols).unwrap()).unwrap();
        let (mut work, beta) = (vec![0.0; alone.work_len()], 0.7);
        let (mut z, mut slopes, mut v) = (u.clone(), u.clone(), u.clone());
        let value = alone.value(&u, &mut work);
        let at_z = alone.prox(&mut z, &u, beta, &mut work);
        let envelope = alone.moreau(&mut slopes, &u, beta, &mut work);
        alone.subgradient(&mut v, &u, &mut work);
        for size in 1..=5 {
            let found = on_ranks(size, |thread, rank| {
                let piece = matrix.piece(rank, size);
                let shared = matrix.shared(&piece, thread);
                let own = matrix.held(&u, piece.held.clone());
                let mut outs = [own.clone(), own.clone(), own.clone(), own.clone()];
                let told = [
                    shared.value(&own, &mut []),
                    shared.prox(&mut outs[0], &own, beta, &mut []),
                    shared.moreau(&mut outs[1], &own, beta, &mut []).value,
                    shared.slopes(&mut outs[2], &own, beta, &mut []),
                    shared.lipschitz().unwrap().powi(2),
                ];
                shared.subgradient(&mut outs[3], &own, &mut []);
                for (out, whole) in outs.iter().zip([&z, &slopes, &slopes, &v]) {
                    let expected =
                        if piece.is_idle() { vec![0.0; out.len()] } else { matrix.held(whole, piece.own.clone()) };
                    assert!(near(out, &expected), "{}×{} on {size}", matrix.rows, matrix.cols);
                }
                told
            });
            let sums: Vec<f64> = (0..5).map(|k| found.iter().map(|told| told[k]).sum()).collect();
            let lipschitz = alone.lipschitz().unwrap().powi(2);
            let expected = [value, at_z, envelope.value, envelope.slope_squared, lipschitz];
            assert!(sums.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-10 * (1.0 + b)), "{sums:?} {expected:?}");
        }
    }
}

/// Every rank in a thread of its own, with two ways to the others: a penalty's, and that of all else.
fn on_both<R: Send>(size: usize, act: impl Fn([Thread; 2], usize) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let act = &act;
        let both = threads(size).into_iter().zip(threads(size)).enumerate();
        let ranks: Vec<_> = both.map(|(rank, (a, b))| scope.spawn(move || act([a, b], rank))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

fn problem(y: Vec<f64>, (rows, cols): (usize, usize), low_rank: Box<dyn Prox<f64>>) -> Problem<f64> {
    let f = RobustPca::new(y, rows, cols, None).unwrap();
    let layout = melmo::smooth::Smooth::<f64>::layout(&f).clone();
    let sparse: Box<dyn Prox<f64>> = Box::new(Entrywise::new(L1::new(0.4).unwrap(), rows * cols));
    let g = Blocks::new(&layout, vec![("L", 1.0, low_rank), ("S", 1.0, sparse)]).unwrap();
    Problem::from_boxes(Box::new(f), Box::new(g), Box::new(Identity::new(layout))).unwrap()
}

/// Steps, certificates and the norms of blocks are those of one machine; the same bits twice.
#[test]
fn low_rank_and_sparse_parts_are_those_of_one_machine() {
    for matrix in MATRICES {
        let y: Vec<f64> = Seeded::new(9).normals(matrix.rows * matrix.cols);
        let start = [vec![0.1; y.len()], vec![0.0; y.len()]].concat();
        let low_rank = spectral(&Layout::matrix(matrix.rows, matrix.cols).unwrap()).unwrap();
        let whole = problem(y.clone(), (matrix.rows, matrix.cols), low_rank);
        let host = melmo::space::Host::new(&whole, euclidean(whole.layout())).unwrap();
        let mut solver = Melmo::on(host, Power::balanced(0.5), &start).unwrap();
        let alone = run(&mut solver, &Options::new(Stop::after(60)), &mut []);
        let certificate = alone.certificate.unwrap();
        for size in 1..=4 {
            let once = || {
                on_both(size, |[inner, outer], rank| {
                    let piece = matrix.piece(rank, size);
                    let own = matrix.held(&y, piece.held.clone());
                    let part = problem(own, matrix.sides(&piece), Box::new(matrix.shared(&piece, inner)));
                    let pieces = [Some(piece.clone()), Some(piece.clone())];
                    let space = Distributed::by(
                        Way::Shared,
                        &part,
                        &pieces,
                        &Measure::Euclidean,
                        Oracle::Auto,
                        Box::new(outer),
                    )
                    .unwrap();
                    let extents = space.extents();
                    let own: Vec<f64> =
                        extents.iter().flat_map(|extent| start[extent.whole.clone()].to_vec()).collect();
                    let mut solver = Melmo::on(space, Power::balanced(0.5), &own).unwrap();
                    let report = run(&mut solver, &Options::new(Stop::after(60)), &mut []);
                    for extent in &extents {
                        assert!(near(&report.x[extent.own.clone()], &alone.x[extent.whole.clone()]), "on {size}");
                    }
                    (report.objective, report.certificate.unwrap())
                })
            };
            let found = once();
            assert_eq!(found, once(), "the same bits");
            let (objective, told) = &found[0];
            assert!((objective - alone.objective).abs() < 1e-9 * alone.objective);
            assert_eq!(told.norms, certificate.norms);
            assert!((told.dual_norm.upper - certificate.dual_norm.upper).abs() < 1e-8);
        }
    }
}

#[test]
fn a_matrix_that_folds_to_too_much_is_refused_with_the_numbers() {
    let piece = Piece::of(1 << 13, 0, 0, 1);
    let refused = Shared::new(spectral, &piece, Split::Rows(1 << 13), Box::new(Alone)).err().unwrap().to_string();
    assert!(refused.contains("8192×8192") && refused.contains("67108864 numbers"), "{refused}");
}
