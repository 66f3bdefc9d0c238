use std::fmt;
use std::str::FromStr;

use melmo::real::Real;
use melmo::smooth::{Link, Responses};
use melmo::statistics::median;
use melmo::suggest::nearest;

use crate::call::{self, Call};
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
    /// log Σ_k exp(t_k) − t_y for so many classes y = 0, 1, ….
    Multinomial(usize),
    /// Half the deviance of a count y whose mean is exp(t).
    Poisson,
    /// The pinball loss, τ(y − t) or (1 − τ)(t − y), whichever is above 0; smoothed over a width, from the data when there is none.
    Quantile(f64, Option<f64>),
    /// Minus the logarithm of Cox's partial likelihood, for times y until an event, or −y where none was seen until then.
    Cox,
}

/// A loss, y as it takes it, and for classes the numbers that stood for them.
pub type Target = (Loss, Vec<f64>, Option<Vec<f64>>);

/// What people may write.
const NAMES: &str = "squares, logistic, poisson, huber, huber:delta=1.5, quantile, quantile:level=0.9, quantile:level=0.9,width=0.1 or cox";

impl FromStr for Loss {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            let names = ["squares", "logistic", "poisson", "huber", "quantile", "cox"];
            let meant = nearest(text.split(":").next().unwrap_or(text), names)
                .map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
            Error::input("a loss", format!("`{text}`{meant}"), NAMES)
        };
        let Call { name, parameters } =
            Call::parse(text, "a loss's parameter", "huber:delta=1.5").map_err(|_| wrong())?;
        let allowed: &[&str] = match name {
            "huber" => &["delta"],
            "quantile" => &["level", "width"],
            "multinomial" => &["classes"],
            "squares" | "logistic" | "poisson" | "cox" => &[],
            _ => return Err(wrong()),
        };
        if parameters.iter().any(|(key, _)| !allowed.contains(key)) {
            return Err(wrong());
        }
        let given = |key: &str| parameters.iter().find(|(known, _)| *known == key).map(|(_, text)| number::parse(text));
        let positive = |name: &'static str| {
            let value = given(name).transpose()?;
            value.map(|value| melmo::error::Error::expect_positive(name, value)).transpose().map_err(Error::from)
        };
        Ok(match name {
            "squares" => Self::Squares,
            "logistic" => Self::Logistic,
            "poisson" => Self::Poisson,
            "cox" => Self::Cox,
            "huber" => Self::Huber(positive("delta")?),
            "quantile" => {
                let level = given("level").unwrap_or(Ok(0.5))?;
                melmo::error::Error::expect_parameter("level", level, 0.0 < level && level < 1.0, "between 0 and 1")?;
                Self::Quantile(level, positive("width")?)
            }
            _ => match given("classes").ok_or_else(wrong)?? {
                classes if classes >= 2.0 && classes.fract() == 0.0 && classes < 1e6 => {
                    Self::Multinomial(classes as usize)
                }
                _ => return Err(wrong()),
            },
        })
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, given): (&str, Vec<(&str, f64)>) = match *self {
            Self::Squares => ("squares", vec![]),
            Self::Logistic => ("logistic", vec![]),
            Self::Multinomial(classes) => ("multinomial", vec![("classes", classes as f64)]),
            Self::Poisson => ("poisson", vec![]),
            Self::Cox => ("cox", vec![]),
            Self::Huber(delta) => ("huber", delta.map(|delta| ("delta", delta)).into_iter().collect()),
            Self::Quantile(level, width) => {
                ("quantile", [("level", level)].into_iter().chain(width.map(|width| ("width", width))).collect())
            }
        };
        let given: Vec<(String, f64)> = given.into_iter().map(|(key, value)| (key.into(), value)).collect();
        call::write(f, name, &given)
    }
}

/// 1.4826 times the median distance from the median: the standard deviation of normal numbers; 1 where that is 0.
fn spread(y: &[f64]) -> f64 {
    let middle = median(y);
    let spread = 1.4826 * median(&y.iter().map(|y| (y - middle).abs()).collect::<Vec<_>>());
    if spread > 0.0 { spread } else { 1.0 }
}

