//! Ranks agree: the same bits in every run on as many ranks, and one that fails ends all.

use melmo::drive::{Options, Status, Stop, run};
use melmo::geometry::{Norm, Oracle};
use melmo::penalty::{Entrywise, L1, Prox};
use melmo::schedule::Power;
use melmo::seeded::Seeded;
use melmo::solver::{Adaptive, Melmo, Smoothing, Solver, State};
use melmo_mpi::{Distributed, Lost, Ranks, Thread};

use crate::whole::{Kind, Whole, on_ranks};

fn image() -> Whole {
    let penalty = |range: &melmo::block::Layout| -> Box<dyn Prox<f64>> {
        Box::new(Entrywise::new(L1::new(0.3).unwrap(), range.size()))
    };
    Whole {
        kind: Kind::Image,
        y: Seeded::new(5).normals(41 * 30),
        mask: None,
        rows: 41,
        cols: 30,
        penalty: Box::new(penalty),
    }
}

#[test]
fn runs_on_as_many_ranks_have_the_same_bits() {
    let whole = image();
    for norm in [None, Some(Norm::L1), Some(Norm::Spectral)] {
        let once = || {
            whole.on(3, norm, Oracle::Auto, |space, rank| {
                let mut solver = Melmo::on(space, Power::balanced(0.5), &whole.own(&whole.y, rank, 3)).unwrap();
                let report = run(&mut solver, &Options::new(Stop::after(40)), &mut []);
                (report.x, report.z, report.info, report.certificate)
            })
        };
        assert_eq!(once(), once(), "{norm:?}");
    }
}

/// The sum is convex: whatever the number of ranks, F is within the gap that the certificate of all ranks states.
#[test]
fn the_gap_is_that_of_the_whole() {
    let (whole, mut objectives) = (image(), Vec::new());
    for size in 1..=4 {
        let reports = whole.on(size, None, Oracle::Auto, |mut space, rank| {
            let start = whole.own(&whole.y, rank, size);
            let beta = space.first_beta(&start);
            let mut solver = Adaptive::on(space, Smoothing::new::<f64>(beta), &start).unwrap();
            let report = run(&mut solver, &Options::new(Stop::after(400)), &mut []);
            (report.objective, report.certificate.unwrap().optimality.unwrap())
        });
        assert!(reports.iter().all(|report| *report == reports[0]), "ranks see the same numbers");
        objectives.push(reports[0]);
    }
    let problem = whole.alone();
    let beta = Smoothing::start(&problem, &whole.y);
    let host = melmo::space::Host::new(&problem, melmo::geometry::euclidean(problem.layout())).unwrap();
    let mut solver = Adaptive::on(host, Smoothing::new::<f64>(beta), &whole.y).unwrap();
    let report = run(&mut solver, &Options::new(Stop::after(400)), &mut []);
    let best = report.certificate.unwrap().optimality.unwrap();
    for (objective, found) in objectives {
        assert!(found.bound <= report.objective && best.bound <= objective, "no bound lies above a value");
        assert!((objective - report.objective).abs() <= best.gap.min(found.gap), "{objective} {}", report.objective);
        assert!(found.gap < 0.05 * objective, "{found:?}");
    }
}

/// A rank that leaves after so many meetings.
struct Failing(Thread, usize);

impl Failing {
    fn meet(&mut self) -> Result<(), Lost> {
        self.1 = self.1.checked_sub(1).ok_or(Lost)?;
        Ok(())
    }
}

impl Ranks for Failing {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn gather(&mut self, own: &[f64], counts: &[usize], all: &mut [f64]) -> Result<(), Lost> {
        self.meet()?;
        self.0.gather(own, counts, all)
    }

    fn trade(&mut self, own: &[f64], counts: &[usize], received: &mut [f64], from: &[usize]) -> Result<(), Lost> {
        self.meet()?;
        self.0.trade(own, counts, received, from)
    }

    fn beside(&mut self, send: [&[f64]; 2], receive: [&mut [f64]; 2]) -> Result<(), Lost> {
        self.meet()?;
        self.0.beside(send, receive)
    }
}

