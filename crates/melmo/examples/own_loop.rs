//! A loop of your own: a solver is an iterator, and can be looked at, saved and stopped at any point.

use melmo::prelude::*;

fn main() -> Result<(), Error> {
    let mut seeded = Seeded::new(3);
    let (rows, cols) = (30, 80);
    let design: Vec<f64> = seeded.normals(rows * cols);
    let target: Vec<f64> = design.chunks(cols).map(|row| 3.0 * row[4] - 2.0 * row[17]).collect();
    let loss = LeastSquares::new(Box::new(Dense::new(design, rows, cols)?), target)?;
    let penalty = Entrywise::new(Mcp::new(2.0, 1.0)?, cols);
    let problem = Problem::new(loss, penalty, Identity::new(Layout::vector(cols)?))?;
    println!("{}", Power::balanced(0.1).guarantee(&problem.facts()));

    // ℓ1 steps move one coordinate at a time: Gauss–Southwell.
    let geometry = for_layout(Norm::L1, problem.layout(), Oracle::Auto)?;
    let mut solver = Melmo::new(&problem, geometry, Power::balanced(0.1), &vec![0.0; cols])?;
    let mut checkpoint = None;
    while let Some(info) = solver.next() {
        if info.k.is_power_of_two() {
            let (smoothed, dual_norm) = (solver.smoothed(), info.dual_norm.upper);
            println!("k {:5}  F_β {smoothed:9.4}  ‖∇F_β‖_* {dual_norm:9.4}  gap {:.4}", info.k, info.prox_gap);
        }
        if info.k == 1000 {
            checkpoint = Some(solver.save());
        }
        if info.k >= 5000 {
            break;
        }
    }
    let (x, mut u) = (solver.x(), Vec::new());
    let z = problem.prox_point(&x, solver.evidence(&mut u));
    let support: Vec<usize> = (0..cols).filter(|&j| z[j] != 0.0).collect();
    println!("support {support:?}");
    assert_eq!(support, [4, 17]);

    // The same 4000 steps again, from the checkpoint: the same bits.
    let end = solver.x();
    solver.restore(&checkpoint.expect("k = 1000 was passed"))?;
    solver.by_ref().take(4000).for_each(drop);
    assert_eq!(solver.x(), end);
    Ok(())
}
