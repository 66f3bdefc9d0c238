//! One page in a browser: what it shows, what it does when clicked, and what it complains about.

use base64::Engine;
use serde_json::{Value, json};

use crate::error::Error;
use crate::pipe::Pipe;

/// What the page is shown on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Whether the reader's system is dark.
    pub dark: bool,
    /// Whether pages may run scripts.
    pub scripts: bool,
}

impl Screen {
    /// A desktop window.
    pub const DESK: Self = Self { width: 1280, height: 900, dark: false, scripts: true };
    /// A phone.
    pub const PHONE: Self = Self { width: 390, height: 844, dark: false, scripts: true };

    /// The same, dark.
    pub fn dark(self) -> Self {
        Self { dark: true, ..self }
    }

    /// The same, without scripts.
    pub fn without_scripts(self) -> Self {
        Self { scripts: false, ..self }
    }
}

/// An open page.
pub struct Tab<'a> {
    pipe: &'a mut Pipe,
    session: String,
    target: String,
}

impl<'a> Tab<'a> {
    pub(crate) fn open(pipe: &'a mut Pipe, address: &str, screen: Screen) -> Result<Self, Error> {
        let made = pipe.call(None, "Target.createTarget", json!({ "url": "about:blank" }))?;
        let target = made["targetId"].as_str().unwrap_or_default().to_owned();
        let joined = pipe.call(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true }))?;
        let session = joined["sessionId"].as_str().unwrap_or_default().to_owned();
        let mut tab = Self { pipe, session, target };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}))?;
        }
        let size = json!({ "width": screen.width, "height": screen.height, "deviceScaleFactor": 1, "mobile": screen.width < 500 });
        tab.call("Emulation.setDeviceMetricsOverride", size)?;
        let scheme = if screen.dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        tab.call("Emulation.setEmulatedMedia", media)?;
        tab.call("Emulation.setScriptExecutionDisabled", json!({ "value": !screen.scripts }))?;
        tab.call("Page.navigate", json!({ "url": address }))?;
        tab.pipe.wait(&tab.session, "Page.loadEventFired")?;
        Ok(tab)
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, Error> {
        self.pipe.call(Some(&self.session), method, params)
    }

    /// The value of a JavaScript expression; a promise is waited for.
    pub fn eval(&mut self, source: &str) -> Result<Value, Error> {
        let params = json!({ "expression": source, "returnByValue": true, "awaitPromise": true, "userGesture": true });
        let mut answer = self.call("Runtime.evaluate", params)?;
        match answer.get("exceptionDetails") {
            Some(details) => {
                let thrown = details["exception"]["description"].as_str().unwrap_or("exception").to_owned();
                Err(Error::Script { source: source.to_owned(), thrown })
            }
            None => Ok(answer["result"]["value"].take()),
        }
    }

    /// Brings the first element that matches into view, waits until it stands still, and gives the middle of it.
    fn middle(&mut self, selector: &str) -> Result<(f64, f64), Error> {
        let source = format!(
            "(async () => {{
                const element = document.querySelector({selector});
                if (!element) throw new Error('nothing matches ' + {selector});
                let last = null;
                for (let i = 0, still = 0; i < 100 && still < 3; i++) {{
                    element.scrollIntoView({{ block: 'center', behavior: 'instant' }});
                    await new Promise(done => setTimeout(done, 40));
                    const box = element.getBoundingClientRect();
                    const place = [box.left + box.width / 2, box.top + box.height / 2];
                    still = String(place) === String(last) ? still + 1 : 0;
                    last = place;
                }}
                return last;
            }})()",
            selector = json!(selector)
        );
        let place = self.eval(&source)?;
        Ok((place[0].as_f64().unwrap_or(0.0), place[1].as_f64().unwrap_or(0.0)))
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64)) -> Result<(), Error> {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let params = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", params).map(drop)
    }

    /// Moves the pointer to the middle of the first element that matches.
    pub fn hover(&mut self, selector: &str) -> Result<(), Error> {
        let place = self.middle(selector)?;
        self.mouse("mouseMoved", place)
    }

    /// Clicks the middle of the first element that matches, as a mouse does: what lies over it takes the click.
    pub fn click(&mut self, selector: &str) -> Result<(), Error> {
        let place = self.middle(selector)?;
        ["mouseMoved", "mousePressed", "mouseReleased"].into_iter().try_for_each(|kind| self.mouse(kind, place))
    }

    /// Gives the first element that matches the focus and presses a key, named as in `KeyboardEvent.key`.
    pub fn press(&mut self, selector: &str, key: &str) -> Result<(), Error> {
        self.eval(&format!("document.querySelector({}).focus()", json!(selector)))?;
        let code = match key {
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            "Enter" => 13,
            "Escape" => 27,
            " " => 32,
            _ => 0,
        };
        let text = match key {
            "Enter" => "\r",
            " " => " ",
            _ => "",
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let params = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.call("Input.dispatchKeyEvent", params)?;
        }
        Ok(())
    }

    /// A PNG of the window, or of the whole page.
    pub fn screenshot(&mut self, whole: bool) -> Result<Vec<u8>, Error> {
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png", "captureBeyondViewport": whole }))?;
        Ok(base64::engine::general_purpose::STANDARD
            .decode(answer["data"].as_str().unwrap_or_default())
            .unwrap_or_default())
    }

    /// The page printed, as PDF.
    pub fn pdf(&mut self) -> Result<Vec<u8>, Error> {
        let answer = self.call("Page.printToPDF", json!({ "printBackground": true }))?;
        Ok(base64::engine::general_purpose::STANDARD
            .decode(answer["data"].as_str().unwrap_or_default())
            .unwrap_or_default())
    }

    /// Uncaught exceptions, console errors and warnings, and what the browser itself logged.
    pub fn complaints(&self) -> Vec<String> {
        let complains = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => {
                ["error", "warning", "assert"].iter().any(|kind| event["params"]["type"] == *kind)
            }
            Some("Log.entryAdded") => event["params"]["entry"]["level"] != "verbose",
            _ => false,
        };
        self.pipe.events(&self.session).filter(complains).map(|event| event["params"].to_string()).collect()
    }

    /// What the page asked for besides itself and the data inside it.
    pub fn requests(&self) -> Vec<String> {
        let sent = self.pipe.events(&self.session).filter(|event| event["method"] == "Network.requestWillBeSent");
        let documents = |event: &&Value| event["params"]["type"] != "Document";
        let address = |event: &Value| event["params"]["request"]["url"].as_str().unwrap_or_default().to_owned();
        sent.filter(documents).map(address).filter(|url| !url.starts_with("data:")).collect()
    }
}

impl Drop for Tab<'_> {
    fn drop(&mut self) {
        let _ = self.pipe.call(None, "Target.closeTarget", json!({ "targetId": self.target }));
    }
}
