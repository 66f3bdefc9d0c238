//! `melmo explain`: what the theory guarantees for a schedule, a geometry and a problem.

use melmo::geometry::{Norm, Oracle, product_equivalence};
use melmo::problem::Problem;
use melmo::schedule::{EpochConstant, EpochPower, Horizon, Power, Restart, Schedule};

use crate::args::Explain;
use crate::error::Error;
use crate::render::short;

mod examples {
    //! The problem of each command, at a given size: only its constants matter here.

    use melmo::block::Layout;
    use melmo::catalogue::Lift;
    use melmo::operator::{Dense, Difference2d, Identity, LinOp, Select};
    use melmo::penalty::Blocks;
    use melmo::problem::Problem;
    use melmo::smooth::{Factorization, LeastSquares, MaskedLeastSquares, RobustPca, Smooth};
    use melmo_tasks::{Error, PenaltyChoice};

    pub fn problem(name: &str, rows: usize, cols: usize, penalty: &PenaltyChoice) -> Result<Problem<f64>, Error> {
        let layout = Layout::matrix(rows, cols)?;
        let zeros = || vec![0.0; rows * cols];
        let entries = |layout: &Layout| penalty.build(&Lift::Entries, layout);
        let (f, g, t): (Box<dyn Smooth<f64>>, _, Box<dyn LinOp<f64>>) = match name {
            "factorize" => {
                let f = Factorization::new(zeros(), rows, cols, rows.min(cols).min(10))?;
                let t = Select::new(f.layout(), &["W"])?;
                let g = entries(LinOp::<f64>::range(&t))?;
                (Box::new(f), g, Box::new(t))
            }
            "recover" => {
                let f = MaskedLeastSquares::new(layout.clone(), zeros(), None)?;
                (Box::new(f), entries(&layout)?, Box::new(Identity::new(layout)))
            }
            "rpca" => {
                let f = RobustPca::new(zeros(), rows, cols, None)?;
                let layout = f.layout().clone();
                let parts = vec![
                    ("L", 1.0, penalty.build(&Lift::SingularValues, &Layout::new([("L", rows, cols)])?)?),
                    ("S", 1.0, entries(&Layout::new([("S", rows, cols)])?)?),
                ];
                let g = Box::new(Blocks::new(&layout, parts)?);
                (Box::new(f), g, Box::new(Identity::new(layout)))
            }
            "regress" => {
                let layout = Layout::vector(cols)?;
                let f = LeastSquares::new(Box::new(Dense::new(zeros(), rows, cols)?), vec![0.0; rows])?;
                (Box::new(f), entries(&layout)?, Box::new(Identity::new(layout)))
            }
            _ => {
                let f = MaskedLeastSquares::new(layout, zeros(), None)?;
                let t = Difference2d::new(rows, cols)?;
                let g = entries(LinOp::<f64>::range(&t))?;
                (Box::new(f), g, Box::new(t))
            }
        };
        Ok(Problem::from_boxes(f, g, t)?)
    }
}

/// The text to print.
pub fn text(explain: &Explain) -> Result<String, Error> {
    let problem = examples::problem(&explain.problem, explain.rows, explain.cols, &explain.penalty)?;
    let geometry = explain.geometry.build::<f64>(problem.layout(), Norm::L2, Oracle::Auto)?;
    let schedule = schedule(explain, &problem)?;
    schedule.check()?;
    let mut text = format!(
        "{} with {} and `{}` on a {}×{} variable\n\n{}\n",
        explain.problem,
        explain.penalty,
        explain.method,
        explain.rows,
        explain.cols,
        schedule.guarantee(&problem.facts())
    );
    if let Some(constants) = product_equivalence(&geometry.norms()) {
        text += &format!(
            "\nThe norm enters through its constants: ‖·‖₂ ≤ {}‖·‖_*, ‖·‖ ≤ {}‖·‖₂.\n",
            short(constants.c1),
            short(constants.c3)
        );
    }
    text += &format!(
        "The largest β allowed is 1/(2ρ) = {}; {} is used.\n",
        short(problem.beta_limit()),
        short(schedule.largest_beta())
    );
    Ok(text)
}

fn schedule(explain: &Explain, problem: &Problem<f64>) -> Result<Box<dyn Schedule>, Error> {
    let (beta, gamma) = (explain.beta.unwrap_or(problem.default_beta()), 1.0);
    let power = |p: f64, q: f64| Power { beta, gamma, p: explain.p.unwrap_or(p), q: explain.q.unwrap_or(q) };
    Ok(match explain.method.as_str() {
        "melmo" => Box::new(power(7.0 / 12.0, 1.0 / 3.0)),
        "melmo-horizon" => Box::new(Horizon { beta, gamma, steps: 1000 }),
        "epoch-power" => Box::new(EpochPower { power: power(2.0 / 3.0, 1.0 / 4.0) }),
        "epoch-constant" => Box::new(EpochConstant { beta, gamma, restart: Restart::Best }),
        other => {
            let known = "melmo, melmo-horizon, epoch-power, epoch-constant";
            return Err(Error::option("method", format!("the paper proves nothing about `{other}`; known: {known}")));
        }
    })
}
