//! The learned prior beside a loss of one's own.

use std::sync::Arc;

use melmo::block::Layout;
use melmo::real::Real;
use melmo::smooth::{Filtered, Ridge, Rounding, Smooth};
use melmo::vector::norm2;

use super::super::colours::Turn;
use super::prior;
use crate::error::Error;

/// f(x) + Σ_c Σᵢ noise²·ψ_c((T_c x)ᵢ/noise): a loss of a picture of rows×cols and the plain learned prior for noise of that standard deviation, which
/// is `noise/range` of the full range. Three channels, one after another, are seen as light and colour.
///
/// Where f is strongly convex with m ≥ 1, as ½‖x − y‖² is, the sum is strongly convex.
pub fn with_loss<S: Real>(
    loss: Arc<dyn Smooth<S>>,
    shape: (usize, usize),
    channels: usize,
    noise: f64,
    range: f64,
) -> Result<Box<dyn Smooth<S>>, Error> {
    if !matches!(channels, 1 | 3) {
        return Err(Error::input("the learned prior", format!("{channels} channels"), "one channel or three"));
    }
    if !(noise > 0.0 && noise.is_finite() && range > 0.0 && range.is_finite()) {
        let found = format!("noise {noise} in a range of {range}");
        return Err(Error::input("the learned prior", found, "finite numbers above 0"));
    }
    let (bank, potentials) = prior::<S>(shape, noise / range / (channels as f64).sqrt())?;
    let wide = potentials.iter().map(|psi| psi.scaled(1.0 / noise)).collect::<Result<Vec<_>, _>>()?;
    let planes = (0..channels).map(|_| Ridge::new(bank.clone(), wide.clone())).collect::<Result<_, _>>()?;
    let inner = Turned { f: loss, how: if channels == 3 { Way::Together } else { Way::None } };
    let f = Arc::new(Filtered::new(Box::new(inner), planes)?);
    Ok(Box::new(Turned { f, how: if channels == 3 { Way::Apart } else { Way::None } }))
}

/// What is done to x before f sees it; the other is done to the gradient.
enum Way {
    None,
    Apart,
    Together,
}

/// f(Ox), O a turn of colours: orthogonal, so that all constants of f stay.
struct Turned<S> {
    f: Arc<dyn Smooth<S>>,
    how: Way,
}

impl<S: Real> Turned<S> {
    fn turn(&self, x: &mut [S]) {
        match self.how {
            Way::None => {}
            Way::Apart => Turn::OPPONENT.apart(x),
            Way::Together => Turn::OPPONENT.together(x),
        }
    }

    fn back(&self, x: &mut [S]) {
        match self.how {
            Way::None => {}
            Way::Apart => Turn::OPPONENT.together(x),
            Way::Together => Turn::OPPONENT.apart(x),
        }
    }
}

impl<S: Real> Smooth<S> for Turned<S> {
    fn layout(&self) -> &Layout {
        self.f.layout()
    }

    fn work_len(&self) -> usize {
        self.f.work_len() + self.f.layout().size()
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let (turned, work) = work.split_at_mut(x.len());
        turned.copy_from_slice(x);
        self.turn(turned);
        let value = self.f.value_grad(grad, turned, work);
        self.back(grad);
        value
    }

    fn lipschitz(&self) -> Option<f64> {
        self.f.lipschitz()
    }

    fn strong_convexity(&self) -> Option<f64> {
        self.f.strong_convexity()
    }

    fn lower_bound(&self) -> Option<f64> {
        self.f.lower_bound()
    }

    /// That of f, and of a turn: 4ε of x, which moves the gradient by L times that, and 4ε of the gradient.
    fn rounding(&self, x: &[S], value: f64, grad: &[S]) -> Rounding {
        let own = self.f.rounding(x, value, grad);
        if matches!(self.how, Way::None) {
            return own;
        }
        let moved = 4.0 * S::EPSILON * norm2(x);
        let steepness = self.f.lipschitz().unwrap_or(f64::INFINITY);
        Rounding {
            value: own.value + moved * (norm2(grad) + steepness * moved),
            grad: own.grad + steepness * moved + 4.0 * S::EPSILON * norm2(grad),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melmo::seeded::Seeded;
    use melmo::smooth::MaskedLeastSquares;

    #[test]
    fn it_is_the_loss_and_a_prior_whose_gradient_is_its_own() {
        for channels in [1, 3] {
            let (rows, cols) = (8, 9);
            let n = rows * cols * channels;
            let layout = Layout::matrix(rows * channels, cols).unwrap();
            let y: Vec<f64> = Seeded::new(1).normals(n);
            let loss = Arc::new(MaskedLeastSquares::new(layout, y, None).unwrap());
            let f = with_loss::<f64>(loss, (rows, cols), channels, 0.1, 1.0).unwrap();
            assert!(f.strong_convexity().unwrap() > 1e-3);
            let x: Vec<f64> = Seeded::new(2).normals(n);
            let (mut grad, mut work) = (vec![0.0; n], vec![0.0; f.work_len()]);
            f.value_grad(&mut grad, &x, &mut work);
            let mut spare = vec![0.0; n];
            for at in [0, n / 2, n - 1] {
                let mut moved = |by: f64| {
                    let mut x = x.clone();
                    x[at] += by;
                    f.value_grad(&mut spare, &x, &mut work)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((slope - grad[at]).abs() < 1e-5, "{channels}: {slope} {}", grad[at]);
            }
        }
        let layout = Layout::matrix(4, 4).unwrap();
        let loss = Arc::new(MaskedLeastSquares::new(layout, vec![0.0; 16], None).unwrap());
        assert!(with_loss::<f64>(loss.clone(), (4, 4), 2, 0.1, 1.0).is_err());
        assert!(with_loss::<f64>(loss.clone(), (4, 4), 1, 0.0, 1.0).is_err());
        assert!(with_loss::<f64>(loss, (4, 5), 1, 0.1, 1.0).is_err());
    }
}
