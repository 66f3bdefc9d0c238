//! Verification in strips: what holds of the whole holds of its strips together, and what is forged fails in both.

use melmo::block::Layout;
use melmo::certificate::{Asked, Certificate, Claim, Verification};
use melmo::error::Error;
use melmo::geometry::{Norm, Oracle, euclidean, for_layout};
use melmo::operator::{Difference2d, Difference3d, Identity, LinOp};
use melmo::penalty::{Entrywise, Group, L1, Mcp, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::schedule::Power;
use melmo::seeded::Seeded;
use melmo::smooth::MaskedLeastSquares;
use melmo::solver::{Admm, Melmo, Path, Solver};
use melmo::space::Host;
use melmo_mpi::{Piece, strips_within, verify_in_strips};

use crate::whole::Kind;

const ROWS: usize = 19;

/// A picture or a volume and its λ; `convex`: its energy is, so that there is a gap.
struct Given {
    kind: Kind,
    y: Vec<f64>,
    cols: usize,
    convex: bool,
}

impl Given {
    fn new(kind: Kind, cols: usize, convex: bool) -> Self {
        let high = if let Kind::Volume(high) = kind { high } else { 1 };
        let y = Seeded::new(3).normals(ROWS * high * cols);
        Self { kind, y, cols, convex }
    }

    /// The problem of the rows that a piece holds, from data in `S`.
    fn problem<S: Real, R: Real>(&self, piece: &Piece) -> Result<Problem<R>, Error> {
        let width = self.y.len() / ROWS;
        let held = &self.y[piece.held.start * width..piece.held.end * width];
        let y = held.iter().map(|&v| R::of(S::of(v).f64())).collect();
        let (t, high): (Box<dyn LinOp<R>>, usize) = match self.kind {
            Kind::Volume(high) => (Box::new(Difference3d::new(piece.held.len(), high, self.cols)?), high),
            _ => (Box::new(Difference2d::new(piece.held.len(), self.cols)?), 1),
        };
        let f = MaskedLeastSquares::new(Layout::matrix(piece.held.len() * high, self.cols)?, y, None)?;
        let g: Box<dyn Prox<R>> = match self.kind {
            Kind::Volume(_) => Box::new(Group::pixels(L1::new(0.3)?, t.range())?),
            // ρ‖T‖² = 8/μ is below 1, or above.
            _ => Box::new(Entrywise::new(Mcp::new(0.2, if self.convex { 9.0 } else { 3.0 })?, t.range().size())),
        };
        Problem::from_boxes(Box::new(f), g, t)
    }

    fn whole<S: Real>(&self) -> Problem<S> {
        self.problem::<S, S>(&Piece::of(ROWS, 1, 0, 1)).unwrap()
    }

    fn in_strips<S: Real, R: Real>(
        &self,
        certificate: &Certificate<S>,
        x: &[S],
        count: usize,
    ) -> Result<Verification, Error> {
        let tolerance = Certificate::<S>::default_tolerance();
        verify_in_strips(certificate, x, (ROWS, count), tolerance, |piece| self.problem::<S, R>(piece))
    }
}

/// A point some steps on, with its certificate and whatever it proves as its claim.
fn certified<S: Real>(problem: &Problem<S>, norm: Option<Norm>, stored: bool) -> (Certificate<S>, Vec<S>) {
    let start = vec![S::ZERO; problem.layout().size()];
    let geometry = || match norm {
        Some(norm) => for_layout(norm, problem.layout(), Oracle::Auto).unwrap(),
        None => euclidean(problem.layout()),
    };
    let mut solver: Box<dyn Solver<S> + '_> = match stored {
        true => {
            let path = Path { beta: 1.0, ratio: 1.0, end: 1.0, relaxation: 1.0 };
            Box::new(Admm::new(problem, path, &start).unwrap().in_norm(geometry()).unwrap())
        }
        false => Box::new(Melmo::on(Host::new(problem, geometry()).unwrap(), Power::balanced(0.3), &start).unwrap()),
    };
    solver.by_ref().take(40).for_each(drop);
    let norms = solver.norms();
    let proven = solver.proven(&norms);
    // Sums of strips are rounded otherwise, which shows in single precision.
    let more = if S::EPSILON > 1e-10 { 1.3 } else { 1.0 + 1e-6 };
    let claim = Claim {
        dual_norm: Some(more * proven.dual_norm),
        prox_gap: Some(more * proven.prox_gap),
        gap: proven.gap.map(|gap| more * gap),
    };
    let asked = Asked { claim: Some(claim), ..Asked::default() };
    let certificate = solver.certificate(asked).unwrap();
    assert_eq!(certificate, solver.certify(asked).certificate.unwrap(), "z is all that is left out");
    assert_eq!(certificate.u.is_some(), stored);
    (certificate, solver.x())
}

