//! Bad input: each a typed error with its numbers in the message, and never a panic.

use melmo::certificate::{Certificate, Evidence};
use melmo::drive::{Options, Status, Stop, run};
use melmo::geometry::{BlockNorm, Geometry};
use melmo::prelude::*;
use melmo::schedule::Smoothness;
use melmo::solver::State;

/// The error's message holds every one of these.
#[track_caller]
fn says<T>(result: Result<T, Error>, fragments: &[&str]) {
    let message = result.err().expect("this had to be refused").to_string();
    for fragment in fragments {
        assert!(message.contains(fragment), "`{message}` does not say `{fragment}`");
    }
}

fn small() -> Problem<f64> {
    let layout = Layout::vector(3).unwrap();
    let loss = MaskedLeastSquares::new(layout.clone(), vec![1.0, 2.0, 3.0], None).unwrap();
    Problem::new(loss, Entrywise::new(Mcp::new(1.0, 3.0).unwrap(), 3), Identity::new(layout)).unwrap()
}

fn geometry(problem: &Problem<f64>) -> Box<dyn Geometry<f64>> {
    for_layout(Norm::L2, problem.layout(), Oracle::Auto).unwrap()
}

#[test]
fn shapes_that_do_not_fit() {
    let layout = || Layout::vector(3).unwrap();
    says(MaskedLeastSquares::new(layout(), vec![1.0; 4], None), &["3", "4"]);
    says(MaskedLeastSquares::new(layout(), vec![1.0; 3], Some(vec![1.0; 2])), &["3", "2"]);
    says(Factorization::new(vec![1.0; 7], 2, 3, 1), &["6", "7"]);
    says(Dense::new(vec![1.0; 5], 2, 3), &["6", "5"]);
    let loss = || MaskedLeastSquares::new(layout(), vec![1.0; 3], None).unwrap();
    let penalty = |n| Entrywise::new(L1::new(1.0).unwrap(), n);
    says(Problem::new(loss(), penalty(3), Identity::new(Layout::vector(4).unwrap())), &["operator", "3", "4"]);
    says(Problem::new(loss(), penalty(5), Identity::new(layout())), &["penalty", "3", "5"]);
    let problem = small();
    says(Melmo::new(&problem, geometry(&problem), Power::balanced(1.0), &[0.0; 2]), &["start", "3", "2"]);
    let other = for_layout(Norm::L2, &Layout::vector(4).unwrap(), Oracle::Auto).unwrap();
    says(Melmo::new(&problem, other, Power::balanced(1.0), &[0.0; 3]), &["geometry", "3", "4"]);
    let blocks = Layout::new([("a", 2, 1), ("b", 2, 1)]).unwrap();
    says(Product::<f64>::new(&blocks, vec![]), &["2", "0"]);
    says(LeastSquares::new(Box::new(Dense::new(vec![1.0; 6], 2, 3).unwrap()), vec![1.0; 3]), &["2", "3"]);
    says(Logistic::new(Box::new(Dense::new(vec![1.0; 6], 2, 3).unwrap()), vec![1.0; 3]), &["2", "3"]);
}

#[test]
fn empty_blocks_and_unknown_names() {
    says(Layout::matrix(0, 4), &["0×4"]);
    says(Difference2d::new(3, 0), &["3×0"]);
    says(Difference3d::new(0, 3, 3), &["0"]);
    says(Factorization::<f64>::new(vec![], 0, 3, 1), &["0"]);
    let layout = Layout::new([("W", 2, 2), ("H", 2, 2)]).unwrap();
    says(Select::new(&layout, &["V"]), &["V", "W, H"]);
    says("spektral".parse::<Norm>(), &["spektral", "spectral", "nuclear"]);
    says("fastest".parse::<Oracle>(), &["fastest"]);
}

#[test]
fn not_a_number_in_data_or_start() {
    let layout = || Layout::vector(3).unwrap();
    says(MaskedLeastSquares::new(layout(), vec![1.0, f64::NAN, 2.0], None), &["entry 1", "NaN"]);
    says(Factorization::new(vec![1.0, 2.0, f64::INFINITY, 0.0], 2, 2, 1), &["entry 2", "inf"]);
    says(RobustPca::new(vec![f64::NAN; 4], 2, 2, None), &["entry 0", "NaN"]);
    says(Dense::new(vec![f64::NEG_INFINITY], 1, 1), &["entry 0", "-inf"]);
    let problem = small();
    let start = [0.0, f64::NAN, 0.0];
    says(Melmo::new(&problem, geometry(&problem), Power::balanced(1.0), &start), &["start", "entry 1", "NaN"]);
    says(Subgradient::new(&problem, 0.1, &start), &["start", "entry 1"]);
}

