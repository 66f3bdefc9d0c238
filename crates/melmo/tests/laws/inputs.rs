//! What a row says that it is built from is what its constructor takes: programs ask people for just that.

use melmo::catalogue::{Arguments, Entry, Example, Input, Inputs, losses, operators};
use melmo::error::Error;

/// The kinds of data that an example brings.
fn brought(inputs: &Inputs<f64>) -> Vec<Input> {
    let fields = [
        (Input::Layout, inputs.layout.is_some()),
        (Input::Matrix, inputs.matrix.is_some()),
        (Input::Target, inputs.target.is_some()),
        (Input::Mask, inputs.mask.is_some()),
        (Input::Blocks, !inputs.blocks.is_empty()),
        (Input::Operator, !inputs.operators.is_empty()),
    ];
    fields.into_iter().filter_map(|(input, there)| there.then_some(input)).collect()
}

/// A mask is a mask and operators are operators, however many.
fn plain(input: Input) -> Input {
    match input {
        Input::OptionalMask => Input::Mask,
        Input::Operators => Input::Operator,
        other => other,
    }
}

fn without(mut inputs: Inputs<f64>, missing: Input) -> Inputs<f64> {
    match missing {
        Input::Layout => inputs.layout = None,
        Input::Matrix => inputs.matrix = None,
        Input::Target => inputs.target = None,
        Input::Mask | Input::OptionalMask => inputs.mask = None,
        Input::Blocks => inputs.blocks.clear(),
        Input::Operator | Input::Operators => inputs.operators.clear(),
    }
    inputs
}

fn check<T>(
    entry: &Entry,
    declared: &[Input],
    examples: impl Fn() -> Vec<Example<f64>>,
    build: impl Fn(&Arguments, Inputs<f64>) -> Result<T, Error>,
) {
    for example in examples() {
        for input in brought(&example.inputs) {
            assert!(declared.iter().any(|&known| plain(known) == input), "{}: {input:?} is not declared", entry.name);
        }
    }
    for &missing in declared {
        for example in examples() {
            let arguments = Arguments::new(entry, example.given).unwrap();
            let built = build(&arguments, without(example.inputs, missing));
            assert_eq!(built.is_ok(), missing == Input::OptionalMask, "{} without {missing:?}", entry.name);
        }
    }
}

#[test]
fn rows_declare_what_they_are_built_from() {
    for row in losses::<f64>() {
        check(&row.entry, row.inputs, || (row.examples)(1), |a, inputs| (row.build)(a, inputs).map(drop));
    }
    for row in operators::<f64>() {
        check(&row.entry, row.inputs, || (row.examples)(1), |a, inputs| (row.build)(a, inputs).map(drop));
    }
}
