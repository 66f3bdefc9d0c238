//! States of every method, damaged, and one step from there.

use melmo::catalogue;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::solver::State;
use melmo_tasks::{Prepared, Settings, factorize, recover, solver};

use crate::run::{Run, below, one_of};

const ODD: [f64; 12] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, -0.0, 1e308, 1e-308, 5e-324, 1.8e19, 9.3e18, 0.5];

fn damage<S: Real>(seeded: &mut Seeded, state: &mut State<S>) {
    for _ in 0..1 + below(seeded, 4) {
        match below(seeded, 7) {
            0 => state.k = *one_of(seeded, &[0, 1, 2, u64::MAX, u64::MAX - 1, 1 << 63, 1 << 53, 12345]),
            1 | 2 if !state.numbers.is_empty() => {
                let at = below(seeded, state.numbers.len());
                state.numbers[at] = *one_of(seeded, &ODD);
            }
            3 => state.numbers.truncate(state.numbers.len().saturating_sub(1)),
            4 => state.numbers.push(*one_of(seeded, &ODD)),
            5 if !state.vectors.is_empty() => {
                let at = below(seeded, state.vectors.len());
                let vector = &mut state.vectors[at];
                match below(seeded, 3) {
                    0 => vector.truncate(vector.len().saturating_sub(1)),
                    1 => vector.push(S::ONE),
                    _ if vector.is_empty() => {}
                    _ => {
                        let at = below(seeded, vector.len());
                        vector[at] = S::of(*one_of(seeded, &ODD));
                    }
                }
            }
            _ => state.warm_start.truncate(below(seeded, state.warm_start.len() + 1)),
        }
    }
}

fn problems() -> Vec<Prepared<f64>> {
    let mut seeded = Seeded::new(4);
    let y: Vec<f64> = seeded.normals(20);
    let (w, h) = (seeded.normals(8), seeded.normals(10));
    let penalty = "mcp:lambda=0.1,mu=3".parse().expect("a penalty of the catalogue");
    let factors = factorize::Factors { y: &y, mask: None, rows: 4, cols: 5, rank: 2, penalty: &penalty, ridge: 0.1 };
    let all = [recover::prepare(&y, None, 4, 5, &penalty), factors.prepare(w, h)];
    all.into_iter().filter_map(Result::ok).collect()
}

pub fn campaign(run: &mut Run) {
    let (problems, methods) = (problems(), catalogue::methods::<f64>());
    run.until_the_end(|_, seeded| {
        let prepared = one_of(seeded, &problems);
        let settings = Settings::method(one_of(seeded, &methods).entry.name);
        let Ok((mut first, ..)) = solver(&prepared.problem, &prepared.start, &prepared.defaults, &settings) else {
            return Ok(()); // it does not fit this problem
        };
        for _ in 0..3 {
            let _ = first.next();
        }
        let mut state = first.save();
        damage(seeded, &mut state);
        let (mut second, name, _) =
            solver(&prepared.problem, &prepared.start, &prepared.defaults, &settings).map_err(|e| e.to_string())?;
        if second.restore(&state).is_err() {
            return Ok(());
        }
        // Accepted: then a step is one, or ends the run.
        match second.next() {
            Some(info) if info.finite && second.x().iter().any(|v| !v.is_finite()) => {
                Err(format!("{name}: a state was accepted and leads to a point that is not finite: {state:?}"))
            }
            _ => Ok(()),
        }
    });
}
