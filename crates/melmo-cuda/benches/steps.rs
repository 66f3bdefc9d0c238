//! Milliseconds a step of MELMO in ℓ2 on GPU 0, host and device together: medians of 20 batches after a warm-up.
//!
//! `cargo bench -p melmo-cuda`; names after `--` choose cases. Without a GPU it says so and ends.

use std::time::Instant;

use melmo::block::Layout;
use melmo::drive::{Options, Stop, run};
use melmo::geometry::euclidean;
use melmo::operator::{Difference2d, Difference3d, Jet, LinOp};
use melmo::penalty::{Blocks, Entrywise, Group, LogSum, Mcp, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::schedule::Power;
use melmo::smooth::MaskedLeastSquares;
use melmo::solver::{Adaptive, Melmo, Smoothing, Solver};
use melmo::space::Host;
use melmo::threads::Threads;
use melmo_cuda::{Arithmetic, Device, Gpu};

#[path = "rows/matrices.rs"]
mod matrices;
#[path = "rows/verified.rs"]
mod verified;

/// A scene of a few levels with noise in [−½, ½]: cheap to make at any size, and never the same in neighbouring pixels.
fn scene<S: Real>(n: usize, cols: usize) -> Vec<S> {
    scene_from(0, n, cols)
}

/// Its pixels from `first` on.
fn scene_from<S: Real>(first: usize, n: usize, cols: usize) -> Vec<S> {
    let noise = |i: usize| {
        let mut h = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h ^= h >> 32;
        h = h.wrapping_mul(0xd6e8_feb8_6659_fd93);
        (h >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    let at = |i: usize| S::of(((i / cols / 97 + i % cols / 61) % 3) as f64 + noise(i));
    let mut data = vec![S::ZERO; n];
    let part = n.div_ceil(std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        for (p, chunk) in data.chunks_mut(part).enumerate() {
            scope.spawn(move || chunk.iter_mut().enumerate().for_each(|(i, v)| *v = at(first + p * part + i)));
        }
    });
    data
}

fn problem<S: Real>(shape: &[usize], pixels: bool) -> Problem<S> {
    let (n, cols) = (shape.iter().product::<usize>(), *shape.last().unwrap());
    let t: Box<dyn LinOp<S>> = match shape {
        [rows, cols] => Box::new(Difference2d::new(*rows, *cols).unwrap()),
        [depth, rows, cols] => Box::new(Difference3d::new(*depth, *rows, *cols).unwrap()),
        _ => panic!("two or three sizes"),
    };
    let f = MaskedLeastSquares::new(Layout::matrix(n / cols, cols).unwrap(), scene(n, cols), None).unwrap();
    let psi = Mcp::new(0.4, 3.0).unwrap();
    let g: Box<dyn Prox<S>> = match pixels {
        true => Box::new(Group::pixels(psi, t.range()).unwrap()),
        false => Box::new(Entrywise::new(psi, t.range().size())),
    };
    Problem::from_boxes(Box::new(f), g, t).unwrap()
}

/// A picture in colour as `denoise` has it: first and second differences, log-sum of their norms at each pixel.
fn colour(side: usize) -> Problem<f32> {
    let t = Jet::new(side, side, 3, 0.5).unwrap();
    let columns = |lambda: f64, theta: f64, components: usize| -> Box<dyn Prox<f32>> {
        let layout = Layout::matrix(3 * components, side * side).unwrap();
        Box::new(Group::columns(LogSum::new(lambda, theta).unwrap(), &layout).unwrap())
    };
    let parts = vec![("first", 1.0, columns(0.96, 2.0, 2)), ("second", 1.0, columns(2.56, 4.0, 3))];
    let g = Blocks::new(LinOp::<f32>::range(&t), parts).unwrap();
    let layout = LinOp::<f32>::domain(&t).clone();
    let f = MaskedLeastSquares::new(layout, scene(3 * side * side, side), None).unwrap();
    Problem::new(f, g, t).unwrap()
}

fn target<S: Real>(problem: &Problem<S>) -> &[S] {
    match problem.f().form() {
        melmo::smooth::Form::Proximity { target, .. } => target,
        _ => unreachable!("made so"),
    }
}

fn device<'p, S: Real>(problem: &'p Problem<S>) -> Device<'p, S, Gpu> {
    Device::new(problem, euclidean::<S>(problem.layout()).norms(), Gpu::open(0).unwrap()).unwrap()
}

