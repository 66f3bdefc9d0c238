//! After construction nothing allocates: every method in every geometry, with tracing and best-point tracking on.

#[path = "support/entries.rs"]
mod entries;

use melmo::block::Layout;
use melmo::catalogue::{Arguments, MethodRow, Value, geometries, methods, oracles};
use melmo::drive::{Epsilon, Options, Status, Stop, run};
use melmo::error::Error;
use melmo::geometry::{Geometry, Norm, Oracle, Product, for_layout};
use melmo::operator::{Columns, Dense, Difference2d, Identity, LinOp, Select};
use melmo::penalty::{Blocks, Entrywise, Group, L1, Mcp, Nonnegative, Positive, Prox, Spectral, Sum};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::{EntryFactors, EntryLoss, Factorization, LeastSquares, MaskedLeastSquares, RobustPca, Smooth};
use melmo::sparse::{Csr, Misfit};
use melmo::threads::Threads;
use melmo::trace::Record;

fn problems<S: Real>() -> Vec<(&'static str, Problem<S>, Vec<S>)> {
    let mut seeded = Seeded::new(2);
    let mut problems = Vec::new();
    let f = Factorization::new(seeded.normals::<S>(80 * 70), 80, 70, 4).unwrap();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let x0 = seeded.normals(f.layout().size());
    let g = Entrywise::new(Mcp::new(1.0, 3.0).unwrap(), 320);
    problems.push(("factorisation", Problem::new(f, g, t).unwrap(), x0));
    let (problem, x0) = entries::known_entries(80, 70, 4);
    problems.push(("known entries", problem, x0));
    let entries = (0..900u32).map(|k| (k * 37 % 80, k * 53 % 70, S::of(f64::from(k % 5))));
    let counts = Csr::from_entries(80, 70, entries, |_, _, counts| Ok::<_, Misfit>(counts[0])).unwrap();
    let f = EntryFactors::new(counts.clone(), EntryLoss::Poisson { floor: 1e-10 }, 4).unwrap();
    let (layout, x0) = (f.layout().clone(), seeded.normals::<S>(f.layout().size()).iter().map(|v| v.abs()).collect());
    let g = Entrywise::new(Nonnegative, layout.size());
    problems.push(("a divergence of counts", Problem::new(f, g, Identity::new(layout)).unwrap(), x0));
    let f = Factorization::sparse(counts, 4).unwrap();
    let (layout, x0) = (f.layout().clone(), seeded.normals(f.layout().size()));
    let g = Entrywise::new(Positive::new::<S>(L1::new(0.1).unwrap()).unwrap(), layout.size());
    problems.push(("factors of counts", Problem::new(f, g, Identity::new(layout)).unwrap(), x0));
    // Large enough that the nuclear oracle iterates.
    let y: Vec<S> = seeded.normals(100 * 90);
    let layout = Layout::matrix(100, 90).unwrap();
    let t = Difference2d::new(100, 90).unwrap();
    let range = LinOp::<S>::range(&t).clone();
    let mcp = Mcp::new(0.1, 2.0).unwrap();
    let penalties: [(&str, Box<dyn Prox<S>>); 3] = [
        ("anisotropic TV", Box::new(Entrywise::new(mcp, range.size()))),
        ("isotropic TV", Box::new(Group::pixels(mcp, &range).unwrap())),
        ("singular values of the differences", Box::new(Spectral::new(mcp, &range).unwrap())),
    ];
    for (name, g) in penalties {
        let f = MaskedLeastSquares::new(layout.clone(), y.clone(), None).unwrap();
        problems.push((name, Problem::from_boxes(Box::new(f), g, Box::new(t.clone())).unwrap(), y.clone()));
    }
    let design = Dense::new(seeded.normals::<S>(60 * 90), 60, 90).unwrap();
    let f = LeastSquares::new(Box::new(design), seeded.normals(60)).unwrap();
    let layout = f.layout().clone();
    let g = Entrywise::new(Mcp::new(2.0, 3.0).unwrap(), 90);
    problems.push(("regression", Problem::new(f, g, Identity::new(layout)).unwrap(), seeded.normals(90)));
    let design = Dense::new(seeded.normals::<S>(60 * 30), 60, 30).unwrap();
    let f = LeastSquares::new(Box::new(design), seeded.normals(60)).unwrap();
    let t = Dense::new(seeded.normals::<S>(70 * 30), 70, 30).unwrap();
    let g = Entrywise::new(L1::new(2.0).unwrap(), 70);
    problems.push(("a program in disguise", Problem::new(f, g, t).unwrap(), seeded.normals(30)));
    let design = Dense::new(seeded.normals::<S>(10 * 8), 10, 8).unwrap();
    let f = LeastSquares::new(Box::new(Columns::new(Box::new(design), 3).unwrap()), seeded.normals(30)).unwrap();
    let layout = f.layout().clone();
    let rows = Group::rows(mcp, &layout).unwrap();
    let g = Sum::new(vec![Box::new(Entrywise::new(L1::new(0.1).unwrap(), 24)), Box::new(rows)], 0.1).unwrap();
    problems.push(("a sum, three columns", Problem::new(f, g, Identity::new(layout)).unwrap(), seeded.normals(24)));
    let f = RobustPca::new(seeded.normals::<S>(100 * 90), 100, 90, None).unwrap();
    let (layout, x0) = (f.layout().clone(), seeded.normals(f.layout().size()));
    let low_rank: Box<dyn Prox<S>> = Box::new(Spectral::new(mcp, &Layout::matrix(100, 90).unwrap()).unwrap());
    let parts = vec![("L", 1.0, low_rank), ("S", 1.0, Box::new(Entrywise::new(mcp, 9000)))];
    let g = Blocks::new(&layout, parts).unwrap();
    problems.push(("low rank plus sparse", Problem::new(f, g, Identity::new(layout)).unwrap(), x0));
    problems
}