#[test]
fn parameters_out_of_range() {
    for lambda in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        let number = lambda.to_string();
        says(L1::new(lambda), &["lambda", &number]);
        says(Mcp::new(lambda, 3.0), &["lambda", &number]);
        says(Scad::new(lambda, 3.7), &["lambda", &number]);
        says(Huber::new(lambda, 1.0), &["lambda", &number]);
        says(LogSum::new(lambda, 1.0), &["lambda", &number]);
        says(ElasticNet::new(lambda, 1.0), &["lambda", &number]);
    }
    says(Mcp::new(1.0, 0.0), &["mu", "0"]);
    says(Mcp::new(1.0, -2.0), &["mu", "-2"]);
    says(Scad::new(1.0, 2.0), &["a", "2"]);
    says(Huber::new(1.0, 0.0), &["delta"]);
    says(LogSum::new(1.0, -1.0), &["theta", "-1"]);
    says(ElasticNet::new(1.0, -0.5), &["nu", "-0.5"]);
    says(Interval::new(2.0, 1.0), &["lower", "2"]);
    says(Factorization::new(vec![1.0; 4], 2, 2, 0), &["rank", "0"]);
    says(Factorization::new(vec![1.0; 4], 2, 2, 1).unwrap().ridge(-1.0), &["-1"]);
    says(Entrywise::weighted(L1::new(1.0).unwrap(), vec![1.0, -2.0]), &["weight", "-2"]);
    says("newton-schulz:7".parse::<Oracle>(), &["7"]);
    says("minimax:0".parse::<Oracle>(), &["0"]);
    let layout = Layout::vector(2).unwrap();
    let part = || for_layout::<f64>(Norm::L2, &layout, Oracle::Auto).unwrap();
    says(Product::with_radii(&layout, vec![part()], &[0.0]), &["radius", "0"]);
}

#[test]
fn masks_are_zero_or_one() {
    let layout = Layout::vector(3).unwrap();
    says(MaskedLeastSquares::new(layout, vec![1.0; 3], Some(vec![0.0, 0.5, 1.0])), &["entry 1", "0.5"]);
    says(Factorization::masked(vec![1.0; 4], vec![2.0; 4], 2, 2, 1), &["entry 0", "2"]);
    says(RobustPca::new(vec![1.0; 4], 2, 2, Some(vec![-1.0; 4])), &["entry 0", "-1"]);
}

#[test]
fn smoothing_and_steps() {
    let problem = small(); // MCP with μ = 3: ρ = 1/3, β ≤ 1.5
    let try_power = |schedule: Power| Melmo::new(&problem, geometry(&problem), schedule, &[0.0; 3]);
    says(try_power(Power::balanced(1.6)), &["1.6", "1.5", "0.333"]);
    assert!(try_power(Power::balanced(1.5)).is_ok());
    let balanced = Power::balanced(1.0);
    says(try_power(Power { gamma: 0.0, ..balanced }), &["gamma", "0"]);
    says(try_power(Power { gamma: -1.0, ..balanced }), &["gamma", "-1"]);
    says(try_power(Power { beta: 0.0, ..balanced }), &["beta", "0"]);
    says(try_power(Power { beta: f64::NAN, ..balanced }), &["beta", "NaN"]);
    for p in [0.0, 1.0, -0.3, 1.5, f64::NAN] {
        says(try_power(Power { p, ..balanced }), &["p = ", &p.to_string()]);
    }
    for q in [-0.1, 1.0, f64::NAN] {
        says(try_power(Power { q, ..balanced }), &["q = ", &q.to_string()]);
    }
    let constant = EpochConstant::new(2.0);
    says(Epoch::new(&problem, geometry(&problem), constant, &[0.0; 3]), &["β = 2", "1.5"]);
    says(Subgradient::new(&problem, 0.0, &[0.0; 3]), &["step", "0"]);
    says(
        Smoothness { beta: 1.0, lipschitz: -1.0, operator_squared: 1.0, normalized: false }.check(),
        &["lipschitz", "-1"],
    );
    let loss = Factorization::new(vec![1.0; 4], 2, 2, 1).unwrap();
    let t = Select::new(loss.layout(), &["W"]).unwrap();
    let unbounded = Problem::new(loss, Entrywise::new(L1::new(1.0).unwrap(), 2), t).unwrap();
    let method = VariableSmoothing { beta: 1.0, lipschitz: None, normalized: false };
    says(method.start(&unbounded, &[0.0; 4]), &["L_f"]);
}

