//! Operators, with examples made from a seed.

use std::borrow::Cow;

use crate::block::Layout;
use crate::catalogue::{Arguments, Entry, Example, Input, Inputs, Parameter, Value};
use crate::error::Error;
use crate::operator::{
    Boundary, Columns, Compose, Convolution, Dense, Difference2d, Difference3d, FilterBank, Identity, Jet, LinOp, Mask,
    Sample, Scale, Select, Sparse, Stack,
};
use crate::real::Real;
use crate::seeded::Seeded;

/// Builds an operator from its data.
pub type BuildOperator<S> = fn(&Arguments, Inputs<S>) -> Result<Box<dyn LinOp<S>>, Error>;

/// One operator.
pub struct OperatorRow<S> {
    /// Its text.
    pub entry: Entry,
    /// The data it is built from.
    pub inputs: &'static [Input],
    /// Builds it from its data.
    pub build: BuildOperator<S>,
    /// Small instances.
    pub examples: fn(u64) -> Vec<Example<S>>,
}

impl<S> AsRef<Entry> for OperatorRow<S> {
    fn as_ref(&self) -> &Entry {
        &self.entry
    }
}

const PERIODIC: &[(&str, Value)] = &[("boundary", Value::Word(Cow::Borrowed("periodic")))];
const REFLECT: &[(&str, Value)] = &[("boundary", Value::Word(Cow::Borrowed("reflect")))];

/// A whole number that divides the rows.
fn dividing(a: &Arguments, name: &'static str, rows: usize) -> Result<usize, Error> {
    let parts = a.whole(name) as usize;
    let divides = parts > 0 && rows.is_multiple_of(parts);
    Error::expect_parameter(name, parts as f64, divides, "a whole number that divides the rows")?;
    Ok(parts)
}

pub(super) fn example<S>(about: &'static str, inputs: Inputs<S>) -> Example<S> {
    Example { about, given: &[], inputs }
}

fn on<S>(layout: Result<Layout, Error>) -> Inputs<S> {
    Inputs { layout: layout.ok(), ..Inputs::default() }
}

pub(super) fn matrix<S: Real>(seed: u64, rows: usize, cols: usize) -> Inputs<S> {
    Inputs { matrix: Some((Seeded::new(seed).normals(rows * cols), rows, cols)), ..Inputs::default() }
}

pub(super) fn boxed<S: Real>(t: Result<impl LinOp<S> + 'static, Error>) -> Result<Box<dyn LinOp<S>>, Error> {
    t.map(|t| Box::new(t) as Box<dyn LinOp<S>>)
}

/// Operators to build upon; an example that cannot be built is missing, and its constructor then says so.
fn operators_of<S: Real>(parts: impl IntoIterator<Item = Result<Box<dyn LinOp<S>>, Error>>) -> Inputs<S> {
    Inputs { operators: parts.into_iter().flatten().collect(), ..Inputs::default() }
}

/// The one block of a layout that an image operator works on.
pub(super) fn image(layout: &Layout) -> Result<(usize, usize), Error> {
    match layout.blocks() {
        [block] => Ok((block.rows, block.cols)),
        blocks => Err(Error::Shape { what: "blocks of an image", expected: 1, got: blocks.len() }),
    }
}

/// Every operator: these, and those of [`imaging`](super::imaging).
pub(super) fn rows<S: Real>() -> Vec<OperatorRow<S>> {
    let mut rows = general();
    rows.extend(super::imaging::rows());
    rows
}

