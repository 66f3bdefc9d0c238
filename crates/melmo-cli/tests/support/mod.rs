//! A temporary folder with the built program in it.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder of its own, removed at the end.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.file(name), bytes).unwrap();
        self.file(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    /// The program, to be run in this folder.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_melmo"));
        command.current_dir(self.path()).args(arguments.split_whitespace());
        command
    }

    /// Runs it.
    pub fn melmo(&self, arguments: &str) -> Ran {
        Ran::from(self.command(arguments).output().unwrap(), arguments)
    }

    /// Waits until a file is there.
    pub fn wait_for(&self, name: &str) {
        let start = Instant::now();
        while !self.file(name).exists() {
            assert!(start.elapsed() < Duration::from_secs(60), "{name} never appeared");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Runs it, and kills it soon after a file has appeared.
    pub fn killed(&self, arguments: &str, name: &str, after: Duration) {
        let mut child = self.command(arguments).stderr(Stdio::null()).spawn().unwrap();
        self.wait_for(name);
        std::thread::sleep(after);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Two runs wrote the same factors, to the last bit.
    pub fn same_factors(&self, one: &str, other: &str) {
        for name in ["W", "H"] {
            let bytes = |run: &str| std::fs::read(self.file(&format!("{run}.{name}.npy"))).unwrap();
            assert_eq!(bytes(one), bytes(other), "{name}");
        }
    }

    /// Runs it and expects success.
    pub fn done(&self, arguments: &str) -> Ran {
        let ran = self.melmo(arguments);
        assert_eq!(ran.code, 0, "{arguments}: {}{}", ran.stdout, ran.stderr);
        ran
    }

    /// Runs it with --json and gives the object.
    pub fn json(&self, arguments: &str) -> serde_json::Value {
        let ran = self.done(&format!("{arguments} --json -q"));
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
    }

    /// Runs it and expects status 2, no panic, and a message with all of `parts`; nothing may be left behind.
    pub fn refused(&self, arguments: &str, parts: &[&str]) {
        let before = self.names();
        let ran = self.melmo(arguments);
        assert_eq!(ran.code, 2, "{arguments}: {}{}", ran.stdout, ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{arguments}: {}", ran.stderr);
        for part in parts {
            assert!(ran.stderr.contains(part), "{arguments}: `{part}` is not in: {}", ran.stderr);
        }
        // What an earlier, killed run had left may be gone.
        assert!(self.names().iter().all(|name| before.contains(name)), "{arguments} left files behind");
    }

    /// The names of the files here.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A CSV file without its last column, `seconds`.
    pub fn rows(&self, name: &str) -> Vec<String> {
        self.read(name).lines().map(|line| line.rsplit_once(',').unwrap().0.to_string()).collect()
    }
}

/// What the program said.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn from(output: Output, arguments: &str) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap_or_else(|| panic!("{arguments}: ended by a signal"));
        Self { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Golden cases of the library.
pub fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../melmo/tests/golden")
}
