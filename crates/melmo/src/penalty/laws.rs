//! What every penalty must satisfy. The tests of the penalties call these.

use crate::error::Error;
use crate::penalty::{Envelope, Prox, Separable, Streamed};
use crate::seeded::Seeded;
use crate::vector::{dot, norm2};

/// The constructor refused, and named that parameter.
pub fn refuses<T>(parameter: &str, built: Result<T, Error>) {
    assert!(matches!(built, Err(Error::Parameter { name, .. }) if name == parameter), "{parameter} was accepted");
}

fn close(a: f64, b: f64, tolerance: f64, context: &str) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()) || a == b, "{context}: {a} against {b}");
}

/// β from far below the limit 1/ρ to near it.
fn betas(rho: f64) -> Vec<f64> {
    if rho == 0.0 { vec![1e-3, 0.3, 1.0, 4.0] } else { [1e-3, 0.1, 0.5, 0.9].map(|share| share / rho).to_vec() }
}

/// Minimises a strongly convex function between two numbers: a grid, then golden section around its best point.
fn minimise(h: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    const CELLS: usize = 4000;
    let at = |i: usize| from + (to - from) * i as f64 / CELLS as f64;
    let best = (0..=CELLS).min_by(|&i, &j| h(at(i)).total_cmp(&h(at(j)))).unwrap();
    let (mut left, mut right) = (at(best.saturating_sub(1)), at((best + 1).min(CELLS)));
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    while right - left > 1e-9 {
        let (a, b) = (right - ratio * (right - left), left + ratio * (right - left));
        let to_the_left = h(a) < h(b) || (h(a) == h(b) && h(left) <= h(right)); // both may lie behind a wall
        if to_the_left { right = b } else { left = a }
    }
    0.5 * (left + right)
}

/// The laws of a penalty of one number, in both precisions.
pub fn scalar<P: Separable<f64> + Separable<f32>>(psi: &P) {
    let rho = Separable::<f64>::rho(psi);
    assert!(Separable::<f64>::psi(psi, f64::NAN).is_nan() && Separable::<f64>::prox_psi(psi, f64::NAN, 0.1).is_nan());
    assert!(Separable::<f64>::envelope_slope(psi, f64::NAN, 0.1).is_nan());
    for i in -60..=60 {
        let x = f64::from(i) / 11.0;
        derivative(psi, x);
        for beta in betas(rho) {
            let z: f64 = psi.prox_psi(x, beta);
            proximal(psi, x, z, beta);
            envelope(psi, x, z, beta);
            close(psi.prox_psi(x as f32, beta as f32).into(), z, 2e-5, "prox in f32");
            if Separable::<f64>::is_even(psi) {
                assert_eq!(psi.prox_psi(-x, beta), -z);
                assert_eq!(psi.psi(-x), psi.psi(x));
            }
        }
    }
}

/// z minimises ψ(v) + (x−v)²/(2β).
fn proximal(psi: &impl Separable<f64>, x: f64, z: f64, beta: f64) {
    let h = |v: f64| psi.psi(v) + (x - v) * (x - v) / (2.0 * beta);
    let brute = minimise(h, -7.0, 7.0);
    assert!(h(z) <= h(brute) + 1e-12 * (1.0 + h(brute).abs()), "prox at {x}, β = {beta}: {z} against {brute}");
    // Golden section finds a flat minimum to about √ε. A domain of one point is missed by the grid altogether.
    if h(brute).is_finite() {
        close(z, brute, 1e-5, "prox against brute force");
    }
}

/// The envelope agrees with its definition, its slope with its own differences and with sup |ψ′|.
fn envelope(psi: &(impl Separable<f64> + Separable<f32>), x: f64, z: f64, beta: f64) {
    let (value, slope): (f64, f64) = psi.envelope(x, beta);
    close(value, psi.psi(z) + (x - z) * (x - z) / (2.0 * beta), 1e-11, "envelope");
    close(slope, (x - z) / beta, 1e-11, "slope of the envelope");
    assert!(Separable::<f64>::slope(psi).is_none_or(|most| slope.abs() <= most * (1.0 + 1e-12)));
    let step = 1e-4 * beta;
    let difference = (psi.envelope(x + step, beta).0 - psi.envelope(x - step, beta).0) / (2.0 * step);
    close(slope, difference, 2e-4, "slope against differences");
    let (value32, slope32) = psi.envelope(x as f32, beta as f32);
    close(value32.into(), value, 1e-5 * (1.0 + slope.abs()), "envelope in f32");
    // An indicator's (x − z)/β keeps the digits of x only.
    let lost = if Separable::<f64>::slope(psi).is_none() { 1e-6 * x.abs() / beta } else { 0.0 };
    close(slope32.into(), slope, 1e-5 + lost, "slope in f32");
    close(psi.envelope_slope(x, beta), slope, 1e-13, "slope alone");
    close(psi.envelope_slope(x as f32, beta as f32).into(), slope, 1e-5 + lost, "slope alone in f32");
}

