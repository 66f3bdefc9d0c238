//! What a picture's file says beside its samples: kept as it is, since nobody here needs to understand it. Only what would
//! become wrong is touched.

use super::exif;

/// What the camera, the scanner and the programs before this one wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// EXIF, as a TIFF structure; without orientation, which was honoured, and without the thumbnail, which shows another picture.
    pub exif: Option<Vec<u8>>,
    /// The ICC colour profile.
    pub icc: Option<Vec<u8>>,
    /// XMP, as XML.
    pub xmp: Option<Vec<u8>>,
    /// Pixels per length.
    pub density: Option<Density>,
    /// What one format alone can say.
    pub own: Own,
    /// There was a profile for other colours than those that were read: CMYK becomes RGB.
    pub profile_left: bool,
}

/// What is carried into a file of the same format only.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Own {
    /// Nothing.
    #[default]
    None,
    /// Segments of a JPEG, marker and content: IPTC, comments.
    Jpeg(Vec<(u8, Vec<u8>)>),
    /// Chunks of a PNG, name and content: texts, gamma, primaries.
    Png(Vec<([u8; 4], Vec<u8>)>),
    /// Colours of a TIFF are multiplied by alpha.
    Premultiplied,
}

/// Pixels per inch, across and down; or a ratio of the two alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Density {
    /// Across.
    pub x: f64,
    /// Down.
    pub y: f64,
    /// Whether they are per inch.
    pub inch: bool,
}

impl Density {
    /// Inches in a centimetre and in a metre.
    pub(super) const CENTIMETRE: f64 = 2.54;
    pub(super) const METRE: f64 = 0.0254;

    /// `None` where they say nothing.
    pub(super) fn new(x: f64, y: f64, per_inch: Option<f64>) -> Option<Self> {
        let found = Self { x: x * per_inch.unwrap_or(1.0), y: y * per_inch.unwrap_or(1.0), inch: per_inch.is_some() };
        let says = (found.inch || found.x != found.y) && [found.x, found.y].iter().all(|v| (1e-3..1e9).contains(v));
        says.then_some(found)
    }

    /// The same for a picture that was turned on its side.
    fn turned(self) -> Self {
        Self { x: self.y, y: self.x, ..self }
    }
}

impl Metadata {
    /// Keeps a profile that fits so many channels.
    pub(super) fn profile(&mut self, icc: Option<Vec<u8>>, channels: usize) {
        let of: &[u8] = if channels < 3 { b"GRAY" } else { b"RGB " };
        let Some(icc) = icc.filter(|icc| !icc.is_empty()) else { return };
        match icc.get(16..20) == Some(of) {
            true => self.icc = Some(icc),
            false => self.profile_left = true,
        }
    }

    /// Takes the orientation out: the picture stands upright now.
    pub(super) fn upright(&mut self, on_its_side: bool) {
        if let Some(exif) = &mut self.exif {
            exif::without_orientation(exif);
            exif::without_thumbnail(exif);
        }
        if on_its_side {
            self.density = self.density.map(Density::turned);
        }
    }

    /// The same for a picture of so many pixels across and down.
    #[must_use]
    pub fn sized(&self, width: usize, height: usize) -> Self {
        let mut sized = self.clone();
        if let Some(exif) = &mut sized.exif {
            exif::set_size(exif, width, height);
        }
        sized
    }
}

impl Metadata {
    /// For formats that have no other place for the density; EXIF that is there says it already, or is left as it is.
    pub(super) fn with_density_in_exif(&self) -> Self {
        let exif = self.exif.clone().or_else(|| self.density.filter(|density| density.inch).map(exif::of_density));
        Self { exif, ..self.clone() }
    }
}
