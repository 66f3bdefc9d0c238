//! Files and folders that are made beside their place and put there whole, by renaming.
//!
//! What is being made lies under a hidden name, `.NAME.PROCESS-COUNT.part`, locked by whoever makes it. A process that is
//! killed leaves such a part behind, and its lock goes with it: [`sweep`] removes the parts of a name that nobody holds.

use crate::error::Error;
use crate::file::io_error;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whole, but not yet in place. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    part: PathBuf,
    /// Open, and locked where the file system has locks, until it is in place.
    held: Option<File>,
    /// Names of files that may be lost with the folder that is there.
    replaced: Vec<OsString>,
}

impl Staged {
    /// A file with these bytes. Where `path` is a file already its permissions are kept.
    pub fn file(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let (part, mut file) = part_of(path, |part| OpenOptions::new().write(true).create_new(true).open(part))?;
        let mut staged = Self { path: path.into(), part, held: None, replaced: Vec::new() };
        let old = path.symlink_metadata().ok().filter(fs::Metadata::is_file);
        old.map_or(Ok(()), |old| file.set_permissions(old.permissions()))
            .and_then(|()| file.write_all(bytes))
            .and_then(|()| file.sync_all())
            .map_err(io_error(path, "write a temporary file beside it"))?;
        staged.held = Some(file);
        Ok(staged)
    }

    /// A folder that `fill` fills with files. One that is there already may have files of the same names, and of those in
    /// `replaced`: they go.
    pub fn folder<E: From<Error>>(
        path: &Path,
        replaced: &[&str],
        fill: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<Self, E> {
        let (part, held) = part_of(path, |part| {
            fs::create_dir(part)?;
            Ok(File::open(part).ok())
        })?;
        let staged = Self { path: path.into(), part, held, replaced: replaced.iter().map(Into::into).collect() };
        fill(&staged.part)?;
        Ok(staged)
    }

    /// Where it is to go.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it lies until then.
    #[must_use]
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Puts it in place. What is there already is refused unless `overwrite`, and a folder is replaced only where nothing
    /// but its files of the same names is lost.
    pub fn place(mut self, overwrite: bool) -> Result<(), Error> {
        let there = self.path.symlink_metadata().ok();
        if there.is_some() && !overwrite {
            return Err(Error::Exists { file: self.path.clone() });
        }
        let placed = match (self.part.is_dir(), there) {
            (true, Some(_)) => self.replace_folder(),
            (true, None) => fs::rename(&self.part, &self.path).map_err(io_error(&self.path, "put it in place")),
            (false, _) => self.place_file(overwrite),
        };
        if placed.is_ok() {
            self.part = PathBuf::new(); // there is nothing left to remove
        }
        placed
    }

    /// Renaming replaces silently, so a file that must be new is linked instead, where the file system has links.
    fn place_file(&self, overwrite: bool) -> Result<(), Error> {
        let failed = |doing| io_error(&self.path, doing);
        if overwrite {
            return fs::rename(&self.part, &self.path).map_err(failed("put it in place"));
        }
        match fs::hard_link(&self.part, &self.path) {
            Ok(()) => fs::remove_file(&self.part).map_err(failed("remove the temporary file beside it")),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(Error::Exists { file: self.path.clone() })
            }
            Err(_) => fs::rename(&self.part, &self.path).map_err(failed("put it in place")),
        }
    }

    /// The old folder steps aside, the new one takes its place, and then the old one's files go, by name.
    fn replace_folder(&self) -> Result<(), Error> {
        let failed = |doing| io_error(&self.path, doing);
        let mut names = names(&self.part).map_err(failed("read what was made of it"))?;
        names.extend_from_slice(&self.replaced);
        expect_only(&self.path, &names)?;
        // A name that nobody has: there the old folder can go.
        let (aside, _held) = part_of(&self.path, |part| {
            fs::create_dir(part)?;
            Ok(File::open(part).ok())
        })?;
        if let Err(error) = fs::rename(&self.path, &aside) {
            let _ = fs::remove_dir(&aside);
            return Err(failed("move what is there aside")(error));
        }
        if let Err(error) = fs::rename(&self.part, &self.path) {
            // Back where it was; unless somebody else has put a new one there meanwhile, which was to replace it anyway.
            let _ = fs::rename(&aside, &self.path).or_else(|_| remove_files(&aside, &names));
            return Err(failed("put it in place")(error));
        }
        remove_files(&aside, &names).map_err(io_error(&aside, "remove what was replaced"))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.part.as_os_str().is_empty() {
            return;
        }
        // Whatever went wrong before is what is to be reported.
        let _ = match names(&self.part) {
            Ok(names) => remove_files(&self.part, &names),
            Err(_) => fs::remove_file(&self.part),
        };
    }
}

