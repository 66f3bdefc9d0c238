//! Steps that are made of products: total variation in the spectral norm, and a factorisation of a dense matrix.
//!
//! Milliseconds by events on the GPU's stream: medians of 20 after a warm-up, each of a few steps with everything that the host asks in
//! between.

use std::time::Instant;

use melmo::block::Block;
use melmo::geometry::{BlockNorm, Norm};
use melmo::operator::Select;
use melmo::penalty::{Entrywise, Mcp};
use melmo::problem::Problem;
use melmo::smooth::{Factorization, Smooth};
use melmo::space::Space;
use melmo_cuda::{Arithmetic, Device, Gpu};

/// The median of 20 batches of so many rounds, in milliseconds a round.
fn median<'p>(space: &mut Device<'p, f32, Gpu>, batch: usize, mut work: impl FnMut(&mut Device<'p, f32, Gpu>)) -> f64 {
    let mut times: Vec<f64> = (0..24)
        .map(|_| {
            let start = space.machine().mark().unwrap();
            (0..batch).for_each(|_| work(space));
            let end = space.machine().mark().unwrap();
            space.machine().between(start, end).unwrap() / batch as f64
        })
        .skip(4)
        .collect();
    assert_eq!(space.fault(), None);
    times.sort_by(f64::total_cmp);
    times[10]
}

/// Steps x ← x + γ·lmo(∇F_β(x)), and what they are made of.
fn measure(
    name: &str,
    problem: &Problem<f32>,
    norms: Vec<BlockNorm>,
    arithmetic: Arithmetic,
    x0: &[f32],
    batch: usize,
) {
    let began = Instant::now();
    let mut space = Device::with(problem, norms, arithmetic, Gpu::open(0).unwrap()).unwrap();
    let [mut x, mut y, mut phi] = [0, 1, 2].map(|_| space.point());
    space.write(&mut x, 0, x0);
    let beta = problem.default_beta();
    space.gradient(&mut phi, &x, beta);
    let (ready, mut wide) = (began.elapsed().as_secs_f64(), f64::NAN);
    let whole = median(&mut space, batch, |space| {
        let answer = space.oracle(&phi, None);
        wide = answer.dual_norm.upper / answer.dual_norm.lower - 1.0;
        let found = space.advance_and_evaluate(&mut y, &x, &mut phi, [1e-3, beta]);
        assert!(found.f.is_finite());
        std::mem::swap(&mut x, &mut y);
    });
    let oracle = median(&mut space, batch, |space| {
        let _ = space.oracle(&phi, None);
    });
    let gradient = median(&mut space, batch, |space| {
        let _ = space.gradient(&mut phi, &x, beta);
    });
    println!(
        "{name:<28} {whole:>9.4} ms a step   bracket {:.2} % wide   oracle {oracle:.3} ms, gradient {gradient:.3} ms   ready after {ready:.1} s",
        100.0 * wide
    );
}

/// Total variation of a 4096² image in the spectral norm.
pub fn spectral(name: &str, problem: &Problem<f32>, x0: &[f32], arithmetic: Arithmetic) {
    let block = problem.layout().blocks()[0].clone();
    let norms = vec![BlockNorm { block, norm: Norm::Spectral, radius: 1.0 }];
    measure(name, problem, norms, arithmetic, x0, 5);
}

/// A factorisation of n² entries of a given rank, W and H in the spectral norm.
pub fn factorise(name: &str, [n, rank]: [usize; 2], y: Vec<f32>, x0: &[f32], arithmetic: Arithmetic) {
    let f = Factorization::new(y, n, n, rank).unwrap();
    let of = |block: &Block| BlockNorm { block: block.clone(), norm: Norm::Spectral, radius: 1.0 };
    let norms: Vec<BlockNorm> = f.layout().blocks().iter().map(of).collect();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let problem = Problem::new(f, Entrywise::new(Mcp::new(0.4, 3.0).unwrap(), n * rank), t).unwrap();
    measure(name, &problem, norms, arithmetic, x0, 3);
}
