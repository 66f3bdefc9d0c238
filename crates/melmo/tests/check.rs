//! `check` names what is wrong with a term: the law, the numbers, the points.

use melmo::block::Layout;
use melmo::check::{Checked, Finding, Options, Term, check};
use melmo::operator::{Dense, Difference2d, Identity, LinOp};
use melmo::penalty::{Entrywise, L1, Mcp, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::{MaskedLeastSquares, Smooth};

const N: usize = 12;

/// f(x) = ½‖x − y‖² with a gradient that is `factor` times the right one.
struct Squares {
    layout: Layout,
    factor: f64,
    lipschitz: f64,
}

impl<S: Real> Smooth<S> for Squares {
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn value_grad(&self, grad: &mut [S], x: &[S], _: &mut [S]) -> f64 {
        grad.iter_mut().zip(x).for_each(|(grad, x)| *grad = S::of(self.factor * (x.f64() - 0.3)));
        x.iter().map(|x| 0.5 * (x.f64() - 0.3).powi(2)).sum()
    }
    fn lipschitz(&self) -> Option<f64> {
        Some(self.lipschitz)
    }
}

/// Differences of a 3×4 image, their adjoint multiplied, their norm understated, something added.
struct Differences {
    inner: Difference2d,
    adjoint: f64,
    bound: f64,
    offset: f64,
}

impl<S: Real> LinOp<S> for Differences {
    fn domain(&self) -> &Layout {
        LinOp::<S>::domain(&self.inner)
    }
    fn range(&self) -> &Layout {
        LinOp::<S>::range(&self.inner)
    }
    fn norm_bound(&self) -> f64 {
        self.bound
    }
    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]) {
        self.inner.apply(y, x, work);
        y.iter_mut().for_each(|y| *y += S::of(self.offset));
    }
    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        let y: Vec<S> = y.iter().map(|y| S::of(self.adjoint * y.f64())).collect();
        self.inner.adjoint_add(x, &y, work);
    }
}

/// What is wrong with a penalty.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Nothing,
    /// ρ is not stated.
    Convex,
    /// β is forgotten.
    Beta,
    /// u goes the wrong way.
    NoProx,
    /// NaN.
    NotANumber,
    /// L_g is too small.
    Lipschitz,
    /// The sign is wrong.
    Subgradient,
}

/// MCP, with a fault.
struct Faulty<S> {
    inner: Entrywise<Mcp, S>,
    fault: Fault,
}

