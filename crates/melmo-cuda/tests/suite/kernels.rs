//! Every kernel and every penalty compiles for the architectures in use, by NVRTC, where that can be loaded.

use melmo::catalogue::Lift;
use melmo::real::Real;
use melmo_cuda::machine::compile;
use melmo_cuda::{Plan, Program};

use crate::chains;
use crate::formulas;
use crate::laws::problem;
use crate::matrices::factors;

const ARCHITECTURES: [&str; 2] = ["sm_80", "sm_90"];

fn compiles(arch: &str, name: &str, program: &Program) {
    let code = compile(program, arch).unwrap_or_else(|fault| panic!("{name}, {arch}: {fault}"));
    assert!(code.starts_with(b"\x7fELF"), "{name}, {arch}");
}

fn program<S: Real>(problem: &melmo::problem::Problem<S>) -> Program {
    Program::of(&Plan::of(problem).unwrap()).unwrap()
}

/// Programs that have every kernel, every operator, both losses, masks and weights, in both precisions.
fn programs() -> Vec<(String, Program)> {
    let mut all = Vec::new();
    let mut add = |name: &str, program: Program| all.push((name.to_string(), program));
    add("fours", program(&problem::<f32>("fours", "mcp", Lift::Entries, true)));
    add("volume", program(&problem::<f64>("volume", "scad", Lift::Pixels, false)));
    add("entries", program(&problem::<f64>("identity", "l1", Lift::Nonnegative, true)));
    add("factors", program(&factors::<f32>(false, 0.0, 1.0).0));
    add("colour", program(&chains::colour::<f32>(9, 8, 3)));
    add("formulas", program(&formulas::picture()));
    add("formulas of factors", program(&formulas::factors::<f32>(false).0));
    for (name, chain) in chains::every_link() {
        add(name, program(&chain));
    }
    all
}

/// Every formula of a penalty, on entries and on pixels, in one program: what kernels ask of it, and nothing else.
fn penalties(double: bool) -> Program {
    let part = |pixels: bool, shape: u32| {
        let own = [include_str!("../../kernels/penalty.cuh"), include_str!("../../kernels/unit.cuh")].concat();
        let (name, pixels) = (format!("of_{shape}_{pixels}"), if pixels { "#define PIXELS" } else { "#undef PIXELS" });
        let body = "Psi f = psi_of(a); double v; Unit d = *u, z = prox_of(a, f, 0, d, &v); \
                    u[1] = slopes(a, f, 0, d, ALL, &v); u[2] = subgradients(a, f, 0, z, ALL); \
                    *a.result = v + value_of(a, f, 0, d) + envelope_of(a, f, 0, d);";
        format!(
            "#undef SHAPE\n#define SHAPE {shape}\n{pixels}\nnamespace {name} {{\n{own}\n__global__ void every(const Args a, Unit* u) {{ {body} }}\n}}\n"
        )
    };
    let parts = (1..=9).flat_map(|shape| [part(false, shape), part(true, shape)]).collect::<String>();
    let real = include_str!("../../kernels/real.cuh");
    let mut defines = vec![format!("-DREAL={}", if double { "double" } else { "float" }), "-DCOMPONENTS=2".into()];
    defines.extend(["-DWEIGHTED".to_string(), "-DNONNEGATIVE".into()]);
    defines.extend(double.then(|| "-DDOUBLE".into()));
    Program { source: format!("{real}{parts}"), defines }
}

/// The wheel `nvidia-cuda-nvrtc-cu12` has the library; `./test` installs it and says where it is.
#[test]
fn nvrtc_compiles_every_kernel() {
    if std::env::var_os("MELMO_TEST_NVRTC").is_none() {
        eprintln!("!! NOT TESTED: that NVRTC compiles the kernels: MELMO_TEST_NVRTC is not set");
        return;
    }
    let mut all = programs();
    all.extend([false, true].map(|double| (format!("penalties, double: {double}"), penalties(double))));
    std::thread::scope(|scope| {
        for arch in ARCHITECTURES {
            let all = &all;
            scope.spawn(move || all.iter().for_each(|(name, program)| compiles(arch, name, program)));
        }
    });
}