impl Loss {
    /// The same with what is taken from y: δ = 1.345 robust standard deviations (95 % efficiency for normal residuals, Huber 1981; 1 where
    /// y has none), a width of 0.02 of them.
    pub fn settled(self, y: &[f64]) -> Self {
        match self {
            Self::Huber(None) => {
                let spread = spread(y);
                Self::Huber(Some(if spread == 1.0 { 1.0 } else { 1.345 * spread }))
            }
            Self::Quantile(level, None) => Self::Quantile(level, Some(0.02 * spread(y))),
            other => other,
        }
    }

    /// y is a class.
    pub fn is_of_classes(self) -> bool {
        matches!(self, Self::Logistic | Self::Multinomial(_))
    }

    /// Numbers that are predicted for a row: one, or one a class.
    pub fn outputs(self) -> usize {
        if let Self::Multinomial(classes) = self { classes } else { 1 }
    }

    /// Refuses several targets of classes and of times.
    pub(super) fn check_targets(self, targets: usize) -> Result<(), Error> {
        match targets > 1 && (self.is_of_classes() || self == Self::Cox) {
            true => Err(Error::input("y", format!("{targets} targets with the loss {self}"), "one target")),
            false => Ok(()),
        }
    }

    /// y as the loss takes it; for classes, with the numbers that stood for them, from the least upwards. More than two make a logistic
    /// loss a multinomial one.
    pub fn target(self, y: &[f64]) -> Result<Target, Error> {
        if let Some(at) = y.iter().position(|y| !y.is_finite()) {
            return Err(Error::input("y", format!("{} in row {}", y[at], at + 1), "a number in every row"));
        }
        let wrong = |at: usize, expected: &str| Error::input("y", format!("{} in row {}", y[at], at + 1), expected);
        match self {
            Self::Poisson => match y.iter().position(|&y| y < 0.0) {
                Some(at) => Err(wrong(at, "counts, 0 or more, for a Poisson loss")),
                // The best mean would be exp(−∞).
                None if y.iter().all(|&y| y == 0.0) => {
                    Err(Error::input("y", "counts that are all 0", "a count above 0 in at least one row"))
                }
                None => Ok((self, y.to_vec(), None)),
            },
            Self::Cox => match y.iter().position(|&y| y == 0.0) {
                Some(at) => Err(wrong(at, "times above 0, with a minus where no event was seen")),
                None if y.iter().all(|&y| y < 0.0) => {
                    Err(Error::input("y", "no event at all", "a time without a minus in at least one row"))
                }
                None => Ok((self, y.to_vec(), None)),
            },
            Self::Logistic | Self::Multinomial(_) => self.classes(y),
            _ => Ok((self, y.to_vec(), None)),
        }
    }

    /// The same of some rows, where `seen` has what stands in all of them: every class once, of numbers the least and the largest.
    pub fn target_among(self, y: &[f64], seen: &[f64]) -> Result<Target, Error> {
        let (loss, mut own, classes) = self.target(&[y, seen].concat())?;
        own.truncate(y.len());
        Ok((loss, own, classes))
    }

    /// What of some rows others have to see: see [`Loss::target_among`].
    pub fn seen(self, y: &[f64]) -> Vec<f64> {
        let mut seen = y.to_vec();
        seen.sort_by(f64::total_cmp);
        seen.dedup();
        if seen.len() > 2 && (!self.is_of_classes() || seen.len() > MOST) {
            let last = seen[seen.len() - 1];
            seen.truncate(if self.is_of_classes() { MOST + 1 } else { 1 });
            seen.push(last);
        }
        seen
    }

    fn classes(self, y: &[f64]) -> Result<Target, Error> {
        if let Self::Multinomial(count) = self
            && y.iter().all(|&y| y >= 0.0 && y < count as f64 && y.fract() == 0.0)
        {
            return Ok((self, y.to_vec(), Some((0..count).map(|class| class as f64).collect()))); // some may be in other rows
        }
        let mut known = y.to_vec();
        known.sort_by(f64::total_cmp);
        known.dedup();
        let code = |y: &f64| known.partition_point(|known| known < y) as f64;
        match known.len() {
            0 | 1 => {
                let found = format!("one class, {}", known.first().copied().unwrap_or(f64::NAN));
                Err(Error::input("y", found, "two classes at least for logistic regression"))
            }
            count if count > MOST => {
                let expected = format!("{MOST} classes at most: are these numbers rather than classes?");
                Err(Error::input("y", format!("{count} classes"), expected))
            }
            2 if self == Self::Logistic => Ok((self, y.iter().map(|y| 2.0 * code(y) - 1.0).collect(), Some(known))),
            count => Ok((Self::Multinomial(count), y.iter().map(code).collect(), Some(known))),
        }
    }

