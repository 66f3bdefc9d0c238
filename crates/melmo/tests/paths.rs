//! Paths of λ: each solution from the last, intercepts, two ways where g is not convex.

use crate::coordinate::{COLS, ROWS, data, dense, gradient, lasso_violation};
use melmo::block::Layout;
use melmo::error::Error;
use melmo::penalty::{Blocks, Entrywise, L1, Mcp, Prox};
use melmo::seeded::Seeded;
use melmo::smooth::LeastSquares;
use melmo::solver::{LambdaPath, geometric};

#[test]
fn a_free_intercept_takes_the_mean() {
    let (mut a, mut b) = data::<f64>(ROWS, COLS);
    a.iter_mut().skip(COLS - 1).step_by(COLS).for_each(|v| *v = 1.0);
    b.iter_mut().for_each(|v| *v += 50.0);
    let layout = Layout::new([("coefficients", COLS - 1, 1), ("intercept", 1, 1)]).unwrap();
    let f = LeastSquares::new(dense(&a, ROWS), b).unwrap();
    let penalty = move |lambda| {
        let l1: Box<dyn Prox<f64>> = Box::new(Entrywise::new(L1::new(lambda)?, COLS - 1));
        Ok(Box::new(Blocks::new(&layout, vec![("coefficients", 1.0, l1)])?) as Box<dyn Prox<f64>>)
    };
    let mut path = LambdaPath::new(&f, None, &penalty).unwrap();
    let lambda_max = path.lambda_max().unwrap();
    let empty = path.solve(1.0001 * lambda_max).unwrap();
    assert!(empty.x[..COLS - 1].iter().all(|v| *v == 0.0) && empty.x[COLS - 1] > 40.0);
    let one = path.solve(0.999 * lambda_max).unwrap();
    assert_eq!(one.x[..COLS - 1].iter().filter(|v| **v != 0.0).count(), 1);
    let g = penalty(0.999 * lambda_max).unwrap();
    let grad = gradient(&f, &one.x);
    assert!(grad[COLS - 1].abs() < 1e-5 * lambda_max, "the intercept is not at its best: {}", grad[COLS - 1]);
    assert!((one.objective - one.loss - g.value(&one.x, &mut [])).abs() < 1e-9);
}

#[test]
fn a_path_is_as_good_as_its_solutions_one_by_one() {
    let (a, b) = data::<f64>(ROWS, COLS);
    let f = LeastSquares::new(dense(&a, ROWS), b.clone()).unwrap();
    let mut path = LambdaPath::new(&f, None, |lambda| Ok(Box::new(Entrywise::new(L1::new(lambda)?, COLS)))).unwrap();
    let lambdas = geometric(path.lambda_max().unwrap(), 0.01, 30);
    assert_eq!(lambdas.len(), 30);
    assert!((lambdas[29] / lambdas[0] - 0.01).abs() < 1e-12);
    let mut path = path.accuracy(1e-9, 100);
    let mut total = 0;
    for (i, &lambda) in lambdas.iter().enumerate() {
        let point = path.solve(lambda).unwrap();
        total += point.rounds;
        assert!(lasso_violation(&f, &point.x, lambda) <= 1e-8 * lambda, "λ_{i}");
        if i == 0 {
            assert!(point.x.iter().all(|v| *v == 0.0));
        }
    }
    assert!(total < 30 * 8, "{total} rounds for 30 solutions");
}

/// One more way cannot end higher than none, and in a model of many coefficients it ends lower: fixed data, so that this is no luck.
#[test]
fn two_ways_end_lower_than_one() {
    let (rows, cols, mut lower) = (60, 200, 0);
    for seed in 0..6 {
        let a: Vec<f64> = Seeded::new(seed).normals(rows * cols);
        let noise: Vec<f64> = Seeded::new(100 + seed).normals(rows);
        let b = a.chunks(cols).zip(&noise).map(|(row, e)| row[..12].iter().sum::<f64>() + e).collect();
        let f = LeastSquares::new(dense(&a, rows), b).unwrap();
        let penalty = |lambda: f64| -> Result<Box<dyn Prox<f64>>, Error> {
            Ok(Box::new(Entrywise::new(Mcp::new(lambda, 3.7 / rows as f64)?, cols)))
        };
        let mut path = LambdaPath::new(&f, None, penalty).unwrap();
        let top = path.lambda_max().unwrap();
        let direct = path.solve(0.02 * top).unwrap();
        path.start_at(&vec![0.0; cols]).unwrap();
        let mut sweeps = 0;
        let flow = path.approach(top, 0.02 * top, || {
            sweeps += 1;
            std::ops::ControlFlow::Continue(())
        });
        assert!(flow.unwrap().is_continue() && sweeps > 0);
        let approached = path.solve(0.02 * top).unwrap();
        assert!(approached.violation <= 1e-7 * approached.kink, "{approached:?}");
        lower += u32::from(approached.objective < direct.objective * (1.0 - 1e-6));
        assert!(approached.objective < 1.001 * direct.objective, "{} {}", approached.objective, direct.objective);
    }
    assert!(lower >= 4, "{lower} of 6");
}
