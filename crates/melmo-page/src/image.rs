//! Images: one, two with a slider between them, or several.

use base64::Engine;

use crate::error::Error;
use crate::{escape, markup};

/// A PNG image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The PNG file.
    pub png: Vec<u8>,
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// What it shows: its label, and what a screen reader says.
    pub caption: String,
}

impl Image {
    /// From a PNG file.
    ///
    /// # Errors
    /// When the bytes do not start as a PNG file does.
    pub fn png(caption: impl Into<String>, png: Vec<u8>) -> Result<Self, Error> {
        let field = |at: usize| png.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes);
        let head = png.starts_with(b"\x89PNG\r\n\x1a\n") && png.get(12..16) == Some(b"IHDR");
        match (head, field(16), field(20)) {
            (true, Some(width), Some(height)) => Ok(Self { width, height, caption: caption.into(), png }),
            _ => Err(Error::NotPng { bytes: png.len() }),
        }
    }

    /// From one sample a pixel, row by row, 0 black.
    ///
    /// # Errors
    /// When there are not `width`·`height` samples.
    pub fn grey(caption: impl Into<String>, width: u32, height: u32, samples: &[u8]) -> Result<Self, Error> {
        Self::pixels(caption.into(), width, height, samples, png::ColorType::Grayscale, 1)
    }

    /// From red, green and blue of each pixel, row by row.
    ///
    /// # Errors
    /// When there are not 3·`width`·`height` samples.
    pub fn rgb(caption: impl Into<String>, width: u32, height: u32, samples: &[u8]) -> Result<Self, Error> {
        Self::pixels(caption.into(), width, height, samples, png::ColorType::Rgb, 3)
    }

    fn pixels(
        caption: String,
        width: u32,
        height: u32,
        samples: &[u8],
        color: png::ColorType,
        channels: usize,
    ) -> Result<Self, Error> {
        let wanted = (width as usize).checked_mul(height as usize).and_then(|n| n.checked_mul(channels));
        if wanted != Some(samples.len()) || samples.is_empty() {
            return Err(Error::PixelCount { width, height, channels, given: samples.len() });
        }
        Ok(Self { png: encode(width, height, color, samples), width, height, caption })
    }

    /// The element; small images keep their pixels sharp.
    fn html(&self) -> String {
        let class = if self.width.max(self.height) <= 320 { " class=\"pixels\"" } else { "" };
        let data = base64::engine::general_purpose::STANDARD.encode(&self.png);
        let (width, height) = (self.width, self.height);
        let alt = escape::html(&markup::text(&self.caption));
        format!("<img{class} alt=\"{alt}\" width=\"{width}\" height=\"{height}\" src=\"data:image/png;base64,{data}\">")
    }
}

/// Pixels as a PNG file. `samples` fit the size.
pub(crate) fn encode(width: u32, height: u32, color: png::ColorType, samples: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    // Writing to memory fails for no reason but a wrong number of samples, which the callers have excluded.
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(samples));
    debug_assert!(written.is_ok());
    out
}

/// Two images of one size in one place, and a slider that moves the border between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePair {
    /// What is compared.
    pub title: String,
    /// Shown left of the border.
    pub before: Image,
    /// Shown right of it.
    pub after: Image,
}

impl ImagePair {
    /// A pair.
    pub fn new(title: impl Into<String>, before: Image, after: Image) -> Self {
        Self { title: title.into(), before, after }
    }

    pub(crate) fn html(&self) -> String {
        let (before, after) = (markup::html(&self.before.caption), markup::html(&self.after.caption));
        let label =
            escape::html(&markup::text(&format!("Border between {} and {}", self.before.caption, self.after.caption)));
        format!(
            "<figure class=\"pair card\"><figcaption class=\"title\">{title}</figcaption>\
             <div class=\"stage\" style=\"--ratio:{width}/{height}\">\
             <div class=\"after\">{second}<span class=\"tag\">{after}</span></div>\
             <div class=\"before\">{first}<span class=\"tag\">{before}</span></div>\
             <div class=\"border\" aria-hidden=\"true\"></div>\
             <input type=\"range\" min=\"0\" max=\"100\" step=\"0.5\" value=\"50\" aria-label=\"{label}\" hidden></div></figure>\n",
            title = markup::html(&self.title),
            width = self.before.width,
            height = self.before.height,
            first = self.before.html(),
            second = self.after.html(),
        )
    }
}

/// Several images side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gallery {
    /// What they show together.
    pub title: Option<String>,
    /// The images, each with its caption.
    pub images: Vec<Image>,
}

impl Gallery {
    /// Images without a title.
    pub fn new(images: impl IntoIterator<Item = Image>) -> Self {
        Self { title: None, images: images.into_iter().collect() }
    }

    /// With a title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    pub(crate) fn html(&self) -> String {
        let title =
            self.title.as_deref().map(|t| format!("<figcaption class=\"title\">{}</figcaption>", markup::html(t)));
        let one = |image: &Image| {
            format!("<figure>{}<figcaption>{}</figcaption></figure>", image.html(), markup::html(&image.caption))
        };
        let images: String = self.images.iter().map(one).collect();
        format!(
            "<figure class=\"gallery card\">{}<div class=\"images\">{images}</div></figure>\n",
            title.unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_become_a_png_that_reads_back() {
        let image = Image::grey("a \"b\"", 3, 2, &[0, 50, 100, 150, 200, 250]).unwrap();
        let again = Image::png("a \"b\"", image.png.clone()).unwrap();
        assert_eq!(again, image);
        assert_eq!((again.width, again.height), (3, 2));
        assert!(image.html().contains("alt=\"a &quot;b&quot;\""));
    }

    #[test]
    fn wrong_sizes_are_refused_with_their_numbers() {
        let error = Image::rgb("", 3, 2, &[0; 17]).unwrap_err();
        assert_eq!(error.to_string(), "a 3×2 image of 3 channel(s) has 18 samples, 17 were given");
        assert_eq!(Image::png("", b"GIF89a".to_vec()), Err(Error::NotPng { bytes: 6 }));
        assert!(Image::grey("", 0, 0, &[]).is_err());
    }
}
