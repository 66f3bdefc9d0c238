//! What is made of products: spectral and nuclear directions with brackets that hold, products of norms, and losses of factors.

use melmo::block::Layout;
use melmo::certificate::{Shown, Witness};
use melmo::drive::{Options, Stop, run};
use melmo::geometry::{BlockNorm, Norm, Oracle, for_layout, product_dual, product_primal};
use melmo::linalg::{Into, Mat};
use melmo::operator::{Identity, Select};
use melmo::penalty::{Entrywise, L1, Mcp};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::schedule::{Averaging, Power};
use melmo::seeded::Seeded;
use melmo::smooth::{Factorization, MaskedLeastSquares, RobustPca, Smooth};
use melmo::solver::{Melmo, Momentum, Rule, Solver, Stochastic};
use melmo::space::{Host, Sampled, Space};
use melmo::sparse::{Csr, Misfit};
use melmo_cuda::{Arithmetic, Device};

use crate::emulator::{is_gpu, machine};

/// ½‖x − y‖² with a penalty on entries: its gradient is of no interest, its variable is a rows×cols matrix.
fn matrix<S: Real>(rows: usize, cols: usize) -> Problem<S> {
    let layout = Layout::matrix(rows, cols).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), vec![S::ONE; rows * cols], None).unwrap();
    Problem::new(f, Entrywise::new(L1::new(0.1).unwrap(), rows * cols), Identity::new(layout)).unwrap()
}

/// Matrices that are hard in different ways.
fn zoo<S: Real>(rows: usize, cols: usize) -> Vec<(&'static str, Vec<S>)> {
    let n = rows * cols;
    let noise: Vec<f64> = Seeded::new(1).normals(n);
    let of = |entry: &dyn Fn(usize, usize) -> f64| -> Vec<S> {
        (0..n).map(|at| S::of(entry(at / cols, at % cols))).collect()
    };
    let (u, v): (Vec<f64>, Vec<f64>) = (Seeded::new(2).normals(rows), Seeded::new(3).normals(cols));
    vec![
        ("random", of(&|i, j| noise[i * cols + j])),
        ("positive", of(&|i, j| noise[i * cols + j].abs())),
        ("graded", of(&|i, j| noise[i * cols + j] * 1e-6f64.powf(j as f64 / cols as f64))),
        ("rank one", of(&|i, j| u[i] * v[j])),
        ("nearly rank one", of(&|i, j| u[i] * v[j] + 1e-3 * noise[i * cols + j])),
        ("diagonal", of(&|i, j| if i == j { 1.0 + i as f64 } else { 0.0 })),
        ("one entry", of(&|i, j| if i == 1 && j == 2 { -3.0 } else { 0.0 })),
        ("orthogonal", of(&|i, j| f64::from(u8::from(i == (j + 3) % rows.max(cols))))),
        ("tiny", of(&|i, j| 1e-25 * noise[i * cols + j])),
    ]
}

/// The answers to all of the zoo hold, as the library proves it of the directions that were taken; how wide each bracket is, and how far
/// the direction is from the best.
fn holds<S: Real>(shape: [usize; 2], norm: Norm, arithmetic: Arithmetic) -> Vec<(&'static str, [f64; 2])> {
    let problem = matrix::<S>(shape[0], shape[1]);
    let norms = for_layout::<S>(norm, problem.layout(), Oracle::Auto).unwrap().norms();
    let mut device = Device::with(&problem, norms.clone(), arithmetic, machine().unwrap()).unwrap();
    let [mut x, mut there, origin] = [0, 1, 2].map(|_| device.point());
    let mut all = Vec::new();
    for (name, phi) in zoo::<S>(shape[0], shape[1]) {
        device.write(&mut there, 0, &phi);
        let answer = device.oracle(&there, None);
        device.advance(&mut x, &origin, &there, 1.0);
        assert_eq!(device.fault(), None, "{name}");
        let mut d = vec![S::ZERO; phi.len()];
        device.read(&x, 0, &mut d);
        let (truth, length) = (product_dual(&norms, &phi).unwrap(), product_primal(&norms, &d).unwrap());
        let what = format!("{name}, {shape:?}, {norm}, {arithmetic:?}, {}: {answer:?}, {truth:?}, {length:?}", S::NAME);
        let room = 4.0 * S::EPSILON;
        assert!(answer.dual_norm.lower <= truth.upper * (1.0 + room), "{what}");
        assert!(answer.dual_norm.upper >= truth.lower * (1.0 - room), "{what}");
        assert!(length.lower <= 1.0 + answer.excess + 4.0 * room, "{what}");
        let decrease: f64 = -phi.iter().zip(&d).map(|(a, b)| a.f64() * b.f64()).sum::<f64>();
        assert!((decrease - answer.decrease).abs() <= 1e3 * S::EPSILON * truth.upper, "{what}: {decrease}");
        let wide = answer.dual_norm.upper / answer.dual_norm.lower - 1.0;
        all.push((name, [wide, 1.0 - decrease / truth.upper]));
    }
    all
}