/// A method may refuse a problem; none may refuse them all.
fn refuses<S: Real>(method: &MethodRow<S>, problem: &Problem<S>, x0: &[S]) -> bool {
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let given: &[(&str, f64)] = if method.entry.name == "variable-smoothing" { &[("lipschitz", 1.0)] } else { &[] };
    let built = (method.build)(&Arguments::new(&method.entry, given).unwrap(), problem, geometry, x0);
    matches!(built, Err(Error::Unsupported(_)))
}

fn nothing_is_allocated<S: Real>() {
    const STEPS: [u64; 3] = [1, 3, 9];
    let mut untested: Vec<&str> = methods::<S>().iter().map(|method| method.entry.name).collect();
    for (problem_name, problem, x0) in problems::<S>() {
        for method in methods::<S>() {
            // A decomposition a step: for the method that is made for it.
            let others = problem_name == "low rank plus sparse" && method.entry.name != "turns";
            if others || refuses(&method, &problem, &x0) {
                continue;
            }
            // A step of subgradients leaves a constraint, and F is not finite there.
            if method.entry.name == "subgradient" && problem.g().lipschitz().is_none() {
                continue;
            }
            untested.retain(|name| *name != method.entry.name);
            for geometry in geometries::<S>() {
                if !method.uses_geometry && geometry.norm != Norm::L2 {
                    continue;
                }
                let oracles = if geometry.norm == Norm::Spectral {
                    oracles().into_iter().map(|(oracle, _)| oracle).collect()
                } else {
                    vec![Oracle::Auto]
                };
                for oracle in oracles {
                    let name = format!("{problem_name}, {}, {} {oracle}", method.entry.name, geometry.entry.name);
                    let number = Value::Number;
                    let variants: &[&[(&str, Value)]] = match method.entry.name {
                        "variable-smoothing" => {
                            &[&[("lipschitz", number(1e5))], &[("lipschitz", number(1e5)), ("normalized", number(1.0))]]
                        }
                        "epoch-constant" => &[&[], &[("restart", "start".into())], &[("restart", "none".into())]],
                        _ => &[&[]],
                    };
                    for given in variants {
                        let arguments = Arguments::new(&method.entry, given).unwrap();
                        let blocks = problem.layout().blocks().iter();
                        // Building and reporting allocate, and so may the very first call of a kernel: three steps and nine
                        // allocate the same.
                        let [_, few, many] = STEPS.map(|steps| {
                            let parts: Vec<Box<dyn Geometry<S>>> =
                                blocks.clone().map(|block| (geometry.build)(block, oracle).unwrap()).collect();
                            let product = Box::new(Product::new(problem.layout(), parts).unwrap());
                            let mut solver = (method.build)(&arguments, &problem, product, &x0).unwrap();
                            let record = Some(Record::every(2, STEPS[2] as usize));
                            // An ε that no bracket reaches, but that asks for one at every point.
                            let stop = Stop::after(steps).at_epsilon(Epsilon::Absolute(1e-18));
                            let options = Options { record, ..Options::new(stop) };
                            let counted = allocation_counter::measure(|| {
                                let report = run(&mut *solver, &options, &mut []);
                                assert_eq!(report.status, Status::Iterations, "{name}");
                            });
                            counted.count_total
                        });
                        // The certificate at the end may store u and decompose v, where a small β would show rounding: four
                        // allocations. One in every step would be six.
                        assert!(many <= few + 4, "{name} ({}): {few}, {many}", S::NAME);
                    }
                }
            }
        }
    }
    assert_eq!(untested, [""; 0]);
}

#[test]
fn nothing_is_allocated_f64() {
    nothing_is_allocated::<f64>();
}

#[test]
fn nothing_is_allocated_f32() {
    nothing_is_allocated::<f32>();
}

/// Opening a region, sharing a product or a pass: none of it allocates, once the helpers are there.
#[test]
fn nothing_is_allocated_on_several_threads() {
    let (rows, cols) = (420, 300);
    let y: Vec<f64> = Seeded::new(3).normals(rows * cols);
    let layout = Layout::matrix(rows, cols).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), y.clone(), None).unwrap();
    let t = Difference2d::new(rows, cols).unwrap();
    let g = Entrywise::new(Mcp::new(0.1, 2.0).unwrap(), 2 * rows * cols);
    let problem = Problem::new(f, g, t).unwrap();
    let melmo = methods::<f64>().into_iter().find(|method| method.entry.name == "melmo").unwrap();
    let arguments = Arguments::defaults(&melmo.entry).unwrap();
    for norm in [Norm::L2, Norm::Spectral] {
        let [_, few, many] = [1, 3, 9].map(|steps| {
            Threads::new(3).unwrap().run(|| {
                let geometry = for_layout(norm, &layout, Oracle::Auto).unwrap();
                let mut solver = (melmo.build)(&arguments, &problem, geometry, &y).unwrap();
                let options = Options::new(Stop::after(steps));
                allocation_counter::measure(|| drop(run(&mut *solver, &options, &mut []))).count_total
            })
        });
        assert_eq!(few, many, "{norm}");
    }
}

#[test]
fn the_counter_counts() {
    let counted = allocation_counter::measure(|| drop(std::hint::black_box(vec![1u8; 100])));
    assert_eq!(counted.count_total, 1);
}