#[test]
fn a_rank_that_fails_ends_all() {
    let whole = image();
    let statuses = on_ranks(3, |thread, rank| {
        let part = whole.part(rank, 3);
        let meetings = if rank == 1 { 60 } else { usize::MAX };
        let measure = whole.measure(None);
        let ranks = Box::new(Failing(thread, meetings));
        let space = Distributed::new(&part.problem, &part.pieces, &measure, Oracle::Auto, ranks).unwrap();
        let mut solver = Melmo::on(space, Power::balanced(0.5), &whole.own(&whole.y, rank, 3)).unwrap();
        let report = run(&mut solver, &Options::new(Stop::after(1_000_000)), &mut []);
        assert!(solver.x().iter().all(|x| x.is_finite()), "the last point that was whole");
        (report.status, report.info.k)
    });
    for (status, k) in &statuses {
        assert_eq!(*status, Status::NotFinite);
        assert!(*k < 60, "{statuses:?}");
    }
}

/// What more steps take: meetings and numbers sent, on each rank.
fn talk_of_ten_steps(whole: &Whole, norm: Option<Norm>, start: &[f64]) -> Vec<(u64, u64)> {
    let spent = |steps: u64| {
        whole.on(3, norm, Oracle::Auto, |space, rank| {
            let meter = space.meter();
            let mut solver = Melmo::on(space, Power::balanced(0.5), &whole.own(start, rank, 3)).unwrap();
            run(&mut solver, &Options::new(Stop::after(steps)), &mut []);
            let spent = *meter.lock().unwrap();
            (spent.meetings, spent.sent)
        })
    };
    spent(20).iter().zip(spent(10)).map(|(more, less)| (more.0 - less.0, more.1 - less.1)).collect()
}

/// The model of docs/scale.md: how often ranks meet in a step, and what they send.
#[test]
fn a_step_talks_as_much_as_is_said() {
    let image = image();
    // Three sums, and a row to every neighbour.
    assert_eq!(talk_of_ten_steps(&image, None, &image.y), [(20, 330), (20, 630), (20, 330)]);
    let (rows, cols, rank) = (31, 12, 3);
    let factors =
        Whole { kind: Kind::Factors(rank, false), y: Seeded::new(5).normals(rows * cols), rows, cols, ..self::image() };
    let start: Vec<f64> = Seeded::new(6).normals((rows + cols) * rank);
    // ∇H, three sums, and the folded rows of W.
    let sent = 10 * (rank * cols + 3 + rank * rank) as u64;
    assert_eq!(talk_of_ten_steps(&factors, Some(Norm::Spectral), &start), [(30, sent); 3]);
}

/// A state that three ranks saved is taken up by two, and by five: its points lie in parts that extents put together.
#[test]
fn a_run_goes_on_on_another_number_of_ranks() {
    let whole = image();
    let point = |space: Distributed<'_, f64>, rank: usize, size: usize, state: Option<State<f64>>, steps: usize| {
        let extents = space.extents();
        let start = whole.own(&whole.y, rank, size);
        let mut solver = Adaptive::on(space, Smoothing::new::<f64>(0.5), &start).unwrap();
        if let Some(mut state) = state {
            for whole in state.points_mut() {
                *whole = extents.iter().flat_map(|extent| whole[extent.whole.clone()].to_vec()).collect();
            }
            solver.restore(&state).unwrap();
        }
        for _ in 0..steps {
            let _ = solver.next();
        }
        (solver.x(), solver.save(), extents)
    };
    let once = whole.on(1, None, Oracle::Auto, |space, rank| point(space, rank, 1, None, 50));
    let first = whole.on(3, None, Oracle::Auto, |space, rank| point(space, rank, 3, None, 25));
    let mut state = first[0].1.clone();
    let count = state.points_mut().len();
    for at in 0..count {
        let mut joined = vec![0.0; whole.y.len()];
        for (_, state, extents) in &first {
            let part = state.clone().points_mut()[at].clone();
            extents.iter().for_each(|extent| joined[extent.whole.clone()].copy_from_slice(&part[extent.own.clone()]));
        }
        *state.points_mut()[at] = joined;
    }
    for size in [2, 5] {
        let second =
            whole.on(size, None, Oracle::Auto, |space, rank| point(space, rank, size, Some(state.clone()), 25));
        let x: Vec<f64> = second.into_iter().flat_map(|(x, ..)| x).collect();
        let apart = x.iter().zip(&once[0].0).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart <= 1e-10, "{size} ranks: {apart:e}");
    }
}
