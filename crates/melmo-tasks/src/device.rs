//! Where a problem is solved: on the processor, or on a GPU.

use std::fmt;
use std::str::FromStr;

use melmo::catalogue::{ANYWHERE, SAMPLED};
use melmo::problem::Problem;
use melmo::real::Real;

use crate::error::Error;

#[cfg(not(target_family = "wasm"))]
mod cuda;
#[cfg(target_family = "wasm")]
#[path = "device/none.rs"]
mod cuda;

#[cfg(not(target_family = "wasm"))]
pub use cuda::described;
pub(crate) use cuda::solver;

/// A device as people name it: `cpu`, `cuda`, `cuda:1`, `auto`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// This machine's processor.
    #[default]
    Cpu,
    /// A GPU, counted from 0.
    Cuda(usize),
    /// GPU 0 where it can do what is asked for and it pays, the processor elsewhere.
    Auto,
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |number: &str| number.parse().ok().map(Self::Cuda);
        let found = match text {
            "cpu" => Some(Self::Cpu),
            "cuda" => Some(Self::Cuda(0)),
            "auto" => Some(Self::Auto),
            other => other.strip_prefix("cuda:").and_then(number),
        };
        found.ok_or_else(|| Error::input("device", format!("`{text}`"), "cpu, cuda, cuda:N or auto"))
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(n) => write!(f, "cuda:{n}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

/// Entries from which on a GPU pays: below, a step on two cores takes as long as asking a GPU for one.
const PAYS: usize = 1 << 16;

/// What `auto` comes to for a method, and why.
pub(crate) fn resolve<S: Real>(
    choice: DeviceChoice,
    problem: &Problem<S>,
    method: &str,
) -> (DeviceChoice, Option<String>) {
    if choice != DeviceChoice::Auto {
        return (choice, None);
    }
    let cpu = |why: String| (DeviceChoice::Cpu, Some(format!("cpu: {why}")));
    if !ANYWHERE.contains(&method) && method != SAMPLED {
        return cpu(format!("`{method}` runs on the processor"));
    }
    let size = problem.layout().size();
    if size < PAYS {
        return cpu(format!("{size} entries are too few for a GPU to pay"));
    }
    match cuda::first(problem, method) {
        Ok(name) => (DeviceChoice::Cuda(0), Some(format!("cuda:0 ({name}): it can do all of it"))),
        Err(reason) => cpu(reason),
    }
}

/// The method that `auto` means on a GPU, and why.
pub(crate) const ON_A_GPU: (&str, &str) = ("scaled", "of the methods that run on a GPU, the one past the paper");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, Watch, recover, solve};

    #[test]
    fn names_come_back() {
        for name in ["cpu", "auto", "cuda:0", "cuda:3"] {
            assert_eq!(name.parse::<DeviceChoice>().unwrap().to_string(), name);
        }
        assert_eq!("cuda".parse::<DeviceChoice>().unwrap(), DeviceChoice::Cuda(0));
        assert!("cuda:x".parse::<DeviceChoice>().unwrap_err().to_string().contains("cuda:N"));
    }

    #[test]
    fn auto_says_why_and_a_missing_gpu_is_a_sentence() {
        let prepared =
            recover::prepare(&[1.0f64, 0.0, 2.0, 3.0], None, 2, 2, &"l1:lambda=0.1".parse().unwrap()).unwrap();
        let on =
            |device, method: &str| solve(&prepared, &Settings { device, ..Settings::method(method) }, Watch::default());
        let told = |method| on(DeviceChoice::Auto, method).unwrap().device.unwrap();
        assert!(told("admm").contains("runs on the processor"));
        assert!(told("scaled").contains("too few"));
        assert_eq!(on(DeviceChoice::Cpu, "scaled").unwrap().device, None);
        if let Err(error) = on(DeviceChoice::Cuda(77), "scaled") {
            assert!(error.to_string().contains("device"), "{error}");
        }
    }
}