/// Refuses a folder that holds anything but files of these names: it could not be replaced without a loss.
pub fn expect_only(folder: &Path, names: &[OsString]) -> Result<(), Error> {
    let unknown = |name: OsString| Error::Occupied { file: folder.into(), other: name.into() };
    if !folder.symlink_metadata().is_ok_and(|data| data.is_dir()) {
        return Err(unknown(folder.as_os_str().into()));
    }
    for entry in fs::read_dir(folder).map_err(io_error(folder, "read the folder"))? {
        let entry = entry.map_err(io_error(folder, "read the folder"))?;
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || !names.contains(&entry.file_name()) {
            return Err(unknown(entry.file_name()));
        }
    }
    Ok(())
}

/// Removes the parts of a name that were left behind by processes that are gone. What cannot be removed stays.
pub fn sweep(path: &Path) {
    let (Some(name), Ok(entries)) = (path.file_name(), fs::read_dir(folder_of(path))) else { return };
    for entry in entries.flatten().filter(|entry| is_part(&entry.file_name(), name)) {
        // Links are not ours: what they lead to even less.
        let Ok(kind) = entry.file_type() else { continue };
        let Some(held) = (kind.is_file() || kind.is_dir()).then(|| File::open(entry.path()).ok()).flatten() else {
            continue;
        };
        if held.try_lock().is_err() {
            continue; // somebody is at work
        }
        let _ = match kind.is_dir() {
            true => names(&entry.path()).and_then(|names| remove_files(&entry.path(), &names)),
            false => fs::remove_file(entry.path()),
        };
    }
}

/// `Ok` where a file could be made beside `path`.
pub fn probe(path: &Path) -> Result<(), Error> {
    let (part, _file) = part_of(path, |part| OpenOptions::new().write(true).create_new(true).open(part))?;
    // The probe has done its duty; a leftover is swept another time.
    let _ = fs::remove_file(part);
    Ok(())
}

/// What can be held while it is being made: a file, or a folder where those can be opened.
trait Hold {
    fn hold(&self);
}

impl Hold for File {
    fn hold(&self) {
        // Where there are no locks nothing is ever swept.
        let _ = self.lock();
    }
}

impl Hold for Option<File> {
    fn hold(&self) {
        self.iter().for_each(Hold::hold);
    }
}

/// Makes something new under a hidden name beside `path`, and holds it. A planted file or link is never opened.
fn part_of<T: Hold>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> Result<(PathBuf, T), Error> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let Some(name) = path.file_name() else {
        return Err(Error::argument(
            "the file to write",
            format!("`{}`", path.display()),
            "a path that ends in a name",
        ));
    };
    loop {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{}.part", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let part = path.with_file_name(hidden);
        match make(&part) {
            Ok(made) => {
                made.hold();
                // Between its making and its locking somebody may have swept it.
                if part.symlink_metadata().is_ok() {
                    return Ok((part, made));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(io_error(path, "create a temporary file beside it")(error)),
        }
    }
}

/// `.NAME.PROCESS-COUNT.part`.
fn is_part(found: &std::ffi::OsStr, name: &std::ffi::OsStr) -> bool {
    let (Some(found), Some(name)) = (found.to_str(), name.to_str()) else { return false };
    let middle = found.strip_prefix('.').and_then(|rest| rest.strip_prefix(name)).and_then(|rest| {
        rest.strip_prefix('.').and_then(|rest| rest.strip_suffix(".part")).and_then(|rest| rest.split_once('-'))
    });
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    middle.is_some_and(|(process, count)| number(process) && number(count))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
}

fn remove_files(folder: &Path, names: &[OsString]) -> io::Result<()> {
    for name in names {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::remove_dir(folder)
}
