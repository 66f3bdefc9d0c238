//! What does not fit is refused in words, before anything is copied.

use melmo::block::Layout;
use melmo::catalogue::Lift;
use melmo::error::Error;
use melmo::geometry::{BlockNorm, Norm, Oracle, euclidean, for_layout};
use melmo::operator::Identity;
use melmo::penalty::{Entrywise, L1, Spectral};
use melmo::problem::Problem;
use melmo::smooth::{LeastSquares, MaskedLeastSquares};
use melmo_cuda::{Arithmetic, Device, Gpu, Plan};

use crate::emulator::{Emulator, is_gpu};
use crate::laws::problem;

fn words<T>(result: Result<T, Error>) -> String {
    result.err().expect("a refusal").to_string()
}

#[test]
fn terms_without_kernels() {
    let f = LeastSquares::new(Box::new(Identity::new(Layout::matrix(3, 4).unwrap())), vec![1.0; 12]).unwrap();
    let design =
        Problem::new(f, Entrywise::new(L1::new(1.0).unwrap(), 12), Identity::new(Layout::matrix(3, 4).unwrap()));
    assert!(words(Plan::of(&design.unwrap())).contains("least squares with an operator other than"));
    let layout = Layout::matrix(3, 4).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), vec![1.0f64; 12], None).unwrap();
    let values = Spectral::new(L1::new(1.0).unwrap(), &layout).unwrap();
    let values = Problem::new(f, values, Identity::new(layout)).unwrap();
    assert!(words(Plan::of(&values)).contains("a penalty other than"));
}

#[test]
fn minibatches_of_what_has_none() {
    let problem = problem::<f64>("image", "mcp", Lift::Entries, false);
    assert!(words(Plan::of(&problem).unwrap().expect_samples()).contains("minibatches of another loss"));
}

#[test]
fn norms_without_kernels_and_too_little_memory() {
    let Some(emulator) = Emulator::new().filter(|_| !is_gpu()) else { return };
    let problem = problem::<f64>("image", "mcp", Lift::Entries, false);
    let spectral = for_layout::<f64>(Norm::Spectral, problem.layout(), Oracle::Auto).unwrap().norms();
    let mut without = Emulator::new().unwrap();
    without.no_products = true;
    assert!(words(Device::new(&problem, spectral.clone(), without)).contains("cuBLAS was not found"));
    assert!(words(Arithmetic::of(Oracle::Svd)).contains("decomposition"));
    let own = spectral.into_iter().map(|block| BlockNorm { norm: Norm::Other, ..block }).collect();
    assert!(words(Device::new(&problem, own, Emulator::new().unwrap())).contains("norm of your own"));
    let mut small = emulator;
    small.memory = 10_000;
    let refused = words(Device::new(&problem, euclidean::<f64>(problem.layout()).norms(), small));
    assert!(refused.contains("GiB of the GPU's memory are free"), "{refused}");
}

#[test]
fn a_missing_driver_is_a_sentence() {
    if let Err(reason) = Gpu::open(0) {
        assert!(reason.contains("driver") || reason.contains("GPU"), "{reason}");
    }
    assert!(Gpu::open(4711).is_err());
}
