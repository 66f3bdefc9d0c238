//! Sparse recovery in ten lines: ½‖x − y‖² + MCP(x), certified.

use melmo::prelude::*;

fn main() -> Result<(), Error> {
    let y = vec![3.0, 0.1, -0.2, 0.0, -4.0, 0.15];
    let layout = Layout::vector(y.len())?;
    let loss = MaskedLeastSquares::new(layout.clone(), y.clone(), None)?;
    let penalty = Entrywise::new(Mcp::new(0.5, 2.0)?, y.len());
    let problem = Problem::new(loss, penalty, Identity::new(layout))?;
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto)?;
    let schedule = EpochConstant::new(problem.default_beta());
    let mut solver = Epoch::new(&problem, geometry, schedule, &vec![0.0; y.len()])?;
    let stop = Stop::after(100_000).at_epsilon(Epsilon::Absolute(0.05));
    let report = run(&mut solver, &Options::new(stop), &mut []);

    let certificate = report.certificate.expect("the start was finite");
    println!("{:?} after {} steps, F = {:.6}", report.status, report.info.k - 1, report.objective);
    println!("z = {:.3?}", report.z);
    println!("‖∇F_β(x)‖_* ≤ {:.4}, ‖Tx − z‖ = {:.4}", certificate.dual_norm.upper, certificate.prox_gap);
    let verification = certificate.verify(&problem, &report.x, Certificate::<f64>::default_tolerance())?;
    println!("verified from the point and the problem alone: {}", verification.passed());
    Ok(())
}
