//! Where an axis is marked, and with what.

use super::axis::{Placed, Scale};
use crate::number::{trim_zeros, with_minus};

/// A mark on an axis; without a label it is a minor one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: Option<String>,
}

/// About `room` labelled marks.
pub(crate) fn ticks(axis: &Placed, room: usize) -> Vec<Tick> {
    let room = room.max(2);
    let decades = axis.high.log10() - axis.low.log10();
    let all = match axis.scale {
        Scale::Log if decades >= 0.8 => log(axis.low, axis.high, decades, room),
        _ => linear(axis.low, axis.high, room),
    };
    all.into_iter().filter(|tick| axis.holds(tick.value)).collect()
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear(low: f64, high: f64, room: usize) -> Vec<Tick> {
    let raw = (high - low) / room as f64;
    let power = 10f64.powi(raw.log10().floor() as i32);
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&step| step >= raw * 0.999).unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    let largest = low.abs().max(high.abs());
    (first..=last)
        .map(|i| {
            let value = i as f64 * step;
            Tick { value, label: Some(plain(value, step, largest)) }
        })
        .collect()
}

/// Powers of ten; over few decades also their doubles and fivefolds, over many only some of them.
fn log(low: f64, high: f64, decades: f64, room: usize) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let stride = ((decades / room as f64).ceil() as i32).max(1);
    let labelled: &[i32] = if 3.0 * decades <= room as f64 + 1.0 { &[1, 2, 5] } else { &[1] };
    let short = low.log10() >= -3.01 && high.log10() <= 5.51;
    let mut out = Vec::new();
    for e in first..=last {
        for m in 1..10 {
            let label = (labelled.contains(&m) && e.rem_euclid(stride) == 0).then(|| power(m, e, short));
            if label.is_some() || stride == 1 || m == 1 {
                out.push(Tick { value: f64::from(m) * 10f64.powi(e), label });
            }
        }
    }
    out
}

/// m·10^e: written out when all marks of the axis are short.
fn power(m: i32, e: i32, short: bool) -> String {
    match (short, m) {
        (true, _) => grouped(&format!("{:.*}", (-e).max(0) as usize, f64::from(m) * 10f64.powi(e))),
        (false, 1) => format!("10^{{{}}}", with_minus(&e.to_string())),
        (false, _) => format!("{m}·10^{{{}}}", with_minus(&e.to_string())),
    }
}

/// A multiple of `step` on an axis whose largest value is `largest`.
fn plain(value: f64, step: f64, largest: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponent = largest.log10().floor() as i32;
    let unit = if (-3..6).contains(&exponent) { 0 } else { exponent };
    let decimals = (f64::from(unit) - step.log10() - 1e-9).ceil().clamp(0.0, 15.0) as usize;
    let text = format!("{:.decimals$}", value / 10f64.powi(unit));
    match unit {
        0 => with_minus(&grouped(&text)),
        _ => format!("{}·10^{{{}}}", with_minus(trim_zeros(&text)), with_minus(&unit.to_string())),
    }
}

/// Thin spaces between thousands, from five digits on.
fn grouped(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(w, f)| (w, Some(f)));
    let digits = whole.trim_start_matches('-');
    let mut out = whole[..whole.len() - digits.len()].to_owned();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && digits.len() > 4 && (digits.len() - i) % 3 == 0 {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    fraction.map_or(out.clone(), |f| format!("{out}.{f}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64, room: usize) -> Vec<String> {
        let axis = Placed { scale, low, high, from: 0.0, to: 1.0 };
        ticks(&axis, room).into_iter().filter_map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_steps_are_round() {
        assert_eq!(labels(Scale::Linear, 0.0, 1.0, 5), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Scale::Linear, -3.0, 7.0, 5), ["−2", "0", "2", "4", "6"]);
        assert_eq!(labels(Scale::Linear, 0.0, 20_000.0, 2), ["0", "10\u{202f}000", "20\u{202f}000"]);
        assert_eq!(labels(Scale::Linear, 0.0, 3e-7, 3), ["0", "1·10^{−7}", "2·10^{−7}", "3·10^{−7}"]);
        assert_eq!(labels(Scale::Linear, 161.7, 163.9, 5), ["162.0", "162.5", "163.0", "163.5"]);
    }

    #[test]
    fn decades_are_powers() {
        assert_eq!(labels(Scale::Log, 1.0, 1e4, 5), ["1", "10", "100", "1000", "10\u{202f}000"]);
        assert_eq!(labels(Scale::Log, 1e-6, 1e-2, 6), ["10^{−6}", "10^{−5}", "10^{−4}", "10^{−3}", "10^{−2}"]);
    }

    #[test]
    fn many_decades_skip_and_few_subdivide() {
        let many = labels(Scale::Log, 1e-16, 1e4, 6);
        assert!(many.len() <= 7 && many.len() >= 4, "{many:?}");
        assert_eq!(labels(Scale::Log, 100.0, 1000.0, 6), ["100", "200", "500", "1000"]);
        assert_eq!(labels(Scale::Log, 400.0, 600.0, 4), ["400", "450", "500", "550", "600"]);
    }

    #[test]
    fn minor_marks_fill_decades() {
        let axis = Placed { scale: Scale::Log, low: 1.0, high: 1e5, from: 0.0, to: 1.0 };
        let minor = ticks(&axis, 6).into_iter().filter(|tick| tick.label.is_none()).count();
        assert_eq!(minor, 5 * 8);
    }
}
