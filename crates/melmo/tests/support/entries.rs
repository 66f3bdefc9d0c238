//! Two factors against a third of the entries of a matrix, a ridge on both: what `als` is for.

use melmo::known::Feedback;
use melmo::operator::Select;
use melmo::penalty::{Entrywise, Ridge};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::{KnownFactors, Smooth};
use melmo::sparse::{Csr, Misfit};

/// The problem and a start.
pub fn known_entries<S: Real>(rows: usize, cols: usize, rank: usize) -> (Problem<S>, Vec<S>) {
    let mut seeded = Seeded::new(8);
    let values: Vec<S> = seeded.normals(rows * cols);
    let places = (0..rows * cols).filter(|at| at % 3 == 0);
    let list = places.map(|at| ((at / cols) as u32, (at % cols) as u32, S::of(0.3) * values[at]));
    let entries = Csr::from_entries(rows, cols, list, |_, _, y: &[S]| Ok::<_, Misfit>(y[0])).unwrap();
    let f = KnownFactors::new(entries, Feedback::Explicit, rank, 0.2).unwrap();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let x0 = seeded.normals(f.layout().size());
    (Problem::new(f, Entrywise::new(Ridge::new(0.2).unwrap(), rows * rank), t).unwrap(), x0)
}
