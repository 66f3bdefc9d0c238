//! The playground in Chromium. `scripts/playground test` builds the page and runs this; without a page there is nothing to try, and the
//! jobs' own tests are in `jobs.rs`.

use std::path::PathBuf;

use browser_test::{Browser, Error, Screen, Tab};

/// The page, where it was built.
fn page() -> Option<PathBuf> {
    std::env::var_os("MELMO_PLAYGROUND").map(PathBuf::from)
}

/// Waits until an expression is true: a minute, on a machine that has other things to do.
fn until(tab: &mut Tab, what: &str) -> Result<(), Error> {
    let source = format!(
        "(async () => {{
            for (let i = 0; i < 1200; i++) {{
                if ({what}) return 'yes';
                await new Promise(done => setTimeout(done, 50));
            }}
            return 'no: ' + document.getElementById('status').textContent;
        }})()"
    );
    assert_eq!(tab.eval(&source)?, "yes", "{what}");
    Ok(())
}

fn text(tab: &mut Tab, selector: &str) -> Result<String, Error> {
    let found = tab.eval(&format!("document.querySelector('{selector}').innerText"))?;
    Ok(found.as_str().unwrap_or_default().to_owned())
}

/// Where somebody wants to look at it: a folder for pictures.
fn keep(tab: &mut Tab, name: &str) -> Result<(), Error> {
    if let Some(folder) = std::env::var_os("MELMO_SCREENSHOTS") {
        std::fs::write(PathBuf::from(folder).join(name), tab.screenshot(true)?).expect("the folder is there");
    }
    Ok(())
}

/// A file as if it had been dropped.
fn dropped(tab: &mut Tab, section: &str, name: &str, kind: &str, bytes: &str) -> Result<(), Error> {
    let source = format!(
        "(() => {{
            const transfer = new DataTransfer();
            transfer.items.add(new File([{bytes}], '{name}', {{ type: '{kind}' }}));
            document.getElementById('{section}').dispatchEvent(new DragEvent('drop', {{ dataTransfer: transfer, bubbles: true, cancelable: true }}));
        }})()"
    );
    tab.eval(&source).map(drop)
}

fn all(screen: Screen, name: &str) -> Result<(), Error> {
    let Some(page) = page() else { return Ok(()) };
    let Some(mut browser) = Browser::start_or_say_what_is_missing()? else { return Ok(()) };
    let mut tab = browser.open(&page, screen)?;
    picture(&mut tab, name)?;
    table(&mut tab, name)?;
    matrix(&mut tab, name)?;
    assert_eq!(tab.eval("document.documentElement.scrollWidth <= innerWidth")?, true, "it is as wide as the screen");
    let complaints = tab.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    let asked: Vec<String> = tab.requests().into_iter().filter(|url| !url.starts_with("blob:")).collect();
    assert!(asked.is_empty(), "nothing is loaded: {asked:?}");
    Ok(())
}

fn picture(tab: &mut Tab, name: &str) -> Result<(), Error> {
    until(tab, "document.getElementById('picture-facts').innerText.includes('PSNR')")?;
    let facts = text(tab, "#picture-facts")?;
    let after: f64 = facts.split("before, ").nth(1).and_then(|rest| rest.split(" dB").next()).unwrap().parse().unwrap();
    assert!(after > 29.5, "{facts}");
    assert!(facts.contains("from the answer alone: the same"), "{facts}");
    println!("camera, {name}: {}", facts.replace('\n', " "));
    keep(tab, &format!("picture-{name}.png"))?;
    tab.eval("(() => { const s = document.getElementById('strength'); s.value = 0; s.oninput(); })()")?;
    until(tab, "document.getElementById('picture-facts').innerText.includes('before, 19.9') && !running && !waiting")?;
    tab.eval("(() => { const s = document.getElementById('strength'); s.value = 1; document.getElementById('prior').value = 'learned'; s.oninput(); })()")?;
    until(tab, "!document.getElementById('bar').hidden")?;
    until(tab, "!running && !waiting")?;
    println!("camera, learned, {name}: {}", text(tab, "#picture-facts")?.replace('\n', " "));
    tab.eval("(() => { document.getElementById('prior').value = 'differences'; })()")?;
    dropped(tab, "picture", "broken.png", "image/png", "'no picture'")?;
    until(tab, "document.getElementById('status').textContent.includes('no picture that')")
}

fn table(tab: &mut Tab, name: &str) -> Result<(), Error> {
    tab.click("#tab-table")?;
    until(tab, "document.getElementById('coefficients').innerText.includes('size') && !running && !waiting")?;
    assert!(text(tab, "#table-facts")?.contains("of the least there is"), "ℓ1 is convex: F − F* is bounded");
    keep(tab, &format!("table-{name}.png"))?;
    let csv =
        "'a,b,c,town\\n' + Array.from({length: 30}, (_, i) => `${i % 7},${i % 5},${2 * (i % 7) + 1},x`).join('\\n')";
    dropped(tab, "table", "mine.csv", "text/csv", csv)?;
    until(tab, "document.getElementById('table-about').textContent.includes('town') && !running && !waiting")?;
    assert!(text(tab, "#coefficients")?.contains('a'));
    dropped(tab, "table", "broken.csv", "text/csv", "'1,2\\n3'")?;
    until(tab, "document.getElementById('status').classList.contains('wrong')")
}

fn matrix(tab: &mut Tab, name: &str) -> Result<(), Error> {
    tab.click("#tab-factors")?;
    until(tab, "document.getElementById('factors-facts').innerText.includes('115×10') && !running && !waiting")?;
    println!("football, {name}: {}", text(tab, "#factors-facts")?.replace('\n', " "));
    keep(tab, &format!("matrix-{name}.png"))
}

#[test]
fn it_works_on_a_desk() -> Result<(), Error> {
    all(Screen::DESK, "desk")
}

#[test]
fn it_works_on_a_phone() -> Result<(), Error> {
    all(Screen::PHONE.dark(), "phone")
}
