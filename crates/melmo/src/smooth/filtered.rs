use crate::block::Layout;
use crate::error::Error;
use crate::real::Real;
use crate::smooth::{Ridge, Rounding, Smooth};

/// f(x) = f₀(x) + Σ_p R_p(x_p): a loss, and a smooth prior for each plane of an image, one plane after another.
///
/// L = L₀ + max L_p, and f is strongly convex with m = m₀ − max ρ_p‖T_p‖² where that is positive: a prior that is not convex, in a sum
/// that is.
pub struct Filtered<S> {
    loss: Box<dyn Smooth<S>>,
    planes: Vec<Ridge<S>>,
}

impl<S: Real> Filtered<S> {
    /// A loss of an image, and a prior of each plane of it.
    pub fn new(loss: Box<dyn Smooth<S>>, planes: Vec<Ridge<S>>) -> Result<Self, Error> {
        let size = planes.iter().map(Ridge::size).sum();
        Error::expect_len("the filters take the loss's variable", loss.layout().size(), size)?;
        Ok(Self { loss, planes })
    }

    /// The planes, and the part of x that belongs to each.
    fn parts(&self) -> impl Iterator<Item = (&Ridge<S>, std::ops::Range<usize>)> {
        let mut end = 0;
        self.planes.iter().map(move |plane| {
            let start = end;
            end += plane.size();
            (plane, start..end)
        })
    }

    /// The largest of something over the planes.
    fn most(&self, of: impl Fn(&Ridge<S>) -> f64) -> f64 {
        self.planes.iter().map(of).fold(0.0, f64::max)
    }
}

impl<S: Real> Smooth<S> for Filtered<S> {
    fn layout(&self) -> &Layout {
        self.loss.layout()
    }

