//! The interior point method, on programs whose answers are known.

use melmo::block::Layout;
use melmo::catalogue::{Arguments, choose, find, methods};
use melmo::certificate::Certificate;
use melmo::drive::{Options, Status, Stop, run};
use melmo::error::Error;
use melmo::geometry::{Norm, Oracle, for_layout};
use melmo::operator::{Dense, LinOp, Sparse};
use melmo::penalty::{Entrywise, L1, Mcp, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::report::Report;
use melmo::seeded::Seeded;
use melmo::smooth::{LeastSquares, Logistic, MaskedLeastSquares, Smooth};

fn solve<S: Real>(problem: &Problem<S>, method: &str, x0: &[S], stop: Stop) -> Result<Report<S>, Error> {
    let rows = methods::<S>();
    let row = find("method", &rows, method).unwrap();
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap();
    let mut solver = (row.build)(&Arguments::defaults(&row.entry).unwrap(), problem, geometry, x0)?;
    Ok(run(&mut *solver, &Options::new(stop), &mut []))
}

/// c/2·x², of one number.
struct Small(Layout, f64);

impl<S: Real> Smooth<S> for Small {
    fn layout(&self) -> &Layout {
        &self.0
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], _: &mut [S]) -> f64 {
        grad.iter_mut().zip(x).for_each(|(grad, x)| *grad = S::of(self.1 * x.f64()));
        0.5 * self.1 * x.iter().map(|x| x.f64().powi(2)).sum::<f64>()
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.1)
    }
}

/// Σ max(τ(u − b), (τ − 1)(u − b)).
struct Pinball(Vec<f64>, f64);

impl<S: Real> Prox<S> for Pinball {
    fn size(&self) -> usize {
        self.0.len()
    }

    fn weak_convexity(&self) -> f64 {
        0.0
    }

    fn lipschitz(&self) -> Option<f64> {
        Some((self.0.len() as f64).sqrt())
    }

    fn value(&self, u: &[S], _: &mut [S]) -> f64 {
        let of = |r: f64| (self.1 * r).max((self.1 - 1.0) * r);
        u.iter().zip(&self.0).map(|(u, b)| of(u.f64() - b)).sum()
    }

