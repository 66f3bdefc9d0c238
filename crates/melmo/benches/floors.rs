//! Whole iterations and the kernels they are made of, each beside its floor: flops at the measured GEMM rate, or bytes at
//! the measured triad rate. One thread. Floors and subjects are timed in turns, and the ratio is the median over turns, so
//! that a noisy machine disturbs both.
//!
//! `cargo bench --bench floors` prints the table of `docs/performance.md`; a word after `--` keeps the rows that contain it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use melmo::linalg::{Dense as _, Into, Mat};
use melmo::prelude::*;
use melmo::{statistics, vector};

/// Seconds of one call, over as many calls as fill a few milliseconds.
fn seconds(work: &mut dyn FnMut()) -> f64 {
    let mut calls = 1u32;
    loop {
        let start = Instant::now();
        for _ in 0..calls {
            work();
        }
        let elapsed = start.elapsed();
        if elapsed >= Duration::from_millis(8) || calls >= 1 << 20 {
            return elapsed.as_secs_f64() / f64::from(calls);
        }
        calls *= 2;
    }
}

/// What a subject cannot be faster than.
enum Floor {
    /// So many flops at the rate of a 256³ product.
    Flops(f64),
    /// So many bytes at the rate of a triad over vectors of `len` numbers.
    Bytes { bytes: f64, len: usize },
}

impl Floor {
    /// A closure that runs the reference kernel, and how many of the floor's units one call of it does.
    fn reference(&self) -> (Box<dyn FnMut()>, f64) {
        match *self {
            Floor::Flops(flops) => {
                let n = 256;
                let a: Vec<f64> = Seeded::new(1).normals(n * n);
                let mut c = vec![0.0; n * n];
                let run = move || {
                    f64::gemm(&mut c, Into::Replace, 1.0, Mat::new(&a, n, n), Mat::new(&a, n, n));
                    black_box(&c);
                };
                (Box::new(run), 2.0 * (n as f64).powi(3) / flops)
            }
            Floor::Bytes { bytes, len } => {
                let (a, b, mut c) = (vec![1.0f64; len], vec![2.0f64; len], vec![0.0f64; len]);
                let run = move || {
                    vector::add_scaled(&mut c, &a, 3.0, &b);
                    black_box(&c);
                };
                (Box::new(run), 24.0 * len as f64 / bytes)
            }
        }
    }
}

struct Table {
    filter: Option<String>,
}

impl Table {
    fn row(&self, name: &str, floor: Floor, aim: Option<f64>, make: &mut dyn FnMut() -> Box<dyn FnMut()>) {
        if self.filter.as_ref().is_some_and(|word| !name.contains(word.as_str())) {
            return;
        }
        let (mut reference, units) = floor.reference();
        let mut subject = make();
        subject();
        let turns: Vec<(f64, f64)> =
            (0..9).map(|_| (seconds(&mut *reference) / units, seconds(&mut *subject))).collect();
        let time = statistics::median(&turns.iter().map(|t| t.1).collect::<Vec<_>>());
        let floor = statistics::median(&turns.iter().map(|t| t.0).collect::<Vec<_>>());
        let ratio = statistics::median(&turns.iter().map(|t| t.1 / t.0).collect::<Vec<_>>());
        let aim = aim.map_or(String::from("–"), |aim| format!("{aim}"));
        println!("| {name} | {:.1} | {:.1} | {ratio:.2} | {aim} |", time * 1e6, floor * 1e6);
    }
}

/// One step of MELMO on a problem, as a closure that owns everything.
fn iteration(problem: Problem<f64>, norm: Norm, oracle: Oracle, x0: Vec<f64>) -> Box<dyn FnMut()> {
    // The solver borrows the problem for as long as the process lives: a benchmark may leak.
    let problem: &'static Problem<f64> = Box::leak(Box::new(problem));
    let geometry = for_layout(norm, problem.layout(), oracle).expect("a geometry");
    let schedule = Power { gamma: 1e-3, ..Power::balanced(problem.default_beta()) };
    let mut solver = Melmo::new(problem, geometry, schedule, &x0).expect("a solver");
    Box::new(move || {
        black_box(solver.next());
    })
}

