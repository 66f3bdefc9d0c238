//! One run as data: what is minimised, what is reported, by which method, from where. Two runs with equal data give equal
//! numbers, so a finished one need not be run again.

use melmo::geometry::Norm;
use serde::{Deserialize, Serialize};

use crate::data::Set;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// The part of the paper it belongs to.
    pub experiment: Experiment,
    /// The method's name there.
    pub label: String,
    /// The data.
    pub set: Set,
    /// SHA-256 of the data's numbers.
    pub digest: String,
    /// Which repetition.
    pub seed: u64,
    /// What the steps go down on.
    pub minimised: Objective,
    /// Whose values are reported: the same unless the published numbers ask for another.
    pub reported: Objective,
    /// How it is solved.
    pub method: Method,
    /// Where it starts.
    pub start: Start,
    /// How many steps.
    pub iterations: u64,
}

/// The parts of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// Table 1 and the reconstruction table.
    Factorisation,
    /// The same objective with +ν/2‖H‖², which has a minimiser.
    Twin,
    /// Newton–Schulz with 6 and 2 steps against the exact oracle.
    Oracle,
    /// Total variation denoising: geometries and baselines.
    Denoising,
    /// Regular against epoch-wise.
    Epochs,
    /// Table 2 and the five metric families.
    Recovery,
    /// The stated recovery problem from a standard normal start.
    RecoveryFromNormal,
    /// Measured slopes against guaranteed exponents.
    Rates,
}

impl Experiment {
    /// A word for file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Factorisation => "factorisation",
            Self::Twin => "twin",
            Self::Oracle => "oracle",
            Self::Denoising => "denoising",
            Self::Epochs => "epochs",
            Self::Recovery => "recovery",
            Self::RecoveryFromNormal => "recovery-from-normal",
            Self::Rates => "rates",
        }
    }
}

/// A function of the variable: a loss and MCP_{μ,λ} of something.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// c‖Y − WH‖² + Σ MCP(W) + ν/2‖H‖².
    Factors {
        /// Columns of W.
        rank: usize,
        /// c.
        coefficient: f64,
        /// ν.
        ridge: f64,
        /// The penalty.
        mcp: Mcp,
    },
    /// c‖X − Y‖² + Σ MCP of the forward differences, Y with Gaussian noise added.
    Image {
        /// The noise's standard deviation; kept results have it as `sigma`.
        #[serde(rename = "sigma")]
        noise: f64,
        /// c.
        coefficient: f64,
        /// The penalty.
        mcp: Mcp,
    },
    /// c‖M⊙(X − Y)‖² + Σ MCP(X), with ⌊ωmn⌋ entries observed.
    Entries {
        /// ω.
        fraction: f64,
        /// c.
        coefficient: f64,
        /// The penalty.
        mcp: Mcp,
    },
}

/// λ and μ of the penalty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mcp {
    /// μ.
    pub mu: f64,
    /// λ.
    pub lambda: f64,
}

/// A method with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// MELMO with a power schedule.
    Power {
        /// The norm, of every block.
        norm: Norm,
        /// How spectral directions are found, as users type it.
        oracle: String,
        /// p.
        p: f64,
        /// q.
        q: f64,
        /// γ.
        gamma: f64,
        /// β.
        beta: f64,
    },
    /// MELMO for a number of steps known in advance: the instance's own.
    Horizon {
        /// The norm.
        norm: Norm,
        /// γ.
        gamma: f64,
        /// β.
        beta: f64,
    },
    /// Epoch-wise MELMO with a power schedule.
    EpochPower {
        /// The norm.
        norm: Norm,
        /// γ.
        gamma: f64,
        /// β.
        beta: f64,
    },
    /// Epoch-wise MELMO, constant within epochs.
    EpochConstant {
        /// The norm.
        norm: Norm,
        /// How spectral directions are found.
        oracle: String,
        /// γ.
        gamma: f64,
        /// β.
        beta: f64,
        /// Each epoch starts from the best point; otherwise it goes on.
        restart: bool,
    },
    /// Variable smoothing.
    Smoothing {
        /// β.
        beta: f64,
        /// L.
        lipschitz: f64,
        /// ‖T‖².
        operator_squared: f64,
        /// Along normalised blocks.
        normalized: bool,
    },
    /// The subgradient method.
    Subgradient {
        /// Its step.
        step: f64,
    },
}

/// Where a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Independent normal numbers.
    Normal {
        /// Their standard deviation.
        scale: f64,
        /// Their seed.
        seed: u64,
    },
    /// X = 0.
    Zero,
    /// X = Y.
    Data,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether every number stayed finite.
    pub finite: bool,
    /// Recorded points, about eight to each doubling of k, and the last.
    pub points: Vec<Point>,
    /// Time in the solver.
    pub seconds: f64,
    /// (ε, k): the first candidate with dual norm and gap at most ε, for epochs.
    pub certificates: Vec<(f64, u64)>,
    /// The best point of each epoch, for epochs.
    pub epochs: Vec<Epoch>,
    /// The end point of an image, as grey samples in hexadecimal.
    pub image: Option<String>,
}

/// The best point of an epoch: what the theorems of epoch-wise methods are about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Which: l.
    pub l: u32,
    /// S_l, an upper bound on the dual norm there.
    pub least: f64,
    /// The proximal gap there.
    pub gap: f64,
}

/// A recorded point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Which: x_k.
    pub k: u64,
    /// Time in the solver so far.
    pub seconds: f64,
    /// The reported objective.
    pub objective: f64,
    /// ‖∇F_β(x_k)‖_*.
    pub dual_norm: f64,
    /// The least upper bound on it so far.
    pub least: f64,
    /// ‖Tx_k − z_k‖₂.
    pub gap: f64,
    /// What the experiment measures besides: see the heads of the traces.
    pub extra: Vec<f64>,
}

impl Outcome {
    /// The reported objective at the end; ∞ for a run that diverged.
    pub fn last(&self) -> f64 {
        self.end(|point| point.objective)
    }

    /// A number of the last point; ∞ for a run that diverged.
    pub fn end(&self, of: impl Fn(&Point) -> f64) -> f64 {
        self.points.last().filter(|_| self.finite).map_or(f64::INFINITY, of)
    }
}
