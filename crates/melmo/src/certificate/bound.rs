//! A lower bound on F*, where there is one: what turns a stationary point into an optimal one.

use crate::certificate::look::Seen;
use crate::certificate::rounding::Allowance;
use crate::operator;
use crate::penalty::Coordinates;
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth;
use crate::vector;

/// A point and what was found there.
pub struct At<'a, S> {
    /// The problem.
    pub problem: &'a Problem<S>,
    /// x, which is looked at where T = I and nowhere else.
    pub x: &'a [S],
    /// v, likewise.
    pub v: &'a [S],
    /// What was seen there.
    pub seen: &'a Seen,
    /// Room for its rounding.
    pub allowance: &'a Allowance,
}

/// A lower bound on F*, rounded downwards, or the reason why there is none.
///
/// With e = ‖Tx − z‖ and f − m_f/2‖·‖² convex, the two inequalities
///
/// ```text
/// f(y) ≥ f(x) + ⟨∇f(x), y − x⟩ + m_f/2‖y − x‖²       g(Ty) ≥ g(z) + ⟨w, Ty − z⟩ − ρ/2‖Ty − z‖²
/// ```
///
/// add up to F(y) ≥ f(x) + g(z) + ⟨w, Tx − z⟩ + ⟨v, y − x⟩ + …, and what remains is to bound ⟨v, y − x⟩ from below: by the
/// curvature that is left, by a ball that every better y lies in, or, for a separable sum, by not needing it.
pub fn lower_bound<S: Real>(at: &At<'_, S>, radius: Option<f64>) -> Result<f64, String> {
    let At { problem, seen, allowance, .. } = *at;
    if let Some(least) = separable(problem) {
        return Ok(least);
    }
    if !problem.f().is_convex() {
        return Err("f is not known to be convex".into());
    }
    let base = seen.f + seen.at_z + seen.overlap - allowance.value;
    let flat = if problem.g().weak_convexity() == 0.0 { ball(at, radius) } else { None };
    // The curvature of a design matrix is dear: it is asked for where nothing else helps.
    let of_f = match (flat, problem.f().form()) {
        (Some(_), smooth::Form::Linear { .. }) => 0.0,
        _ => problem.f().strong_convexity().unwrap_or(0.0),
    };
    let curved = curvature(at, of_f);
    match [curved, flat].into_iter().flatten().reduce(f64::min) {
        Some(loss) => Ok(base - loss),
        None => Err(reason(problem, of_f)),
    }
}

/// Whether F* has a lower bound for this problem, whatever the point; the reason where it has none.
pub fn can_bound<S: Real>(problem: &Problem<S>, radius: Option<f64>) -> Result<(), String> {
    if separable(problem).is_some() {
        return Ok(());
    }
    let of_f =
        problem.f().strong_convexity().filter(|_| problem.f().is_convex()).ok_or("f is not known to be convex")?;
    let (g, t) = (problem.g(), problem.t());
    let identity = matches!(t.form(), operator::Form::Identity);
    let rho = g.weak_convexity();
    let curved = of_f > rho * t.norm_bound().powi(2) || (identity && rho == 0.0 && g.strong_convexity() > 0.0);
    let zeros = vec![S::ZERO; g.size()];
    let above_norm = || g.polar(&zeros, &mut vec![S::ZERO; g.work_len()]).is_some();
    let by_norm = || problem.f().lower_bound().is_some() && above_norm() && held_by_loss(problem);
    let held = rho == 0.0 && (radius.is_some() || identity && (g.reach().is_some() || by_norm()));
    if curved || held { Ok(()) } else { Err(reason(problem, of_f)) }
}

/// Why neither curvature nor a ball helps.
fn reason<S: Real>(problem: &Problem<S>, of_f: f64) -> String {
    let rho = problem.g().weak_convexity();
    if rho > 0.0 {
        let bent = rho * problem.t().norm_bound().powi(2);
        return format!("the sum is not known to be convex: g bends down by {bent:.4}, f bends up by {of_f:.4}");
    }
    "nothing bounds the minimisers: the penalty leaves directions free in which the loss is flat; give a radius".into()
}

