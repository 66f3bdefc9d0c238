//! Operators of instruments and pictures, with examples made from a seed.

use crate::block::Layout;
use crate::catalogue::operators::{boxed, example, image, matrix};
use crate::catalogue::{Entry, Example, Input, Inputs, OperatorRow, Parameter, Value};
use crate::operator::{Blur, Downsample, Frequencies, Radon, Wavelet};
use crate::real::Real;
use crate::seeded::Seeded;

const FAN: &[(&str, Value)] = &[("distance", Value::Number(11.0)), ("detectors", Value::Number(9.0))];

fn of_image<S>(rows: usize, cols: usize, rest: Inputs<S>) -> Inputs<S> {
    Inputs { layout: Layout::matrix(rows, cols).ok(), ..rest }
}

fn at<S: Real>(degrees: &[f64]) -> Inputs<S> {
    Inputs { matrix: Some((degrees.iter().map(|&d| S::of(d)).collect(), 1, degrees.len())), ..Inputs::default() }
}

/// What scanners, lenses and sensors do to an image.
pub(super) fn rows<S: Real>() -> Vec<OperatorRow<S>> {
    vec![
        OperatorRow {
            entry: Entry {
                name: "blur",
                formula: "Tx = k ∗ x where the kernel lies inside the image",
                about: "convolution by Fourier transforms, a smaller image out; ‖T‖ ≤ max|k̂|",
                parameters: &[],
            },
            inputs: &[Input::Layout, Input::Matrix],
            build: |_, mut inputs| {
                let (kernel, rows, cols) = inputs.take_matrix()?;
                boxed(Blur::new(image(&inputs.take_layout()?)?, &kernel, (rows, cols)))
            },
            examples: |seed| {
                vec![
                    example("an odd kernel", of_image(7, 8, matrix(seed, 3, 5))),
                    example("as large as the image", of_image(4, 3, matrix(seed, 4, 3))),
                ]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "radon",
                formula: "(Tx)_{θj} = ∫ x along ray j at angle θ",
                about: "tomography, a row for each angle (degrees, as in scikit-image); ‖T‖² ≤ max T1·max T*1",
                parameters: const {
                    &[
                        Parameter::unset(
                            "detectors",
                            "a pixel apart; as many as the image's diagonal is long unless given",
                        ),
                        Parameter::unset(
                            "distance",
                            "of a point source from the centre, in pixels; parallel rays unless given",
                        ),
                    ]
                },
            },
            inputs: &[Input::Layout, Input::Matrix],
            build: |a, mut inputs| {
                let (degrees, _, _) = inputs.take_matrix()?;
                let degrees: Vec<f64> = degrees.iter().map(|d| d.f64()).collect();
                let (rows, cols) = image(&inputs.take_layout()?)?;
                let diagonal = (rows as f64).hypot(cols as f64).ceil();
                let detectors = a.given("detectors").unwrap_or(diagonal);
                let whole = detectors >= 1.0 && detectors.fract() == 0.0 && detectors < 1e9;
                crate::error::Error::expect_parameter("detectors", detectors, whole, "a whole number, at least 1")?;
                boxed(Radon::new((rows, cols), &degrees, detectors as usize, a.given("distance")))
            },
            examples: |_| {
                let degrees = [0.0, 36.0, 72.0, 108.0, 144.0];
                vec![
                    example("parallel rays", of_image(6, 5, at(&degrees))),
                    Example { about: "a fan of rays", given: FAN, inputs: of_image(6, 6, at(&degrees)) },
                ]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "frequencies",
                formula: "(Tx)_k = (Re x̂_k, Im x̂_k) at the measured k",
                about: "samples of the unitary Fourier transform of an image, as pairs; ‖T‖ ≤ 1",
                parameters: &[],
            },
            inputs: &[Input::Layout, Input::Mask],
            build: |_, mut inputs| {
                let mask = inputs.take_mask()?;
                boxed(Frequencies::new(image(&inputs.take_layout()?)?, &mask))
            },
            examples: |seed| {
                let inputs = Inputs { mask: Some(Seeded::new(seed).mask(30, 0.5)), ..Inputs::default() };
                vec![example("half of them", of_image(5, 6, inputs))]
            },
        },
        OperatorRow {
            entry: Entry {
                name: "downsample",
                formula: "(Tx)ᵢⱼ = the mean of s×s pixels",
                about: "a smaller picture; surjective, ‖T‖ = σ_min = 1/s",
                parameters: const { &[Parameter::whole("factor", 2, 1, "s, which divides rows and columns")] },
            },
            inputs: &[Input::Layout],
            build: |a, mut inputs| {
                let (rows, cols) = image(&inputs.take_layout()?)?;
                boxed(Downsample::new(rows, cols, a.whole("factor") as usize))
            },
            examples: |_| vec![example("half as large", of_image(6, 4, Inputs::default()))],
        },
        OperatorRow {
            entry: Entry {
                name: "wavelet",
                formula: "Tx = coefficients in an orthonormal wavelet basis",
                about: "Daubechies' wavelets, cyclic; T*T = TT* = I",
                parameters: const {
                    &[
                        Parameter::word("family", &Wavelet::NAMES, "which wavelets"),
                        Parameter::whole("levels", 1, 1, "2^levels divides rows and columns"),
                    ]
                },
            },
            inputs: &[Input::Layout],
            build: |a, mut inputs| {
                let shape = image(&inputs.take_layout()?)?;
                boxed(Wavelet::new(shape, a.word("family"), a.whole("levels") as usize))
            },
            examples: |_| {
                let smooth = const { &[("family", Value::Number(1.0)), ("levels", Value::Number(2.0))] };
                vec![
                    example("Haar's", of_image(4, 6, Inputs::default())),
                    Example { about: "db2, two levels", given: smooth, inputs: of_image(8, 8, Inputs::default()) },
                ]
            },
        },
    ]
}
