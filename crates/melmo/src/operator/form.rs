use crate::operator::{Convolution, Dense, Difference2d, Difference3d, Jet, Mask, Select, Sparse};

/// What an operator is, for those who can use it: streaming over an image, a metric by cosine transforms, columns of a design.
#[non_exhaustive]
pub enum Form<'a, S> {
    /// Nothing that anybody knows of.
    General,
    /// Tx = x.
    Identity,
    /// Some of the blocks.
    Select(&'a Select),
    /// The entries at these places.
    Sample(&'a [usize]),
    /// Forward differences of one image.
    Difference2d(&'a Difference2d),
    /// Forward differences of one volume.
    Difference3d(&'a Difference3d),
    /// First and second differences of an image of several channels.
    Jet(&'a Jet),
    /// M⊙x.
    Mask(&'a Mask<S>),
    /// An image convolved with a kernel.
    Convolution(&'a Convolution<S>),
    /// A matrix.
    Dense(&'a Dense<S>),
    /// A sparse matrix.
    Sparse(&'a Sparse<S>),
}