    fn prox(&self, z: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64 {
        for ((z, u), b) in z.iter_mut().zip(u).zip(&self.0) {
            let r = u.f64() - b;
            *z = S::of(b + (r - beta * self.1).max(0.0) + (r + beta * (1.0 - self.1)).min(0.0));
        }
        self.value(z, work)
    }
}

/// The level that so large a part of the numbers lies below: T = a column of ones.
fn quantile_of<S: Real>(numbers: &[f64], part: f64) -> Report<S> {
    let t = Dense::new(vec![S::ONE; numbers.len()], numbers.len(), 1).unwrap();
    let f = Small(Layout::vector(1).unwrap(), 1e-9);
    let problem = Problem::new(f, Pinball(numbers.to_vec(), 1.0 - part), t).unwrap();
    let report = solve(&problem, "interior-point", &[S::ZERO], Stop::after(60)).unwrap();
    let certificate = report.certificate.as_ref().unwrap();
    assert!(certificate.passed(&problem, &report.x, Certificate::<S>::default_tolerance()).unwrap());
    report
}

#[test]
fn a_quantile_is_one_of_the_numbers() {
    let numbers: Vec<f64> = Seeded::new(4).normals(101);
    let mut sorted = numbers.clone();
    sorted.sort_by(f64::total_cmp);
    for (part, place) in [(0.5, 50), (0.2, 20), (0.93, 93)] {
        let found = quantile_of::<f64>(&numbers, part).x[0];
        assert!((found - sorted[place]).abs() < 1e-7, "{part}: {found}, {}", sorted[place]);
        let found = quantile_of::<f32>(&numbers, part).x[0];
        assert!((f64::from(found) - sorted[place]).abs() < 1e-3, "{part}: {found}, {}", sorted[place]);
    }
}

/// Second differences of a noisy bend: as a matrix with few entries and as one with all of them.
fn trends() -> [Problem<f64>; 2] {
    let n = 120;
    let mut seeded = Seeded::new(2);
    let y: Vec<f64> = (0..n).map(|i| (i as f64 / 20.0).sin().abs() * 5.0 + 0.3 * seeded.normal()).collect();
    let triplets = || (0..n - 2).flat_map(|i| [(i, i, 1.0), (i, i + 1, -2.0), (i, i + 2, 1.0)]);
    let mut matrix = vec![0.0; (n - 2) * n];
    triplets().for_each(|(i, j, v)| matrix[i * n + j] = v);
    let sparse = Sparse::from_triplets(n - 2, n, triplets()).unwrap();
    let operators: [Box<dyn LinOp<f64>>; 2] = [Box::new(sparse), Box::new(Dense::new(matrix, n - 2, n).unwrap())];
    operators.map(|t| {
        let f = MaskedLeastSquares::new(Layout::vector(n).unwrap(), y.clone(), None).unwrap();
        Problem::from_boxes(Box::new(f), Box::new(Entrywise::new(L1::new(10.0).unwrap(), n - 2)), t).unwrap()
    })
}

#[test]
fn it_ends_where_others_do_after_a_few_dozen_steps() {
    for problem in trends() {
        let settles = Stop { tolerance: Some(1e-8), ..Stop::after(40) };
        let report = solve(&problem, "interior-point", &[0.0; 120], settles).unwrap();
        assert_eq!(report.status, Status::Settled);
        let other = solve(&problem, "admm", &[0.0; 120], Stop::after(4000)).unwrap();
        let above = report.objective / other.objective - 1.0;
        assert!(above.abs() < 1e-6 && above < 1e-9, "{} {}", report.objective, other.objective);
        let gap = report.certificate.unwrap().optimality.unwrap().gap;
        assert!(gap <= 1e-6 * report.objective, "{gap:e} of {}", report.objective);
    }
}

/// ½‖Ax − b‖² and ‖Tx‖₁: where T is the identity, coordinate descent knows the answer.
#[test]
fn a_lasso_is_the_one_of_coordinate_descent() {
    let (rows, n) = (40, 25);
    let a = Dense::new(Seeded::new(7).normals(rows * n), rows, n).unwrap();
    let f = LeastSquares::new(Box::new(a), Seeded::new(8).normals(rows)).unwrap();
    let layout = f.layout().clone();
    let t = melmo::operator::Identity::new(layout);
    let problem = Problem::new(f, Entrywise::new(L1::new(3.0).unwrap(), n), t).unwrap();
    let stop = || Stop { tolerance: Some(1e-9), ..Stop::after(500) };
    let [own, other] = ["interior-point", "coordinate-descent"]
        .map(|method| solve(&problem, method, &vec![0.0; n], stop()).unwrap().objective);
    assert!((own / other - 1.0).abs() < 1e-9, "{own} {other}");
}

#[test]
fn what_does_not_fit_is_refused_with_a_reason() {
    let n = 12;
    let square = |seed: u64| Box::new(Dense::<f64>::new(Seeded::new(seed).normals(n * n), n, n).unwrap());
    let squares = || -> Box<dyn Smooth<f64>> { Box::new(LeastSquares::new(square(7), vec![1.0; n]).unwrap()) };
    let logistic: Box<dyn Smooth<f64>> = Box::new(Logistic::new(square(7), vec![1.0; n]).unwrap());
    let l1 = || -> Box<dyn Prox<f64>> { Box::new(Entrywise::new(L1::new(0.1).unwrap(), n)) };
    let mcp: Box<dyn Prox<f64>> = Box::new(Entrywise::new(Mcp::new(0.1, 2.0).unwrap(), n));
    for (f, g, said) in [(squares(), mcp, "bent lines"), (logistic, l1(), "quadratic")] {
        let problem = Problem::from_boxes(f, g, square(9)).unwrap();
        let error = solve(&problem, "interior-point", &vec![0.0; n], Stop::after(3)).err().unwrap();
        assert!(error.to_string().contains(said), "{error}");
        assert_ne!(choose(&problem).method, "interior-point");
    }
    let problem = Problem::from_boxes(squares(), l1(), square(9)).unwrap();
    assert_eq!(choose(&problem).method, "interior-point");
}
