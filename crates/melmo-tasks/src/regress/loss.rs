use std::fmt;
use std::str::FromStr;

use melmo::operator::LinOp;
use melmo::real::Real;
use melmo::smooth::{HuberRegression, LeastSquares, Logistic, Smooth};
use melmo::statistics::median;

use crate::error::Error;
use crate::{magnitude, number};

/// ℓ(y, t) for the prediction t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// ½(y − t)².
    Squares,
    /// ½r² for |r| = |y − t| ≤ δ, else δ|r| − δ²/2; δ from the data when there is none.
    Huber(Option<f64>),
    /// log(1 + exp(−yt)) for classes y = ±1, given as two numbers.
    Logistic,
}

impl FromStr for Loss {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':').unwrap_or((text, "")) {
            ("squares", "") => Ok(Self::Squares),
            ("logistic", "") => Ok(Self::Logistic),
            ("huber", "") => Ok(Self::Huber(None)),
            ("huber", delta) if delta.starts_with("delta=") => {
                let delta = number::parse(&delta["delta=".len()..])?;
                Ok(Self::Huber(Some(melmo::error::Error::expect_positive("delta", delta)?)))
            }
            _ => Err(Error::input("a loss", format!("`{text}`"), "squares, logistic, huber or huber:delta=1.5")),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Squares => write!(f, "squares"),
            Self::Logistic => write!(f, "logistic"),
            Self::Huber(None) => write!(f, "huber"),
            Self::Huber(Some(delta)) => write!(f, "huber:delta={delta}"),
        }
    }
}

impl Loss {
    /// The same with δ chosen: 1.345 robust standard deviations of y (95 % efficiency for normal residuals, Huber 1981).
    pub fn settled(self, y: &[f64]) -> Self {
        let Self::Huber(None) = self else { return self };
        let middle = median(y);
        let spread = 1.4826 * median(&y.iter().map(|y| (y - middle).abs()).collect::<Vec<_>>());
        Self::Huber(Some(if spread > 0.0 { 1.345 * spread } else { 1.0 }))
    }

    /// y as the loss takes it; for classes ±1, with what stood for −1 and 1.
    pub fn target(self, y: &[f64]) -> Result<(Vec<f64>, Option<[f64; 2]>), Error> {
        if let Some(at) = y.iter().position(|y| !y.is_finite()) {
            return Err(Error::input("y", format!("{} in row {}", y[at], at + 1), "a number in every row"));
        }
        if self != Self::Logistic {
            return Ok((y.to_vec(), None));
        }
        let low = y.iter().copied().fold(f64::INFINITY, f64::min);
        let high = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let other = y.iter().position(|&y| y != low && y != high);
        match other {
            None if low < high => {
                Ok((y.iter().map(|&y| if y == high { 1.0 } else { -1.0 }).collect(), Some([low, high])))
            }
            None => Err(Error::input("y", format!("one class, {low}"), "two classes for logistic regression")),
            Some(at) => {
                let found = format!("{low}, {high} and, in row {}, {}", at + 1, y[at]);
                Err(Error::input("y", found, "two classes for logistic regression, such as 0 and 1"))
            }
        }
    }

    /// Σᵢ ℓ(yᵢ, (Ax)ᵢ).
    pub fn build<S: Real>(self, a: Box<dyn LinOp<S>>, y: Vec<S>) -> Result<Box<dyn Smooth<S>>, Error> {
        magnitude::check::<S>("y", magnitude::largest(y.iter().map(|y| y.f64())))?;
        Ok(match self {
            Self::Squares => Box::new(LeastSquares::new(a, y)?),
            Self::Logistic => Box::new(Logistic::new(a, y)?),
            Self::Huber(delta) => Box::new(HuberRegression::new(a, y, delta.unwrap_or(1.0))?),
        })
    }

    /// The mean of ℓ(yᵢ, tᵢ); for squares the mean squared error itself.
    pub fn mean(self, y: &[f64], t: &[f64]) -> f64 {
        let one = |(&y, &t): (&f64, &f64)| match self {
            Self::Squares => (y - t).powi(2),
            Self::Logistic => {
                let margin = y * t;
                (-margin.abs()).exp().ln_1p() + (-margin).max(0.0)
            }
            Self::Huber(delta) => {
                let (r, delta) = ((y - t).abs(), delta.unwrap_or(1.0));
                if r <= delta { 0.5 * r * r } else { delta * (r - 0.5 * delta) }
            }
        };
        y.iter().zip(t).map(one).sum::<f64>() / y.len() as f64
    }

    /// What `mean` is called.
    pub fn measure(self) -> &'static str {
        match self {
            Self::Squares => "mean squared error",
            Self::Logistic => "mean log-loss",
            Self::Huber(_) => "mean Huber loss",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_come_back_as_they_were_written() {
        for text in ["squares", "logistic", "huber", "huber:delta=1.5"] {
            assert_eq!(text.parse::<Loss>().unwrap().to_string(), text);
        }
        for text in ["square", "huber:d=1", "huber:delta=-1", "logistic:1"] {
            assert!(text.parse::<Loss>().is_err(), "{text}");
        }
    }

    #[test]
    fn classes_may_be_any_two_numbers() {
        let (y, classes) = Loss::Logistic.target(&[2.0, 5.0, 2.0]).unwrap();
        assert_eq!((y, classes), (vec![-1.0, 1.0, -1.0], Some([2.0, 5.0])));
        assert!(Loss::Logistic.target(&[1.0, 1.0]).is_err());
        assert!(Loss::Logistic.target(&[0.0, 1.0, 2.0]).unwrap_err().to_string().contains("row 2"));
        assert!(Loss::Squares.target(&[0.0, f64::NAN]).unwrap_err().to_string().contains("row 2"));
    }

    #[test]
    fn means() {
        assert_eq!(Loss::Squares.mean(&[1.0, 3.0], &[0.0, 1.0]), 2.5);
        assert_eq!(Loss::Huber(Some(1.0)).mean(&[0.5, 3.0], &[0.0, 0.0]), (0.125 + 2.5) / 2.0);
        assert!((Loss::Logistic.mean(&[1.0], &[0.0]) - 2f64.ln()).abs() < 1e-15);
        assert_eq!(Loss::Huber(None).settled(&[1.0, 2.0, 3.0, 4.0, 100.0]), Loss::Huber(Some(1.345 * 1.4826)));
    }
}
