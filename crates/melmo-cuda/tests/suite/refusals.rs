//! What does not fit is refused in words, before anything is copied.

use melmo::block::Layout;
use melmo::catalogue::Lift;
use melmo::error::Error;
use melmo::geometry::{Norm, Oracle, euclidean, for_layout};
use melmo::operator::{Identity, Select};
use melmo::penalty::{Entrywise, L1, Spectral};
use melmo::problem::Problem;
use melmo::smooth::{Factorization, MaskedLeastSquares, Smooth};
use melmo_cuda::{Device, Gpu, Plan};

use crate::emulator::{Emulator, is_gpu};
use crate::laws::problem;

fn words<T>(result: Result<T, Error>) -> String {
    result.err().expect("a refusal").to_string()
}

#[test]
fn terms_without_kernels() {
    let f = Factorization::new(vec![1.0; 12], 3, 4, 2).unwrap();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let factors = Problem::new(f, Entrywise::new(L1::new(1.0).unwrap(), 6), t).unwrap();
    assert!(words(Plan::of(&factors)).contains("a loss other than"));
    let layout = Layout::matrix(3, 4).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), vec![1.0f64; 12], None).unwrap();
    let values = Spectral::new(L1::new(1.0).unwrap(), &layout).unwrap();
    let values = Problem::new(f, values, Identity::new(layout)).unwrap();
    assert!(words(Plan::of(&values)).contains("a penalty other than"));
}

#[test]
fn norms_without_kernels_and_too_little_memory() {
    let Some(emulator) = Emulator::new().filter(|_| !is_gpu()) else { return };
    let problem = problem::<f64>("image", "mcp", Lift::Entries, false);
    let spectral = for_layout::<f64>(Norm::Spectral, problem.layout(), Oracle::Auto).unwrap().norms();
    assert!(words(Device::new(&problem, spectral, Emulator::new().unwrap())).contains("l1, l2, linf, row and column"));
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
