use crate::block::Layout;
use crate::error::Error;

/// Forward differences of a rows×cols image, stored [∇ₓ | ∇ᵧ], zero in the last column and the last row.
#[derive(Clone, Debug)]
pub struct Difference2d {
    domain: Layout,
    range: Layout,
}

impl Difference2d {
    /// Differences of a rows×cols image.
    pub fn new(rows: usize, cols: usize) -> Result<Self, Error> {
        Ok(Self { domain: Layout::matrix(rows, cols)?, range: Layout::new([("dx", rows, cols), ("dy", rows, cols)])? })
    }

    /// Rows and columns of the image.
    pub fn shape(&self) -> (usize, usize) {
        let block = &self.domain.blocks()[0];
        (block.rows, block.cols)
    }
}
