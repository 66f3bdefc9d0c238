//! Ranks of MPI: `mpirun -n N` of this program. Every rank compares its part with what one machine finds, and rank 0 says so.
//! With MELMO_TEST_LEAVE=R rank R leaves in the middle of a run, with MELMO_TEST_KILL=R it is killed: `mpirun` has to end the others.
//! `golden` as an argument: the golden cases.
#![allow(dead_code)]

use std::ops::ControlFlow;

use melmo::block::Layout;
use melmo::drive::{Options, Stop, run};
use melmo::geometry::{Norm, Oracle, euclidean, for_layout};
use melmo::penalty::{Entrywise, Mcp, Prox};
use melmo::schedule::Power;
use melmo::seeded::Seeded;
use melmo::solver::{Info, Melmo, Solver};
use melmo::space::Host;
use melmo_mpi::{Distributed, Piece, Ranks, Way, World};

#[path = "suite/golden.rs"]
mod golden;
#[path = "suite/whole.rs"]
mod whole;
use whole::{Kind, Whole};

fn problem(kind: Kind, rows: usize, cols: usize) -> Whole {
    let width = if let Kind::Volume(high) = kind { high * cols } else { cols };
    let penalty =
        |range: &Layout| -> Box<dyn Prox<f64>> { Box::new(Entrywise::new(Mcp::new(0.3, 2.0).unwrap(), range.size())) };
    Whole { kind, y: Seeded::new(3).normals(rows * width), mask: None, rows, cols, penalty: Box::new(penalty) }
}

/// The rank that the environment names under `what`.
fn is_told(what: &str, rank: usize) -> bool {
    std::env::var(what).is_ok_and(|told| told == rank.to_string())
}

fn leave_if_told(rank: usize) {
    if is_told("MELMO_TEST_LEAVE", rank) {
        eprintln!("rank {rank} leaves");
        std::process::exit(9);
    }
    if is_told("MELMO_TEST_KILL", rank) {
        eprintln!("rank {rank} is killed");
        let _ = std::process::Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

/// Thirty steps on all ranks, and on this one alone.
fn compare(world: &World, name: &str, whole: &Whole, norm: Option<Norm>) {
    let ranks = world.ranks();
    let (rank, size) = (ranks.rank(), ranks.size());
    let (alone, part) = (whole.alone(), whole.part(rank, size));
    let start: Vec<f64> = Seeded::new(7).normals(alone.layout().size());
    let geometry = match norm {
        Some(norm) => for_layout(norm, alone.layout(), Oracle::Gram).unwrap(),
        None => euclidean(alone.layout()),
    };
    let power = || Power::balanced(0.5);
    let mut there = Melmo::on(Host::new(&alone, geometry).unwrap(), power(), &start).unwrap();
    let there = run(&mut there, &Options::new(Stop::after(30)), &mut []);
    let measure = whole.measure(norm);
    let idle = whole.kind == Kind::Regression && Piece::of(whole.rows, 0, rank, size).is_idle();
    let way = if idle { Way::WithoutRows } else { Way::Plain };
    let space = Distributed::by(way, &part.problem, &part.pieces, &measure, Oracle::Gram, Box::new(ranks)).unwrap();
    let mut here = Melmo::on(space, power(), &whole.own(&start, rank, size)).unwrap();
    let mut leave = |info: &Info, _: &mut dyn Solver<f64>| {
        if info.k == 20 {
            leave_if_told(rank);
        }
        ControlFlow::Continue(())
    };
    let here = run(&mut here, &Options::new(Stop::after(30)), &mut [&mut leave]);
    let want = whole.own(&there.x, rank, size);
    let apart = here.x.iter().zip(&want).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart <= 1e-10 && here.x.len() == want.len(), "{name}, rank {rank} of {size}: {apart:e}");
    assert!((here.objective - there.objective).abs() <= 1e-10 * there.objective.abs(), "{name}");
    let (here, there) = (here.certificate.unwrap(), there.certificate.unwrap());
    assert!((here.dual_norm.upper / there.dual_norm.upper - 1.0).abs() <= 1e-8, "{name}");
    if rank == 0 {
        println!("{size} ranks, {name}: {apart:.1e} from one machine");
    }
}

fn golden_cases(world: &World) {
    let cases = golden::Case::all();
    assert_eq!(cases.len(), 35, "a golden case is missing");
    for case in &cases {
        golden::compare_part(case, &golden::alone(case), Box::new(world.ranks()));
    }
    if world.ranks().rank() == 0 {
        println!("{} ranks: {} golden cases are those of one machine", world.ranks().size(), cases.len());
    }
}

fn main() {
    let world = World::join().expect("MPI for calls from one thread at a time");
    // One that panics leaves at once: the farewell of MPI would wait for the others.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        usual(info);
        std::process::exit(101);
    }));
    if std::env::args().any(|argument| argument == "golden") {
        return golden_cases(&world);
    }
    compare(&world, "a picture", &problem(Kind::Image, 301, 200), None);
    compare(&world, "a picture, spectral", &problem(Kind::Image, 37, 23), Some(Norm::Spectral));
    compare(&world, "a volume, l1", &problem(Kind::Volume(5), 9, 7), Some(Norm::L1));
    compare(&world, "entries of fewer rows than ranks, columns", &problem(Kind::Entries, 3, 6), Some(Norm::Column));
    compare(&world, "factors, spectral", &problem(Kind::Factors(8, false), 400, 300), Some(Norm::Spectral));
    compare(&world, "a regression", &problem(Kind::Regression, 50, 20), None);
}