fn factorisation(rows: usize, cols: usize, rank: usize, oracle: Oracle) -> Box<dyn FnMut()> {
    let mut seeded = Seeded::new(1);
    let y: Vec<f64> = (0..rows * cols).map(|_| seeded.uniform()).collect();
    let loss = Factorization::new(y, rows, cols, rank).expect("a loss");
    let select = Select::new(loss.layout(), &["W"]).expect("a selection");
    let x0 = seeded.normals(loss.layout().size());
    let penalty = Entrywise::new(Mcp::new(1.0, 3.0).expect("mcp"), rows * rank);
    iteration(Problem::new(loss, penalty, select).expect("a problem"), Norm::Spectral, oracle, x0)
}

fn total_variation(n: usize, norm: Norm, oracle: Oracle, isotropic: bool) -> Box<dyn FnMut()> {
    let mut seeded = Seeded::new(2);
    let y: Vec<f64> = (0..n * n).map(|i| ((i / n / 32 + i % n / 32) % 2) as f64 + 0.1 * seeded.normal()).collect();
    let differences = Difference2d::new(n, n).expect("differences");
    let loss = MaskedLeastSquares::new(Layout::matrix(n, n).expect("a layout"), y.clone(), None).expect("a loss");
    let mcp = Mcp::new(0.05, 2.0).expect("mcp");
    let range = LinOp::<f64>::range(&differences).clone();
    let penalty: Box<dyn Prox<f64>> = match isotropic {
        true => Box::new(Group::pixels(mcp, &range).expect("pixels")),
        false => Box::new(Entrywise::new(mcp, range.size())),
    };
    let problem = Problem::from_boxes(Box::new(loss), penalty, Box::new(differences)).expect("a problem");
    iteration(problem, norm, oracle, y)
}

fn recovery(n: usize) -> Box<dyn FnMut()> {
    let mut seeded = Seeded::new(4);
    let (y, layout) = (seeded.normals(n * n), Layout::matrix(n, n).expect("a layout"));
    let mask = (0..n * n).map(|_| f64::from(seeded.uniform() < 0.7)).collect();
    let loss = MaskedLeastSquares::new(layout.clone(), y, Some(mask)).expect("a loss");
    let penalty = Entrywise::new(Mcp::new(0.05, 3.0).expect("mcp"), n * n);
    let problem = Problem::new(loss, penalty, Identity::new(layout)).expect("a problem");
    iteration(problem, Norm::L2, Oracle::Auto, vec![0.0; n * n])
}

/// Six steps of Newton–Schulz on an n×n matrix: G and G² by halves, X(aI + bG + cG²) whole.
fn six_symmetric_steps(n: usize) -> f64 {
    6.0 * 4.0 * (n as f64).powi(3)
}

fn oracle_alone(rows: usize, cols: usize, norm: Norm, oracle: Oracle) -> Box<dyn FnMut()> {
    let layout = Layout::matrix(rows, cols).expect("a layout");
    let phi: Vec<f64> = Seeded::new(3).normals(rows * cols);
    let mut geometry = for_layout::<f64>(norm, &layout, oracle).expect("a geometry");
    Box::new(move || {
        black_box(geometry.oracle(&phi));
    })
}