/// min over t ≥ 0 of the parabola that is left along ‖y − x‖ = t, as what is lost by it:
/// (‖v‖ + ρ‖T‖e)²/(2m) + ρe²/2 with m = m_f − ρ‖T‖²; for T = I and an m_g-strongly convex g, (‖v‖ + m_g e)²/(2m) − m_g e²/2
/// with m = m_f + m_g.
fn curvature<S: Real>(at: &At<'_, S>, of_f: f64) -> Option<f64> {
    let At { problem, seen, allowance, .. } = *at;
    let (g, t) = (problem.g(), problem.t());
    let (v, e) = (seen.of_sum + allowance.v, seen.prox_gap + allowance.gap);
    let rho = g.weak_convexity();
    let of_g = if matches!(t.form(), operator::Form::Identity) { g.strong_convexity() } else { 0.0 };
    let norm = t.norm_bound();
    // What is lost, and what a strongly convex g gives back; rounding of each counts against the bound.
    let (lost, back) = if of_g > 0.0 && rho == 0.0 {
        let least = (seen.prox_gap - allowance.gap).max(0.0);
        ((v + of_g * e).powi(2) / (2.0 * (of_f + of_g)), 0.5 * of_g * least * least)
    } else {
        let left = (of_f - rho * norm * norm) * (1.0 - 4.0 * f64::EPSILON);
        if left <= 0.0 {
            return None;
        }
        ((v + rho * norm * e).powi(2) / (2.0 * left) + 0.5 * rho * e * e, 0.0)
    };
    Some(lost - back + 16.0 * f64::EPSILON * (lost + back))
}

/// ‖v‖·(r + ‖x‖) in a pair of norms in which every y with F(y) ≤ F(x) has norm at most r, for convex f and g: a norm that g lies
/// above (g(y) ≤ F(x) − inf f), ℓ2 where g is bounded or a radius was given.
fn ball<S: Real>(at: &At<'_, S>, radius: Option<f64>) -> Option<f64> {
    let At { problem, seen, allowance, .. } = *at;
    let in_l2 = |r: f64| (seen.of_sum + allowance.v) * (r + seen.x_norm);
    let given = radius.map(in_l2);
    if !matches!(problem.t().form(), operator::Form::Identity) {
        return given;
    }
    let bounded = problem.g().reach().map(in_l2);
    let by_norm = above_a_norm(at).filter(|loss| loss.is_finite());
    [given, bounded, by_norm].into_iter().flatten().reduce(f64::min).map(|loss| loss * (1.0 + 16.0 * f64::EPSILON))
}

/// q(F(x) − inf f + g(x)) with |⟨v, u⟩| ≤ q·g(u). An entry that nothing penalises, such as an intercept, is bounded by the loss.
fn above_a_norm<S: Real>(at: &At<'_, S>) -> Option<f64> {
    let At { problem, x, v, seen, allowance } = *at;
    let g = problem.g();
    let mut work = vec![S::ZERO; g.work_len()];
    let reach = (seen.objective() - problem.f().lower_bound()?).max(0.0) + allowance.value;
    let free = free_entry(problem);
    let mut penalised = |v: &[S]| {
        let mut v = v.to_vec();
        free.into_iter().for_each(|entry| v[entry] = S::ZERO);
        g.polar(&v, &mut work)
    };
    // Rounding of v: ‖δv‖₂ bounds every unit of it.
    let polar = penalised(v)? + penalised(&vec![S::of(allowance.v); x.len()])?;
    let loss = polar * (reach + seen.at_tx);
    let Some(entry) = free else { return Some(loss) };
    let size = free_radius(problem, entry, seen.objective() + allowance.value, |a| Some(penalised(a)? * reach))?;
    Some(loss + (v[entry].f64().abs() + allowance.v) * (size + x[entry].f64().abs()))
}

