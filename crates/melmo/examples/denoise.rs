//! Total-variation denoising of a small picture: ½‖X − Y‖² + Σ MCP(differences).

use melmo::prelude::*;

const SIZE: usize = 32;

/// A disc on a ramp.
fn picture() -> Vec<f64> {
    let half = SIZE as f64 / 2.0;
    let pixel = |i: usize, j: usize| {
        let (dy, dx) = (i as f64 - half, j as f64 - half);
        if dy * dy + dx * dx < 100.0 { 0.9 } else { 0.2 }
    };
    (0..SIZE * SIZE).map(|at| pixel(at / SIZE, at % SIZE)).collect()
}

fn show(title: &str, image: &[f64]) {
    println!("{title}");
    for row in image.chunks(SIZE).step_by(2) {
        let shade = |v: &f64| b" .:-=+*#%@"[(v * 10.0).clamp(0.0, 9.0) as usize] as char;
        println!("  {}", row.iter().map(shade).collect::<String>());
    }
}

fn root_mean_square(a: &[f64], b: &[f64]) -> f64 {
    (a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / a.len() as f64).sqrt()
}

fn main() -> Result<(), Error> {
    let clean = picture();
    let mut seeded = Seeded::new(1);
    let noisy: Vec<f64> = clean.iter().map(|v| v + 0.15 * seeded.normal()).collect();

    let differences = Difference2d::new(SIZE, SIZE)?;
    let loss = MaskedLeastSquares::new(Layout::matrix(SIZE, SIZE)?, noisy.clone(), None)?;
    let penalty = Entrywise::new(Mcp::new(0.2, 2.0)?, 2 * SIZE * SIZE);
    let problem = Problem::new(loss, penalty, differences)?;
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto)?;
    let mut solver = Melmo::new(&problem, geometry, Power::balanced(problem.default_beta()), &noisy)?;
    let report = run(&mut solver, &Options::new(Stop::after(2000)), &mut []);

    show("noisy", &noisy);
    show("denoised", &report.x);
    println!("error {:.4} → {:.4}", root_mean_square(&noisy, &clean), root_mean_square(&report.x, &clean));
    assert!(root_mean_square(&report.x, &clean) < 0.5 * root_mean_square(&noisy, &clean));
    Ok(())
}