fn main() {
    let filter = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let table = Table { filter };
    println!("| f64, one thread | µs | floor µs | ratio | aim |");
    println!("|---|---|---|---|---|");

    for (rows, cols, rank) in [(256, 256, 10), (256, 256, 30), (531, 101, 20), (400, 4096, 30)] {
        for oracle in [Oracle::Auto, Oracle::NewtonSchulz(6), Oracle::Svd] {
            let name = format!("iteration: factorisation {rows}×{cols} r={rank}, spectral {oracle}");
            let aim = (oracle == Oracle::Auto).then_some(1.5);
            let flops = 6.0 * (rows * cols * rank) as f64;
            table.row(&name, Floor::Flops(flops), aim, &mut || factorisation(rows, cols, rank, oracle));
        }
    }
    for (n, aim) in [(256, Some(2.5)), (1024, None), (4096, Some(1.7))] {
        let floor = || Floor::Bytes { bytes: 5.0 * 8.0 * (n * n) as f64, len: n * n };
        let name = format!("iteration: TV {n}², ℓ2");
        table.row(&name, floor(), aim, &mut || total_variation(n, Norm::L2, Oracle::Auto, false));
        let name = format!("iteration: isotropic TV {n}², ℓ2");
        table.row(&name, floor(), None, &mut || total_variation(n, Norm::L2, Oracle::Auto, true));
    }
    for n in [115, 256, 4096] {
        let floor = Floor::Bytes { bytes: 7.0 * 8.0 * (n * n) as f64, len: n * n };
        table.row(&format!("iteration: recovery {n}², ℓ2"), floor, Some(2.0), &mut || recovery(n));
    }
    for n in [256, 1024] {
        for (oracle, aim) in [(Oracle::NewtonSchulz(6), 1.3), (Oracle::Auto, 1.0)] {
            let name = format!("iteration: TV {n}², spectral {oracle}");
            let floor = Floor::Flops(six_symmetric_steps(n));
            table.row(&name, floor, Some(aim), &mut || total_variation(n, Norm::Spectral, oracle, false));
        }
    }
    for (rows, cols) in [(256, 10), (256, 30), (4096, 30), (256, 256)] {
        for oracle in [Oracle::NewtonSchulz(6), Oracle::Minimax { steps: 8 }, Oracle::Gram, Oracle::Svd] {
            let (long, short) = (rows.max(cols) as f64, rows.min(cols) as f64);
            // Six Newton–Schulz steps, by halves where a product is symmetric.
            let flops = 6.0 * (3.0 * long * short * short + short.powi(3));
            let name = format!("oracle: {rows}×{cols}, {oracle}");
            table.row(&name, Floor::Flops(flops), None, &mut || oracle_alone(rows, cols, Norm::Spectral, oracle));
        }
    }
    for n in [12, 32, 77, 128, 256] {
        for oracle in [Oracle::Auto, Oracle::Gram] {
            let floor = Floor::Flops(six_symmetric_steps(n));
            let name = format!("oracle: {n}², spectral {oracle}");
            table.row(&name, floor, None, &mut || oracle_alone(n, n, Norm::Spectral, oracle));
        }
    }
    for n in [256, 1024] {
        let floor = Floor::Bytes { bytes: 8.0 * (n * n) as f64, len: n * n };
        let name = format!("oracle: {n}², nuclear (one pass over φ)");
        table.row(&name, floor, None, &mut || oracle_alone(n, n, Norm::Nuclear, Oracle::Auto));
    }
    kernels(&table);
}