/// ψ′ agrees with differences where ψ is finite and smooth, and is 0 at 0.
fn derivative(psi: &impl Separable<f64>, x: f64) {
    let step = 1e-6;
    let (after, before) = (psi.psi(x + step), psi.psi(x - step));
    if x == 0.0 {
        assert_eq!(psi.derivative(x), 0.0);
    } else if after.is_finite() && before.is_finite() {
        close(psi.derivative(x), (after - before) / (2.0 * step), 1e-5, "derivative");
    }
}

/// `prox` alone, so that the envelope comes from its definition.
struct Plain<'a>(&'a dyn Prox<f64>);

impl Prox<f64> for Plain<'_> {
    fn size(&self) -> usize {
        self.0.size()
    }
    fn weak_convexity(&self) -> f64 {
        self.0.weak_convexity()
    }
    fn lipschitz(&self) -> Option<f64> {
        self.0.lipschitz()
    }
    fn work_len(&self) -> usize {
        self.0.work_len()
    }
    fn value(&self, u: &[f64], work: &mut [f64]) -> f64 {
        self.0.value(u, work)
    }
    fn prox(&self, z: &mut [f64], u: &[f64], beta: f64, work: &mut [f64]) -> f64 {
        self.0.prox(z, u, beta, work)
    }
    fn subgradient(&self, v: &mut [f64], u: &[f64], work: &mut [f64]) -> f64 {
        self.0.subgradient(v, u, work)
    }
}

/// A fixed sequence of standard normal numbers.
pub fn noise(n: usize, seed: u64) -> Vec<f64> {
    Seeded::new(seed).normals(n)
}

/// The laws of a penalty of a whole buffer, at points of several sizes and at 0.
pub fn whole(g: &dyn Prox<f64>) {
    for (seed, size) in [(1, 0.0), (2, 0.05), (3, 0.6), (4, 4.0)] {
        let u: Vec<f64> = noise(g.size(), seed).iter().map(|v| size * v).collect();
        subgradient(g, &u);
        for beta in betas(g.weak_convexity()) {
            buffer_proximal(g, &u, beta);
            buffer_envelope(g, &u, beta);
        }
    }
}

/// The prox is better than its neighbours, one coordinate at a time and in mixed directions, and returns g(z).
fn buffer_proximal(g: &dyn Prox<f64>, u: &[f64], beta: f64) {
    let mut work = vec![f64::NAN; g.work_len()];
    let mut z = vec![f64::NAN; u.len()];
    let at_prox = g.prox(&mut z, u, beta, &mut work);
    close(at_prox, g.value(&z, &mut work), 1e-12, "value at the prox");
    let mut h = |v: &[f64]| {
        let gap: f64 = v.iter().zip(u).map(|(v, u)| (v - u) * (v - u)).sum();
        g.value(v, &mut work) + gap / (2.0 * beta)
    };
    let best = h(&z);
    for i in 0..u.len() {
        for step in [1e-4, -1e-4] {
            let mut v = z.clone();
            v[i] += step;
            assert!(h(&v) >= best - 1e-13 * (1.0 + best.abs()), "coordinate {i} improves the prox at β = {beta}");
        }
    }
    for seed in 0..20 {
        let v: Vec<f64> = z.iter().zip(noise(u.len(), 100 + seed)).map(|(z, d)| z + 1e-3 * d).collect();
        assert!(h(&v) >= best - 1e-13 * (1.0 + best.abs()), "direction {seed} improves the prox at β = {beta}");
    }
}