    fn work_len(&self) -> usize {
        self.planes.iter().map(Ridge::work_len).fold(self.loss.work_len(), usize::max)
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let mut value = self.loss.value_grad(grad, x, work);
        for (plane, part) in self.parts() {
            value += plane.add(&mut grad[part.clone()], &x[part], work);
        }
        value
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.loss.lipschitz()? + self.most(Ridge::lipschitz))
    }

    fn strong_convexity(&self) -> Option<f64> {
        let m = self.loss.strong_convexity()? - self.most(Ridge::bent);
        Some(m * (1.0 - 4.0 * f64::EPSILON)).filter(|m| *m >= 0.0)
    }

    /// Potentials are nowhere negative.
    fn lower_bound(&self) -> Option<f64> {
        self.loss.lower_bound()
    }

    /// That of the loss and of every plane, and of the sum of their values.
    fn rounding(&self, x: &[S], value: f64, grad: &[S]) -> Rounding {
        let mut all = self.loss.rounding(x, value, grad);
        for (plane, part) in self.parts() {
            let own = plane.rounding(&x[part], value);
            all = Rounding { value: all.value + own.value, grad: all.grad + own.grad };
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{FilterBank, LinOp};
    use crate::penalty::{Scale, Separable, Spline};
    use crate::seeded::Seeded;
    use crate::smooth::{MaskedLeastSquares, laws};
    use crate::vector::norm2;

    fn ridge<S: Real>(image: (usize, usize)) -> Ridge<S> {
        let filters: Vec<S> =
            [[1.0, -2.0, 1.0, 0.0, 0.0, 0.0, -1.0, 2.0, -1.0], [0.0, -1.0, 0.0, -1.0, 4.0, -1.0, 0.0, -1.0, 0.0]]
                .concat()
                .into_iter()
                .map(|w: f64| S::of(0.1 * w))
                .collect();
        let spline = Spline::new(&[0.05, 0.3, 0.5], &[0.2, 0.1, 0.0]).unwrap();
        let bank = FilterBank::new(image, &filters, 3).unwrap();
        Ridge::new(bank, vec![spline, spline.scaled(2.0).unwrap()]).unwrap()
    }

    fn with<S: Real>(image: (usize, usize), planes: Vec<Ridge<S>>) -> Filtered<S> {
        let layout = Layout::matrix(planes.len() * image.0, image.1).unwrap();
        let y = Seeded::new(3).normals(layout.size());
        Filtered::new(Box::new(MaskedLeastSquares::new(layout, y, None).unwrap()), planes).unwrap()
    }

    fn filtered<S: Real>(image: (usize, usize)) -> Filtered<S> {
        with(image, vec![ridge(image)])
    }

    #[test]
    fn every_plane_has_a_prior_of_its_own() {
        let image = (6, 5);
        let gentle = |ridge: Ridge<f64>| ridge.scaled(vec![Scale::of(0.5); 60]).unwrap();
        let f = with(image, vec![ridge(image), gentle(ridge(image))]);
        laws::check(&f);
        let (x, mut work): (Vec<f64>, _) = (Seeded::new(5).normals(60), vec![f64::NAN; f.work_len()]);
        let (mut grad, mut expected) = (vec![0.0; 60], vec![0.0; 60]);
        let value = f.value_grad(&mut grad, &x, &mut work);
        let mut sum = f.loss.value_grad(&mut expected, &x, &mut work);
        for (part, plane) in [ridge(image), gentle(ridge(image))].iter().enumerate() {
            let part = 30 * part..30 * part + 30;
            sum += plane.add(&mut expected[part.clone()], &x[part], &mut work);
        }
        assert_eq!((value, grad), (sum, expected));
        assert_eq!(f.strong_convexity(), filtered::<f64>(image).strong_convexity());
    }

    #[test]
    fn obeys_the_laws() {
        for image in [(5, 6), (1, 7), (40, 3)] {
            laws::check(&filtered::<f64>(image));
        }
    }

    #[test]
    fn single_precision_stays_within_the_rounding_it_states() {
        let (single, double) = (filtered::<f32>((33, 40)), filtered::<f64>((33, 40)));
        let x: Vec<f32> = Seeded::new(5).normals(33 * 40);
        let exact: Vec<f64> = x.iter().map(|&x| x.into()).collect();
        let (mut grad, mut work) = (vec![0.0; x.len()], vec![f32::NAN; single.work_len()]);
        let value = single.value_grad(&mut grad, &x, &mut work);
        let (mut expected, mut work) = (vec![0.0; x.len()], vec![f64::NAN; double.work_len()]);
        let there = double.value_grad(&mut expected, &exact, &mut work);
        let allowed = single.rounding(&x, value, &grad);
        // The filters and the data of the single one are rounded too: no more than another such rounding.
        let apart: f64 = grad.iter().zip(&expected).map(|(&a, b)| (f64::from(a) - b).powi(2)).sum::<f64>().sqrt();
        assert!(apart <= 2.0 * allowed.grad && allowed.grad < 1e-2 * norm2(&expected), "{apart} {allowed:?}");
        assert!((value - there).abs() <= 2.0 * allowed.value, "{value} {there} {allowed:?}");
    }

    #[test]
    fn a_sum_of_many_potentials_loses_few_digits() {
        let prior = ridge::<f64>((512, 512));
        let x: Vec<f64> = Seeded::new(5).normals(512 * 512);
        let (mut grad, mut work) = (vec![0.0; x.len()], vec![0.0; prior.work_len()]);
        let value = prior.add(&mut grad, &x, &mut work);
        let lost = prior.rounding(&x, value).value;
        assert!(lost < 1e-12 * value, "{lost} of {value}");
    }

    #[test]
    fn is_the_sum_of_its_terms() {
        let f = filtered::<f64>((9, 8));
        let x: Vec<f64> = Seeded::new(5).normals(72);
        let (mut grad, mut work) = (vec![0.0; 72], vec![f64::NAN; f.work_len()]);
        let value = f.value_grad(&mut grad, &x, &mut work);
        let (mut expected, mut y) = (vec![0.0; 72], vec![0.0; 144]);
        let mut sum = f.loss.value_grad(&mut expected, &x, &mut work);
        let prior = ridge::<f64>((9, 8));
        let mut work = vec![0.0; prior.bank.work_len()];
        prior.bank.apply(&mut y, &x, &mut work);
        sum += y.iter().enumerate().map(|(i, y)| prior.potentials[i / 72].psi(*y)).sum::<f64>();
        y.iter_mut().enumerate().for_each(|(i, y)| *y = prior.potentials[i / 72].derivative(*y));
        prior.bank.adjoint_add(&mut expected, &y, &mut work);
        assert!((value - sum).abs() < 1e-12 * sum);
        assert!(grad.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn scales_are_those_of_each_response() {
        let (rows, cols) = (9, 8);
        let scale = |c: usize, i: usize, j: usize| Scale::of(0.5 + 0.1 * ((3 * c + 5 * i + 7 * j) % 11) as f32);
        let all = (0..rows).flat_map(|i| (0..2).flat_map(move |c| (0..cols).map(move |j| scale(c, i, j)))).collect();
        let prior = ridge::<f64>((rows, cols));
        let f = with((rows, cols), vec![ridge((rows, cols)).scaled(all).unwrap()]);
        laws::check(&f);
        assert_eq!(f.strong_convexity(), filtered::<f64>((rows, cols)).strong_convexity());
        let x: Vec<f64> = Seeded::new(5).normals(72);
        let (mut grad, mut work, mut y) = (vec![0.0; 72], vec![f64::NAN; f.work_len()], vec![0.0; 144]);
        let value = f.value_grad(&mut grad, &x, &mut work);
        let mut sum = f.loss.value_grad(&mut grad, &x, &mut work);
        prior.bank.apply(&mut y, &x, &mut vec![0.0; prior.bank.work_len()]);
        for (at, y) in y.iter().enumerate() {
            let s: f64 = scale(at / 72, at % 72 / cols, at % cols).get();
            sum += s * s * prior.potentials[at / 72].psi(y / s);
        }
        assert!((value - sum).abs() < 1e-12 * sum, "{value} {sum}");
        assert!(ridge::<f64>((rows, cols)).scaled(vec![Scale::of(1.0); 3]).is_err());
    }

    #[test]
    fn a_prior_that_bends_less_than_the_loss_leaves_it_convex() {
        let f = filtered::<f64>((9, 8));
        let m = f.strong_convexity().unwrap();
        let prior = ridge::<f64>((9, 8));
        let rho = Separable::<f64>::rho(&prior.potentials[0]);
        assert!(m > 0.0 && (m - (1.0 - rho * prior.bank.norm_bound().powi(2))).abs() < 1e-12);
        let steep = Spline::new(&[0.05, 0.06], &[9.0, 0.0]).unwrap();
        let bent = Ridge::new(prior.bank, vec![steep; 2]).unwrap();
        assert_eq!(with((9, 8), vec![bent]).strong_convexity(), None);
    }

    #[test]
    fn bad_parts_are_refused() {
        assert!(Ridge::new(ridge::<f64>((9, 8)).bank, vec![]).is_err());
        let other = filtered::<f64>((8, 8));
        assert!(Filtered::new(other.loss, vec![ridge((9, 8))]).is_err());
    }
}
