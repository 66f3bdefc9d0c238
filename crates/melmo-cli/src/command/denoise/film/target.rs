//! Where frames go: into a film, or a folder, frame by frame, and put in place at the end; to standard output at once.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Stdout, Write};
use std::path::{Path, PathBuf};

use melmo_data::y4m::Writer;

use super::source::{Given, NAME, Source, is_film};
use crate::args::Denoise;
use crate::error::Error;
use crate::input::is_standard;
use crate::output::Outputs;
use crate::target::Format;

/// What will be written.
pub struct Target {
    outputs: Outputs,
    path: PathBuf,
    header: Option<melmo_data::y4m::Header>,
    /// The names of a folder's frames.
    names: Vec<String>,
}

/// Takes frames.
pub enum Sink<'a> {
    File(Writer<BufWriter<File>>),
    Standard(Writer<Stdout>),
    Folder(&'a Path),
}

impl Target {
    /// Checked before the work begins.
    pub fn plan(denoise: &Denoise, path: &Path, source: &Source) -> Result<Self, Error> {
        let name = denoise.format_name.as_deref().filter(|name| *name != NAME);
        if let (Some(name), Some(_)) = (name, &source.header) {
            return Err(Error::option("format", format!("`{name}`: a film becomes a film: leave it out")));
        }
        let film = is_film(path) || is_standard(path);
        match &source.header {
            Some(_) if !film => {
                return Err(Error::input(path, "a film becomes a film: expected a name that ends in .y4m"));
            }
            None if film || Format::of(path).is_some() || denoise.format_name.is_some() => {
                return Err(Error::input(
                    path,
                    "pictures of a folder become pictures of a folder, of their kind: expected its name",
                ));
            }
            _ => {}
        }
        let outputs = Outputs::plan(denoise.solving.force, &[path.to_path_buf()], &[])?;
        let of = |file: &PathBuf| file.file_name().map(|name| name.to_string_lossy().into_owned());
        let names: Vec<String> = source.names.iter().filter_map(of).collect();
        if source.header.is_none() && path.symlink_metadata().is_ok() {
            let names: Vec<_> = names.iter().map(Into::into).collect();
            melmo_data::staged::expect_only(path, &names)?;
        }
        Ok(Self { outputs, path: path.into(), header: source.header.clone(), names })
    }

    /// Lets `work` write frames, and puts in place what it wrote.
    pub fn run(self, work: impl FnOnce(&mut Sink<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let Self { mut outputs, path, header, names } = self;
        let to_it = |error: melmo_data::Error| Error::from(error.about(&path));
        match header {
            Some(header) if is_standard(&path) => {
                work(&mut Sink::Standard(Writer::new(std::io::stdout(), &header).map_err(to_it)?))?;
            }
            Some(header) => {
                let part = outputs.begin(&path, b"")?;
                let failed = melmo_data::file::io_error(&path, "write a temporary file beside it");
                let file = OpenOptions::new().append(true).open(part).map_err(failed)?;
                let mut sink = Sink::File(Writer::new(BufWriter::new(file), &header).map_err(to_it)?);
                work(&mut sink)?;
                if let Sink::File(writer) = sink {
                    let failed = melmo_data::file::io_error(&path, "write a temporary file beside it");
                    writer.into_inner().flush().map_err(failed)?;
                }
            }
            None => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                outputs.folder(&path, &names, |part| work(&mut Sink::Folder(part)))?;
            }
        }
        outputs.place()
    }
}

impl Sink<'_> {
    /// Writes a frame; whether anybody takes more.
    pub fn write(&mut self, frame: Given) -> Result<bool, Error> {
        match (self, frame) {
            (Self::File(writer), Given::Frame(_, frame)) => writer.frame(&frame)?,
            (Self::Standard(writer), Given::Frame(_, frame)) => match writer.frame(&frame) {
                Err(melmo_data::Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => {
                    return Ok(false);
                }
                written => written?,
            },
            (Self::Folder(folder), Given::Picture(file, picture)) => {
                let path = folder.join(file.file_name().unwrap_or_default());
                let mut outputs = Outputs::plan(false, std::slice::from_ref(&path), &[])?;
                picture.write(&mut outputs, &crate::target::Target::file(&path))?;
                outputs.place()?;
            }
            _ => {} // a film has frames, a folder pictures
        }
        Ok(true)
    }
}
