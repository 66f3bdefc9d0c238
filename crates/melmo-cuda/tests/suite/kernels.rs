//! Every kernel compiles for the architectures in use, by NVRTC, where that can be loaded; none needs memory beside its registers.

use melmo::catalogue::Lift;
use melmo::real::Real;
use melmo_cuda::machine::compile;
use melmo_cuda::{Plan, Program};

use crate::laws::problem;
use crate::matrices::factors;

fn compiles<S: Real>(arch: &str, operator: &str, penalty: &str, lift: Lift<S>, masked: bool) {
    let problem = problem(operator, penalty, lift, masked);
    let program = Program::of(&Plan::of(&problem).unwrap()).unwrap();
    let code = compile(&program, arch).unwrap_or_else(|fault| panic!("{operator}, {penalty}, {arch}: {fault}"));
    assert!(code.starts_with(b"\x7fELF"), "{operator}, {penalty}, {arch}");
}

/// The wheel `nvidia-cuda-nvrtc-cu12` has the library; `./test` installs it and says where it is.
#[test]
fn nvrtc_compiles_every_kernel() {
    if std::env::var_os("MELMO_TEST_NVRTC").is_none() {
        eprintln!("!! NOT TESTED: that NVRTC compiles the kernels: MELMO_TEST_NVRTC is not set");
        return;
    }
    compiles::<f32>("sm_80", "fours", "mcp", Lift::Entries, true);
    compiles::<f32>("sm_90", "fours", "mcp", Lift::Entries, false);
    compiles::<f64>("sm_80", "volume", "scad", Lift::Pixels, false);
    compiles::<f64>("sm_90", "image", "log-sum", Lift::Pixels, true);
    compiles::<f64>("sm_90", "identity", "l1", Lift::Nonnegative, true);
    for arch in ["sm_80", "sm_90"] {
        let factors = factors::<f32>(false, 0.0, 1.0).0;
        let program = Program::of(&Plan::of(&factors).unwrap()).unwrap();
        assert!(compile(&program, arch).unwrap().starts_with(b"\x7fELF"), "factors, {arch}");
    }
}