    /// What is known of the rows, y as [`Loss::target`] gives it; `stack` numbers a row, all rows for each.
    pub fn rows<S: Real>(self, y: &[f64], stack: usize, samples: Samples<'_>) -> Result<Responses<S>, Error> {
        magnitude::check::<S>("y", magnitude::largest(y.iter().copied()))?;
        let numbers = |values: &[f64]| values.iter().map(|&v| S::of(v)).collect::<Vec<S>>();
        let rows = match self {
            Self::Multinomial(classes) => Responses::of_classes(numbers(y), classes)?,
            Self::Cox => Responses::of_signed_times(numbers(y))?,
            Self::Squares => Responses::stacked(numbers(y), Link::Squares, stack)?,
            Self::Logistic => Responses::stacked(numbers(y), Link::Logistic, stack)?,
            Self::Poisson => Responses::stacked(numbers(y), Link::Poisson, stack)?,
            Self::Huber(delta) => Responses::stacked(numbers(y), Link::Huber(delta.unwrap_or(1.0)), stack)?,
            Self::Quantile(level, width) => {
                Responses::stacked(numbers(y), Link::Quantile { level, width: width.unwrap_or(1.0) }, stack)?
            }
        };
        let rows = match samples.weights {
            Some(weights) => rows.weighted(numbers(&Samples::normalised(weights)))?,
            None => rows,
        };
        Ok(match samples.offset {
            Some(offset) => rows.shifted(numbers(&offset.repeat(stack * self.outputs())))?,
            None => rows,
        })
    }

    /// The mean of ℓ(yᵢ, tᵢ), weighted where there are weights; for squares the mean squared error itself. t has a stretch of all rows for
    /// each output; an offset is in it.
    pub fn mean(self, y: &[f64], t: &[f64], weights: Option<&[f64]>) -> f64 {
        let samples = Samples { weights, offset: None };
        let value = self.rows::<f64>(y, 1, samples).map_or(f64::NAN, |rows| rows.slopes(&mut t.to_vec()));
        value / y.len() as f64 * if self == Self::Squares { 2.0 } else { 1.0 }
    }

    /// What `mean` is called.
    pub fn measure(self) -> &'static str {
        match self {
            Self::Squares => "mean squared error",
            Self::Logistic | Self::Multinomial(_) => "mean log-loss",
            Self::Huber(_) => "mean Huber loss",
            Self::Poisson => "mean half deviance",
            Self::Quantile(..) => "mean pinball loss",
            Self::Cox => "partial log-likelihood a row, times −1",
        }
    }

    /// What t predicts: the mean of a count, else t itself.
    pub fn response(self, t: f64) -> f64 {
        if self == Self::Poisson { t.exp() } else { t }
    }
}

/// Classes at most.
const MOST: usize = 1000;

/// What is known of the rows besides y.
#[derive(Clone, Copy, Debug, Default)]
pub struct Samples<'d> {
    /// wᵢ ≥ 0; all 1 when there are none. Their mean becomes 1, so that λ means the same.
    pub weights: Option<&'d [f64]>,
    /// What is known of every prediction already.
    pub offset: Option<&'d [f64]>,
}