#[test]
fn a_schedule_belongs_to_its_solver() {
    let problem = small();
    says(Melmo::new(&problem, geometry(&problem), EpochConstant::new(1.0), &[0.0; 3]), &["Epoch"]);
    says(Epoch::new(&problem, geometry(&problem), Power::balanced(1.0), &[0.0; 3]), &["Melmo"]);
}

#[test]
fn geometries_that_do_not_measure_the_variable() {
    let layout = Layout::new([("a", 3, 2), ("b", 2, 3)]).unwrap();
    let part = |name: &str| for_block::<f64>(Norm::Column, layout.require(name).unwrap(), Oracle::Auto).unwrap();
    says(Product::new(&layout, vec![part("b"), part("a")]), &["3", "2"]);
    assert!(Product::new(&layout, vec![part("a"), part("b")]).is_ok());
    // A block that stands elsewhere, on its own.
    let problem = small();
    let elsewhere = Layout::new([("a", 4, 1), ("b", 3, 1)]).unwrap();
    let geometry = for_block(Norm::L2, elsewhere.require("b").unwrap(), Oracle::Auto).unwrap();
    says(Melmo::new(&problem, geometry, Power::balanced(1.0), &[0.0; 3]), &["0", "4"]);
    // Products inside products keep their blocks.
    let inner = Layout::new([("c", 1, 2), ("d", 2, 2)]).unwrap();
    let nested = for_layout::<f64>(Norm::Row, &inner, Oracle::Auto).unwrap();
    let product = Product::new(&layout, vec![nested, part("b")]).unwrap();
    let ranges: Vec<_> = Geometry::<f64>::norms(&product).iter().map(|b| b.block.range()).collect();
    assert_eq!(ranges, [0..2, 2..6, 6..12]);
}

#[test]
fn odd_functions_have_no_groups_and_no_singular_values() {
    let layout = Layout::matrix(2, 2).unwrap();
    says(Group::<_, f64>::rows(Nonnegative, &layout), &["even"]);
    says(Spectral::<_, f64>::new(Nonnegative, &layout), &["even"]);
}

/// The same state with another number, where the first was: JSON has no NaN.
fn with(state: &State<f64>, from: f64, to: f64) -> State<f64> {
    let mut bytes = postcard::to_stdvec(state).unwrap();
    let at = bytes.windows(8).position(|window| window == from.to_le_bytes()).unwrap();
    bytes[at..at + 8].copy_from_slice(&to.to_le_bytes());
    postcard::from_bytes(&bytes).unwrap()
}

