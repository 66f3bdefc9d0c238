//! Files of every format, damaged in every way: read or refused, in little memory and time, with a short message.

mod damage;
mod files;

use std::time::{Duration, Instant};

use melmo_data::image::{self, Encoding};
use melmo_data::list::Duplicates;
use melmo_data::{Error, Format, Limits, formats, frame, list, parquet, y4m};

use crate::run::{Run, one_of};

/// What a reader may take: so many bytes whatever the file, so many more for each of its bytes, so much time.
const MEMORY: u64 = 192 << 20;
const PER_BYTE: u64 = 2048;
const TIME: Duration = Duration::from_secs(5);
/// Samples of what is written again: more are written as few are, and take longer.
const WRITTEN: usize = 1 << 16;
/// What it may say.
const WORDS: usize = 3000;

pub fn campaign(run: &mut Run) {
    let files = files::all();
    run.until_the_end(|number, seeded| match files.get(number as usize) {
        Some((format, bytes)) => parse(*format, bytes), // each as it is, once
        None => {
            let ((format, whole), (_, other)) = (one_of(seeded, &files), one_of(seeded, &files));
            let mut bytes = whole.clone();
            damage::damage(seeded, &mut bytes, other);
            parse(*format, &bytes)
        }
    });
}

fn parse(format: usize, bytes: &[u8]) -> Result<(), String> {
    let format = &formats()[format];
    read(format, bytes, || (format.parse)(bytes, &Limits::default()))?;
    if let Some(sparse) = format.sparse {
        read(format, bytes, || sparse(bytes, &Limits::default()))?;
    }
    match format.name {
        "csv" => {
            read(format, bytes, || frame::parse(bytes))?;
            read(format, bytes, || list::parse(bytes, &[], Duplicates::Mean))
        }
        "Parquet" => read(format, bytes, || parquet::parse(bytes, &Limits::default())),
        "image" => read(format, bytes, || written_again(bytes)),
        "film" => read(format, bytes, || film_again(bytes)),
        _ => Ok(()),
    }
}

/// What a damaged picture says beside its samples is written into every format.
fn written_again(bytes: &[u8]) -> Result<(), Error> {
    let pages = image::pages_within(bytes, &Limits::default())?;
    if pages.iter().map(|page| page.data.len()).sum::<usize>() > WRITTEN {
        return Ok(());
    }
    // Many of them cannot hold it, and say so.
    drop(image::encode_pages(&pages, Encoding::Tiff));
    for encoding in [Encoding::Png, Encoding::Jpeg, Encoding::WebP, Encoding::Bmp, Encoding::Pgm, Encoding::Ppm] {
        pages.iter().for_each(|page| drop(image::encode(page, encoding)));
    }
    Ok(())
}

/// A film is what it was when it is written and read again.
fn film_again(bytes: &[u8]) -> Result<(), Error> {
    let film = y4m::parse(bytes, &Limits::default())?;
    let mut writer = y4m::Writer::new(Vec::new(), &film.0)?;
    film.1.iter().try_for_each(|frame| writer.frame(frame))?;
    assert_eq!(film, y4m::parse(&writer.into_inner(), &Limits::default())?);
    Ok(())
}

/// One way to read them.
fn read<T>(format: &Format, bytes: &[u8], how: impl FnOnce() -> Result<T, Error>) -> Result<(), String> {
    let (begun, mut told) = (Instant::now(), 0);
    let memory = allocation_counter::measure(|| {
        if let Err(error) = how() {
            told = error.to_string().len();
        }
    });
    let (name, length, time) = (format.name, bytes.len(), begun.elapsed());
    if memory.bytes_max > MEMORY + PER_BYTE * length as u64 {
        return Err(format!("{name}: {} bytes of memory for a file of {length}", memory.bytes_max));
    }
    if time > TIME {
        return Err(format!("{name}: {time:?} for a file of {length} bytes"));
    }
    if told > WORDS { Err(format!("{name}: a message of {told} bytes")) } else { Ok(()) }
}
