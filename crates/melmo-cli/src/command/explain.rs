//! `melmo explain`: what is proven for a method, a geometry and a problem.

use melmo::catalogue::{Arguments, Choice, Start, choose, find, guarantee, methods};
use melmo::geometry::{Norm, Oracle, product_equivalence};
use melmo::guarantee::{Count, Guarantee};

use crate::args::Explain;
use crate::error::Error;
use crate::render::short;

mod examples {
    //! The problem of each command at a given size, with seeded data and a start.

    use melmo::block::Layout;
    use melmo::catalogue::Lift;
    use melmo::operator::{Dense, Difference2d, Identity, LinOp, Select};
    use melmo::penalty::Blocks;
    use melmo::problem::Problem;
    use melmo::seeded::Seeded;
    use melmo::smooth::{Factorization, LeastSquares, MaskedLeastSquares, RobustPca, Smooth};
    use melmo_tasks::{Error, PenaltyChoice};

    pub fn problem(
        name: &str,
        rows: usize,
        cols: usize,
        penalty: &PenaltyChoice,
    ) -> Result<(Problem<f64>, Vec<f64>), Error> {
        let layout = Layout::matrix(rows, cols)?;
        let data = || Seeded::new(1).normals::<f64>(rows * cols);
        let mut start = match name {
            "denoise" | "recover" => data(),
            "rpca" => vec![0.0; 2 * rows * cols],
            _ => vec![0.0; cols],
        };
        let entries = |layout: &Layout| penalty.build(&Lift::Entries, layout);
        let (f, g, t): (Box<dyn Smooth<f64>>, _, Box<dyn LinOp<f64>>) = match name {
            "factorize" => {
                let f = Factorization::new(data(), rows, cols, rows.min(cols).min(10))?.ridge(0.1)?;
                start = Seeded::new(3).normals(f.layout().size());
                let t = Select::new(f.layout(), &["W"])?;
                let g = entries(LinOp::<f64>::range(&t))?;
                (Box::new(f), g, Box::new(t))
            }
            "recover" => {
                let f = MaskedLeastSquares::new(layout.clone(), data(), None)?;
                (Box::new(f), entries(&layout)?, Box::new(Identity::new(layout)))
            }
            "rpca" => {
                let f = RobustPca::new(data(), rows, cols, None)?;
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
                let f = LeastSquares::new(Box::new(Dense::new(data(), rows, cols)?), Seeded::new(2).normals(rows))?;
                (Box::new(f), entries(&layout)?, Box::new(Identity::new(layout)))
            }
            _ => {
                let f = MaskedLeastSquares::new(layout, data(), None)?;
                let t = Difference2d::new(rows, cols)?;
                let g = entries(LinOp::<f64>::range(&t))?;
                (Box::new(f), g, Box::new(t))
            }
        };
        Ok((Problem::from_boxes(f, g, t)?, start))
    }
}

/// N(ε), or what there is no number of.
fn counted(guarantee: &Guarantee, epsilon: f64) -> String {
    let what = guarantee.count.as_ref().map_or("steps", |count| count.of);
    let left = if guarantee.open.is_empty() { "" } else { ", up to what is left open" };
    if let Some(steps) = guarantee.steps(epsilon) {
        return format!("  so an ε-certificate, ε = {epsilon}, within {steps:.3e} {what}{left}\n");
    }
    let unknown: Vec<_> = guarantee.count.iter().flat_map(Count::unknown).collect();
    match (&guarantee.count, guarantee.applies()) {
        (Some(_), true) => {
            let hint = if unknown.iter().any(|name| name.contains("x*")) {
                " (--radius R gives ‖x*‖₂ ≤ R)"
            } else {
                ""
            };
            format!("  N(ε) has no number here, not known: {}{hint}\n", unknown.join(", "))
        }
        _ => String::new(),
    }
}

/// The text to print.
pub fn text(explain: &Explain) -> Result<String, Error> {
    let Explain { problem: name, method, geometry, penalty, rows, cols, epsilon, .. } = explain;
    melmo::error::Error::expect_positive("epsilon", *epsilon)?;
    let (problem, x0) = examples::problem(name, *rows, *cols, penalty)?;
    let mut geometry = geometry.build::<f64>(problem.layout(), Norm::L2, Oracle::Auto)?;
    let table = methods::<f64>();
    let row = find("method", &table, method)?;
    let options = [("p", explain.p), ("q", explain.q), ("beta", explain.beta)];
    let given: Vec<(&str, f64)> = options.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let arguments = Arguments::new(&row.entry, &given)?;
    let objective = explain.start.unwrap_or_else(|| problem.objective(&x0));
    let start = Start { x0: &x0, objective, radius: explain.radius };
    let guarantee = guarantee(method, &arguments, &problem, &mut *geometry, start)?;
    let mut text = format!("{name} with {penalty} and `{method}` on a {rows}×{cols} variable\n\n");
    if method == "auto" {
        let Choice { method, reason } = choose(&problem);
        text += &format!("`auto` takes `{method}`: {reason}\n\n");
    }
    text += &format!("{guarantee}\n");
    text += &counted(&guarantee, *epsilon);
    if row.uses_geometry
        && let Some(constants) = product_equivalence(&geometry.norms())
    {
        let [c1, c3] = [constants.c1, constants.c3].map(short);
        text += &format!("\nThe norm enters the composite measure through ‖·‖₂ ≤ {c1}‖·‖_*, ‖·‖ ≤ {c3}‖·‖₂.\n");
    }
    text += &format!("Methods start at β ≤ 1/(2ρ) = {}; the proofs need β < 1/ρ.\n", short(problem.beta_limit()));
    Ok(text)
}