impl Samples<'_> {
    /// With the mean 1; as they are where they have no sum to divide by.
    fn normalised(weights: &[f64]) -> Vec<f64> {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        weights.iter().map(|w| if mean > 0.0 && mean.is_finite() { w / mean } else { *w }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_come_back_as_they_were_written() {
        let texts = [
            "squares",
            "logistic",
            "huber",
            "huber:delta=1.5",
            "poisson",
            "cox",
            "quantile:level=0.9",
            "quantile:level=0.9,width=0.1",
            "multinomial:classes=3",
        ];
        for text in texts {
            assert_eq!(text.parse::<Loss>().unwrap().to_string(), text);
        }
        assert_eq!("quantile".parse::<Loss>().unwrap(), Loss::Quantile(0.5, None));
        let wrong =
            ["square", "huber:d=1", "huber:delta=-1", "logistic:1", "quantile:level=1", "multinomial", "cox:a=1"];
        for text in wrong {
            assert!(text.parse::<Loss>().is_err(), "{text}");
        }
    }

    #[test]
    fn classes_may_be_any_numbers() {
        let (loss, y, classes) = Loss::Logistic.target(&[2.0, 5.0, 2.0]).unwrap();
        assert_eq!((loss, y, classes), (Loss::Logistic, vec![-1.0, 1.0, -1.0], Some(vec![2.0, 5.0])));
        let (loss, y, classes) = Loss::Logistic.target(&[7.0, 5.0, 2.0, 5.0]).unwrap();
        assert_eq!((loss, y), (Loss::Multinomial(3), vec![2.0, 1.0, 0.0, 1.0]));
        assert_eq!(classes, Some(vec![2.0, 5.0, 7.0]));
        assert_eq!(Loss::Multinomial(3).target(&[2.0, 0.0]).unwrap().1, [2.0, 0.0]);
        assert!(Loss::Logistic.target(&[1.0, 1.0]).is_err());
        assert!(Loss::Squares.target(&[0.0, f64::NAN]).unwrap_err().to_string().contains("row 2"));
        assert!(Loss::Poisson.target(&[0.0, 0.0]).unwrap_err().to_string().contains("all 0"));
        assert!(Loss::Poisson.target(&[0.0, -1.0]).unwrap_err().to_string().contains("row 2"));
        assert!(Loss::Cox.target(&[-1.0, -2.0]).unwrap_err().to_string().contains("no event"));
        assert!(Loss::Cox.target(&[1.0, 0.0]).unwrap_err().to_string().contains("row 2"));
    }

    #[test]
    fn targets_of_some_rows_are_those_of_all() {
        let y = [5.0, 2.0, 2.0, 7.0, 5.0, 2.0];
        for loss in [Loss::Logistic, Loss::Squares, Loss::Poisson] {
            let (whole, all, classes) = loss.target(&y).unwrap();
            let seen = [loss.seen(&y[..3]), loss.seen(&y[3..])].concat();
            for (at, rows) in [(0, &y[..3]), (3, &y[3..])] {
                let (found, own, known) = loss.target_among(rows, &seen).unwrap();
                assert_eq!((found, &own[..], known), (whole, &all[at..at + 3], classes.clone()));
            }
        }
        assert!(Loss::Poisson.target_among(&[0.0, 0.0], &[0.0, 3.0]).is_ok());
        assert!(Loss::Poisson.target_among(&[0.0], &Loss::Poisson.seen(&[0.0, 0.0])).is_err());
        let many: Vec<f64> = (0..3000).map(f64::from).collect();
        assert!(Loss::Logistic.target_among(&many[..1], &Loss::Logistic.seen(&many)).is_err());
        assert_eq!(Loss::Squares.seen(&many), [0.0, 2999.0]);
    }

    #[test]
    fn means() {
        assert_eq!(Loss::Squares.mean(&[1.0, 3.0], &[0.0, 1.0], None), 2.5);
        assert_eq!(Loss::Squares.mean(&[1.0, 3.0], &[0.0, 1.0], Some(&[3.0, 1.0])), 1.75);
        assert_eq!(Loss::Huber(Some(1.0)).mean(&[0.5, 3.0], &[0.0, 0.0], None), (0.125 + 2.5) / 2.0);
        assert!((Loss::Logistic.mean(&[1.0], &[0.0], None) - 2f64.ln()).abs() < 1e-15);
        assert!((Loss::Multinomial(3).mean(&[1.0], &[0.0; 3], None) - 3f64.ln()).abs() < 1e-15);
        assert_eq!(Loss::Huber(None).settled(&[1.0, 2.0, 3.0, 4.0, 100.0]), Loss::Huber(Some(1.345 * 1.4826)));
        assert_eq!(Loss::Huber(None).settled(&[1.0, 1.0, 1.0]), Loss::Huber(Some(1.0)));
    }
}
