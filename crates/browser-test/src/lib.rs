//! Headless Chromium for the tests of this workspace, driven over the DevTools protocol on a pair of pipes.
//!
//! No driver, no web socket and no port: Chromium reads commands from its file descriptor 3 and answers on 4, and a shell
//! connects those to the standard streams of the process. It ends when the pipes close, so nothing is left behind.
//!
//! ```no_run
//! # fn main() -> Result<(), browser_test::Error> {
//! let Some(mut browser) = browser_test::Browser::start_or_say_what_is_missing()? else { return Ok(()) };
//! let mut tab = browser.open(std::path::Path::new("/tmp/page.html"), browser_test::Screen::PHONE)?;
//! assert_eq!(tab.eval("document.querySelectorAll('figure').length")?, 3);
//! assert!(tab.complaints().is_empty());
//! # Ok(()) }
//! ```

mod browser;
mod error;
mod pipe;
mod tab;

pub use browser::Browser;
pub use error::Error;
pub use tab::{Screen, Tab};
