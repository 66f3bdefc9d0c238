//! Losses, with examples made from a seed: a loss carries data.

use crate::block::Layout;
use crate::catalogue::{Arguments, Entry, Example, Input, Inputs, Parameter, Value};
use crate::error::Error;
use crate::operator::Dense;
use crate::real::Real;
use crate::seeded::Seeded;
use crate::smooth::{
    Cox, Factorization, HuberRegression, LeastSquares, Logistic, MaskedLeastSquares, Multinomial, Poisson, Quantile,
    RobustPca, Smooth,
};

/// Builds a loss from its data.
pub type BuildLoss<S> = fn(&Arguments, Inputs<S>) -> Result<Box<dyn Smooth<S>>, Error>;

/// One loss.
pub struct LossRow<S> {
    /// Its text.
    pub entry: Entry,
    /// The data it is built from.
    pub inputs: &'static [Input],
    /// Builds it from its data.
    pub build: BuildLoss<S>,
    /// Small instances.
    pub examples: fn(u64) -> Vec<Example<S>>,
}

impl<S> AsRef<Entry> for LossRow<S> {
    fn as_ref(&self) -> &Entry {
        &self.entry
    }
}

/// A 7×4 design and seven targets.
fn regression<S: Real>(seed: u64, target: impl Fn(f64) -> f64) -> Vec<Example<S>> {
    let mut seeded = Seeded::new(seed);
    let design = Dense::new(seeded.normals::<S>(28), 7, 4);
    let target = (0..7).map(|_| S::of(target(seeded.normal()))).collect();
    let operators = design.into_iter().map(|a| Box::new(a) as _).collect();
    vec![Example {
        about: "a dense design",
        given: &[],
        inputs: Inputs { operators, target: Some(target), ..Inputs::default() },
    }]
}

/// A 5×6 matrix, with all its entries and with a mask.
fn matrix<S: Real>(seed: u64) -> [Inputs<S>; 2] {
    let inputs = |masked: bool| {
        let mut seeded = Seeded::new(seed);
        let data = seeded.normals(30);
        Inputs { matrix: Some((data, 5, 6)), mask: masked.then(|| seeded.mask(30, 0.6)), ..Inputs::default() }
    };
    [inputs(false), inputs(true)]
}