impl<S: Real> Prox<S> for Faulty<S> {
    fn size(&self) -> usize {
        self.inner.size()
    }
    fn weak_convexity(&self) -> f64 {
        if self.fault == Fault::Convex { 0.0 } else { self.inner.weak_convexity() }
    }
    fn lipschitz(&self) -> Option<f64> {
        let stated = self.inner.lipschitz();
        if self.fault == Fault::Lipschitz { stated.map(|most| 0.1 * most) } else { stated }
    }
    fn value(&self, u: &[S], work: &mut [S]) -> f64 {
        self.inner.value(u, work)
    }
    fn prox(&self, z: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64 {
        match self.fault {
            Fault::Beta => drop(self.inner.prox(z, u, 0.5, work)),
            Fault::NoProx => z.iter_mut().zip(u).for_each(|(z, &u)| *z = S::of(1e9) * u),
            Fault::NotANumber => z.fill(S::of(f64::NAN)),
            _ => drop(self.inner.prox(z, u, beta, work)),
        }
        self.inner.value(z, work)
    }
    fn subgradient(&self, v: &mut [S], u: &[S], work: &mut [S]) -> f64 {
        let value = self.inner.subgradient(v, u, work);
        if self.fault == Fault::Subgradient {
            v.iter_mut().for_each(|v| *v = -*v);
        }
        value
    }
}

fn checked<S: Real>(f: Squares, g: impl Prox<S> + 'static, t: impl LinOp<S> + 'static) -> Checked<S> {
    let start: Vec<S> = Seeded::new(3).normals(N);
    check(&Problem::new(f, g, t).unwrap(), &start, &Options::default())
}

fn squares(factor: f64, lipschitz: f64) -> Squares {
    Squares { layout: Layout::matrix(3, 4).unwrap(), factor, lipschitz }
}

fn identity() -> Identity {
    Identity::new(Layout::matrix(3, 4).unwrap())
}

fn absolute<S: Real>(n: usize) -> Entrywise<L1, S> {
    Entrywise::new(L1::new(0.5).unwrap(), n)
}

fn faulty<S: Real>(fault: Fault) -> Checked<S> {
    let inner = Entrywise::new(Mcp::new(0.5, 2.0).unwrap(), N);
    checked(squares(1.0, 1.0), Faulty { inner, fault }, identity())
}

fn differences<S: Real>(adjoint: f64, bound: f64, offset: f64) -> Checked<S> {
    let t = Differences { inner: Difference2d::new(3, 4).unwrap(), adjoint, bound, offset };
    checked(squares(1.0, 1.0), absolute(2 * N), t)
}

/// The laws that fail are these.
#[track_caller]
fn only<S: Real>(checked: &Checked<S>, term: Term, laws: &[&str]) -> Vec<Finding<S>> {
    let failures: Vec<_> = checked.failures().cloned().collect();
    let named: Vec<_> = failures.iter().map(|finding| (finding.term, finding.law)).collect();
    let expected: Vec<_> = laws.iter().map(|law| (term, *law)).collect();
    assert_eq!(named, expected, "\n{checked}");
    failures
}

fn right<S: Real>() {
    only(&faulty::<S>(Fault::Nothing), Term::G, &[]);
    only(&differences::<S>(1.0, 8f64.sqrt(), 0.0), Term::T, &[]);
}

#[test]
fn what_is_right_passes() {
    right::<f32>();
    right::<f64>();
}

fn gradients<S: Real>() {
    let with = |factor: f64| checked::<S>(squares(factor, 2.0), absolute(N), identity());
    let doubled = only(&with(2.0), Term::F, &["gradient"]);
    assert!(doubled[0].advice.contains("0.5000 times"), "{}", doubled[0]);
    assert_eq!(doubled[0].witness.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["x", "d"]);
    only(&with(-1.0), Term::F, &["gradient"]);
    only(&with(1.01), Term::F, &["gradient"]);
    only(&checked::<S>(squares(1.0, 0.5), absolute(N), identity()), Term::F, &["Lipschitz constant"]);
    only(&checked::<S>(squares(f64::NAN, 1.0), absolute(N), identity()), Term::F, &["finite"]);
}

#[test]
fn a_wrong_gradient_is_named() {
    gradients::<f32>();
    gradients::<f64>();
}

fn operators<S: Real>() {
    let doubled = only(&differences::<S>(2.0, 3.0, 0.0), Term::T, &["adjoint"]);
    assert!(doubled[0].advice.contains("0.5000 times"), "{}", doubled[0]);
    // The pair shows it to anyone.
    let inner = Difference2d::new(3, 4).unwrap();
    let [(_, x), (_, y)] = &doubled[0].witness[..] else { panic!("{}", doubled[0]) };
    let mut tx = vec![S::ZERO; 2 * N];
    inner.apply(&mut tx, x, &mut []);
    let product: f64 = tx.iter().zip(y).map(|(a, b)| a.f64() * b.f64()).sum();
    assert!((product - doubled[0].left).abs() <= 1e-5 * product.abs());
    only(&differences::<S>(-1.0, 3.0, 0.0), Term::T, &["adjoint"]);
    let small = only(&differences::<S>(1.0, 2.0, 0.0), Term::T, &["norm bound"]);
    assert!(small[0].advice.starts_with("‖T‖ is at least 2.53"), "{}", small[0]);
    let affine = differences::<S>(1.0, 30.0, 1.0);
    assert!(affine.failures().any(|finding| finding.law == "linear"), "{affine}");
}

#[test]
fn a_wrong_operator_is_named() {
    operators::<f32>();
    operators::<f64>();
}

fn penalties<S: Real>() {
    let forgotten = only(&faulty::<S>(Fault::Convex), Term::G, &["weak convexity"]);
    // MCP with μ = 2 needs ρ = 1/μ.
    let needs = forgotten[0].advice.split("ρ of ").nth(1).unwrap().split(' ').next().unwrap();
    assert!((needs.parse::<f64>().unwrap() - 0.5).abs() < 0.01, "{}", forgotten[0]);
    let [(_, a), (_, b)] = &forgotten[0].witness[..] else { panic!("{}", forgotten[0]) };
    let middle: Vec<S> = a.iter().zip(b).map(|(&a, &b)| (a + b) * S::of(0.5)).collect();
    let g = Entrywise::<_, S>::new(Mcp::new(0.5, 2.0).unwrap(), N);
    let [at_a, at_m, at_b] = [a, &middle, b].map(|u| g.value(u, &mut []));
    assert!(at_m > 0.5 * (at_a + at_b), "{}", forgotten[0]);
    only(&faulty::<S>(Fault::Beta), Term::G, &["prox"]);
    only(&faulty::<S>(Fault::NoProx), Term::G, &["prox"]);
    only(&faulty::<S>(Fault::NotANumber), Term::G, &["value at the prox", "prox"]);
    only(&faulty::<S>(Fault::Lipschitz), Term::G, &["Lipschitz constant"]);
    only(&faulty::<S>(Fault::Subgradient), Term::G, &["subgradient"]);
}

#[test]
fn a_wrong_penalty_is_named() {
    penalties::<f32>();
    penalties::<f64>();
}

#[test]
fn findings_read_well() {
    let told = differences::<f64>(2.0, 3.0, 0.0).to_string();
    assert!(told.contains("holds  f gradient: (f(x + hd) − f(x − hd))/2h = ⟨∇f(x), d⟩"), "{told}");
    assert!(told.contains("FAILS  T adjoint: ⟨Tx, y⟩ = ⟨x, T*y⟩\n") && told.contains("\n       x = "), "{told}");
}

#[test]
fn large_and_tiny_units_are_no_faults() {
    for unit in [1e-6, 1e6] {
        let mut seeded = Seeded::new(5);
        let data: Vec<f64> = (0..N).map(|_| unit * seeded.normal()).collect();
        let layout = Layout::vector(N).unwrap();
        let f = MaskedLeastSquares::new(layout, data.clone(), None).unwrap();
        let matrix: Vec<f64> = (0..N * N).map(|_| unit * seeded.normal()).collect();
        let g = Entrywise::new(Mcp::new(unit, 3.0).unwrap(), N);
        let problem = Problem::new(f, g, Dense::new(matrix, N, N).unwrap()).unwrap();
        let checked = check(&problem, &data, &Options::default());
        assert!(checked.passed(), "{checked}");
    }
}
