//! The DevTools protocol on a pair of pipes: JSON messages, a zero byte after each.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::Error;

/// How long a command may take: a machine that builds at the same time is slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// The conversation with a browser.
pub(crate) struct Pipe {
    commands: ChildStdin,
    answers: Receiver<Value>,
    next: u64,
    /// Events that came while answers were waited for.
    events: Vec<Value>,
}

impl Pipe {
    /// Starts listening.
    pub(crate) fn new(commands: ChildStdin, answers: ChildStdout) -> Self {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(answers);
            let mut message = Vec::new();
            while reader.read_until(0, &mut message).is_ok_and(|n| n > 0) {
                message.pop();
                if let Ok(value) = serde_json::from_slice(&message)
                    && sender.send(value).is_err()
                {
                    break;
                }
                message.clear();
            }
        });
        Self { commands, answers: receiver, next: 1, events: Vec::new() }
    }

    /// Sends a command, to one tab or to the browser, and waits for its answer.
    pub(crate) fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Result<Value, Error> {
        let id = self.next;
        self.next += 1;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.commands.write_all(format!("{message}\0").as_bytes())?;
        self.commands.flush()?;
        let late = || Error::Late { method: method.to_owned() };
        let mut answer = self.until(late, |message| message["id"] == id)?;
        match answer.get("error") {
            Some(error) => Err(Error::Refused { method: method.to_owned(), answer: error.to_string() }),
            None => Ok(answer["result"].take()),
        }
    }

    /// Waits until an event of the name has come from the tab, if it has not yet.
    pub(crate) fn wait(&mut self, session: &str, event: &str) -> Result<(), Error> {
        let is = |message: &Value| message["method"] == event && message["sessionId"] == session;
        if !self.events.iter().any(is) {
            let message = self.until(|| Error::Late { method: event.to_owned() }, is)?;
            self.events.push(message);
        }
        Ok(())
    }

    /// The events of a tab so far.
    pub(crate) fn events(&self, session: &str) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(move |event| event["sessionId"] == session)
    }

    fn until(&mut self, late: impl Fn() -> Error, wanted: impl Fn(&Value) -> bool) -> Result<Value, Error> {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.answers.recv_timeout(left) {
                Ok(message) if wanted(&message) => return Ok(message),
                Ok(message) => self.events.push(message),
                Err(RecvTimeoutError::Timeout) => return Err(late()),
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Closed),
            }
        }
    }
}