/// Every loss.
pub(super) fn rows<S: Real>() -> Vec<LossRow<S>> {
    vec![
        LossRow {
            entry: Entry {
                name: "least-squares",
                formula: "½‖Ax − b‖²",
                about: "A any operator; L_f = ‖A‖²",
                parameters: &[],
            },
            inputs: &[Input::Operator, Input::Target],
            build: |_, mut inputs| Ok(Box::new(LeastSquares::new(inputs.take_operator()?, inputs.take_target()?)?)),
            examples: |seed| regression(seed, |normal| normal),
        },
        LossRow {
            entry: Entry {
                name: "masked",
                formula: "½‖M⊙(X − Y)‖²",
                about: "denoising (no mask) and recovery of masked entries; L_f = 1",
                parameters: &[],
            },
            inputs: &[Input::Matrix, Input::OptionalMask],
            build: |_, mut inputs| {
                let (y, rows, cols) = inputs.take_matrix()?;
                Ok(Box::new(MaskedLeastSquares::new(Layout::matrix(rows, cols)?, y, inputs.mask)?))
            },
            examples: |seed| {
                let [full, masked] = matrix(seed);
                vec![
                    Example { about: "all entries", given: &[], inputs: full },
                    Example { about: "a mask", given: &[], inputs: masked },
                ]
            },
        },
        LossRow {
            entry: Entry {
                name: "factorization",
                formula: "c‖M⊙(Y − WH)‖² + ν/2·‖H‖²",
                about: "blocks W (m×r) and H (r×n); no global L_f",
                parameters: const {
                    &[
                        Parameter::whole("rank", 2, 1, "r ≥ 1"),
                        Parameter::new("c", 1.0, "coefficient c > 0"),
                        Parameter::new("ridge", 0.0, "ν ≥ 0"),
                    ]
                },
            },
            inputs: &[Input::Matrix, Input::OptionalMask],
            build: |a, mut inputs| {
                let (y, rows, cols) = inputs.take_matrix()?;
                let rank = a.given("rank").unwrap_or(0.0);
                Error::expect_parameter("rank", rank, rank < 1e9, "below 10⁹")?;
                let loss = match inputs.mask {
                    Some(mask) => Factorization::masked(y, mask, rows, cols, rank as usize)?,
                    None => Factorization::new(y, rows, cols, rank as usize)?,
                };
                Ok(Box::new(loss.coefficient(a.number("c"))?.ridge(a.number("ridge"))?))
            },
            examples: |seed| {
                let [full, masked] = matrix(seed);
                vec![
                    Example {
                        about: "all entries, c = ½",
                        given: &[("c", Value::Number(0.5)), ("rank", Value::Number(3.0))],
                        inputs: full,
                    },
                    Example { about: "a mask and a ridge", given: &[("ridge", Value::Number(0.7))], inputs: masked },
                ]
            },
        },
        LossRow {
            entry: Entry {
                name: "robust-pca",
                formula: "½‖M⊙(Y − L − S)‖²",
                about: "blocks L and S; L_f = 2",
                parameters: &[],
            },
            inputs: &[Input::Matrix, Input::OptionalMask],
            build: |_, mut inputs| {
                let (y, rows, cols) = inputs.take_matrix()?;
                Ok(Box::new(RobustPca::new(y, rows, cols, inputs.mask)?))
            },
            examples: |seed| {
                let [full, masked] = matrix(seed);
                vec![
                    Example { about: "all entries", given: &[], inputs: full },
                    Example { about: "a mask", given: &[], inputs: masked },
                ]
            },
        },
        LossRow {
            entry: Entry {
                name: "logistic",
                formula: "Σ log(1 + exp(−bᵢ(Ax)ᵢ))",
                about: "labels bᵢ = ±1 (or 0/1); L_f = ‖A‖²/4",
                parameters: &[],
            },
            inputs: &[Input::Operator, Input::Target],
            build: |_, mut inputs| Ok(Box::new(Logistic::new(inputs.take_operator()?, inputs.take_target()?)?)),
            examples: |seed| regression(seed, f64::signum),
        },
        LossRow {
            entry: Entry {
                name: "huber",
                formula: "Σ h_δ((Ax − b)ᵢ), h_δ(r) = r²/2 if |r| ≤ δ, else δ|r| − δ²/2",
                about: "regression that outliers do not bend; L_f = ‖A‖²",
                parameters: const { &[Parameter::new("delta", 1.35, "where it becomes linear, δ > 0")] },
            },
            inputs: &[Input::Operator, Input::Target],
            build: |a, mut inputs| {
                let (operator, target) = (inputs.take_operator()?, inputs.take_target()?);
                Ok(Box::new(HuberRegression::new(operator, target, a.number("delta"))?))
            },
            examples: |seed| regression(seed, |normal| 3.0 * normal),
        },
        LossRow {
            entry: Entry {
                name: "poisson",
                formula: "Σ exp((Ax)ᵢ) − bᵢ(Ax)ᵢ − bᵢ + bᵢ·log bᵢ",
                about: "counts bᵢ ≥ 0 whose means are exp(Ax); half the deviance; no L_f",
                parameters: &[],
            },
            inputs: &[Input::Operator, Input::Target],
            build: |_, mut inputs| Ok(Box::new(Poisson::new(inputs.take_operator()?, inputs.take_target()?)?)),
            examples: |seed| regression(seed, |normal| (3.0 * normal.abs()).floor()),
        },
        LossRow {
            entry: Entry {
                name: "quantile",
                formula: "Σ q_s((Ax − b)ᵢ), q_s′(u) = u/s, at least −τ and at most 1 − τ",
                about: "quantile regression at the level τ, smoothed over a width s; L_f = ‖A‖²/s",
                parameters: const {
                    &[
                        Parameter::new("level", 0.5, "τ, between 0 and 1"),
                        Parameter::new("width", 0.1, "where it is smooth, s > 0"),
                    ]
                },
            },
            inputs: &[Input::Operator, Input::Target],
            build: |a, mut inputs| {
                let (operator, target) = (inputs.take_operator()?, inputs.take_target()?);
                Ok(Box::new(Quantile::new(operator, target, a.number("level"), a.number("width"))?))
            },
            examples: |seed| regression(seed, |normal| 3.0 * normal),
        },
        LossRow {
            entry: Entry {
                name: "multinomial",
                formula: "Σ log Σ_k exp((AX)_ik) − (AX)_ib for the class b of row i",
                about: "several classes b = 0, 1, …; X has a column a class; L_f = ‖A‖²/2",
                parameters: const { &[Parameter::whole("classes", 3, 2, "how many classes, 2 at least")] },
            },
            inputs: &[Input::Operator, Input::Target],
            build: |a, mut inputs| {
                let (operator, target) = (inputs.take_operator()?, inputs.take_target()?);
                let classes = a.number("classes");
                Error::expect_parameter("classes", classes, classes < 1e6, "below 10⁶")?;
                Ok(Box::new(Multinomial::new(operator, target, classes as usize)?))
            },
            examples: |seed| regression(seed, |normal| if normal < -0.4 { 0.0 } else { f64::from(normal > 0.4) + 1.0 }),
        },
        LossRow {
            entry: Entry {
                name: "cox",
                formula: "Σ log Σ_{tⱼ ≥ tᵢ} exp((Ax)ⱼ) − (Ax)ᵢ over rows i with an event at tᵢ",
                about: "times bᵢ = tᵢ until an event, bᵢ = −tᵢ where it was not seen until tᵢ; Breslow's ties; L_f = ‖A‖²/2 an event",
                parameters: &[],
            },
            inputs: &[Input::Operator, Input::Target],
            build: |_, mut inputs| Ok(Box::new(Cox::signed(inputs.take_operator()?, inputs.take_target()?)?)),
            examples: |seed| regression(seed, |normal| (1.0 + (4.0 * normal.abs()).floor()) * normal.signum()),
        },
    ]
}
