//! Pictures as they are to be seen: cameras store them as the sensor lay.

use super::Image;

/// Turns and mirrors a picture as orientation 1 to 8 of EXIF says; other numbers say nothing.
pub(super) fn upright(image: &mut Image, orientation: u8) {
    let (width, height, channels) = (image.width, image.height, image.channels);
    let on_its_side = (5..=8).contains(&orientation);
    image.metadata.upright(on_its_side);
    if !(2..=8).contains(&orientation) {
        return;
    }
    let (cols, rows) = if on_its_side { (height, width) } else { (width, height) };
    let mut data = Vec::with_capacity(image.data.len());
    for row in 0..rows {
        for col in 0..cols {
            let (i, j) = match orientation {
                2 => (row, width - 1 - col),
                3 => (height - 1 - row, width - 1 - col),
                4 => (height - 1 - row, col),
                5 => (col, row),
                6 => (height - 1 - col, row),
                7 => (height - 1 - col, width - 1 - row),
                _ => (col, width - 1 - row),
            };
            let at = (i * width + j) * channels;
            data.extend_from_slice(&image.data[at..at + channels]);
        }
    }
    (image.width, image.height, image.data) = (cols, rows, data);
}
