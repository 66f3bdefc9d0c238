//! The driver sees what it is there to see: a page that misbehaves is found out.

use browser_test::{Browser, Error, Screen};

const PAGE: &str = "<!doctype html><meta name=viewport content='width=device-width'><title>t</title><button onclick='this.textContent = \"clicked\"'>b</button>
    <p></p><img src='http://127.0.0.1:9/never.png'><img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>
    <script>console.error('told so'); addEventListener('keydown', e => { document.querySelector('p').textContent = e.key });
    setTimeout(() => { throw new Error('uncaught') }, 0)</script>";

#[test]
fn misbehaviour_is_seen() -> Result<(), Error> {
    let Some(mut browser) = Browser::start_or_say_what_is_missing()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("page.html");
    std::fs::write(&file, PAGE)?;
    let mut tab = browser.open(&file, Screen::PHONE.dark())?;

    assert_eq!(tab.eval("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches].join()")?, "390,true");
    tab.click("button")?;
    assert_eq!(tab.eval("document.querySelector('button').textContent")?, "clicked");
    tab.press("button", "ArrowLeft")?;
    assert_eq!(tab.eval("document.querySelector('p').textContent")?, "ArrowLeft");

    assert_eq!(tab.requests(), ["http://127.0.0.1:9/never.png"]);
    let complaints = tab.complaints().join("\n");
    assert!(complaints.contains("told so") && complaints.contains("uncaught"), "{complaints}");
    assert!(matches!(tab.eval("nowhere.to.go"), Err(Error::Script { .. })));
    assert!(tab.click("#missing").is_err());
    assert!(tab.screenshot(false)?.starts_with(b"\x89PNG"));
    Ok(())
}

#[test]
fn scripts_can_be_off() -> Result<(), Error> {
    let Some(mut browser) = Browser::start_or_say_what_is_missing()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("page.html");
    std::fs::write(&file, PAGE)?;
    let tab = browser.open(&file, Screen::DESK.without_scripts())?;
    assert!(!tab.complaints().join("\n").contains("told so"));
    Ok(())
}
