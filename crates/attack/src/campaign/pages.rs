//! Report pages made of names that would like to be more: nothing of them runs, nothing is fetched.

use browser_test::{Browser, Screen};
use melmo::seeded::Seeded;

use crate::place::{Place, ended};
use crate::run::{Run, below, one_of};

/// Pieces of HTML, of scripts, of style sheets and of JSON.
const PIECES: [&str; 16] = [
    "<script>window.owned=1</script>",
    "</script><script>window.owned=1</script>",
    "<img src=x onerror=window.owned=1>",
    "<svg onload=window.owned=1>",
    "\\\" onmouseover=\\\"window.owned=1",
    "' onfocus='window.owned=1' autofocus='",
    "</style><script>window.owned=1</script>",
    "</title><script>window.owned=1</script>",
    "]]><script>window.owned=1</script>",
    "--><script>window.owned=1</script>",
    "javascript:window.owned=1",
    "<iframe srcdoc='<script>parent.owned=1</script>'>",
    "<link rel=stylesheet href=http://example.invalid/a.css>",
    "&lt;&#60;script>",
    "\u{2028}\u{2029}\\u003cscript>",
    "é",
];

fn name(seeded: &mut Seeded) -> String {
    (0..1 + below(seeded, 4)).map(|_| *one_of(seeded, &PIECES)).collect()
}

pub fn campaign(run: &mut Run) {
    let mut browser = match Browser::start_or_say_what_is_missing() {
        Ok(Some(browser)) => browser,
        Ok(None) => return run.not_here("there is no browser"),
        Err(error) => return run.not_here(&error.to_string()),
    };
    run.until_the_end(|_, seeded| {
        let place = Place::new();
        let quoted = |name: &str| name.replace(['"', ','], ";");
        let (a, b, target) = (quoted(&name(seeded)), quoted(&name(seeded)), format!("y{}", quoted(&name(seeded))));
        let input = format!("t{}.csv", name(seeded).replace('/', "_"));
        let input = input.chars().take(60).collect::<String>() + ".csv";
        let rows = "1,2,3\n2,1,4\n3,5,9\n4,4,8\n5,1,7\n6,9,30\n";
        place.write(&input, format!("\"a{a}\",\"b{b}\",\"{target}\"\n{rows}"));
        let mut command = place.program("");
        command.arg("regress").args([&input, &target]).args(["--report", "r.html", "-q"]);
        let output = ended(command, "regress")?;
        if output.status.code() != Some(0) {
            return Err(crate::place::heard(&output));
        }
        let error = |error: browser_test::Error| error.to_string();
        let mut tab = browser.open(&place.file("r.html"), Screen::DESK).map_err(error)?;
        let owned = tab.eval("[...document.querySelectorAll('*')].some(e => [...e.attributes].some(a => a.name.startsWith('on'))) || window.owned === 1").map_err(error)?;
        if owned != false {
            return Err(format!("something of {target:?}, {a:?}, {b:?} or {input:?} came alive"));
        }
        match (tab.complaints(), tab.requests()) {
            (complaints, _) if !complaints.is_empty() => Err(format!("the page complains: {complaints:?}")),
            (_, requests) if !requests.is_empty() => Err(format!("the page asked for {requests:?}")),
            _ => Ok(()),
        }
    });
}
