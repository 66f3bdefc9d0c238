//! Frames as they come: a thread reads ahead, so that a pipe that says nothing keeps nobody from ending.

use std::cell::Cell;
use std::fs;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use melmo_data::y4m::{Frame, Header, Reader, SIGNATURE};
use melmo_data::{Data, Limits};
use melmo_tasks::Until;

use crate::args::Denoise;
use crate::command::frames::pictures_in;
use crate::error::Error;
use crate::input::is_standard;
use crate::output::extension;
use crate::picture::Picture;
use crate::render::progress;

/// What films end in.
pub const NAME: &str = "y4m";
/// Frames that are read ahead.
const AHEAD: usize = 2;
/// How often somebody who waits for a frame looks up.
const PAUSE: Duration = Duration::from_millis(50);

/// The name says that it is a film.
pub fn is_film(path: &Path) -> bool {
    extension(path) == NAME
}

/// Standard input has begun to give a film. Nothing is taken from it.
pub fn waits() -> bool {
    let input = std::io::stdin();
    !input.is_terminal() && input.lock().fill_buf().is_ok_and(|bytes| bytes.starts_with(SIGNATURE))
}

/// A frame as it was read.
pub enum Given {
    /// Of a film: planes of these sides.
    Frame(Vec<[usize; 2]>, Frame),
    /// A picture by its name.
    Picture(PathBuf, Box<Picture>),
}

impl Given {
    /// Rows, columns and channels of each part, and its samples.
    pub fn parts(&self) -> Vec<([usize; 3], Vec<f64>)> {
        match self {
            Self::Frame(sides, frame) => {
                sides.iter().zip(&frame.planes).map(|(&[rows, cols], plane)| ([rows, cols, 1], plane.clone())).collect()
            }
            Self::Picture(_, picture) => {
                vec![([picture.rows, picture.cols, picture.planes.len()], picture.together::<f64>())]
            }
        }
    }

    /// The same frame with other samples.
    pub fn with<S: melmo::real::Real>(self, parts: Vec<Vec<S>>) -> Self {
        match self {
            Self::Frame(sides, frame) => {
                let planes = parts.iter().map(|plane| plane.iter().map(|v| v.f64()).collect()).collect();
                let frame = frame.with(planes);
                Self::Frame(sides, frame)
            }
            Self::Picture(path, picture) => {
                let picture = parts.first().map(|all| picture.with(all, 1.0)).map_or(picture, Box::new);
                Self::Picture(path, picture)
            }
        }
    }
}

/// What came.
pub enum Next {
    Frame(Box<Given>),
    End,
    /// The time, or Ctrl-C.
    Over,
    Failed(Error),
}

/// A film that is being read.
pub struct Source {
    /// One line about it.
    pub about: String,
    /// Rows, columns and channels of its largest part.
    pub shape: [usize; 3],
    /// The full range of samples, where it is stated.
    pub range: Option<f64>,
    /// What it is, where it is no folder.
    pub header: Option<Header>,
    /// The names of a folder's frames.
    pub names: Vec<PathBuf>,
    frames: Receiver<Result<Given, Error>>,
    ended: Cell<bool>,
}

impl Source {
    pub fn open(denoise: &Denoise, until: &Until) -> Result<Self, Error> {
        let limits = denoise.solving.max_entries.map(Limits::entries).unwrap_or_default();
        let input = denoise.input.clone();
        match input.is_dir() {
            true => Self::folder(&input, limits),
            false => Self::film(input, limits, until),
        }
    }

    fn film(path: PathBuf, limits: Limits, until: &Until) -> Result<Self, Error> {
        let about_it = |error: melmo_data::Error| Error::from(error.about(&path));
        let mut reader = progress::while_reading(&path, until, || -> Result<_, Error> {
            let from: Box<dyn BufRead + Send> = match is_standard(&path) {
                true => Box::new(BufReader::new(std::io::stdin())),
                false => {
                    let file = fs::File::open(&path).map_err(melmo_data::file::io_error(&path, "read it"))?;
                    Box::new(BufReader::with_capacity(1 << 20, file))
                }
            };
            Reader::new(from, &limits).map_err(about_it)
        })?;
        let header = reader.header().clone();
        let (sides, file) = (header.sides(), path.clone());
        let next = move || {
            let frame = reader.frame().map_err(|error| Error::from(error.about(&file))).transpose()?;
            Some(frame.map(|frame| Given::Frame(sides.clone(), frame)))
        };
        let colour = if header.sides().len() > 1 { format!("{:?}", header.sampling) } else { "grey".into() };
        Ok(Self {
            about: format!(
                "{}×{}, {}, {} bit",
                header.width,
                header.height,
                colour.replace('S', "YCbCr "),
                header.bits
            ),
            shape: [header.height, header.width, 1],
            range: Some(1.0),
            header: Some(header),
            names: Vec::new(),
            frames: ahead(next),
            ended: Cell::new(false),
        })
    }

    fn folder(folder: &Path, limits: Limits) -> Result<Self, Error> {
        let files = pictures_in(folder)?;
        let Some(first) = files.first() else {
            return Err(Error::input(
                folder,
                "no pictures in it; expected frames as .png, .jpg, .tif, .webp, .bmp, .pgm or .ppm",
            ));
        };
        let first = read(first, &limits)?;
        let shape = [first.rows, first.cols, first.planes.len()];
        let about = format!("{} pictures, the first {}", files.len(), first.about());
        let (names, range) = (files.clone(), first.full_range());
        let mut files = files.into_iter();
        let next = move || {
            let file = files.next()?;
            Some(read(&file, &limits).map(|picture| Given::Picture(file, Box::new(picture))))
        };
        Ok(Self { about, shape, range, header: None, names, frames: ahead(next), ended: Cell::new(false) })
    }

    /// The next frame, when it is there.
    pub fn next(&self, until: &Until) -> Next {
        loop {
            if until.is_over("waiting for a frame") {
                self.ended.set(true);
                return Next::Over;
            }
            match self.frames.recv_timeout(PAUSE) {
                Ok(Ok(frame)) => return Next::Frame(Box::new(frame)),
                Err(RecvTimeoutError::Timeout) => {}
                ended => {
                    self.ended.set(true);
                    return match ended {
                        Ok(Err(error)) => Next::Failed(error),
                        _ => Next::End,
                    };
                }
            }
        }
    }

    /// Nothing more will come.
    pub fn has_ended(&self) -> bool {
        self.ended.get()
    }
}

/// A picture of a folder.
fn read(file: &Path, limits: &Limits) -> Result<Picture, Error> {
    match melmo_data::open_seen(file, limits, |_| ())? {
        Data::Image(image) => Ok(Picture::of_image(&image)),
        Data::Pages(pages) => Err(Error::input(file, format!("has {} pages; expected one frame a file", pages.len()))),
        _ => Err(Error::input(file, "is no picture")),
    }
}

/// What a thread reads, until it fails.
fn ahead(mut next: impl FnMut() -> Option<Result<Given, Error>> + Send + 'static) -> Receiver<Result<Given, Error>> {
    let (sender, receiver) = sync_channel(AHEAD);
    std::thread::spawn(move || {
        while let Some(frame) = next() {
            let failed = frame.is_err();
            if sender.send(frame).is_err() || failed {
                return; // nobody waits any more
            }
        }
    });
    receiver
}
