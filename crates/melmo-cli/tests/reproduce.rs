//! `melmo reproduce --quick` from end to end: its folder, its numbers, what it runs again, and its page in a browser.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::support::Place;
use browser_test::{Browser, Error, Screen, Tab};

const QUICK: &str = "reproduce --quick --seeds 2 -o out";

/// The folder of one quick run, for all tests that only look.
fn quick() -> &'static Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    PLACE.get_or_init(|| {
        let place = Place::new();
        place.done(&format!("{QUICK} -q"));
        place
    })
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_folder_has_everything() {
    let place = quick();
    let folder = place.file("out");
    assert_eq!(names(&folder), ["figures", "index.html", "instances", "tables", "traces"].map(String::from).into());
    let tables = names(&folder.join("tables"));
    for stem in ["table-1-final-f-of-the-factorisation", "table-2-final-f-of-masked-recovery", "denoising-at-the-end"] {
        for extension in ["md", "csv", "tex"] {
            assert!(tables.contains(&format!("{stem}.{extension}")), "{stem}.{extension} is not in {tables:?}");
        }
    }
    let figures = names(&folder.join("figures"));
    for figure in &figures {
        let (stem, _) = figure.rsplit_once('.').unwrap();
        assert!(figures.contains(&format!("{stem}.svg")) && figures.contains(&format!("{stem}.png")), "{figure}");
    }
    assert!(figures.len() > 40, "{figures:?}");
    let traces = names(&folder.join("traces"));
    assert!(traces.contains("factorisation.csv") && traces.contains("rates.csv"), "{traces:?}");
    let page = place.read("out/index.html");
    for said in ["A quick run", "Olivetti", "lrs.data", "melmo reproduce --as-stated --quick --seeds 2"] {
        assert!(page.contains(said), "{said}");
    }
}

/// Numbers agree with those that were stored, to what other processors may round differently.
#[test]
fn tables_are_as_expected() {
    let place = quick();
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected/reproduce");
    for name in names(&expected) {
        let (ours, stored) =
            (place.read(&format!("out/tables/{name}")), std::fs::read_to_string(expected.join(&name)).unwrap());
        assert_eq!(ours.lines().count(), stored.lines().count(), "{name}");
        let cells = |text: &str| text.split([',', '\n']).map(str::to_owned).collect::<Vec<_>>();
        for (a, b) in cells(&ours).iter().zip(&cells(&stored)) {
            match (a.parse::<f64>(), b.parse::<f64>()) {
                (Ok(x), Ok(y)) => assert!((x - y).abs() <= 0.02 * y.abs() + 1e-9, "{name}: {x}, stored {y}"),
                _ => assert_eq!(a, b, "{name}"),
            }
        }
    }
}