/// The entrywise and matrix kernels, against the vectors they read and write.
fn kernels(table: &Table) {
    for n in [256usize * 256, 4096 * 4096] {
        let bytes = |vectors: usize| Floor::Bytes { bytes: 8.0 * (vectors * n) as f64, len: n };
        table.row(&format!("kernel: ‖x‖₂ of {n}"), bytes(1), None, &mut || {
            let x: Vec<f64> = Seeded::new(5).normals(n);
            Box::new(move || {
                black_box(vector::norm2(&x));
            })
        });
        for name in ["l1", "mcp", "scad", "huber", "log-sum", "elastic-net"] {
            table.row(&format!("kernel: ∇g_β of {name}, {n}"), bytes(2), None, &mut || {
                let rows = melmo::catalogue::penalties::<f64>();
                let row = melmo::catalogue::find("penalty", &rows, name).expect("a row");
                let arguments = melmo::catalogue::Arguments::defaults(&row.entry).expect("defaults");
                let layout = Layout::vector(n).expect("a layout");
                let g = (row.build)(&arguments, &melmo::catalogue::Lift::Entries, &layout).expect("a penalty");
                let u: Vec<f64> = Seeded::new(6).normals(n);
                let mut slope = vec![0.0; n];
                Box::new(move || {
                    black_box(g.slopes(&mut slope, &u, 0.3, &mut []));
                })
            });
        }
        table.row(&format!("kernel: masked loss of {n}"), bytes(3), None, &mut || {
            let (y, x): (Vec<f64>, Vec<f64>) = (Seeded::new(8).normals(n), Seeded::new(9).normals(n));
            let f = MaskedLeastSquares::new(Layout::vector(n).expect("a layout"), y, None).expect("a loss");
            let mut grad = vec![0.0; n];
            Box::new(move || {
                black_box(f.value_grad(&mut grad, &x, &mut []));
            })
        });
        for norm in [Norm::L2, Norm::L1, Norm::Linf, Norm::Row, Norm::Column] {
            table.row(&format!("kernel: look and move in {norm}, {n}"), bytes(4), None, &mut || {
                let layout = Layout::matrix(n.isqrt(), n.isqrt()).expect("a layout");
                let mut geometry = for_layout::<f64>(norm, &layout, Oracle::Auto).expect("a geometry");
                let (phi, x): (Vec<f64>, Vec<f64>) = (Seeded::new(8).normals(n), Seeded::new(9).normals(n));
                let mut y = vec![0.0; n];
                Box::new(move || {
                    black_box(geometry.oracle(&phi));
                    geometry.advance(&mut y, &x, &phi, 0.1);
                    black_box(&y);
                })
            });
        }
        let side = n.isqrt();
        table.row(&format!("kernel: differences of {side}²"), bytes(3), None, &mut || {
            let t = Difference2d::new(side, side).expect("differences");
            let (x, mut y) = (Seeded::new(7).normals::<f64>(n), vec![0.0; 2 * n]);
            Box::new(move || {
                t.apply(&mut y, &x, &mut []);
                black_box(&y);
            })
        });
        table.row(&format!("kernel: adjoint differences of {side}²"), bytes(4), None, &mut || {
            let t = Difference2d::new(side, side).expect("differences");
            let (y, mut x) = (Seeded::new(7).normals::<f64>(2 * n), vec![0.0; n]);
            Box::new(move || {
                t.adjoint_add(&mut x, &y, &mut []);
                black_box(&x);
            })
        });
    }
    operators(table);
    for (rows, cols) in [(256, 10), (256, 16), (256, 30), (4096, 30), (1024, 1024)] {
        let flops = (rows * cols * cols) as f64;
        table.row(&format!("kernel: Gram of {rows}×{cols}, by halves"), Floor::Flops(flops), None, &mut || {
            let x: Vec<f64> = Seeded::new(8).normals(rows * cols);
            let mut g = vec![0.0; cols * cols];
            Box::new(move || {
                f64::gram(&mut g, Mat::new(&x, rows, cols));
                black_box(&g);
            })
        });
    }
}

/// Ax and A*y of a matrix against the bytes of A, of a convolution against its flops.
fn operators(table: &Table) {
    let n = 512;
    let dense = move || Dense::new(Seeded::new(1).normals(n * n), n, n).expect("a matrix");
    let sparse = move || {
        let mut seeded = Seeded::new(2);
        let side = 100 * n;
        let mut entry = || (seeded.bits() as usize % side, seeded.bits() as usize % side, seeded.normal());
        let entries: Vec<_> = (0..10 * side).map(|_| entry()).collect();
        Sparse::from_triplets(side, side, entries).expect("a sparse matrix")
    };
    let blur = move || {
        let kernel: Vec<f64> = Seeded::new(3).normals(25);
        Convolution::new((n, n), &kernel, (5, 5), Boundary::Zero).expect("a convolution")
    };
    let bytes = |bytes: usize| Floor::Bytes { bytes: bytes as f64, len: bytes / 8 };
    let filled = 10 * 100 * n;
    both(table, "dense 512²", || bytes(8 * n * n), dense);
    both(table, "sparse 51200², 10 a row (16 bytes an entry)", || bytes(16 * filled), sparse);
    both(table, "convolution 512², 5×5", || Floor::Flops((2 * 25 * n * n) as f64), blur);
}

fn both<T: LinOp<f64> + 'static>(table: &Table, name: &str, floor: impl Fn() -> Floor, make: impl Fn() -> T) {
    let buffers = |t: &T| {
        let (x, y) = (Seeded::new(4).normals(t.domain().size()), Seeded::new(5).normals(t.range().size()));
        (x, y, vec![0.0; t.work_len()])
    };
    table.row(&format!("kernel: {name}, Tx"), floor(), None, &mut || {
        let t = make();
        let (x, mut y, mut work) = buffers(&t);
        Box::new(move || {
            t.apply(&mut y, &x, &mut work);
            black_box(&y);
        })
    });
    table.row(&format!("kernel: {name}, T*y"), floor(), None, &mut || {
        let t = make();
        let (mut x, y, mut work) = buffers(&t);
        Box::new(move || {
            t.adjoint_add(&mut x, &y, &mut work);
            black_box(&x);
        })
    });
}
