//! The playground: its jobs, and its page in a browser.

mod browser;
mod jobs;