fn sizes() -> Vec<[usize; 2]> {
    vec![[60, 60], [40, 53], [200, 30], [30, 200], [128, 96]]
}

#[test]
fn spectral_directions_are_within_their_brackets() {
    if machine().is_none() {
        return;
    }
    let kinds = [
        Arithmetic::Auto,
        Arithmetic::Tf32,
        Arithmetic::Plain,
        Arithmetic::NewtonSchulz(6),
        Arithmetic::MinimaxSingle(8),
    ];
    for shape in sizes() {
        for kind in kinds {
            for (name, [wide, off]) in holds::<f32>(shape, Norm::Spectral, kind) {
                if name == "random" {
                    println!("{shape:?} {kind:?}, {name}: bracket {wide:.4}, decrease off by {off:.4}");
                }
                assert!(name != "random" || wide < 0.12 && off < 0.05, "{shape:?} {kind:?}: {wide} {off}");
            }
        }
        for kind in [Arithmetic::Auto, Arithmetic::Plain] {
            holds::<f64>(shape, Norm::Spectral, kind);
        }
    }
    for shape in if is_gpu() { vec![[300, 300], [513, 400]] } else { Vec::new() } {
        for (name, [wide, off]) in holds::<f32>(shape, Norm::Spectral, Arithmetic::Auto) {
            println!("{shape:?} {name}: bracket {wide:.4}, decrease off by {off:.4}");
        }
    }
}

#[test]
fn nuclear_directions_are_within_their_brackets() {
    if machine().is_none() {
        return;
    }
    for shape in sizes() {
        for (name, [wide, off]) in holds::<f64>(shape, Norm::Nuclear, Arithmetic::Auto) {
            assert!(wide < 0.02 && off < 0.02, "{name} {shape:?}: {wide} {off}");
        }
        holds::<f32>(shape, Norm::Nuclear, Arithmetic::Auto);
    }
}

/// The same oracle on slices takes the same direction.
#[test]
fn newton_schulz_is_that_of_the_host() {
    let Some(machine) = machine() else { return };
    let problem = matrix::<f64>(33, 29);
    let phi: Vec<f64> = Seeded::new(4).normals(33 * 29);
    let geometry = || for_layout::<f64>(Norm::Spectral, problem.layout(), Oracle::NewtonSchulz(6)).unwrap();
    let mut device = Device::with(&problem, geometry().norms(), Arithmetic::NewtonSchulz(6), machine).unwrap();
    let [mut x, mut there] = [0, 1].map(|_| device.point());
    device.write(&mut there, 0, &phi);
    let got = device.oracle(&there, None);
    let origin = device.point();
    device.advance(&mut x, &origin, &there, 1.0);
    let (mut d, mut read) = (vec![0.0; phi.len()], vec![0.0; phi.len()]);
    device.read(&x, 0, &mut read);
    let want = geometry().lmo(&mut d, &phi);
    assert!(d.iter().zip(&read).all(|(a, b)| (a - b).abs() < 1e-10));
    assert!((got.dual_norm.upper - want.dual_norm.upper).abs() < 1e-9 * want.dual_norm.upper);
}

pub const SHAPE: [usize; 3] = [46, 37, 5];

