//! Every method in every geometry on data that is too large, too small or too odd.

use melmo::catalogue;
use melmo::seeded::Seeded;
use melmo_tasks::{Ended, Settings, Watch, recover, solve};

use crate::run::{Run, below, one_of};

const GEOMETRIES: [&str; 7] = ["l2", "l1", "linf", "spectral", "nuclear", "column", "row"];
/// Sizes of the numbers.
const SCALES: [f64; 20] = [
    1.0, 0.0, 1e-5, 1e5, 1e-20, 1e20, 1e-80, 1e80, 1e-154, 1e153, 1e154, 1e160, 1e-160, 1e200, 1e-200, 1e300, 1e-300,
    1e308, 5e-324, 1e-308,
];

/// A matrix of numbers of one size, or with one that stands out, or with the same in every place.
fn data(seeded: &mut Seeded, rows: usize, cols: usize) -> Vec<f64> {
    let scale = *one_of(seeded, &SCALES);
    let mut y: Vec<f64> =
        seeded.normals::<f64>(rows * cols).iter().map(|v| (v * scale).clamp(f64::MIN, f64::MAX)).collect();
    match below(seeded, 5) {
        0 => y.iter_mut().for_each(|v| *v = scale),
        1 => {
            let at = below(seeded, y.len());
            y[at] = *one_of(seeded, &SCALES);
        }
        2 => {
            let at = below(seeded, y.len());
            y[at] = f64::NAN; // missing
        }
        _ => {}
    }
    y
}

pub fn campaign(run: &mut Run) {
    let methods: Vec<&str> = catalogue::methods::<f64>().iter().map(|row| row.entry.name).collect();
    run.until_the_end(|number, seeded| {
        // All pairs in turn, each with other data.
        let pair = number as usize % (methods.len() * GEOMETRIES.len());
        let (method, geometry) = (methods[pair / GEOMETRIES.len()], GEOMETRIES[pair % GEOMETRIES.len()]);
        let (rows, cols) = *one_of(seeded, &[(3, 4), (1, 6), (5, 1), (6, 5)]);
        let y = data(seeded, rows, cols);
        let penalty =
            one_of(seeded, &["mcp:lambda=0.1,mu=3", "l1:lambda=0.1", "scad:lambda=0.1", "log-sum:lambda=0.1,theta=1"]);
        let Ok(prepared) = recover::prepare::<f64>(&y, None, rows, cols, &penalty.parse().map_err(|_| "a penalty")?)
        else {
            return Ok(());
        };
        let settings = Settings { geometry: geometry.parse().ok(), iterations: Some(30), ..Settings::method(method) };
        let Ok(solved) = solve(&prepared, &settings, Watch::default()) else { return Ok(()) };
        let said = || {
            format!(
                "{method} in {geometry} on {rows}×{cols}, {penalty}: {:?}, F = {}, {y:?}",
                solved.ended, solved.report.objective
            )
        };
        let finite = solved.report.objective.is_finite() && solved.report.x.iter().all(|v| v.is_finite());
        if solved.ended != Ended::NotFinite && !finite {
            return Err(said());
        }
        match &solved.report.certificate {
            Some(certificate) if certificate.prox_gap.is_nan() || certificate.dual_norm.upper.is_nan() => Err(said()),
            _ => Ok(()),
        }
    });
}
