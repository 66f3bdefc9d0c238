//! States of every method, damaged, and one step from there.

use melmo::catalogue;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::solver::State;
use melmo_tasks::{Prepared, Settings, factorize, recover, solver};

use crate::run::{Run, below, one_of};

const ODD: [f64; 12] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, -0.0, 1e308, 1e-308, 5e-324, 1.8e19, 9.3e18, 0.5];

/// The state with some of its bytes changed; `None` where that is no state any more.
fn damage<S: Real>(seeded: &mut Seeded, state: &State<S>) -> Option<State<S>> {
    let mut bytes = postcard::to_stdvec(state).ok()?;
    for _ in 0..1 + below(seeded, 4) {
        let at = below(seeded, bytes.len());
        match below(seeded, 8) {
            0 => bytes.truncate(at),
            1 => bytes.push(at as u8),
            2 => bytes[at] ^= 1 << below(seeded, 8),
            3 => bytes[at] = 0xff,
            _ => {
                let number = one_of(seeded, &ODD).to_le_bytes();
                bytes[at..].iter_mut().zip(number).for_each(|(byte, number)| *byte = number);
            }
        }
        if bytes.is_empty() {
            return None;
        }
    }
    let mut damaged: State<S> = postcard::from_bytes(&bytes).ok()?;
    if below(seeded, 7) == 0 {
        damaged.k = *one_of(seeded, &[0, 1, 2, u64::MAX, u64::MAX - 1, 1 << 63, 1 << 53, 12345]);
    }
    Some(damaged)
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
        let Some(state) = damage(seeded, &first.save()) else { return Ok(()) };
        let (mut second, name, ..) =
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
