use std::path::PathBuf;

use clap::Args;
use melmo_tasks::denoise::Prior;
use melmo_tasks::{PenaltyChoice, number};

use crate::args::{Solving, known};
use crate::target::Format;

/// Remove noise from an image, a film or a volume
///
/// Minimises ½‖X − Y‖² + Σ ψ of what filters see, learned from photographs, or of its differences (total variation).
///
/// With no options it just works: the noise is estimated, and the strength follows from it. Noise may grow with brightness, be shared by
/// neighbouring pixels, or be salt and pepper. Grey and colour, 8 and 16 bit
/// (PNG, JPEG, TIFF, WebP, BMP, PGM/PPM), floats (TIFF) or arrays (.npy). Depth, kind, range and alpha stay as they were, and so does what
/// the file says beside the picture: EXIF, colour profile, resolution. Every page of a TIFF is a picture. Films (YUV4MPEG2, or a folder of
/// pictures) go through frame by frame.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  melmo denoise photo.jpg -o clean.png
  melmo denoise *.jpg --out-dir clean
  melmo denoise - < photo.png > clean.png
  melmo denoise film.y4m -o clean.y4m
  ffmpeg -i film.mp4 -f yuv4mpegpipe - | melmo denoise - --format y4m | ffmpeg -i - clean.mp4
  melmo denoise frames -o clean-frames
  melmo denoise camera --add-noise 0.1 --reference camera -o clean.png")]
pub struct Denoise {
    /// The image, a film as .y4m or a folder of its frames, a bundled set from `melmo list data`, or - for standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// More images, one after another, with --out-dir
    #[arg(value_name = "IN", requires = "out_dir")]
    pub more: Vec<PathBuf>,
    /// Where to write; IN-denoised beside you, in the format of IN, unless given; - for standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Write every image into this folder, under its own name; one that cannot be done is named, and the others go on
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["output", "init", "reference", "noisy_output", "trace", "report", "result", "checkpoint", "save_config"])]
    pub out_dir: Option<PathBuf>,
    /// The format, where the name does not say it: png, jpg, tiff, webp, bmp, pgm, ppm or npy; y4m for a film
    #[arg(id = "format", long = "format", value_name = "NAME", value_parser = known::film_formats(), hide_possible_values = true)]
    pub format_name: Option<String>,
    /// Remove more (above 1) or less (below 1) than the noise suggests
    #[arg(long, value_name = "S", default_value = "1", allow_negative_numbers = true, value_parser = number::parse)]
    pub strength: f64,
    /// The noise's standard deviation, in the image's units (0 to 1: 15/255; of arrays, as they are); estimated unless given
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true, value_parser = number::parse)]
    pub noise: Option<f64>,
    /// What a picture is taken to be like: learned (filters learned from photographs), or differences (few of them: faster); learned up
    /// to 4 megapixels unless given
    #[arg(long, value_name = "NAME", value_parser = known::priors(), hide_possible_values = true, conflicts_with = "penalty")]
    pub prior: Option<Prior>,
    /// ψ: l1, mcp, huber, …; with lambda=… nothing is chosen, and λ is in the image's units (0 to 1; of arrays, as they are)
    #[arg(long, value_name = "NAME:KEY=VALUE,…", value_parser = known::penalties(), hide_possible_values = true)]
    pub penalty: Option<PenaltyChoice>,
    /// Slices of one volume, not pictures: the pages of a TIFF, or an array of three axes whose last has one or three (others are volumes
    /// anyway); differences along all three axes count
    #[arg(long)]
    pub volume: bool,
    /// Measure a pixel's differences together: edges of every direction cost the same
    #[arg(long)]
    pub isotropic: bool,
    /// Start from this image
    #[arg(long, value_name = "FILE")]
    pub init: Option<PathBuf>,
    /// The clean image: prints PSNR and SSIM, before and after
    #[arg(long, value_name = "CLEAN")]
    pub reference: Option<PathBuf>,
    /// Add Gaussian noise first, for demonstrations (--seed says which)
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true, value_parser = number::parse)]
    pub add_noise: Option<f64>,
    /// Write the image with its added noise too
    #[arg(long, value_name = "FILE", requires = "add_noise")]
    pub noisy_output: Option<PathBuf>,
    #[command(flatten)]
    pub solving: Solving,
}

impl Denoise {
    /// The format that was asked for.
    pub fn format(&self) -> Option<Format> {
        self.format_name.as_deref().and_then(|name| name.parse().ok())
    }
}