const COUNTS: [usize; 4] = [1, 2, 5, ROWS];

#[test]
fn strips_find_what_the_whole_finds() {
    for (kind, cols, convex) in [(Kind::Image, 13, true), (Kind::Image, 13, false), (Kind::Volume(4), 6, true)] {
        let given = Given::new(kind, cols, convex);
        let problem = given.whole::<f64>();
        for norm in [None, Some(Norm::L2), Some(Norm::L1), Some(Norm::Linf), Some(Norm::Row)] {
            for stored in [false, true] {
                let (certificate, x) = certified(&problem, norm, stored);
                assert_eq!(certificate.gap().is_some(), convex);
                let whole = certificate.verify(&problem, &x, 1e-6).unwrap();
                assert!(whole.passed(), "{whole:?}");
                for count in COUNTS {
                    let strips = given.in_strips::<f64, f64>(&certificate, &x, count).unwrap();
                    assert!(strips.passed(), "{norm:?}, {count}: {strips:?}");
                    assert_eq!(strips.checks.len(), whole.checks.len());
                    for (a, b) in strips.checks.iter().zip(&whole.checks) {
                        assert_eq!(a.what, b.what);
                        let what = a.what;
                        // Bounds on rounding count the rows of neighbours too: of one row three.
                        let room = if what.contains("rounding") { 2.0 } else { 1e-6 };
                        for (a, b) in [(a.left, b.left), (a.right, b.right)] {
                            assert!((a - b).abs() <= room * b.abs(), "{what}, {norm:?}, {count}: {a:e} and {b:e}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn points_in_f32_are_verified_in_f64() {
    for (kind, cols) in [(Kind::Image, 13), (Kind::Volume(4), 6)] {
        let given = Given::new(kind, cols, true);
        let problem = given.whole::<f32>();
        for stored in [false, true] {
            let (certificate, x) = certified(&problem, None, stored);
            for count in COUNTS {
                let found = given.in_strips::<f32, f64>(&certificate, &x, count).unwrap();
                assert!(found.passed(), "{count}: {found:?}");
                let found = given.in_strips::<f32, f32>(&certificate, &x, count).unwrap();
                assert!(found.passed(), "{count}: {found:?}");
            }
        }
    }
}

/// Changes one number to what is not so.
type Forge<S> = fn(&mut Certificate<S>);

fn forgeries<S: Real>() -> Vec<(&'static str, Forge<S>)> {
    vec![
        ("stationarity", |c| {
            c.dual_norm.lower *= 0.5;
            c.dual_norm.upper *= 0.5;
        }),
        ("proximal gap", |c| c.prox_gap *= 0.9),
        ("β", |c| c.beta *= 0.9),
        ("claimed", |c| {
            let claim = c.claim.as_mut().unwrap();
            claim.dual_norm = Some(0.9 * c.dual_norm.lower);
        }),
        ("F − F* at most", |c| c.optimality.as_mut().unwrap().gap *= 0.5),
        ("F(x)", |c| c.optimality.as_mut().unwrap().objective -= 1.0),
        ("claimed gap", |c| {
            let claim = c.claim.as_mut().unwrap();
            claim.gap = Some(0.5 * c.optimality.unwrap().gap);
        }),
    ]
}

#[test]
fn what_is_forged_fails() {
    fn fail<S: Real>(given: &Given) {
        let (honest, x) = certified(&given.whole::<S>(), None, false);
        for (what, forge) in forgeries::<S>() {
            let mut forged = honest.clone();
            forge(&mut forged);
            let found = given.in_strips::<S, f64>(&forged, &x, 3).unwrap();
            assert!(!found.passed(), "{} {what}: {found:?}", S::NAME);
        }
        for at in [0, x.len() / 2, x.len() - 1] {
            let mut moved = x.clone();
            moved[at] += S::of(3.0);
            assert!(!given.in_strips::<S, f64>(&honest, &moved, 3).unwrap().passed(), "x moved at {at}");
        }
    }
    let given = Given::new(Kind::Image, 13, true);
    fail::<f64>(&given);
    fail::<f32>(&given);
}

#[test]
fn what_strips_cannot_tell_is_refused() {
    let given = Given::new(Kind::Image, 13, true);
    let problem = given.whole::<f64>();
    let (certificate, x) = certified(&problem, None, false);
    let said = |found: Result<Verification, Error>| found.unwrap_err().to_string();
    for norm in [Norm::Column, Norm::Spectral, Norm::Nuclear] {
        let (certificate, x) = certified(&problem, Some(norm), false);
        let said = said(given.in_strips::<f64, f64>(&certificate, &x, 2));
        assert!(said.contains(&norm.to_string()), "{said}");
    }
    assert!(said(given.in_strips::<f64, f64>(&certificate, &x[1..], 2)).contains("rows"));
    assert!(said(given.in_strips::<f64, f32>(&certificate, &x, 2)).contains("f32"));
    let mut other = certificate.clone();
    other.precision = "f32".into();
    assert!(said(given.in_strips::<f64, f64>(&other, &x, 2)).contains("f32"));
    let mut of_others = certificate.clone();
    of_others.norms[0].block.rows += 1;
    assert!(given.in_strips::<f64, f64>(&of_others, &x, 2).is_err());
    let mut not_a_number = x.clone();
    not_a_number[100] = f64::NAN;
    assert!(given.in_strips::<f64, f64>(&certificate, &not_a_number, 2).is_err());
    let mut short = certificate.clone();
    short.u = Some(vec![0.0; 5]);
    assert!(said(given.in_strips::<f64, f64>(&short, &x, 2)).contains('5'));
    let stopped =
        verify_in_strips::<f64, f64>(&certificate, &x, (ROWS, 2), 1e-6, |_| Err(Error::Unsupported("stopped".into())));
    assert!(stopped.is_err());
    let layout = Layout::matrix(ROWS, 13).unwrap();
    let identity = |piece: &Piece| {
        let layout = Layout::matrix(piece.held.len(), 13)?;
        let f = MaskedLeastSquares::new(layout.clone(), vec![1.0; layout.size()], None)?;
        Problem::new(f, Entrywise::new(L1::new(0.1)?, layout.size()), Identity::new(layout))
    };
    let whole = identity(&Piece::of(ROWS, 1, 0, 1)).unwrap();
    let x = vec![0.5; layout.size()];
    let norms = for_layout::<f64>(Norm::L2, &layout, Oracle::Auto).unwrap().norms();
    let mut certificate = Certificate::at(&whole, &x, 0.5, norms, Asked::default()).certificate.unwrap();
    assert!(said(verify_in_strips(&certificate, &x, (ROWS, 2), 1e-6, identity)).contains("x̃"));
    certificate.stationarity = None;
    assert!(said(verify_in_strips(&certificate, &x, (ROWS, 2), 1e-6, identity)).contains("differences"));
}

#[test]
fn strips_fit_into_the_memory_that_is_given() {
    // 2000 slices of 2000×2000 in f64: 24 numbers an entry are 768 MB a slice.
    let count = strips_within::<f64>(64 << 30, 2000, 4_000_000, 3).unwrap();
    let own = 2000usize.div_ceil(count);
    assert!((own + 2) * 768_000_000 <= 64 << 30, "{count} strips");
    assert!((own + 3) * 768_000_000 > 60 << 30, "{count} strips are more than are needed");
    assert_eq!(strips_within::<f64>(1 << 40, 10, 10, 2), Some(1));
    assert_eq!(strips_within::<f64>(1 << 30, 2000, 4_000_000, 3), None);
}