pub fn factors<S: Real>(masked: bool, ridge: f64, size: f64) -> (Problem<S>, Vec<S>) {
    let [rows, cols, rank] = SHAPE;
    let numbers = |seed: u64, n: usize| -> Vec<S> { Seeded::new(seed).normals(n) };
    let x = numbers(5, (rows + cols) * rank);
    let (w, h) = x.split_at(rows * rank);
    let mut y = numbers(6, rows * cols);
    y.iter_mut().for_each(|y| *y *= S::of(size));
    S::gemm(&mut y, Into::Add, S::ONE, Mat::new(w, rows, rank), Mat::new(h, rank, cols));
    let mask = (0..rows * cols).map(|i| S::of(f64::from(i % 5 != 0))).collect();
    let f = match masked {
        true => Factorization::masked(y, mask, rows, cols, rank).unwrap(),
        false => Factorization::new(y, rows, cols, rank).unwrap(),
    };
    let f = f.ridge(ridge).unwrap().coefficient(0.7).unwrap();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let g = Entrywise::new(Mcp::new(0.3, 3.0).unwrap(), rows * rank);
    (Problem::new(f, g, t).unwrap(), x)
}

/// Three in seven entries of Y are there; a row and a column have none.
fn sparse_factors<S: Real>(rank: usize, ridge: f64) -> (Problem<S>, Vec<S>) {
    let [rows, cols, _] = SHAPE;
    let values: Vec<S> = Seeded::new(6).normals(rows * cols);
    let there = |at: &usize| at % 7 % 3 == 1 && at / cols != 11 && at % cols != 20;
    let entries = (0..rows * cols).filter(there).map(|at| ((at / cols) as u32, (at % cols) as u32, values[at]));
    let y = Csr::from_entries(rows, cols, entries, |_, _, y: &[S]| Ok::<_, Misfit>(y[0])).unwrap();
    let f = Factorization::sparse(y, rank).unwrap().ridge(ridge).unwrap().coefficient(0.7).unwrap();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let g = Entrywise::new(Mcp::new(0.3, 3.0).unwrap(), rows * rank);
    (Problem::new(f, g, t).unwrap(), Seeded::new(5).normals((rows + cols) * rank))
}

fn low_rank_and_sparse<S: Real>(masked: bool) -> (Problem<S>, Vec<S>) {
    let (rows, cols) = (23, 31);
    let n = rows * cols;
    let mask = (0..n).map(|i| S::of(f64::from(i % 4 != 1))).collect();
    let f = RobustPca::new(Seeded::new(7).normals(n), rows, cols, masked.then_some(mask)).unwrap();
    let t = Select::new(f.layout(), &["S"]).unwrap();
    let g = Entrywise::new(L1::new(0.3).unwrap(), n);
    (Problem::new(f, g, t).unwrap(), Seeded::new(8).normals(2 * n))
}

/// Gradients, values, looks and certificates of a loss that products make, as slices have them.
pub fn same_loss<S: Real>(name: &str, (problem, x): (Problem<S>, Vec<S>), arithmetic: Arithmetic) {
    let Some(machine) = machine() else { return };
    let geometry = || melmo::geometry::euclidean::<S>(problem.layout());
    let mut device = Device::with(&problem, geometry().norms(), arithmetic, machine).unwrap();
    let mut host = Host::new(&problem, geometry()).unwrap();
    let (n, beta, unit) = (x.len(), 0.5, if S::EPSILON < 1e-10 { 1e-12 } else { 2e-5 });
    let [mut there, mut phi_there] = [0, 1].map(|_| device.point());
    device.write(&mut there, 0, &x);
    let (mut phi, mut read) = (vec![S::ZERO; n], vec![S::ZERO; n]);
    let (got, want) = (device.gradient(&mut phi_there, &there, beta), host.gradient(&mut phi, &x, beta));
    let scale = host.norm(&phi).max(1.0);
    let close = |what: &str, got: f64, want: f64, room: f64| {
        assert!((got - want).abs() <= unit * room, "{name}, {arithmetic:?}, {what}: {got:e} instead of {want:e}");
    };
    close("f", got.f, want.f, 30.0 * (want.f + scale));
    close("slopes", got.slope_squared, want.slope_squared, want.slope_squared + 1.0);
    device.read(&phi_there, 0, &mut read);
    read.iter().zip(&phi).for_each(|(a, b)| close("gradient", a.f64(), b.f64(), scale));
    let [mut tx, mut v] = [0, 1].map(|_| Space::image(&mut device));
    let [mut tx_here, mut v_here] = [0, 1].map(|_| host.image());
    let got = device.subgradient(&mut phi_there, &there, &mut tx, &mut v);
    close("F", got, host.subgradient(&mut phi, &x, &mut tx_here, &mut v_here), 30.0 * (got.abs() + scale));
    let shown = Shown::smoothed(beta);
    let (got, want) = (device.witness().look(&there, shown), host.witness().look(&x[..], shown));
    close("f, seen", got.f, want.f, 4.0 * want.f);
    close("∇f, seen", got.of_f, want.of_f, 4.0 * want.of_f);
    close("v, seen", got.of_sum, want.of_sum, 4.0 * want.of_f);
    close("rounding", got.rounding.grad, want.rounding.grad, want.rounding.grad);
    close("rounding of f", got.rounding.value, want.rounding.value, 4.0 * want.rounding.value);
    assert_eq!(device.fault(), None, "{name}");
}

