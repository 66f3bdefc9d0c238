use std::path::PathBuf;

use clap::Args;
use melmo_tasks::number;

use crate::args::{Solving, known};
use crate::target::Format;

/// What the restoring commands share.
#[derive(Args, Clone, Debug)]
pub struct Restoring {
    /// The picture (PNG, JPEG, TIFF, WebP, BMP, PGM/PPM, or an array .npy), a bundled set from `melmo list data`, or - for standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Where to write; beside you, in the format of IN, unless given; - for standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// The format, where the name does not say it: png, jpg, tiff, webp, bmp, pgm, ppm or npy
    #[arg(id = "format", long = "format", value_name = "NAME", value_parser = known::formats(), hide_possible_values = true)]
    pub format_name: Option<String>,
    /// λ, how much the prior counts; chosen unless given, where there is one
    #[arg(long, value_name = "L", allow_negative_numbers = true, value_parser = number::parse)]
    pub lambda: Option<f64>,
    /// The true picture: prints PSNR and SSIM
    #[arg(long, value_name = "CLEAN")]
    pub reference: Option<PathBuf>,
}

impl Restoring {
    /// The format that was asked for.
    pub fn format(&self) -> Option<Format> {
        self.format_name.as_deref().and_then(|name| name.parse().ok())
    }
}

/// Make a blurred picture sharp
///
/// Minimises ½‖k∗X − Y‖²/noise² + λ·(a prior learned from photographs).
///
/// The kernel has to be known; the noise is estimated, and λ is as large as the data allow (the discrepancy principle). What lies
/// around the picture is estimated too: nothing is assumed about it.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  melmo deblur photo.png --kernel gaussian:1.6 -o sharp.png
  melmo deblur photo.png --kernel motion:15,30
  melmo deblur stars.npy --kernel psf.npy --noise 0.01")]
pub struct Deblur {
    #[command(flatten)]
    pub restoring: Restoring,
    /// What blurred it: gaussian:WIDTH, disk:RADIUS, motion:LENGTH,DEGREES (in pixels, counterclockwise from the right), or a file
    /// with the kernel (.npy, .csv, an image), which is divided by its sum
    #[arg(long, value_name = "KERNEL")]
    pub kernel: String,
    /// The noise's standard deviation, in the image's units; estimated unless given
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true, value_parser = number::parse)]
    pub noise: Option<f64>,
    #[command(flatten)]
    pub solving: Solving,
}

/// Fill in missing pixels
///
/// Minimises a prior learned from photographs over the missing pixels; those that are known are kept as they are. With --noise they
/// are data like any others: ½‖M⊙(X − Y)‖²/noise² + λ·(the prior), λ by the discrepancy principle.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  melmo inpaint scratched.png --mask scratches.png -o whole.png
  melmo inpaint holes.npy                      (missing pixels are NaN)")]
pub struct Inpaint {
    #[command(flatten)]
    pub restoring: Restoring,
    /// Which pixels are to be filled in: not 0 there (white), 0 elsewhere (black). NaN in an array always are
    #[arg(long, value_name = "FILE")]
    pub mask: Option<PathBuf>,
    /// The standard deviation of noise in what is known, in the image's units; 0 keeps it as it is
    #[arg(long, value_name = "LEVEL", default_value = "0", allow_negative_numbers = true, value_parser = number::parse)]
    pub noise: f64,
    #[command(flatten)]
    pub solving: Solving,
}

/// Make a picture two to four times as large
///
/// Minimises ½‖DX − Y‖²/noise² + λ·(a prior learned from photographs), D the means of s×s pixels.
///
/// The noise is estimated, and λ is as large as the data allow (the discrepancy principle).
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: melmo upscale small.png --factor 3 -o large.png")]
pub struct Upscale {
    #[command(flatten)]
    pub restoring: Restoring,
    /// How many times as high and wide: 2, 3 or 4
    #[arg(long, value_name = "S", default_value_t = 2)]
    pub factor: usize,
    /// The noise's standard deviation, in the image's units; estimated unless given
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true, value_parser = number::parse)]
    pub noise: Option<f64>,
    #[command(flatten)]
    pub solving: Solving,
}
