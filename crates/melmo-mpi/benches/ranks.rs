//! What the model of docs/scale.md needs of the machines at hand, and steps beside it: `scripts/bench_ranks` runs it under mpirun.
//!
//! α: a meeting of three numbers each. B: what a long sum takes, by the bytes that a rank sends. M: y ← x + a·z, by the bytes that it moves, on all
//! ranks at once. Steps: those of MELMO on a picture and on factors, split into computing and talking.

use std::time::Instant;

use melmo::drive::{Options, Stop, run};
use melmo::geometry::{Norm, Oracle};
use melmo::operator::{Difference2d, LinOp, Select};
use melmo::penalty::{Entrywise, L1};
use melmo::problem::Problem;
use melmo::schedule::Power;
use melmo::seeded::Seeded;
use melmo::smooth::{Factorization, MaskedLeastSquares, Smooth};
use melmo::solver::Melmo;
use melmo_mpi::{Distributed, Measure, Piece, Ranks, World};

/// How often everything is measured.
const BATCHES: u64 = 5;

/// Seconds of the slowest rank.
fn slowest(world: &World, own: f64) -> f64 {
    let mut ranks = world.ranks();
    let mut all = vec![0.0; ranks.size()];
    let counts = vec![1; ranks.size()];
    ranks.gather(&[own], &counts, &mut all).expect("all are there");
    all.into_iter().fold(0.0, f64::max)
}

fn timed(world: &World, mut act: impl FnMut()) -> f64 {
    slowest(world, 0.0);
    let begun = Instant::now();
    act();
    slowest(world, begun.elapsed().as_secs_f64())
}

/// The quickest of several times: others may be at work on the same machine.
fn quickest(world: &World, mut act: impl FnMut()) -> f64 {
    (0..BATCHES).map(|_| timed(world, &mut act)).fold(f64::INFINITY, f64::min)
}

fn meeting(world: &World, numbers: usize, times: usize) -> f64 {
    let mut ranks = world.ranks();
    let (own, counts) = (vec![1.0; numbers], vec![numbers; ranks.size()]);
    let mut all = vec![0.0; numbers * ranks.size()];
    quickest(world, || (0..times).for_each(|_| ranks.gather(&own, &counts, &mut all).expect("all are there")))
        / times as f64
}

fn triad(world: &World) -> f64 {
    const N: usize = 1 << 24;
    let (x, z, mut y) = (vec![1.0f64; N], vec![2.0f64; N], vec![0.0f64; N]);
    let took = quickest(world, || (0..10).for_each(|_| melmo::vector::add_scaled(&mut y, &x, 0.5, &z)));
    10.0 * 24.0 * N as f64 / took
}

/// Seconds of a step, and of its talk on rank 0, in the quickest batch.
fn steps(world: &World, problem: &Problem<f64>, pieces: &[Option<Piece>], norm: Option<Norm>, count: u64) -> [f64; 2] {
    let measure = norm.map_or(Measure::Euclidean, |norm| Measure::Blocks(pieces.iter().map(|_| (norm, 1.0)).collect()));
    let ranks = Box::new(world.ranks());
    let space = Distributed::new(problem, pieces, &measure, Oracle::Auto, ranks).expect("it can be shared");
    let start = space.own_entries(&Seeded::new(1).normals::<f64>(problem.layout().size()));
    let meter = space.meter();
    let mut solver = Melmo::on(space, Power::balanced(0.5), &start).expect("a start");
    let mut options = Options::new(Stop::after(2));
    options.look = false;
    run(&mut solver, &options, &mut []);
    let mut found = [f64::INFINITY, 0.0];
    for batch in 1..=BATCHES {
        let before = meter.lock().expect("nobody panics").time;
        options.stop = Stop::after(2 + batch * count);
        let took = timed(world, || drop(run(&mut solver, &options, &mut [])));
        let talk = meter.lock().expect("nobody panics").time - before;
        if took < found[0] {
            found = [took, talk.as_secs_f64()];
        }
    }
    found.map(|seconds| seconds / count as f64)
}

fn picture(world: &World, side: usize, count: u64) -> [f64; 2] {
    let (rank, size) = (world.ranks().rank(), world.ranks().size());
    let piece = Piece::of(side, 1, rank, size);
    let rows = piece.held.len();
    let y = Seeded::new(2 + rank as u64).normals(rows * side);
    let t = Difference2d::new(rows, side).expect("a picture");
    let f = MaskedLeastSquares::new(LinOp::<f64>::domain(&t).clone(), y, None).expect("a picture");
    let g = Entrywise::new(L1::new(0.1).expect("a weight"), LinOp::<f64>::range(&t).size());
    let problem = Problem::new(f, g, t).expect("terms that fit").within(piece.within()).expect("rows of a picture");
    steps(world, &problem, &[Some(piece)], None, count)
}

fn factors(world: &World, [rows, cols, rank]: [usize; 3], count: u64) -> [f64; 2] {
    let piece = Piece::of(rows, 0, world.ranks().rank(), world.ranks().size());
    let y = Seeded::new(2 + world.ranks().rank() as u64).normals(piece.held.len() * cols);
    let f = Factorization::new(y, piece.held.len(), cols, rank).expect("a matrix");
    let t = Select::new(f.layout(), &["W"]).expect("its factor");
    let g = Entrywise::new(L1::new(0.1).expect("a weight"), LinOp::<f64>::range(&t).size());
    let problem = Problem::new(f, g, t).expect("terms that fit");
    steps(world, &problem, &[Some(piece), None], Some(Norm::Spectral), count)
}

fn main() {
    let world = World::join().expect("MPI for calls from one thread at a time");
    let (first, size) = (world.ranks().rank() == 0, world.ranks().size());
    let say = |text: String| {
        if first {
            println!("{text}");
        }
    };
    let number =
        |at: usize, usual: usize| std::env::args().nth(at).and_then(|typed| typed.parse().ok()).unwrap_or(usual);
    let (side, rows) = (number(1, 2048), number(2, 8192));
    meeting(&world, 3, 1000);
    say(format!("{size} ranks: alpha = {:.2} us", 1e6 * meeting(&world, 3, 20_000)));
    let numbers = 1 << 19;
    let long = meeting(&world, numbers, 20);
    say(format!(
        "{size} ranks: B = {:.2} GB/s ({} MB gathered from each)",
        8e-9 * numbers as f64 / long,
        (8 * numbers) >> 20
    ));
    say(format!("{size} ranks: M = {:.2} GB/s a rank", 1e-9 * triad(&world)));
    let [step, talk] = picture(&world, side, 4);
    say(format!("{size} ranks: a picture of {side}²: {:.3} ms a step, {:.3} ms of it talk", 1e3 * step, 1e3 * talk));
    let shape = [rows, rows / 8, 64];
    let [step, talk] = factors(&world, shape, 2);
    let rate = 4e-9 * shape.iter().product::<usize>() as f64 / size as f64 / (step - talk);
    say(format!(
        "{size} ranks: factors of {shape:?}: {:.2} ms a step, {:.2} ms of it talk; F = {rate:.1} GF/s a rank",
        1e3 * step,
        1e3 * talk
    ));
}