/// The median of 20 batches of so many steps, in milliseconds a step.
fn median(solver: &mut impl Iterator<Item = melmo::solver::Info>, steps: usize) -> f64 {
    solver.by_ref().take(steps.max(3)).for_each(drop);
    let mut times: Vec<f64> = (0..20)
        .map(|_| {
            let start = Instant::now();
            assert!(solver.by_ref().take(steps).all(|info| info.finite));
            start.elapsed().as_secs_f64() * 1e3 / steps as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[10]
}

fn steps<S: Real>(name: &str, shape: &[usize], pixels: bool, passes: f64) {
    steps_of(name, || problem::<S>(shape, pixels), passes);
}

fn steps_of<S: Real>(name: &str, make: impl FnOnce() -> Problem<S>, passes: f64) {
    let began = Instant::now();
    let problem = make();
    let n = problem.layout().size();
    let mut solver = Melmo::on(device(&problem), Power::balanced(1.0), target(&problem)).unwrap();
    let batch = (200_000_000 / n).clamp(1, 200);
    let ms = median(&mut solver, batch);
    let moved = passes * (n * size_of::<S>()) as f64 / ms / 1e9;
    println!(
        "{name:<28} {ms:>9.4} ms a step   {moved:>5.2} TB/s of {passes} passes   ready after {:.1} s",
        began.elapsed().as_secs_f64()
    );
    let start = Instant::now();
    let proven = {
        let norms = solver.norms();
        solver.proven(&norms)
    };
    println!(
        "{:<28} {:>9.4} ms: ‖v‖ ≤ {:.6e}, ‖Tx − z‖ ≤ {:.6e}",
        "  proven",
        start.elapsed().as_secs_f64() * 1e3,
        proven.dual_norm,
        proven.prox_gap
    );
}

/// 2000 steps at 256² and 100 at 4096², each with its certificate at the end, on the GPU and on two cores.
fn end_to_end() {
    for (side, name) in [(256, "melmo, 2000 steps"), (4096, "scaled, 100 steps")] {
        let problem = problem::<f32>(&[side, side], true);
        let x0 = target(&problem);
        let options = Options::new(Stop::after(if side == 256 { 2000 } else { 100 }));
        let smoothing = || Smoothing::new::<f32>(Smoothing::start(&problem, x0));
        let solved = |solver: &mut dyn Solver<f32>| {
            let start = Instant::now();
            let report = run(solver, &options, &mut []);
            (start.elapsed().as_secs_f64(), report)
        };
        let start = Instant::now();
        let space = device(&problem);
        let opened = start.elapsed().as_secs_f64();
        let (there, report) = match side {
            256 => solved(&mut Melmo::on(space, Power::balanced(1.0), x0).unwrap()),
            _ => solved(&mut Adaptive::on(space, smoothing(), x0).unwrap()),
        };
        let certificate = report.certificate.unwrap();
        let verified = certificate.verify(&problem, &report.x, 1e-4).unwrap();
        assert!(verified.passed(), "{verified:?}");
        let (here, on_host) = Threads::new(2).unwrap().run(|| {
            let space = Host::new(&problem, euclidean(problem.layout())).unwrap();
            match side {
                256 => solved(&mut Melmo::on(space, Power::balanced(1.0), x0).unwrap()),
                _ => solved(&mut Adaptive::on(space, smoothing(), x0).unwrap()),
            }
        });
        println!(
            "{side}² {name}: GPU {there:.3} s (opened in {opened:.2} s), k = {}, {:?}, F = {:.8e}; two cores {here:.3} s, k = {}, {:?}, F = {:.8e}; verified",
            report.info.k, report.status, report.objective, on_host.info.k, on_host.status, on_host.objective
        );
    }
}

fn spectral(name: &str, side: usize, arithmetic: Arithmetic) {
    let problem = problem::<f32>(&[side, side], false);
    matrices::spectral(name, &problem, target(&problem), arithmetic);
}

fn factorise(name: &str, side: usize, arithmetic: Arithmetic) {
    let (y, x0) = (scene::<f32>(side * side, side), scene::<f32>(2 * side * 128, 128));
    matrices::factorise(name, [side, 128], y, &x0, arithmetic);
}

fn main() {
    let described = match melmo_cuda::described() {
        Ok(all) if !all.is_empty() => all,
        Ok(_) => return println!("no GPU"),
        Err(reason) => return println!("{reason}"),
    };
    println!("{:?}", described[0]);
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    // These want more than most machines have: 32 GiB of the host's memory and more, or 9.
    let large = |name: &str| name.starts_with("2000³") || name.starts_with("factors-32768²");
    let asked = |name: &str| wanted.is_empty() && !large(name) || wanted.iter().any(|word| word == name);
    type Row = (&'static str, fn(&str));
    let rows: [Row; 16] = [
        ("256²", |name| steps::<f32>(name, &[256, 256], false, 5.0)),
        ("1024²", |name| steps::<f32>(name, &[1024, 1024], false, 5.0)),
        ("4096²", |name| steps::<f32>(name, &[4096, 4096], false, 5.0)),
        ("4096²-isotropic", |name| steps::<f32>(name, &[4096, 4096], true, 5.0)),
        ("4096²-f64", |name| steps::<f64>(name, &[4096, 4096], false, 5.0)),
        ("16384²", |name| steps::<f32>(name, &[16384, 16384], false, 5.0)),
        ("512³", |name| steps::<f32>(name, &[512, 512, 512], false, 5.0)),
        ("2000³", |name| steps::<f32>(name, &[2000, 2000, 2000], false, 6.0)),
        ("512³-verified", |name| verified::verified(name, 512, 2)),
        ("2000³-verified", |name| verified::verified(name, 2000, 24)),
        ("4096²-colour", |name| steps_of(name, || colour(4096), 27.0)),
        ("4096²-spectral", |name| spectral(name, 4096, Arithmetic::Auto)),
        ("4096²-spectral-tf32", |name| spectral(name, 4096, Arithmetic::Tf32)),
        ("factors-32768²", |name| factorise(name, 32768, Arithmetic::Auto)),
        ("factors-32768²-f32", |name| factorise(name, 32768, Arithmetic::Plain)),
        ("end-to-end", |_| end_to_end()),
    ];
    rows.iter().filter(|(name, _)| asked(name)).for_each(|(name, row)| row(name));
}
