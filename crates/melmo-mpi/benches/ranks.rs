//! What the model of docs/scale.md needs of the machines at hand, and steps beside it: `scripts/bench_ranks` runs it under mpirun.
//!
//! α: a meeting of three numbers each. B: what a long sum takes, by the bytes that a rank sends. M: y ← x + a·z, by the bytes that it moves, on all
//! ranks at once. Steps: those of MELMO on a picture and on factors, split into computing and talking.

use std::time::Instant;

use melmo::geometry::{Norm, Oracle};
use melmo::operator::{Difference2d, LinOp, Select};
use melmo::penalty::{Entrywise, L1};
use melmo::problem::Problem;
use melmo::schedule::Power;
use melmo::smooth::{Factorization, MaskedLeastSquares, Smooth};
use melmo::solver::Melmo;
use melmo_mpi::{Distributed, Measure, Piece, Ranks};

/// How often everything is measured, unless `batches=` says otherwise.
const BATCHES: u64 = 5;

/// All ranks: as many ends of what connects them as are asked for.
struct World {
    ends: Box<dyn FnMut() -> Box<dyn Ranks>>,
    batches: u64,
}

impl World {
    fn ranks(&mut self) -> Box<dyn Ranks> {
        (self.ends)()
    }

    /// Seconds of the slowest rank.
    fn slowest(&mut self, own: f64) -> f64 {
        let mut ranks = self.ranks();
        let mut all = vec![0.0; ranks.size()];
        let counts = vec![1; ranks.size()];
        ranks.gather(&[own], &counts, &mut all).expect("all are there");
        all.into_iter().fold(0.0, f64::max)
    }

    fn timed(&mut self, mut act: impl FnMut()) -> f64 {
        self.slowest(0.0);
        let begun = Instant::now();
        act();
        let own = begun.elapsed().as_secs_f64();
        self.slowest(own)
    }

    /// The quickest of several times: others may be at work on the same machine.
    fn quickest(&mut self, mut act: impl FnMut()) -> f64 {
        (0..self.batches).map(|_| self.timed(&mut act)).fold(f64::INFINITY, f64::min)
    }
}

fn meeting(world: &mut World, numbers: usize, times: usize) -> f64 {
    let mut ranks = world.ranks();
    let (own, counts) = (vec![1.0; numbers], vec![numbers; ranks.size()]);
    let mut all = vec![0.0; numbers * ranks.size()];
    world.quickest(|| (0..times).for_each(|_| ranks.gather(&own, &counts, &mut all).expect("all are there")))
        / times as f64
}

/// Bytes a second that a rank moves while all do.
fn triad(world: &mut World) -> f64 {
    const N: usize = 1 << 24;
    let (x, z, mut y) = (vec![1.0f64; N], vec![2.0f64; N], vec![0.0f64; N]);
    let took = world.quickest(|| (0..4).for_each(|_| melmo::vector::add_scaled(&mut y, &x, 0.5, &z)));
    4.0 * 24.0 * N as f64 / took
}

/// Seconds of a step, and of its talk on rank 0, in the quickest batch.
fn steps(
    world: &mut World,
    problem: &Problem<f64>,
    pieces: &[Option<Piece>],
    norm: Option<Norm>,
    count: u64,
) -> [f64; 2] {
    let measure = norm.map_or(Measure::Euclidean, |norm| Measure::Blocks(pieces.iter().map(|_| (norm, 1.0)).collect()));
    let ranks = world.ranks();
    let space = Distributed::new(problem, pieces, &measure, Oracle::Auto, ranks).expect("it can be shared");
    let start = space.own_entries(&noise(problem.layout().size(), 1));
    let meter = space.meter();
    let mut solver = Melmo::on(space, Power::balanced(0.5), &start).expect("a start");
    drop(start);
    // Nobody reports: what a report takes is no part of a step.
    let mut go_on = |steps: u64| (0..steps).for_each(|_| _ = solver.next());
    go_on(2);
    let mut found = [f64::INFINITY, 0.0];
    for _ in 0..world.batches {
        let before = meter.lock().expect("nobody panics").time;
        let took = world.timed(|| go_on(count));
        let talk = meter.lock().expect("nobody panics").time - before;
        if took < found[0] {
            found = [took, talk.as_secs_f64()];
        }
    }
    found.map(|seconds| seconds / count as f64)
}

/// Numbers between −1 and 1 that look like noise, and take no longer than memory does.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let draw = |_| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(draw).collect()
}

fn picture(world: &mut World, [rows, cols]: [usize; 2], count: u64) -> [f64; 2] {
    let (rank, size) = (world.ranks().rank(), world.ranks().size());
    let piece = Piece::of(rows, 1, rank, size);
    let held = piece.held.len();
    let y = noise(held * cols, 2 + rank as u64);
    let t = Difference2d::new(held, cols).expect("a picture");
    let f = MaskedLeastSquares::new(LinOp::<f64>::domain(&t).clone(), y, None).expect("a picture");
    let g = Entrywise::new(L1::new(0.1).expect("a weight"), LinOp::<f64>::range(&t).size());
    let problem = Problem::new(f, g, t).expect("terms that fit").within(piece.within()).expect("rows of a picture");
    steps(world, &problem, &[Some(piece)], None, count)
}

