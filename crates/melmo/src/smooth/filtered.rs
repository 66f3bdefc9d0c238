use crate::block::Layout;
use crate::error::Error;
use crate::operator::{FilterBank, LinOp};
use crate::penalty::{Scale, Separable, Spline, Table};
use crate::real::Real;
use crate::smooth::{Rounding, Smooth};
use crate::vector::{norm2, sum_error};

/// f(x) = f₀(x) + Σ_c Σᵢ φ_c((T_c x)ᵢ): a loss and a smooth prior of an image, T a bank of filters, φ_c a spline for each.
///
/// With ρ = max ρ_c and M = max sup φ_c″: L = L₀ + max(M, ρ)‖T‖², and f is strongly convex with m = m₀ − ρ‖T‖² where that is positive:
/// a prior that is not convex, in a sum that is. Goujon, Neumayer, Unser, "Learning weakly convex
/// regularizers for convergent image-reconstruction algorithms" (2023).
///
/// Scales s make it s²φ_c(·/s) at each response: second derivatives, and so L, ρ and m, are as without them.
pub struct Filtered<S> {
    loss: Box<dyn Smooth<S>>,
    bank: FilterBank<S>,
    potentials: Vec<Spline>,
    /// The same, as the loops read them.
    tables: Vec<Table<S>>,
    /// For every row its filters, for every filter the row's pixels; empty where all are 1.
    scales: Vec<Scale>,
    /// The largest of them.
    widest: f64,
}

impl<S: Real> Filtered<S> {
    /// A loss of an image, filters of it, and a potential for each of them.
    pub fn new(loss: Box<dyn Smooth<S>>, bank: FilterBank<S>, potentials: Vec<Spline>) -> Result<Self, Error> {
        Error::expect_len("the filters take the loss's variable", loss.layout().size(), bank.domain().size())?;
        Error::expect_len("potentials", bank.channels(), potentials.len())?;
        let tables = potentials.iter().map(Spline::table).collect();
        Ok(Self { loss, bank, potentials, tables, scales: Vec::new(), widest: 1.0 })
    }

    /// A scale for every response: row after row, in a row filter after filter.
    pub fn scaled(mut self, scales: Vec<Scale>) -> Result<Self, Error> {
        Error::expect_len("scales", self.bank.range().size(), scales.len())?;
        self.widest = scales.iter().map(|s| s.get()).fold(0.0, f64::max);
        self.scales = scales;
        Ok(self)
    }

    /// The scales of a row of a filter's responses; none where all are 1.
    fn scales_of(&self, c: usize, i: usize, cols: usize) -> Option<&[Scale]> {
        self.scales.get((i * self.tables.len() + c) * cols..)?.get(..cols)
    }

    /// The largest of something over the potentials.
    fn most(&self, of: impl Fn(&Spline) -> f64) -> f64 {
        self.potentials.iter().map(of).fold(0.0, f64::max)
    }

    /// ρ‖T‖²: how far the prior bends down.
    fn bent(&self) -> f64 {
        self.most(Separable::<S>::rho) * self.bank.norm_bound().powi(2)
    }

    /// max(M, ρ): the Lipschitz constant of every φ_c′.
    fn steepest(&self) -> f64 {
        self.most(|phi| phi.curvature().max(Separable::<S>::rho(phi)))
    }
}

impl<S: Real> Smooth<S> for Filtered<S> {
    fn layout(&self) -> &Layout {
        self.loss.layout()
    }

