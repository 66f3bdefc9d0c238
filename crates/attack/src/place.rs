//! A temporary folder with the program in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What no run here may take: longer is a hang.
const HANG: Duration = Duration::from_secs(60);

/// A folder of its own, removed at the end.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.file(name), bytes).expect("a file of its own");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.file(name)).unwrap_or_default()
    }

    /// The names of the files here.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("a folder of its own").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The program, to be run here.
    pub fn program(&self, arguments: &str) -> Command {
        let mut command = Command::new(program());
        command.current_dir(self.path()).args(arguments.split_whitespace());
        command
    }

    /// Runs it to its end; a hang, a panic or a signal is an error.
    pub fn run(&self, arguments: &str) -> Result<Output, String> {
        ended(self.program(arguments), arguments)
    }

    /// Runs it and expects a status.
    pub fn expect(&self, arguments: &str, status: i32) -> Result<Output, String> {
        let output = self.run(arguments)?;
        match output.status.code() {
            Some(code) if code == status => Ok(output),
            code => Err(format!("{arguments}: status {code:?} and not {status}: {}", heard(&output))),
        }
    }
}

/// `melmo` beside this program, or where MELMO_PROGRAM says.
pub fn program() -> PathBuf {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name("melmo"));
    std::env::var_os("MELMO_PROGRAM").map(PathBuf::from).or_else(beside).unwrap_or_else(|| "melmo".into())
}

/// Runs a command to its end.
pub fn ended(mut command: Command, what: &str) -> Result<Output, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let begun = Instant::now();
    // Little is ever printed: a pipe holds it all.
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if begun.elapsed() > HANG {
            let _ = child.kill();
            return Err(format!("{what}: took more than {HANG:?}"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    match output.status.code() {
        None | Some(101 | 134) => Err(format!("{what}: {}: {}", output.status, heard(&output))),
        _ if heard(&output).contains("panicked") => Err(format!("{what}: {}", heard(&output))),
        _ => Ok(output),
    }
}

/// What a program said.
pub fn heard(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}