#[test]
fn states_and_certificates_that_do_not_fit() {
    let problem = small();
    let mut melmo = Melmo::new(&problem, geometry(&problem), Power::balanced(1.0), &[0.0; 3]).unwrap();
    let mut subgradient = Subgradient::new(&problem, 0.1, &[0.0; 3]).unwrap();
    says(subgradient.restore(&melmo.save()), &["melmo", "subgradient"]);
    melmo.next();
    let state = melmo.save();
    let mut shorter = serde_json::to_value(&state).unwrap();
    shorter.pointer_mut("/memo/melmo/place/x").and_then(|x| x.as_array_mut()).unwrap().pop();
    says(melmo.restore(&serde_json::from_value(shorter).unwrap()), &["3", "2"]);
    let beta = 1.0; // the first 1 of the bytes
    says(melmo.restore(&with(&state, beta, f64::NAN)), &["NaN"]);
    says(melmo.restore(&with(&state, beta, 7.0)), &["β = 7"]);
    says(melmo.restore(&State { k: u64::MAX, ..state.clone() }), &["2⁵³"]);
    says(melmo.restore(&State { start: Some([f64::INFINITY, 0.0]), ..state.clone() }), &["inf"]);
    melmo.restore(&state).unwrap();

    let norms = geometry(&problem).norms();
    let certificate =
        Certificate::new(&problem, &[0.0; 3], Evidence::smoothed(1.0), norms.clone(), None, None).unwrap();
    says(certificate.verify(&problem, &[0.0; 2], 1e-6), &["3", "2"]);
    says(
        Certificate::new(&problem, &[0.0; 3], Evidence::smoothed(20.0), norms.clone(), None, None),
        &["beta", "20", "1/ρ"],
    );
    // A norm that leaves out a part of the variable, counts one twice, or weighs it with nothing.
    let with = |norms: Vec<BlockNorm>| Certificate { norms, ..certificate.clone() }.verify(&problem, &[0.0; 3], 1e-6);
    let part = |start: usize, rows: usize| {
        let block = melmo::block::Block { start, rows, ..norms[0].block.clone() };
        BlockNorm { block, ..norms[0].clone() }
    };
    assert!(with(vec![part(0, 1), part(1, 2)]).is_ok());
    says(with(vec![part(5, 3)]), &["0", "5"]);
    says(with(vec![part(0, 2)]), &["3", "2"]);
    says(with(vec![part(0, 1), part(0, 2)]), &["1", "0"]);
    says(with(vec![part(0, usize::MAX)]), &["block"]);
    says(with(vec![part(0, 3), part(3, 0)]), &["block"]);
    says(Certificate::new(&problem, &[0.0; 3], Evidence::smoothed(1.0), vec![part(5, 3)], None, None), &["0", "5"]);
    says(with(vec![BlockNorm { radius: 0.0, ..norms[0].clone() }]), &["radius"]);
}

/// x ↦ exp-like growth: an objective that overflows once the steps have gone far enough.
struct Exploding {
    layout: Layout,
}

impl Smooth<f64> for Exploding {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn value_grad(&self, grad: &mut [f64], x: &[f64], _: &mut [f64]) -> f64 {
        for (grad, x) in grad.iter_mut().zip(x) {
            *grad = -(x.exp());
        }
        if x[0] > 5.0 { f64::NAN } else { -x.iter().map(|x| x.exp()).sum::<f64>() }
    }
}

#[test]
fn an_overflow_mid_run_keeps_the_last_finite_point() {
    let layout = Layout::vector(2).unwrap();
    let make = || {
        let loss = Exploding { layout: layout.clone() };
        let penalty = Entrywise::new(L1::new(0.1).unwrap(), 2);
        Problem::new(loss, penalty, Identity::new(layout.clone())).unwrap()
    };
    let problem = make();
    let far = Power { gamma: 2.0, ..Power::balanced(1.0) };
    let solvers: [Box<dyn Solver<f64>>; 4] = [
        Box::new(Melmo::new(&problem, geometry(&problem), far, &[0.0; 2]).unwrap()),
        Box::new(Epoch::new(&problem, geometry(&problem), EpochPower { power: far }, &[0.0; 2]).unwrap()),
        Box::new(
            Epoch::new(
                &problem,
                geometry(&problem),
                EpochConstant { gamma: 4.0, ..EpochConstant::new(1.0) },
                &[4.0; 2],
            )
            .unwrap(),
        ),
        Box::new(Subgradient::new(&problem, 0.1, &[0.0; 2]).unwrap()),
    ];
    for mut solver in solvers {
        let report = run(&mut *solver, &Options::new(Stop::after(1000)), &mut []);
        assert_eq!(report.status, Status::NotFinite);
        assert!(report.x.iter().all(|v| v.is_finite()) && report.x[0] <= 5.0, "{:?}", report.x);
        assert!(report.objective.is_finite());
        let certificate = report.certificate.unwrap();
        assert!(certificate.verify(&problem, &report.x, 1e-6).unwrap().passed());
        assert!(solver.next().is_none(), "the sequence has ended");
    }
    // Nothing can be evaluated at the start: the report says so and returns the start.
    let mut solver = Melmo::new(&problem, geometry(&problem), far, &[6.0; 2]).unwrap();
    let report = run(&mut solver, &Options::new(Stop::after(10)), &mut []);
    assert_eq!((report.status, report.x, report.info.k), (Status::NotFinite, vec![6.0; 2], 0));
    assert!(report.certificate.is_none());
}