/// The envelope agrees with the one that the prox defines, also when evaluated on stretches.
fn buffer_envelope(g: &dyn Prox<f64>, u: &[f64], beta: f64) {
    let mut work = vec![f64::NAN; g.work_len()];
    let (mut grad, mut plain) = (vec![f64::NAN; u.len()], vec![f64::NAN; u.len()]);
    let envelope = g.moreau(&mut grad, u, beta, &mut work);
    let defined = Plain(g).moreau(&mut plain, u, beta, &mut work);
    same(&grad, envelope, &plain, defined);
    assert!(g.lipschitz().is_none_or(|most| envelope.slope_squared.sqrt() <= most * (1.0 + 1e-12)));
    let squared = g.slopes(&mut plain, u, beta, &mut work);
    same(&plain, Envelope { slope_squared: squared, ..envelope }, &grad, envelope);
    let value = g.value(u, &mut work);
    let n = u.len();
    match g.streamed() {
        None => {}
        Some(Streamed::Entries(entries)) => {
            let from = noise(n, 77);
            let to: Vec<f64> = u.iter().zip(&from).map(|(u, from)| u + from).collect();
            let (mut sum, mut whole) = (Envelope::default(), 0.0);
            for range in [0..n / 3, n / 3..n] {
                let (first, from, to) = (range.start, &from[range.clone()], &to[range.clone()]);
                sum.value += entries.envelope_between(from, to, first, beta);
                sum.slope_squared += entries.slopes_between(&mut plain[range], from, to, first, beta);
                whole += entries.value_between(from, to, first);
            }
            same(&plain, sum, &grad, envelope);
            close(whole, value, 1e-12, "stretches");
            let (mut sum, mut squared) = (Envelope::default(), 0.0);
            for range in [0..n / 3, n / 3..n] {
                let (first, u) = (range.start, &u[range.clone()]);
                squared += entries.slopes_of(&mut plain[range.clone()], u, first, beta);
                sum += entries.moreau_of(&mut plain[range], u, first, beta);
            }
            same(&plain, sum, &grad, envelope);
            close(squared, sum.slope_squared, 1e-12, "squared slope of stretches");
            plain.fill(1.0);
            let (head, tail) = plain.split_at_mut(n / 3);
            squared = entries.add_slopes_of(head, &u[..n / 3], 0, beta);
            squared += entries.add_slopes_of(tail, &u[n / 3..], n / 3, beta);
            plain.iter_mut().for_each(|v| *v -= 1.0);
            same(&plain, Envelope { slope_squared: squared, ..envelope }, &grad, envelope);
        }
        Some(Streamed::Pixels(pixels)) => {
            plain.copy_from_slice(u);
            let (a, b) = plain.split_at_mut(n / 2);
            let cut = n / 6;
            close(
                pixels.value_at(&a[..cut], &b[..cut], 0) + pixels.value_at(&a[cut..], &b[cut..], cut),
                value,
                1e-12,
                "stretches",
            );
            let mut sum = pixels.moreau_at(&mut a[..cut], &mut b[..cut], 0, beta);
            sum += pixels.moreau_at(&mut a[cut..], &mut b[cut..], cut, beta);
            same(&plain, sum, &grad, envelope);
        }
    }
}

fn same(grad: &[f64], envelope: Envelope, expected: &[f64], defined: Envelope) {
    for (a, b) in grad.iter().zip(expected) {
        close(*a, *b, 1e-11, "gradient of the envelope");
    }
    close(envelope.value, defined.value, 1e-11, "envelope");
    close(envelope.slope_squared, defined.slope_squared, 1e-11, "squared slope");
}

/// g(v) ≥ g(u) + ⟨s, v−u⟩ − ρ/2·‖v−u‖² for the subgradient s, and |g(v) − g(u)| ≤ L‖v−u‖.
fn subgradient(g: &dyn Prox<f64>, u: &[f64]) {
    let mut work = vec![f64::NAN; g.work_len()];
    let mut s = vec![f64::NAN; u.len()];
    let at = g.subgradient(&mut s, u, &mut work);
    close(at, g.value(u, &mut work), 1e-12, "value of the subgradient call");
    if !at.is_finite() {
        return;
    }
    for (seed, size) in (0..40).zip([1e-3, 0.1, 1.0, 10.0].into_iter().cycle()) {
        let step: Vec<f64> = noise(u.len(), 200 + seed).iter().map(|v| size * v).collect();
        let v: Vec<f64> = u.iter().zip(&step).map(|(u, d)| u + d).collect();
        let there = g.value(&v, &mut work);
        let bound = at + dot(&s, &step) - 0.5 * g.weak_convexity() * dot(&step, &step);
        assert!(there >= bound - 1e-11 * (1.0 + bound.abs()), "subgradient inequality: {there} < {bound}");
        if let Some(most) = g.lipschitz() {
            assert!((there - at).abs() <= most * norm2(&step) * (1.0 + 1e-12), "Lipschitz constant");
        }
    }
}
