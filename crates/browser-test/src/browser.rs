//! Finding, starting and ending a browser.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::error::Error;
use crate::pipe::Pipe;
use crate::tab::{Screen, Tab};

/// Names a Chromium may have.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// As root in a container, with nothing of its own on the network.
const FLAGS: [&str; 16] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-quic",
    "--disable-sync",
    "--mute-audio",
    "--hide-scrollbars",
];

/// A running browser. It ends when this is dropped.
pub struct Browser {
    pipe: Option<Pipe>,
    child: Child,
    // Removed after the browser has ended.
    _profile: TempDir,
}

impl Browser {
    /// The browser's program: `CHROMIUM` in the environment, or the first of the usual names on the path.
    pub fn program() -> Option<PathBuf> {
        let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
        let folders: Vec<PathBuf> =
            std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
        let usual = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        named.into_iter().chain(usual).find(|program| program.is_file())
    }

    /// Starts the browser, or says on the standard error stream what to install for the test to run.
    pub fn start_or_say_what_is_missing() -> Result<Option<Self>, Error> {
        match Self::program() {
            Some(program) => Self::start(&program).map(Some),
            None => {
                let line = "=".repeat(78);
                eprintln!(
                    "{line}\nSKIPPED: this test needs Chromium, and none was found on the path.\n\
                     Install it (Debian: apt-get install chromium) or set CHROMIUM to the program.\n{line}"
                );
                Ok(None)
            }
        }
    }

    fn start(program: &Path) -> Result<Self, Error> {
        let profile = tempfile::Builder::new().prefix("browser-test").tempdir()?;
        // Chromium speaks on descriptors 3 and 4; the shell makes them the streams this process holds.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 >/dev/null 2>&1", "sh"])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(commands), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::Closed);
        };
        let mut pipe = Pipe::new(commands, answers);
        pipe.call(None, "Browser.getVersion", json!({}))?;
        Ok(Self { pipe: Some(pipe), child, _profile: profile })
    }

    /// Opens a file in a tab of its own and waits until it has loaded.
    pub fn open(&mut self, file: &Path, screen: Screen) -> Result<Tab<'_>, Error> {
        let file = file.canonicalize()?;
        let pipe = self.pipe.as_mut().ok_or(Error::Closed)?;
        Tab::open(pipe, &format!("file://{}", file.display()), screen)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The end of the pipe ends the browser; its children go with it.
        if let Some(mut pipe) = self.pipe.take() {
            let _ = pipe.call(None, "Browser.close", json!({}));
        }
        let _ = self.child.wait();
    }
}
