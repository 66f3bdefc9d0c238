//! A penalty of your own: implement `Separable`, and entries, groups and singular values come with it.

use melmo::prelude::*;

/// ψ(x) = λ·max(|x| − dead, 0): nothing is paid inside a dead zone.
///
/// ρ = 0, slope λ; the prox leaves the dead zone alone and shrinks towards it.
#[derive(Clone)]
struct DeadZone {
    lambda: f64,
    dead: f64,
}

impl<S: Real> Separable<S> for DeadZone {
    fn psi(&self, x: S) -> S {
        S::of(self.lambda) * (x.abs() - S::of(self.dead)).larger(S::ZERO)
    }

    fn prox_psi(&self, x: S, beta: S) -> S {
        let (s, dead) = (x.abs(), S::of(self.dead));
        let shrunk = (s - beta * S::of(self.lambda)).larger(dead);
        (if s <= dead { s } else { shrunk }).copysign(x)
    }

    fn derivative(&self, x: S) -> S {
        if x.abs() > S::of(self.dead) { S::of(self.lambda) * x.sign() } else { S::ZERO }
    }

    fn rho(&self) -> f64 {
        0.0
    }

    fn slope(&self) -> Option<f64> {
        Some(self.lambda)
    }
}

fn main() -> Result<(), Error> {
    let y = vec![0.3, -0.8, 2.0, -3.0, 1.1];
    let layout = Layout::vector(y.len())?;
    let loss = MaskedLeastSquares::new(layout.clone(), y.clone(), None)?;
    let penalty = Entrywise::new(DeadZone { lambda: 0.5, dead: 1.0 }, y.len());
    let problem = Problem::new(loss, penalty, Identity::new(layout))?;
    let method = VariableSmoothing { beta: problem.default_beta(), lipschitz: None, normalized: false };
    let mut solver = method.start(&problem, &y)?;
    let report = run(&mut solver, &Options::new(Stop::after(5000)), &mut []);

    println!("y = {y:.2?}");
    println!("x = {:.2?}", report.x);
    // Inside the dead zone nothing moves; outside, ½(x − y)² + λ(|x| − 1) has its minimum λ closer, but not past 1.
    let expected = [0.3, -0.8, 1.5, -2.5, 1.0];
    assert!(report.x.iter().zip(expected).all(|(x, e)| (x - e).abs() < 0.05));
    Ok(())
}
