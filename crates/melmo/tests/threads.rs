//! The same bits on any number of threads: every method, every geometry, on problems large enough to be shared.

use melmo::block::Layout;
use melmo::catalogue::{Arguments, MethodRow, geometries, methods};
use melmo::drive::{Options, Stop, run};
use melmo::geometry::{Geometry, Norm, Oracle, Product, for_block, for_layout};
use melmo::operator::{Dense, Difference2d, Identity, LinOp, Select};
use melmo::penalty::{Entrywise, Group, L1, Mcp, Nonnegative, Prox};
use melmo::problem::Problem;
use melmo::seeded::Seeded;
use melmo::smooth::{EntryFactors, EntryLoss, Factorization, LeastSquares, MaskedLeastSquares, Smooth};
use melmo::sparse::{Csr, Misfit};
use melmo::threads::Threads;
use melmo::trace::Record;

use crate::support::entries::known_entries;
use crate::support::parts::low_rank_plus_sparse;

type Named = (&'static str, Problem<f64>, Vec<f64>);

fn factors(mask: bool) -> Named {
    let (rows, cols, rank) = (600, 500, 24);
    let mut seeded = Seeded::new(2);
    let y = seeded.normals(rows * cols);
    let f = match mask {
        false => Factorization::new(y, rows, cols, rank).unwrap(),
        true => {
            let seen = (0..rows * cols).map(|i| f64::from(i % 7 != 0)).collect();
            Factorization::masked(y, seen, rows, cols, rank).unwrap()
        }
    };
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let x0 = seeded.normals(f.layout().size());
    let g = Entrywise::new(Mcp::new(1.0, 3.0).unwrap(), rows * rank);
    (if mask { "masked factors" } else { "factors" }, Problem::new(f, g, t).unwrap(), x0)
}

fn counts(divergence: bool) -> Named {
    let (rows, cols, rank) = (3000, 800, 21);
    let entries = (0..60_000u32).map(|k| (k * 37 % rows as u32, k * 53 % cols as u32, f64::from(k % 5)));
    let counts = Csr::from_entries(rows, cols, entries, |_, _, counts| Ok::<_, Misfit>(counts[0])).unwrap();
    let f: Box<dyn Smooth<f64>> = match divergence {
        false => Box::new(Factorization::sparse(counts, rank).unwrap()),
        true => Box::new(EntryFactors::new(counts, EntryLoss::Poisson { floor: 1e-10 }, rank).unwrap()),
    };
    let layout = f.layout().clone();
    let x0 = Seeded::new(6).normals::<f64>(layout.size()).iter().map(|v| v.abs()).collect();
    let g = Entrywise::new(Nonnegative, layout.size());
    let problem = Problem::from_boxes(f, Box::new(g), Box::new(Identity::new(layout))).unwrap();
    (if divergence { "a divergence of counts" } else { "factors of counts" }, problem, x0)
}

fn image(isotropic: bool) -> Named {
    let (rows, cols) = (450, 301);
    let y: Vec<f64> = Seeded::new(3).normals(rows * cols);
    let t = Difference2d::new(rows, cols).unwrap();
    let range = LinOp::<f64>::range(&t).clone();
    let mcp = Mcp::new(0.1, 2.0).unwrap();
    let g: Box<dyn Prox<f64>> = match isotropic {
        false => Box::new(Entrywise::new(mcp, range.size())),
        true => Box::new(Group::pixels(mcp, &range).unwrap()),
    };
    let f = MaskedLeastSquares::new(Layout::matrix(rows, cols).unwrap(), y.clone(), None).unwrap();
    let name = if isotropic { "isotropic TV" } else { "TV" };
    (name, Problem::from_boxes(Box::new(f), g, Box::new(t)).unwrap(), y)
}

fn recovery() -> Named {
    let (rows, cols) = (400, 400);
    let layout = Layout::matrix(rows, cols).unwrap();
    let mut seeded = Seeded::new(4);
    let seen = (0..rows * cols).map(|i| f64::from(i % 3 != 0)).collect();
    let f = MaskedLeastSquares::new(layout.clone(), seeded.normals(rows * cols), Some(seen)).unwrap();
    let g = Entrywise::new(Mcp::new(0.3, 3.0).unwrap(), rows * cols);
    ("recovery", Problem::new(f, g, Identity::new(layout)).unwrap(), seeded.normals(rows * cols))
}

fn regression() -> Named {
    let (rows, cols) = (300, 700);
    let mut seeded = Seeded::new(5);
    let design = Dense::new(seeded.normals(rows * cols), rows, cols).unwrap();
    let f = LeastSquares::new(Box::new(design), seeded.normals(rows)).unwrap();
    let layout = f.layout().clone();
    let g = Entrywise::new(Mcp::new(2.0, 3.0).unwrap(), cols);
    ("regression", Problem::new(f, g, Identity::new(layout)).unwrap(), seeded.normals(cols))
}

/// Least squares with ℓ1 behind a matrix: a program in disguise.
fn bent_lines() -> Named {
    let (rows, cols, seen) = (2000, 200, 300);
    let mut seeded = Seeded::new(9);
    let design = Dense::new(seeded.normals(rows * cols), rows, cols).unwrap();
    let f = LeastSquares::new(Box::new(design), seeded.normals(rows)).unwrap();
    let t = Dense::new(seeded.normals(seen * cols), seen, cols).unwrap();
    let g = Entrywise::new(L1::new(2.0).unwrap(), seen);
    ("bent lines", Problem::new(f, g, t).unwrap(), seeded.normals(cols))
}

fn low_rank_and_sparse() -> Named {
    let (problem, x0) = low_rank_plus_sparse((70, 2000), [40.0, 0.5].map(|lambda| Mcp::new(lambda, 3.0).unwrap()));
    ("low rank plus sparse", problem, x0)
}

/// Everything that three steps leave behind, as text with all digits; `None` where the method refuses the problem.
fn outcome(
    problem: &Problem<f64>,
    method: &MethodRow<f64>,
    geometry: Box<dyn Geometry<f64>>,
    x0: &[f64],
) -> Option<String> {
    let given: &[(&str, f64)] = if method.entry.name == "variable-smoothing" { &[("lipschitz", 1e5)] } else { &[] };
    let arguments = Arguments::new(&method.entry, given).unwrap();
    let mut solver = (method.build)(&arguments, problem, geometry, x0).ok()?;
    let options = Options { record: Some(Record::every(1, 5)), ..Options::new(Stop::after(3)) };
    let report = run(&mut *solver, &options, &mut []);
    let trace: Vec<String> = report.trace.iter().map(|row| format!("{:?}", Timeless(row))).collect();
    Some(format!("{trace:?} {:?} {:?}", report.x, report.certificate))
}

/// A row without its clock.
struct Timeless<'r>(&'r melmo::trace::Row);