#[test]
fn losses_of_factors() {
    for (masked, ridge, size) in [(false, 0.0, 1.0), (true, 0.2, 1.0), (false, 0.3, 1e-4)] {
        same_loss("factors", factors::<f64>(masked, ridge, size), Arithmetic::Auto);
    }
    for (masked, ridge) in [(false, 0.2), (true, 0.0)] {
        for arithmetic in [Arithmetic::Auto, Arithmetic::Plain] {
            same_loss("factors", factors::<f32>(masked, ridge, 1.0), arithmetic);
        }
    }
}

/// Widths that are a multiple of four and that are not, and one that is less.
#[test]
fn losses_of_factors_of_sparse_data() {
    for rank in [1, 3, 5, 8] {
        for ridge in [0.0, 0.2] {
            same_loss("sparse factors", sparse_factors::<f64>(rank, ridge), Arithmetic::Auto);
            same_loss("sparse factors", sparse_factors::<f32>(rank, ridge), Arithmetic::Auto);
        }
    }
}

/// Rows that are drawn once, twice and not at all; more of them than a strip has.
pub fn same_batch<S: Real>((problem, x): (Problem<S>, Vec<S>), batch: &[usize]) {
    let Some(machine) = machine() else { return };
    let geometry = || melmo::geometry::euclidean::<S>(problem.layout());
    let mut device = Device::sampled(&problem, geometry().norms(), Arithmetic::Auto, machine).unwrap();
    let mut host = Host::sampled(&problem, geometry()).unwrap();
    assert_eq!(device.samples(), host.samples());
    let [mut there, mut phi_there] = [0, 1].map(|_| device.point());
    device.write(&mut there, 0, &x);
    let (mut phi, mut read) = (vec![S::ZERO; x.len()], vec![S::ZERO; x.len()]);
    device.batch_gradient(&mut phi_there, &there, batch);
    host.batch_gradient(&mut phi, &x, batch);
    let unit = if S::EPSILON < 1e-10 { 1e-12 } else { 2e-5 };
    let mut compare = |device: &mut Device<'_, S, _>, phi: &Vec<S>| {
        device.read(&phi_there, 0, &mut read);
        let scale = read.iter().fold(1.0, |most, v| v.f64().abs().max(most));
        read.iter().zip(phi).for_each(|(a, b)| assert!((a.f64() - b.f64()).abs() <= unit * scale, "{a:?} and {b:?}"));
    };
    compare(&mut device, &phi);
    let mut there_too = device.point();
    device.batch_gradient(&mut there_too, &there, &batch[..1]);
    let slopes = device.penalty_gradient_add(&mut there_too, &there, 0.5);
    host.batch_gradient(&mut phi, &x, &batch[..1]);
    let want = host.penalty_gradient_add(&mut phi, &x, 0.5);
    assert!((slopes - want).abs() <= unit * (1.0 + want));
    assert_eq!(device.fault(), None);
}

#[test]
fn batches_of_factors() {
    let many: Vec<usize> = (0..100).map(|k| k * k % SHAPE[0]).collect();
    for batch in [&[3usize, 3, 40, 0, 3][..], &[7], &many] {
        same_batch(factors::<f64>(false, 0.2, 1.0), batch);
        same_batch(factors::<f64>(true, 0.0, 1.0), batch);
        same_batch(factors::<f32>(false, 0.0, 1.0), batch);
        same_batch(sparse_factors::<f64>(5, 0.2), batch);
        same_batch(sparse_factors::<f32>(1, 0.0), batch);
    }
}