#[test]
fn what_is_finished_is_not_run_again() {
    let place = Place::new();
    let run = |arguments: &str| place.json(&format!("reproduce --quick -o out {arguments}"))["run"].as_u64().unwrap();
    let all = run("--seeds 1");
    assert!(all > 50, "{all}");
    assert_eq!(run("--seeds 1"), 0);
    let more = run("--seeds 2");
    assert!(0 < more && more < all, "a second seed runs {more} more");
    assert_eq!(run("--seeds 1"), 0, "and the first is still there");
    let told = place.done("reproduce --quick -o out --seeds 1 --as-published").stderr;
    assert!(told.contains("more in the folder are of other settings"), "a change of settings is noticed: {told}");
    let stale = "out/tables/final-f-from-a-standard-normal-start.csv";
    assert!(!place.file(stale).exists(), "a table of the other setting would pass for one of this");
    let again = place.done("reproduce --quick -o out --seeds 1 --as-published").stderr;
    assert!(again.contains("runs were finished before and are kept"), "{again}");
    let published = place.json("reproduce --quick -o out --seeds 1 --as-published");
    assert_eq!(published["run"], 0);
    assert!(published["others"].as_u64().unwrap() > all / 2, "another setting is another run: {published}");
    let damaged = std::fs::read_dir(place.file("out/instances")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(damaged, "{").unwrap();
    assert!(run("--seeds 2") + run("--seeds 1 --as-published") == 1, "a damaged file is run again");
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_finished() {
    let place = Place::new();
    let run = "reproduce --seeds 1 -o out --threads 2";
    let child = place.command(run).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !place.file("out/instances").is_dir() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never began");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
    let told = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    let ran = crate::support::Ran::from(child.wait_with_output().unwrap(), run);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("finished runs are kept"), "{}", ran.stderr);
    assert!(!place.file("out/index.html").exists());
}

#[test]
fn other_folders_are_left_alone() {
    let place = Place::new();
    std::fs::create_dir(place.file("mine")).unwrap();
    place.write("mine/thesis.tex", "years of work");
    place.refused("reproduce --quick -o mine", &["mine", "not empty"]);
    place.refused("reproduce --quick --data-dir nowhere", &["data-dir", "nowhere"]);
    place.refused("reproduce --quick --as-stated --as-published", &["cannot be used with"]);
}

/// Opens the page, if there is a browser, and expects no complaint and no request.
fn on(screen: Screen, look: impl FnOnce(&mut Tab) -> Result<(), Error>) -> Result<(), Error> {
    let Some(mut browser) = Browser::start_or_say_what_is_missing()? else { return Ok(()) };
    let mut tab = browser.open(&quick().file("out/index.html"), screen)?;
    look(&mut tab)?;
    assert_eq!(tab.complaints(), [""; 0]);
    assert_eq!(tab.requests(), [""; 0]);
    Ok(())
}

/// The page is not wider than the screen, and every chart shows one drawing.
fn see_everything(tab: &mut Tab, width: u64) -> Result<(), Error> {
    assert_eq!(tab.eval("document.documentElement.scrollWidth")?, width, "the page scrolls sideways");
    let drawn = "[...document.querySelectorAll('figure.chart')].every(f => [...f.querySelectorAll('.view > div')].filter(d => \
                 d.offsetWidth > 0 && d.querySelector('.series path, .series circle')).length === 1)";
    assert_eq!(tab.eval(drawn)?, true);
    Ok(())
}

fn save(name: &str, bytes: &[u8]) -> Result<(), Error> {
    if let Some(folder) = std::env::var_os("SCREENSHOTS").map(std::path::PathBuf::from) {
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

fn toggles_and_slider(tab: &mut Tab) -> Result<(), Error> {
    let chart = "#f-on-football-r-10";
    let shown = format!("[...document.querySelectorAll('{chart} .view > div')].find(d => d.offsetWidth > 0)");
    let labelled =
        |label: &str| format!("[...{shown}.querySelectorAll('svg > text')].some(t => t.textContent === '{label}')");
    assert_eq!(tab.eval(&labelled("iteration"))?, true);
    tab.click(&format!("{chart} [data-switch=axis] [data-value=\"1\"]"))?;
    assert_eq!(tab.eval(&labelled("seconds"))?, true);
    let count = format!("{shown}.querySelectorAll('.series:not([hidden])').length");
    let before = tab.eval(&count)?.as_u64().unwrap();
    tab.click(&format!("{chart} .legend button:nth-child(2)"))?;
    assert_eq!(tab.eval(&count)?, before - 1);
    let edge = "getComputedStyle(document.querySelector('.pair .before')).clipPath";
    let place = tab.eval(edge)?;
    tab.press(".pair input", "ArrowRight")?;
    assert_ne!(tab.eval(edge)?, place);
    Ok(())
}

#[test]
fn the_page_on_a_desk() -> Result<(), Error> {
    on(Screen::DESK, |tab| {
        see_everything(tab, 1280)?;
        save("reproduce-desk.png", &tab.screenshot(true)?)?;
        toggles_and_slider(tab)
    })
}

#[test]
fn the_page_on_a_phone() -> Result<(), Error> {
    on(Screen::PHONE, |tab| {
        see_everything(tab, 390)?;
        save("reproduce-phone.png", &tab.screenshot(true)?)?;
        toggles_and_slider(tab)
    })
}