impl std::fmt::Debug for Timeless<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let row = melmo::trace::Row { seconds: 0.0, ..*self.0 };
        write!(f, "{row:?}")
    }
}

fn same_on_any_number(name: &str, outcome: impl Fn() -> Option<String>) -> bool {
    let on = |threads: usize| Threads::new(threads).unwrap().run(&outcome);
    let Some(alone) = on(1) else { return false };
    for threads in [2, 3, 8] {
        let shared = on(threads).unwrap();
        assert!(shared == alone, "{name}: {threads} threads\n{:.2000}\nand not\n{:.2000}", shared, alone);
    }
    true
}

#[test]
fn every_method() {
    let (known, start) = known_entries(600, 500, 24);
    let known = ("known entries", known, start);
    let problems = [
        factors(false),
        factors(true),
        known,
        counts(false),
        counts(true),
        image(false),
        image(true),
        recovery(),
        regression(),
        bent_lines(),
        low_rank_and_sparse(),
    ];
    let mut untested: Vec<&str> = methods::<f64>().iter().map(|method| method.entry.name).collect();
    for (name, problem, x0) in &problems {
        // A decomposition a step: for the method that is made for it.
        let made_for = match *name {
            "low rank plus sparse" => Some("turns"),
            "bent lines" => Some("interior-point"),
            _ => None,
        };
        let methods = methods::<f64>().into_iter();
        for method in methods.filter(|row| made_for.is_none_or(|only| row.entry.name == only)) {
            let geometry = || for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
            let name = format!("{name}, {}", method.entry.name);
            if same_on_any_number(&name, || outcome(problem, &method, geometry(), x0)) {
                untested.retain(|name| *name != method.entry.name);
            }
        }
    }
    assert_eq!(untested, [""; 0]);
}

#[test]
fn every_geometry() {
    let problems = [factors(false), image(false)];
    let melmo = methods::<f64>().into_iter().find(|method| method.entry.name == "melmo").unwrap();
    for (name, problem, x0) in &problems {
        for row in geometries::<f64>() {
            let oracles: &[Oracle] = match row.norm {
                Norm::Spectral => {
                    let steps = 6;
                    &[Oracle::Auto, Oracle::NewtonSchulz(6), Oracle::Minimax { steps }, Oracle::Gram, Oracle::Svd]
                }
                _ => &[Oracle::Auto],
            };
            for &oracle in oracles {
                let geometry = || -> Box<dyn Geometry<f64>> {
                    let blocks = problem.layout().blocks().iter();
                    let parts = blocks.map(|block| for_block(row.norm, block, oracle).unwrap()).collect();
                    Box::new(Product::new(problem.layout(), parts).unwrap())
                };
                let name = format!("{name}, {} {oracle}", row.entry.name);
                assert!(same_on_any_number(&name, || outcome(problem, &melmo, geometry(), x0)), "{name}");
            }
        }
    }
}

/// Threads that solve at the same time share no state: one of them has the helpers, the others go on alone.
#[test]
fn several_at_once() {
    let (_, problem, x0) = image(false);
    let melmo = methods::<f64>().into_iter().find(|method| method.entry.name == "melmo").unwrap();
    let solve = || outcome(&problem, &melmo, for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap(), &x0);
    let alone = solve();
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| Threads::new(3).unwrap().run(solve))).collect();
        all.into_iter().for_each(|one| assert!(one.join().unwrap() == alone));
    });
}
