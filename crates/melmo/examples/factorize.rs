//! Sparse low-rank factorisation Y ≈ WH with a spectral step in each block.

use melmo::prelude::*;

fn main() -> Result<(), Error> {
    let (rows, cols, rank) = (60, 40, 3);
    let mut seeded = Seeded::new(7);
    let w: Vec<f64> = (0..rows * rank).map(|_| if seeded.uniform() < 0.3 { seeded.normal() } else { 0.0 }).collect();
    let h: Vec<f64> = seeded.normals(rank * cols);
    let y: Vec<f64> = (0..rows * cols)
        .map(|at| (0..rank).map(|l| w[at / cols * rank + l] * h[l * cols + at % cols]).sum::<f64>())
        .collect();
    let energy: f64 = y.iter().map(|v| v * v).sum();

    // A ridge on H: without it, shrinking W and growing H would make the penalty vanish.
    let loss = Factorization::new(y, rows, cols, rank)?.ridge(0.1)?;
    let select = Select::new(loss.layout(), &["W"])?;
    let penalty = Entrywise::new(Mcp::new(0.2, 3.0)?, rows * rank);
    let start = seeded.normals(loss.layout().size());
    let problem = Problem::new(loss, penalty, select)?;
    let geometry = for_layout(Norm::Spectral, problem.layout(), Oracle::Auto)?;
    let mut solver = Melmo::new(&problem, geometry, Power::balanced(problem.default_beta()), &start)?;
    let options = Options { record: Some(Record::every(500, 16)), ..Options::new(Stop::after(5000)) };
    let report = run(&mut solver, &options, &mut []);

    for row in &report.trace {
        println!("k {:5}  F {:10.4}  ‖∇F_β‖_* {:9.3e}", row.k, row.objective, row.dual_norm.unwrap_or(f64::NAN));
    }
    let zeros = report.z.iter().filter(|v| **v == 0.0).count();
    println!("F = {:.4} (‖Y‖² = {energy:.1}); {zeros} of {} entries of W are zero", report.objective, report.z.len());
    assert!(report.objective < 0.2 * energy);
    Ok(())
}
