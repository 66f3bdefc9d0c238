/// What a penalty is, as data, for those who evaluate it elsewhere: a device needs formulas, not methods.
#[non_exhaustive]
pub enum Form<'a, S> {
    /// Nothing that anybody knows of.
    General,
    /// Σᵢ wᵢφ(uᵢ).
    Entries {
        /// φ.
        phi: Phi,
        /// w; all ones when there is none.
        weights: Option<&'a [S]>,
    },
    /// Σᵢ wᵢφ(‖uᵢ‖₂), uᵢ the same entry of every block.
    Pixels {
        /// φ.
        phi: Phi,
        /// w; all ones when there is none.
        weights: Option<&'a [S]>,
    },
}

/// A penalty of one number: a formula, on all numbers or on those that are not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phi {
    /// The formula.
    pub shape: Shape,
    /// ∞ below 0.
    pub nonnegative: bool,
}

impl From<Shape> for Phi {
    fn from(shape: Shape) -> Self {
        Self { shape, nonnegative: false }
    }
}

/// The formula of a penalty, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// λ|x|.
    L1 {
        /// λ.
        lambda: f64,
    },
    /// λ|x| − x²/(2μ) up to μλ, constant from there.
    Mcp {
        /// λ.
        lambda: f64,
        /// μ.
        mu: f64,
    },
    /// λ|x| up to λ, bent down to aλ, constant from there.
    Scad {
        /// λ.
        lambda: f64,
        /// a.
        a: f64,
    },
    /// λx²/(2δ) up to δ, linear from there.
    Huber {
        /// λ.
        lambda: f64,
        /// δ.
        delta: f64,
    },
    /// λ·log(1 + |x|/θ).
    LogSum {
        /// λ.
        lambda: f64,
        /// θ.
        theta: f64,
    },
    /// λ|x| + νx²/2.
    ElasticNet {
        /// λ.
        lambda: f64,
        /// ν.
        nu: f64,
    },
    /// νx²/2.
    Ridge {
        /// ν.
        nu: f64,
    },
    /// 0 in an interval, ∞ outside.
    Interval {
        /// Its lower end; −∞ where there is none.
        lower: f64,
        /// Its upper end; ∞ where there is none.
        upper: f64,
    },
}