/// Nothing is free, or one entry is and the loss is one that can bound it.
fn held_by_loss<S: Real>(problem: &Problem<S>) -> bool {
    let free = |g: &dyn Coordinates<S>| (0..g.units()).any(|c| g.threshold_of(c) == 0.0);
    let none = !problem.g().coordinates().is_some_and(free);
    none || free_entry(problem).is_some() && matches!(problem.f().form(), smooth::Form::Linear { .. })
}

/// The one entry that nothing penalises, if there is just one.
fn free_entry<S: Real>(problem: &Problem<S>) -> Option<usize> {
    let g = problem.g().coordinates()?;
    let mut free = (0..g.units()).filter(|&c| g.threshold_of(c) == 0.0);
    let mut entries = Vec::new();
    g.members(free.next().filter(|_| free.next().is_none())?, &mut entries);
    <[usize; 1]>::try_from(entries).ok().map(|[entry]| entry)
}

/// How many rows of each sign of the datum are asked what they say about a free entry.
const ROWS: usize = 4;

/// r with |y_j| ≤ r for the free entry j of every y with F(y) ≤ `most`, for f(x) = Σhᵢ((Ax)ᵢ) with hᵢ ≥ 0: hᵢ((Ay)ᵢ) ≤ `most` keeps
/// (Ay)ᵢ in an interval, `others` bounds what the penalised entries add to it, and the rest is A_ij·y_j.
fn free_radius<S: Real>(
    problem: &Problem<S>,
    entry: usize,
    most: f64,
    mut others: impl FnMut(&[S]) -> Option<f64>,
) -> Option<f64> {
    let smooth::Form::Linear { operator, rows } = problem.f().form() else { return None };
    let target = rows.target();
    let (mut lower, mut upper) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut unit, mut work) = (vec![S::ZERO; target.len()], vec![S::ZERO; operator.work_len()]);
    let signs =
        [S::ONE, -S::ONE].map(|sign| (0..target.len()).filter(move |&i| target[i] * sign >= S::ZERO).take(ROWS));
    for i in signs.into_iter().flatten() {
        let mut row = vec![S::ZERO; problem.layout().size()];
        unit[i] = S::ONE;
        operator.adjoint_add(&mut row, &unit, &mut work);
        unit[i] = S::ZERO;
        let (slope, room) = (row[entry].f64(), others(&row)?);
        if slope == 0.0 {
            continue;
        }
        let Some([least, largest]) = rows.level(i, most) else { continue };
        let ends = [(least - room) / slope, (largest + room) / slope];
        lower = lower.max(ends[0].min(ends[1]));
        upper = upper.min(ends[0].max(ends[1]));
    }
    let size = lower.abs().max(upper.abs()) * (1.0 + 1e-9);
    size.is_finite().then_some(size)
}

/// Σ min over each unit, exactly, for T = I, f = ½‖M⊙(x − y)‖² and g a sum over units, convex or not.
pub fn separable<S: Real>(problem: &Problem<S>) -> Option<f64> {
    let (smooth::Form::Proximity { target, mask }, operator::Form::Identity) = (problem.f().form(), problem.t().form())
    else {
        return None;
    };
    let g = problem.g().coordinates()?;
    let (mut total, mut entries, mut unit) = (0.0, Vec::new(), Vec::new());
    for c in 0..g.units() {
        entries.clear();
        unit.clear();
        g.members(c, &mut entries);
        unit.extend(entries.iter().map(|&i| target[i]));
        let observed = |i: usize| mask.is_none_or(|mask| mask[i] != S::ZERO);
        let all = entries.iter().all(|&i| observed(i) == observed(entries[0]));
        let weight = if observed(entries[0]) { 1.0 } else { 0.0 };
        total += g.least_of(c, &unit, weight).filter(|_| all)?;
    }
    let room = (16.0 * S::EPSILON + vector::sum_error(g.units())) * total.abs();
    Some(total - room)
}