/// Steps by minibatches go the same way on the machine and on slices, with a certificate of a full pass at the end.
#[test]
fn stochastic_steps_of_factors() {
    stochastic_steps(factors::<f64>(false, 0.2, 1.0));
    stochastic_steps(sparse_factors::<f64>(5, 0.2));
}

fn stochastic_steps((problem, x): (Problem<f64>, Vec<f64>)) {
    for (momentum, ball) in [(Momentum::HeavyBall, None), (Momentum::Storm, Some(40.0))] {
        let Some(machine) = machine() else { return };
        let power = Power { beta: 0.5, gamma: 0.3, p: 0.75, q: 0.25 };
        let schedule = Averaging { power, alpha: 1.0, a: 0.5, horizon: None };
        let rule = Rule { schedule, momentum, batch: 8, seed: 3, ball };
        let geometry = || melmo::geometry::euclidean::<f64>(problem.layout());
        let device = Device::sampled(&problem, geometry().norms(), Arithmetic::Auto, machine).unwrap();
        let host = Host::sampled(&problem, geometry()).unwrap();
        let driven = |solver: &mut dyn Solver<f64>| run(solver, &Options::new(Stop::after(40)), &mut []);
        let there = driven(&mut Stochastic::on(device, rule, &x).unwrap());
        let here = driven(&mut Stochastic::on(host, rule, &x).unwrap());
        let apart = there.x.iter().zip(&here.x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-9, "{momentum:?}: {apart:e}");
        assert!(there.certificate.unwrap().verify(&problem, &there.x, 1e-9).unwrap().passed());
    }
}

#[test]
fn losses_of_sums() {
    for masked in [false, true] {
        same_loss("L + S", low_rank_and_sparse::<f64>(masked), Arithmetic::Auto);
        same_loss("L + S", low_rank_and_sparse::<f32>(masked), Arithmetic::Auto);
    }
}

/// A run in a product of norms, with a certificate that the library verifies; two runs have the same bits.
pub fn certified<S: Real>((problem, x): (Problem<S>, Vec<S>), of_blocks: &[(Norm, f64)], room: f64) {
    let blocks = problem.layout().blocks();
    let norms: Vec<BlockNorm> = blocks
        .iter()
        .zip(of_blocks)
        .map(|(block, &(norm, radius))| BlockNorm { block: block.clone(), norm, radius })
        .collect();
    let solved = || {
        let device = Device::new(&problem, norms.clone(), machine()?).unwrap();
        let mut solver = Melmo::on(device, Power::balanced(0.05), &x).unwrap();
        Some(run(&mut solver as &mut dyn Solver<S>, &Options::new(Stop::after(40)), &mut []))
    };
    let (Some(first), Some(second)) = (solved(), solved()) else { return };
    assert_eq!(first.x, second.x, "{of_blocks:?}: two runs differ");
    let before = problem.objective(&x);
    assert!(first.objective < before, "{of_blocks:?}: {} after {before}", first.objective);
    let certificate = first.certificate.unwrap();
    let verified = certificate.verify(&problem, &first.x, room).unwrap();
    assert!(verified.passed(), "{of_blocks:?}: {verified:?}");
}

#[test]
fn products_of_norms_are_certified() {
    certified(factors::<f64>(false, 0.1, 1.0), &[(Norm::Spectral, 1.0), (Norm::Spectral, 0.5)], 1e-6);
    certified(factors::<f32>(false, 0.1, 1.0), &[(Norm::Spectral, 1.0), (Norm::L2, 2.0)], 1e-3);
    certified(factors::<f64>(true, 0.0, 1.0), &[(Norm::Row, 1.0), (Norm::Column, 0.5)], 1e-6);
    certified(sparse_factors::<f64>(5, 0.1), &[(Norm::Spectral, 1.0), (Norm::Spectral, 0.5)], 1e-6);
    certified(sparse_factors::<f32>(4, 0.1), &[(Norm::Spectral, 1.0), (Norm::L2, 2.0)], 1e-3);
    certified(low_rank_and_sparse::<f64>(false), &[(Norm::Nuclear, 5.0), (Norm::Linf, 0.2)], 1e-6);
    certified(low_rank_and_sparse::<f32>(true), &[(Norm::Spectral, 1.0), (Norm::L1, 1.0)], 1e-3);
}
