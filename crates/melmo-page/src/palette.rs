//! Colours and markers: one table for the page, the SVG files and the PNG files.
//!
//! The series colours follow Okabe and Ito's set, which readers with any of the common colour deficiencies can tell apart,
//! darkened (or lightened, in the dark) until each has a contrast of at least 3:1 with its background. Eight colours and
//! seven markers repeat with different periods, so the first 56 series of a chart differ in one or the other.

/// What a thing is drawn with: a name that the page resolves for light or dark, and files resolve for light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Background of a chart.
    Surface,
    /// Text.
    Text,
    /// Text of less weight: axes, labels of reference lines.
    Muted,
    /// Grid lines.
    Grid,
    /// The n-th series colour.
    Series(usize),
}

/// A colour by name: the page's custom property, in the light, in the dark.
type Row = (&'static str, &'static str, &'static str);

#[rustfmt::skip]
const CHROME: &[Row] = &[
    ("surface",     "#ffffff", "#171a21"),
    ("text",        "#1b2130", "#e7eaf0"),
    ("muted",       "#5c667a", "#a0a9ba"),
    ("grid",        "#e6e9ef", "#2a2f3a"),
    ("ground",      "#f6f7f9", "#0f1116"),
    ("line",        "#dfe3ea", "#2b303b"),
    ("line-strong", "#c3cad6", "#454c5b"),
    ("accent",      "#1d5fd1", "#7db0ff"),
    ("accent-soft", "#e9f0fd", "#1b2a45"),
    ("good",        "#0a7a50", "#57d0a0"),
    ("good-soft",   "#e3f5ec", "#12301f"),
    ("near",        "#8a5a00", "#efc061"),
    ("near-soft",   "#fdf1d6", "#352a10"),
    ("far",         "#b3261e", "#ff9a8f"),
    ("far-soft",    "#fdeae7", "#3b1a17"),
    ("raised",      "#ffffff", "#3a4150"),
    ("code",        "#f0f2f6", "#20242d"),
];

#[rustfmt::skip]
const SERIES: [Row; 8] = [
    ("s0", "#0b63c5", "#62aaff"),
    ("s1", "#cf4508", "#ff8b57"),
    ("s2", "#007f62", "#35c99f"),
    ("s3", "#a63d8a", "#e990cf"),
    ("s4", "#966200", "#e3b341"),
    ("s5", "#1b85b3", "#74d3f7"),
    ("s6", "#4a5162", "#c2c9d6"),
    ("s7", "#b0243f", "#ff8597"),
];

impl Ink {
    fn row(self) -> &'static Row {
        match self {
            Self::Surface => &CHROME[0],
            Self::Text => &CHROME[1],
            Self::Muted => &CHROME[2],
            Self::Grid => &CHROME[3],
            Self::Series(n) => &SERIES[n % SERIES.len()],
        }
    }

    /// `#rrggbb`, for files.
    pub(crate) fn hex(self) -> &'static str {
        self.row().1
    }

    /// `var(--name)`, for the page.
    pub(crate) fn variable(self) -> String {
        format!("var(--{})", self.row().0)
    }

    /// Red, green, blue, for files.
    pub(crate) fn rgb(self) -> [u8; 3] {
        let value = u32::from_str_radix(&self.hex()[1..], 16).unwrap_or(0);
        [(value >> 16) as u8, (value >> 8) as u8, value as u8]
    }
}

/// The custom properties: light, dark when the system or the reader says so, light on paper.
pub(crate) fn css() -> String {
    let rows = || CHROME.iter().chain(&SERIES);
    let light: String = rows().map(|(name, light, _)| format!("--{name}:{light};")).collect();
    let dark: String = rows().map(|(name, _, dark)| format!("--{name}:{dark};")).collect();
    format!(
        ":root{{color-scheme:light;{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n"
    )
}

/// The mark of a series, for readers who do not see its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Down,
    Plus,
    Cross,
}

impl Marker {
    const ALL: [Self; 7] =
        [Self::Circle, Self::Square, Self::Triangle, Self::Diamond, Self::Down, Self::Plus, Self::Cross];

    /// The marker of the n-th series.
    pub(crate) fn of(n: usize) -> Self {
        Self::ALL[n % Self::ALL.len()]
    }

    /// Its outline for a unit radius, closed; a circle has none.
    pub(crate) fn corners(self) -> &'static [(f64, f64)] {
        match self {
            Self::Circle => &[],
            Self::Square => &[(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
            Self::Triangle => &[(0.0, -1.15), (1.1, 0.8), (-1.1, 0.8)],
            Self::Diamond => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
            Self::Down => &[(0.0, 1.15), (1.1, -0.8), (-1.1, -0.8)],
            Self::Plus => &PLUS,
            Self::Cross => &CROSS,
        }
    }
}

#[rustfmt::skip]
const PLUS: [(f64, f64); 12] = [
    (-0.35, -1.2), (0.35, -1.2), (0.35, -0.35), (1.2, -0.35), (1.2, 0.35), (0.35, 0.35),
    (0.35, 1.2), (-0.35, 1.2), (-0.35, 0.35), (-1.2, 0.35), (-1.2, -0.35), (-0.35, -0.35),
];

#[rustfmt::skip]
const CROSS: [(f64, f64); 12] = [
    (-1.1, -0.6), (-0.6, -1.1), (0.0, -0.5), (0.6, -1.1), (1.1, -0.6), (0.5, 0.0),
    (1.1, 0.6), (0.6, 1.1), (0.0, 0.5), (-0.6, 1.1), (-1.1, 0.6), (-0.5, 0.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(hex: &str) -> f64 {
        let value = u32::from_str_radix(&hex[1..], 16).unwrap();
        let channel = |shift: u32| {
            let c = f64::from((value >> shift) as u8) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn pair(name: &str) -> &'static Row {
        CHROME.iter().find(|row| row.0 == name).unwrap()
    }

    #[test]
    fn series_stand_out_from_their_surface() {
        let surface = pair("surface");
        for (name, light, dark) in &SERIES {
            assert!(contrast(light, surface.1) >= 3.0, "{name} in the light");
            assert!(contrast(dark, surface.2) >= 3.0, "{name} in the dark");
        }
    }

    #[test]
    fn text_is_readable_where_it_stands() {
        let places = [
            ("text", "surface"),
            ("text", "ground"),
            ("muted", "surface"),
            ("muted", "ground"),
            ("muted", "code"),
            ("accent", "surface"),
            ("accent", "accent-soft"),
            ("good", "good-soft"),
            ("near", "near-soft"),
            ("far", "far-soft"),
        ];
        for (ink, ground) in places {
            let (ink, ground) = (pair(ink), pair(ground));
            assert!(contrast(ink.1, ground.1) >= 4.5, "{} on {} in the light", ink.0, ground.0);
            assert!(contrast(ink.2, ground.2) >= 4.5, "{} on {} in the dark", ink.0, ground.0);
        }
    }
}