    fn work_len(&self) -> usize {
        self.loss.work_len().max(self.bank.through_work_len())
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let value = self.loss.value_grad(grad, x, work);
        let prior = self.bank.through(grad, x, work, |c, i, row| match self.scales_of(c, i, row.len()) {
            Some(scales) => self.tables[c].replace_scaled(row, scales),
            None => self.tables[c].replace(row),
        });
        value + prior
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.loss.lipschitz()? + self.steepest() * self.bank.norm_bound().powi(2))
    }

    fn strong_convexity(&self) -> Option<f64> {
        Some((self.loss.strong_convexity()? - self.bent()) * (1.0 - 4.0 * f64::EPSILON)).filter(|m| *m >= 0.0)
    }

    /// Potentials are nowhere negative.
    fn lower_bound(&self) -> Option<f64> {
        self.loss.lower_bound()
    }

    /// That of the loss, of the responses (ϑ‖x‖, enlarged by φ′ and T*), of φ′ (a few of its pieces) and of T*. Of the value: what the
    /// responses move it by, and its sum.
    fn rounding(&self, x: &[S], value: f64, grad: &[S]) -> Rounding {
        let own = self.loss.rounding(x, value, grad);
        let (norm, applied) = (self.bank.norm_bound(), LinOp::<S>::rounding(&self.bank) * norm2(x));
        let responses = norm * norm2(x) + applied;
        let slopes = (self.steepest() * responses).min(
            self.most(|phi| Separable::<S>::slope(phi).unwrap_or(f64::INFINITY))
                * self.widest
                * (self.bank.range().size() as f64).sqrt(),
        );
        let of_slopes = self.steepest() * applied + 64.0 * S::EPSILON * slopes;
        Rounding {
            value: own.value
                + slopes * applied
                + (64.0 * S::EPSILON + sum_error(self.bank.range().size())) * value.abs(),
            grad: own.grad + norm * of_slopes + LinOp::<S>::rounding(&self.bank) * slopes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::LinOp;
    use crate::seeded::Seeded;
    use crate::smooth::{MaskedLeastSquares, laws};

    fn filtered<S: Real>(image: (usize, usize)) -> Filtered<S> {
        let mut seeded = Seeded::new(3);
        let layout = Layout::matrix(image.0, image.1).unwrap();
        let loss = MaskedLeastSquares::new(layout, seeded.normals(image.0 * image.1), None).unwrap();
        let filters: Vec<S> =
            [[1.0, -2.0, 1.0, 0.0, 0.0, 0.0, -1.0, 2.0, -1.0], [0.0, -1.0, 0.0, -1.0, 4.0, -1.0, 0.0, -1.0, 0.0]]
                .concat()
                .into_iter()
                .map(|w: f64| S::of(0.1 * w))
                .collect();
        let spline = Spline::new(&[0.05, 0.3, 0.5], &[0.2, 0.1, 0.0]).unwrap();
        let bank = FilterBank::new(image, &filters, 3).unwrap();
        Filtered::new(Box::new(loss), bank, vec![spline, spline.scaled(2.0).unwrap()]).unwrap()
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
    fn is_the_sum_of_its_terms() {
        let f = filtered::<f64>((9, 8));
        let x: Vec<f64> = Seeded::new(5).normals(72);
        let (mut grad, mut work) = (vec![0.0; 72], vec![f64::NAN; f.work_len()]);
        let value = f.value_grad(&mut grad, &x, &mut work);
        let (mut expected, mut y) = (vec![0.0; 72], vec![0.0; 144]);
        let mut sum = f.loss.value_grad(&mut expected, &x, &mut work);
        let mut work = vec![0.0; f.bank.work_len()];
        f.bank.apply(&mut y, &x, &mut work);
        sum += y.iter().enumerate().map(|(i, y)| f.potentials[i / 72].phi(*y)).sum::<f64>();
        y.iter_mut().enumerate().for_each(|(i, y)| *y = f.potentials[i / 72].derivative(*y));
        f.bank.adjoint_add(&mut expected, &y, &mut work);
        assert!((value - sum).abs() < 1e-12 * sum);
        assert!(grad.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn scales_are_those_of_each_response() {
        let (rows, cols) = (9, 8);
        let scale = |c: usize, i: usize, j: usize| Scale::of(0.5 + 0.1 * ((3 * c + 5 * i + 7 * j) % 11) as f32);
        let all = (0..rows).flat_map(|i| (0..2).flat_map(move |c| (0..cols).map(move |j| scale(c, i, j)))).collect();
        let f = filtered::<f64>((rows, cols)).scaled(all).unwrap();
        laws::check(&f);
        assert_eq!(f.strong_convexity(), filtered::<f64>((rows, cols)).strong_convexity());
        let x: Vec<f64> = Seeded::new(5).normals(72);
        let (mut grad, mut work, mut y) = (vec![0.0; 72], vec![f64::NAN; f.work_len()], vec![0.0; 144]);
        let value = f.value_grad(&mut grad, &x, &mut work);
        let mut sum = f.loss.value_grad(&mut grad, &x, &mut work);
        f.bank.apply(&mut y, &x, &mut vec![0.0; f.bank.work_len()]);
        for (at, y) in y.iter().enumerate() {
            let s: f64 = scale(at / 72, at % 72 / cols, at % cols).get();
            sum += s * s * f.potentials[at / 72].phi(y / s);
        }
        assert!((value - sum).abs() < 1e-12 * sum, "{value} {sum}");
        assert!(filtered::<f64>((rows, cols)).scaled(vec![Scale::of(1.0); 3]).is_err());
    }

    #[test]
    fn a_prior_that_bends_less_than_the_loss_leaves_it_convex() {
        let f = filtered::<f64>((9, 8));
        let m = f.strong_convexity().unwrap();
        let rho = Separable::<f64>::rho(&f.potentials[0]);
        assert!(m > 0.0 && (m - (1.0 - rho * f.bank.norm_bound().powi(2))).abs() < 1e-12);
        let steep = Spline::new(&[0.05, 0.06], &[9.0, 0.0]).unwrap();
        let bent = Filtered { potentials: vec![steep; 2], ..f };
        assert_eq!(bent.strong_convexity(), None);
    }

    #[test]
    fn bad_parts_are_refused() {
        let f = filtered::<f64>((9, 8));
        assert!(Filtered::new(f.loss, f.bank.clone(), vec![]).is_err());
        let other = filtered::<f64>((8, 8));
        assert!(Filtered::new(other.loss, f.bank, f.potentials).is_err());
    }
}