fn general<S: Real>() -> Vec<OperatorRow<S>> {
    vec![
        OperatorRow {
            entry: Entry { name: "identity", formula: "Tx = x", about: "surjective, σ_min = 1", parameters: &[] },
            inputs: &[Input::Layout],
            build: |_, mut inputs| Ok(Box::new(Identity::new(inputs.take_layout()?))),
            examples: |_| vec![example("two blocks", on(Layout::new([("W", 3, 2), ("H", 2, 4)])))],
        },
        OperatorRow {
            entry: Entry {
                name: "select",
                formula: "T(W, H) = W",
                about: "picks blocks by name; surjective, σ_min = 1",
                parameters: &[],
            },
            inputs: &[Input::Layout, Input::Blocks],
            build: |_, mut inputs| {
                let names: Vec<&str> = inputs.blocks.iter().map(String::as_str).collect();
                let layout = inputs.layout.take().ok_or_else(|| Error::Unsupported("select needs a layout".into()))?;
                boxed(Select::new(&layout, &names))
            },
            examples: |_| {
                let layout = || on(Layout::new([("W", 3, 2), ("H", 2, 4), ("b", 5, 1)]));
                vec![
                    example("one block", Inputs { blocks: vec!["H".into()], ..layout() }),
                    example("two blocks, turned", Inputs { blocks: vec!["b".into(), "W".into()], ..layout() }),
                ]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "difference2d",
                formula: "X_{i,j+1} − X_{ij} and X_{i+1,j} − X_{ij}, 0 at the end",
                about: "forward differences of an image; ‖T‖² ≤ 8",
                parameters: &[],
            },
            inputs: &[Input::Layout],
            build: |_, mut inputs| {
                let (rows, cols) = image(&inputs.take_layout()?)?;
                boxed(Difference2d::new(rows, cols))
            },
            examples: |_| {
                let shapes = [("an image", 6, 5), ("one row", 1, 7), ("one column", 7, 1), ("one pixel", 1, 1)];
                shapes.map(|(about, rows, cols)| example(about, on(Layout::matrix(rows, cols)))).into()
            },
        },
        OperatorRow {
            entry: Entry {
                name: "jet",
                formula: "[∇X | weight·∇²X], a column for each pixel",
                about: "first and second differences of an image of several channels; ‖T‖² ≤ 8 + 64·weight²",
                parameters: const {
                    &[
                        Parameter::whole("channels", 1, 1, "number of channels, dividing the rows"),
                        Parameter::new("weight", 0.5, "what second differences are multiplied by, at least 0"),
                    ]
                },
            },
            inputs: &[Input::Layout],
            build: |a, mut inputs| {
                let (rows, cols) = image(&inputs.take_layout()?)?;
                let channels = dividing(a, "channels", rows)?;
                boxed(Jet::new(rows / channels, cols, channels, a.number("weight")))
            },
            examples: |_| {
                let colour = &[("channels", Value::Number(3.0))];
                let first = &[("weight", Value::Number(0.0))];
                vec![
                    example("an image", on(Layout::matrix(6, 5))),
                    Example { given: colour, ..example("three channels", on(Layout::matrix(12, 5))) },
                    Example { given: first, ..example("first differences only", on(Layout::matrix(4, 3))) },
                ]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "difference3d",
                formula: "forward differences along x, y and z, 0 at the end",
                about: "a volume stored slice after slice; ‖T‖² ≤ 12",
                parameters: const { &[Parameter::whole("depth", 3, 1, "number of slices, dividing the rows")] },
            },
            inputs: &[Input::Layout],
            build: |a, mut inputs| {
                let (rows, cols) = image(&inputs.take_layout()?)?;
                let depth = dividing(a, "depth", rows)?;
                boxed(Difference3d::new(depth, rows / depth, cols))
            },
            examples: |_| vec![example("a volume", on(Layout::matrix(12, 5)))],
        },
        OperatorRow {
            entry: Entry {
                name: "dense",
                formula: "Tx = Ax",
                about: "a matrix; surjective when its rows are independent",
                parameters: &[],
            },
            inputs: &[Input::Matrix],
            build: |_, mut inputs| {
                let (a, rows, cols) = inputs.take_matrix()?;
                boxed(Dense::new(a, rows, cols))
            },
            examples: |seed| vec![example("tall", matrix(seed, 7, 4)), example("wide", matrix(seed, 4, 9))],
        },
        OperatorRow {
            entry: Entry {
                name: "sparse",
                formula: "Tx = Ax, A in compressed rows",
                about: "a sparse matrix; ‖A‖² ≤ ‖A‖₁‖A‖_∞",
                parameters: &[],
            },
            inputs: &[Input::Matrix],
            build: |_, mut inputs| {
                let (a, rows, cols) = inputs.take_matrix()?;
                Error::expect_len("entries of the matrix", rows * cols, a.len())?;
                let filled = a.iter().enumerate().filter(|(_, v)| **v != S::ZERO);
                boxed(Sparse::from_triplets(rows, cols, filled.map(|(at, &v)| (at / cols, at % cols, v))))
            },
            examples: |seed| {
                let mut seeded = Seeded::new(seed);
                let entries = (0..48).map(|_| S::of(if seeded.uniform() < 0.3 { seeded.normal() } else { 0.0 }));
                let inputs = Inputs { matrix: Some((entries.collect(), 6, 8)), ..Inputs::default() };
                vec![example("a third filled", inputs)]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "convolution",
                formula: "Tx = k ∗ x",
                about: "2-D, the same size out; ‖T‖ ≤ Σ|k|, reflected where k is symmetric",
                parameters: const {
                    &[Parameter::word("boundary", &["zero", "periodic", "reflect"], "what stands outside the image")]
                },
            },
            inputs: &[Input::Layout, Input::Matrix],
            build: |a, mut inputs| {
                let (kernel, kernel_rows, kernel_cols) = inputs.take_matrix()?;
                let boundary = match a.word("boundary") {
                    "zero" => Boundary::Zero,
                    "periodic" => Boundary::Periodic,
                    _ => Boundary::Reflect,
                };
                let shape = image(&inputs.take_layout()?)?;
                boxed(Convolution::new(shape, &kernel, (kernel_rows, kernel_cols), boundary))
            },
            examples: |seed| {
                let blur = |rows, cols| Inputs { layout: Layout::matrix(7, 6).ok(), ..matrix(seed, rows, cols) };
                vec![
                    example("zero outside", blur(3, 3)),
                    Example { about: "periodic, even kernel", given: PERIODIC, inputs: blur(2, 4) },
                    Example { about: "mirror images outside", given: REFLECT, inputs: blur(3, 5) },
                ]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "filter-bank",
                formula: "T_c x = w_c ⋆ x, x continued by reflection",
                about: "correlations with K×K filters, a block for each; ‖T‖² ≤ sup Σ|ŵ_c|² where mirror images of filters are filters",
                parameters: &[],
            },
            inputs: &[Input::Layout, Input::Matrix],
            build: |_, mut inputs| {
                let (filters, _, side) = inputs.take_matrix()?;
                boxed(FilterBank::new(image(&inputs.take_layout()?)?, &filters, side))
            },
            examples: |seed| {
                let bank = |image, rows, cols| Inputs { layout: image, ..matrix(seed, rows, cols) };
                vec![
                    example("two filters", bank(Layout::matrix(7, 6).ok(), 6, 3)),
                    example("larger than the image", bank(Layout::matrix(2, 3).ok(), 15, 5)),
                ]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "mask",
                formula: "Tx = M⊙x",
                about: "keeps some entries, zeroes the rest",
                parameters: &[],
            },
            inputs: &[Input::Layout, Input::Mask],
            build: |_, mut inputs| boxed(Mask::new(inputs.take_layout()?, inputs.take_mask()?)),
            examples: |seed| {
                let mask = Some(Seeded::new(seed).mask(20, 0.6));
                vec![example("a mask", Inputs { mask, ..on(Layout::matrix(4, 5)) })]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "sample",
                formula: "Tx = (x_i) over the observed i",
                about: "the observed entries as a vector; surjective, σ_min = 1",
                parameters: &[],
            },
            inputs: &[Input::Layout, Input::Mask],
            build: |_, mut inputs| boxed(Sample::from_mask(inputs.take_layout()?, &inputs.take_mask()?)),
            examples: |seed| {
                let mask = Some(Seeded::new(seed).mask(20, 0.6));
                vec![example("a mask", Inputs { mask, ..on(Layout::matrix(4, 5)) })]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "scale",
                formula: "c·T",
                about: "another operator times a number",
                parameters: const { &[Parameter::new("c", 2.0, "c ≠ 0")] },
            },
            inputs: &[Input::Operator],
            build: |a, mut inputs| boxed(Scale::new(a.number("c"), inputs.take_operator()?)),
            examples: |seed| {
                vec![
                    Example {
                        about: "a dense matrix, c < 0",
                        given: &[("c", Value::Number(-0.5))],
                        inputs: operators_of([boxed(Dense::new(Seeded::new(seed).normals(12), 3, 4))]),
                    },
                    example("differences", operators_of([boxed(Difference2d::new(4, 4))])),
                ]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "columns",
                formula: "(TX)_·j = Ax_·j",
                about: "another operator on every column of a matrix; surjective when that is",
                parameters: const { &[Parameter::whole("count", 2, 1, "number of columns")] },
            },
            inputs: &[Input::Operator],
            build: |a, mut inputs| boxed(Columns::new(inputs.take_operator()?, a.whole("count") as usize)),
            examples: |seed| {
                vec![
                    example("a wide matrix", operators_of([boxed(Dense::new(Seeded::new(seed).normals(12), 3, 4))])),
                    example("differences", operators_of([boxed(Difference2d::new(4, 3))])),
                ]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "compose",
                formula: "T₁T₂",
                about: "one operator after another; surjective when both are",
                parameters: &[],
            },
            inputs: &[Input::Operator, Input::Operator],
            build: |_, mut inputs| boxed(Compose::new(inputs.take_operator()?, inputs.take_operator()?)),
            examples: |seed| {
                let blur = Convolution::new((4, 5), &Seeded::new(seed).normals(9), (3, 3), Boundary::Zero);
                let dense = |rows, cols| boxed(Dense::new(Seeded::new(seed).normals(rows * cols), rows, cols));
                vec![
                    example("differences of a blur", operators_of([boxed(Difference2d::new(4, 5)), boxed(blur)])),
                    example("two wide matrices", operators_of([dense(3, 5), dense(5, 8)])),
                ]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "stack",
                formula: "Tx = (T₁x, T₂x, …)",
                about: "several operators of the same variable, one under another",
                parameters: &[],
            },
            inputs: &[Input::Operators],
            build: |_, inputs| boxed(Stack::new(inputs.operators)),
            examples: |_| {
                let layout = Layout::matrix(4, 5);
                let identity = layout.map(|layout| Box::new(Identity::new(layout)) as Box<dyn LinOp<S>>);
                vec![example("an image and its differences", operators_of([identity, boxed(Difference2d::new(4, 5))]))]
            },
        },
    ]
}
