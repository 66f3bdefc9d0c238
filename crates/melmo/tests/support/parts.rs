//! ½‖Y − L − S‖² with MCP of the singular values of L and of the entries of S, for tests of every method.

use melmo::block::Layout;
use melmo::operator::Identity;
use melmo::penalty::{Blocks, Entrywise, Mcp, Prox, Spectral};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::{RobustPca, Smooth};

/// The problem and a start.
pub fn low_rank_plus_sparse<S: Real>(
    (rows, cols): (usize, usize),
    [low_rank, sparse]: [Mcp; 2],
) -> (Problem<S>, Vec<S>) {
    let mut seeded = Seeded::new(6);
    let f = RobustPca::new(seeded.normals(rows * cols), rows, cols, None).unwrap();
    let layout = f.layout().clone();
    let matrix = Layout::matrix(rows, cols).unwrap();
    let low_rank: Box<dyn Prox<S>> = Box::new(Spectral::new(low_rank, &matrix).unwrap());
    let parts = vec![("L", 1.0, low_rank), ("S", 1.0, Box::new(Entrywise::new(sparse, rows * cols)))];
    let g = Blocks::new(&layout, parts).unwrap();
    (Problem::new(f, g, Identity::new(layout)).unwrap(), seeded.normals(2 * rows * cols))
}