fn factors(world: &mut World, [rows, cols, rank]: [usize; 3], count: u64) -> [f64; 2] {
    let (own, size) = (world.ranks().rank(), world.ranks().size());
    let piece = Piece::of(rows, 0, own, size);
    let y = noise(piece.held.len() * cols, 2 + own as u64);
    let f = Factorization::new(y, piece.held.len(), cols, rank).expect("a matrix");
    let t = Select::new(f.layout(), &["W"]).expect("its factor");
    let g = Entrywise::new(L1::new(0.1).expect("a weight"), LinOp::<f64>::range(&t).size());
    let problem = Problem::new(f, g, t).expect("terms that fit");
    steps(world, &problem, &[Some(piece), None], Some(Norm::Spectral), count)
}

/// What is measured: `name=number` each.
struct Asked {
    /// A picture of side², and with `each` one of each×side on every rank.
    side: usize,
    /// Factors of rows × rows/8, and with `each` of each × rows/8 on every rank.
    rows: usize,
    /// Rows of every rank, of the picture and of the factors: work that grows with the ranks.
    each: [usize; 2],
    batches: u64,
    /// Steps of a batch.
    steps: u64,
    /// Ranks that are threads of this process, in the place of MPI's.
    threads: usize,
}

impl Asked {
    fn read() -> Self {
        let mut asked = Self { side: 2048, rows: 8192, each: [0, 0], batches: BATCHES, steps: 4, threads: 0 };
        for typed in std::env::args().skip(1).filter(|typed| !typed.starts_with("--")) {
            let (name, value) = typed.split_once('=').unwrap_or((&typed, ""));
            let number: usize = value.parse().unwrap_or_else(|_| panic!("{typed}: expected name=number"));
            match name {
                "side" => asked.side = number,
                "rows" => asked.rows = number,
                "picture_each" => asked.each[0] = number,
                "factors_each" => asked.each[1] = number,
                "batches" => asked.batches = number.max(1) as u64,
                "steps" => asked.steps = number.max(1) as u64,
                "threads" => asked.threads = number,
                _ => panic!("{typed}: side, rows, picture_each, factors_each, batches, steps or threads"),
            }
        }
        asked
    }
}

/// Everything, on this rank.
fn measure(asked: &Asked, mut world: World) {
    let (first, size) = (world.ranks().rank() == 0, world.ranks().size());
    let say = |text: String| {
        if first {
            println!("{size} ranks: {text}");
        }
    };
    let world = &mut world;
    meeting(world, 3, 100);
    say(format!("alpha = {:.2} us", 1e6 * meeting(world, 3, 2000)));
    let numbers = 1 << 19;
    let long = meeting(world, numbers, 20);
    say(format!("B = {:.2} GB/s ({} MB gathered from each)", 8e-9 * numbers as f64 / long, (8 * numbers) >> 20));
    let bandwidth = |world: &mut World| say(format!("M = {:.2} GB/s a rank", 1e-9 * triad(world)));
    bandwidth(world);
    let mut pictures = vec![[asked.side, asked.side]];
    pictures.extend((asked.each[0] > 0).then(|| [asked.each[0] * size, asked.side]));
    for shape in pictures {
        let [step, talk] = picture(world, shape, asked.steps);
        say(format!("a picture of {shape:?}: {:.3} ms a step, {:.3} ms of it talk", 1e3 * step, 1e3 * talk));
    }
    bandwidth(world);
    let cols = asked.rows / 8;
    let mut matrices = vec![[asked.rows, cols, 64]];
    matrices.extend((asked.each[1] > 0).then(|| [asked.each[1] * size, cols, 64]));
    for shape in matrices {
        let [step, talk] = factors(world, shape, asked.steps.div_ceil(2));
        let rate = 4e-9 * shape.iter().product::<usize>() as f64 / size as f64 / (step - talk);
        let (step, talk) = (1e3 * step, 1e3 * talk);
        say(format!("factors of {shape:?}: {step:.2} ms a step, {talk:.2} ms of it talk; F = {rate:.1} GF/s a rank"));
    }
}

/// Ends enough for everything that is measured.
const ENDS: usize = 4096;

/// Ranks that are threads: where there is no MPI.
fn on_threads(asked: &Asked) {
    let mut all: Vec<Vec<melmo_mpi::Thread>> = (0..asked.threads).map(|_| Vec::new()).collect();
    for _ in 0..ENDS {
        all.iter_mut().zip(melmo_mpi::threads(asked.threads)).for_each(|(ends, end)| ends.push(end));
    }
    std::thread::scope(|scope| {
        for mut ends in all {
            scope.spawn(move || {
                let next = move || -> Box<dyn Ranks> { Box::new(ends.pop().expect("ends enough")) };
                measure(asked, World { ends: Box::new(next), batches: asked.batches });
            });
        }
    });
}

fn main() {
    let asked = Asked::read();
    if asked.threads > 0 {
        return on_threads(&asked);
    }
    #[cfg(feature = "mpi")]
    {
        let joined = melmo_mpi::World::join().expect("MPI for calls from one thread at a time");
        measure(&asked, World { ends: Box::new(move || Box::new(joined.ranks())), batches: asked.batches });
    }
    #[cfg(not(feature = "mpi"))]
    panic!("this program was built without MPI: give threads=2");
}
