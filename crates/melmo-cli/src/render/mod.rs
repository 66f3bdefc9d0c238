//! What people and programs see.

pub mod progress;
pub mod race;
pub mod report;
pub mod say;
pub mod summary;
pub mod trace;
pub mod units;

pub use summary::Summary;

/// A number as people read it: up to five significant digits.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        format!("{value}")
    } else if !(1e-3..1e6).contains(&size) {
        let text = format!("{value:.3e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{}e{exponent}", trimmed(digits))
    } else {
        let places = (4 - size.log10().floor() as i32).clamp(0, 8) as usize;
        trimmed(&format!("{value:.places$}")).into()
    }
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Seconds as people read them.
pub fn seconds(value: f64) -> String {
    match value {
        v if v < 0.9995 => format!("{:.0} ms", v * 1e3),
        v if v < 99.5 => format!("{} s", short((v * 100.0).round() / 100.0)),
        v if v < 5970.0 => format!("{:.0} min {:.0} s", (v / 60.0).floor(), v % 60.0),
        v => format!("{:.0} h {:.0} min", (v / 3600.0).floor(), v % 3600.0 / 60.0),
    }
}

/// A size in memory, in a unit that suits it.
pub fn bytes(size: usize) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "KB")];
    let (unit, name) = units.into_iter().find(|(unit, _)| size as f64 >= *unit).unwrap_or((1.0, "bytes"));
    format!("{} {name}", short(size as f64 / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        let shown = [0.0, 110.0, 0.05, 1.0 / 3.0, 1.234_567e-5, 123_456.7, 2e9, f64::NAN].map(short);
        assert_eq!(shown, ["0", "110", "0.05", "0.33333", "1.235e-5", "123457", "2e9", "NaN"]);
        assert_eq!(
            [0.0042, 1.5, 75.0, 150.0, 7300.0].map(seconds),
            ["4 ms", "1.5 s", "75 s", "2 min 30 s", "2 h 2 min"]
        );
    }
}
