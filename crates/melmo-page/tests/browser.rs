//! The demo page in a real browser, on a desk and on a phone. Skipped, loudly, where there is no Chromium.
//!
//! `SCREENSHOTS=folder cargo test -p melmo-page --test browser` also leaves pictures of the page there.

#[path = "../examples/demo/content.rs"]
mod content;

use std::path::PathBuf;

use browser_test::{Browser, Error, Screen, Tab};
use melmo_page::{Axis, Chart, Reference, Series};
use serde_json::Value;

/// The first chart, which has two x axes, four series and two reference lines.
const CHART: &str = "#f-on-camera-r-10";

/// Opens the demo page on a screen, if there is a browser, and looks at it.
fn on(name: &str, screen: Screen, look: impl FnOnce(&mut Tab) -> Result<(), Error>) -> Result<(), Error> {
    let Some(mut browser) = Browser::start_or_say_what_is_missing()? else { return Ok(()) };
    let file = tempfile_of(name)?;
    let mut tab = browser.open(&file.0, screen)?;
    look(&mut tab)?;
    assert_eq!(tab.complaints(), [""; 0], "{name}");
    assert_eq!(tab.requests(), [""; 0], "{name}");
    Ok(())
}

/// The demo page in a file that goes away.
struct Demo(PathBuf);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn tempfile_of(name: &str) -> Result<Demo, Error> {
    let path = std::env::temp_dir().join(format!("melmo-page-{}-{name}.html", std::process::id()));
    std::fs::write(&path, content::page().html())?;
    Ok(Demo(path))
}

fn save(name: &str, bytes: &[u8]) -> Result<(), Error> {
    if let Some(folder) = std::env::var_os("SCREENSHOTS").map(PathBuf::from) {
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

/// Labels along the x axis of the chart, as shown.
fn ticks(tab: &mut Tab) -> Result<Value, Error> {
    tab.eval(&format!(
        "[...document.querySelectorAll('{CHART} .wide > svg > text[text-anchor=middle]')].map(t => t.textContent).join(' ')"
    ))
}

/// Where the lines of the chart go.
fn lines(tab: &mut Tab) -> Result<Value, Error> {
    tab.eval(&format!(
        "[...document.querySelectorAll('{CHART} .wide .series > path[fill=none]')].map(p => p.getAttribute('d').slice(-60)).join(' ')"
    ))
}

fn fits(tab: &mut Tab, width: u64) -> Result<(), Error> {
    assert_eq!(tab.eval("document.documentElement.scrollWidth")?, width, "the page scrolls sideways");
    Ok(())
}

/// Every chart shows one drawing, as wide as its place.
fn all_drawn(tab: &mut Tab) -> Result<(), Error> {
    assert_eq!(tab.eval("document.querySelectorAll('figure.chart').length")?, 7);
    let shown = "[...document.querySelectorAll('figure.chart')].map(f => [...f.querySelectorAll('.view > div')].filter(d => d.offsetWidth > 0))";
    let alone = format!("{shown}.filter(shown => shown.length === 1 && shown[0].querySelector('.series > *')).length");
    assert_eq!(tab.eval(&alone)?, 7);
    let fills = format!(
        "{shown}.every(([box]) => Math.abs(box.firstElementChild.getBoundingClientRect().width - box.offsetWidth) < 1)"
    );
    assert_eq!(tab.eval(&fills)?, true);
    Ok(())
}

#[test]
fn desk() -> Result<(), Error> {
    on("desk", Screen::DESK, |tab| {
        fits(tab, 1280)?;
        all_drawn(tab)?;
        save("desk-light.png", &tab.screenshot(true)?)?;
        save("printed.pdf", &tab.pdf()?)?;
        let sticky = "getComputedStyle(document.querySelector('nav')).position";
        assert_eq!(tab.eval(sticky)?, "sticky");
        Ok(())
    })
}

#[test]
fn desk_in_the_dark() -> Result<(), Error> {
    on("desk-dark", Screen::DESK.dark(), |tab| {
        all_drawn(tab)?;
        save("desk-dark.png", &tab.screenshot(true)?)?;
        let ground = "getComputedStyle(document.body).backgroundColor";
        let dark = tab.eval(ground)?;
        tab.click(".theme")?;
        assert_ne!(tab.eval(ground)?, dark);
        tab.press(".theme", "Enter")?;
        assert_eq!(tab.eval(ground)?, dark);
        Ok(())
    })
}

#[test]
fn phone() -> Result<(), Error> {
    on("phone", Screen::PHONE, |tab| {
        fits(tab, 390)?;
        all_drawn(tab)?;
        fits(tab, 390)?;
        save("phone-light.png", &tab.screenshot(true)?)?;
        let scrolls = "(() => { const box = document.querySelector('.table .scroll'); return box.scrollWidth > box.clientWidth; })()";
        assert_eq!(tab.eval(scrolls)?, true, "the wide table scrolls in its own box");
        Ok(())
    })
}

#[test]
fn phone_in_the_dark() -> Result<(), Error> {
    on("phone-dark", Screen::PHONE.dark(), |tab| {
        all_drawn(tab)?;
        save("phone-dark.png", &tab.screenshot(true)?)
    })
}

#[test]
fn legend_hides_and_shows_a_series() -> Result<(), Error> {
    on("legend", Screen::DESK, |tab| {
        let seen = ".wide .series:not([hidden])";
        let count = format!("document.querySelectorAll('{CHART} {seen}').length");
        let button = format!("{CHART} .legend button:nth-child(2)");
        assert_eq!(tab.eval(&count)?, 4);
        tab.click(&button)?;
        assert_eq!(tab.eval(&count)?, 3);
        assert_eq!(tab.eval(&format!("document.querySelector('{button}').ariaPressed"))?, "false");
        assert_eq!(tab.eval(&format!("document.querySelector('{CHART} {seen}[data-series=\"1\"]')"))?, Value::Null);
        tab.click(&format!("{CHART} [data-switch=y] [data-value=linear]"))?;
        assert_eq!(tab.eval(&count)?, 3, "it stays hidden in another view");
        tab.press(&button, " ")?;
        assert_eq!(tab.eval(&count)?, 4, "the keyboard shows it again");
        Ok(())
    })
}

#[test]
fn switches_change_the_axes() -> Result<(), Error> {
    on("switches", Screen::DESK, |tab| {
        let label = format!(
            "[...document.querySelectorAll('{CHART} .wide > svg > text[text-anchor=end]:not(.halo)')].map(t => t.textContent).filter(t => /[a-z]/.test(t)).join()"
        );
        let (log, drawn) = (ticks(tab)?, lines(tab)?);
        assert_eq!(log, "1 10 100 1000");
        assert_eq!(tab.eval(&label)?, "iteration");

        tab.click(&format!("{CHART} [data-switch=x] [data-value=linear]"))?;
        assert_eq!(ticks(tab)?, "0 1000 2000 3000 4000 5000".replace("0 1000 ", "1000 "));
        tab.click(&format!("{CHART} [data-switch=axis] [data-value=\"1\"]"))?;
        assert_eq!(tab.eval(&label)?, "seconds");
        assert_eq!(
            tab.eval(&format!("document.querySelectorAll('{CHART} .wide path[stroke-dasharray=\"2 4\"]').length"))?,
            1,
            "a rate in iterations"
        );
        tab.click(&format!("{CHART} [data-switch=axis] [data-value=\"0\"]"))?;
        tab.click(&format!("{CHART} [data-switch=x] [data-value=log]"))?;
        assert_eq!((ticks(tab)?, lines(tab)?), (log, drawn.clone()), "back to where it was");

        tab.click(&format!("{CHART} [data-switch=y] [data-value=linear]"))?;
        assert_ne!(lines(tab)?, drawn);
        Ok(())
    })
}

#[test]
fn values_under_the_pointer_and_by_keyboard() -> Result<(), Error> {
    on("values", Screen::DESK, |tab| {
        let tip = format!(
            "(() => {{ const t = document.querySelector('{CHART} .tip'); return t.hidden ? null : t.innerText; }})()"
        );
        assert_eq!(tab.eval(&tip)?, Value::Null);
        tab.hover(&format!("{CHART} .wide > svg"))?;
        let shown = tab.eval(&tip)?;
        assert!(
            shown.as_str().is_some_and(|t| t.starts_with("iteration") && t.contains("variable smoothing")),
            "{shown}"
        );
        save("values.png", &tab.screenshot(false)?)?;
        tab.press(&format!("{CHART} .wide > svg"), "ArrowRight")?;
        assert_ne!(tab.eval(&tip)?, shown);
        tab.press(&format!("{CHART} .wide > svg"), "Escape")?;
        assert_eq!(tab.eval(&tip)?, Value::Null);
        Ok(())
    })
}

#[test]
fn another_view_moves_nothing() -> Result<(), Error> {
    for (name, screen) in [("still-desk", Screen::DESK), ("still-phone", Screen::PHONE)] {
        on(name, screen, |tab| {
            let height = format!("document.querySelector('{CHART}').offsetHeight");
            let before = tab.eval(&height)?;
            tab.click(&format!("{CHART} [data-switch=axis] [data-value=\"1\"]"))?;
            assert_eq!(tab.eval(&height)?, before, "{name}");
            Ok(())
        })?;
    }
    Ok(())
}

/// The script places values by what a drawing says of its axes: there where the drawing has them.
#[test]
fn values_are_read_where_they_are_drawn() -> Result<(), Error> {
    on("places", Screen::DESK, |tab| {
        for scale in ["log", "linear"] {
            tab.click(&format!("{CHART} [data-switch=y] [data-value={scale}]"))?;
            tab.press(&format!("{CHART} .wide > svg"), "ArrowRight")?;
            let apart = format!(
                "(() => {{
                    const dots = [...document.querySelectorAll('{CHART} .cursor ~ circle')];
                    const ends = [...document.querySelectorAll('{CHART} .wide .series > path[fill=none]')].map(p => p.getPointAtLength(0));
                    return dots.length && Math.max(...dots.map(d => Math.min(...ends.map(e => Math.hypot(e.x - d.cx.baseVal.value, e.y - d.cy.baseVal.value)))));
                }})()"
            );
            let apart = tab.eval(&apart)?;
            assert!(apart.as_f64().is_some_and(|d| d < 0.3), "{scale}: {apart}");
        }
        Ok(())
    })
}

#[test]
fn slider_moves_the_border() -> Result<(), Error> {
    on("slider", Screen::PHONE, |tab| {
        let edge = "getComputedStyle(document.querySelector('.pair .before')).clipPath";
        let before = tab.eval(edge)?;
        tab.press(".pair input", "ArrowRight")?;
        let moved = tab.eval(edge)?;
        assert_ne!(moved, before);
        tab.eval("(() => { const i = document.querySelector('.pair input'); i.value = 10; i.dispatchEvent(new Event('input')); })()")?;
        assert_eq!(tab.eval(edge)?, "inset(0px 90% 0px 0px)");
        tab.click(".pair input")?;
        assert_ne!(tab.eval(edge)?, "inset(0px 90% 0px 0px)");
        Ok(())
    })
}

#[test]
fn buttons_copy() -> Result<(), Error> {
    on("copy", Screen::DESK, |tab| {
        tab.click(".code button")?;
        tab.eval("new Promise(r => setTimeout(r, 200))")?;
        assert_eq!(tab.eval("document.querySelector('.code button').textContent")?, "Copied");
        let text = tab.eval(
            "document.querySelector('.copies button:nth-of-type(2)').dataset.copy.split('\\n')[0].slice(0, 16)",
        )?;
        assert_eq!(text, "Data,r,subgradie");
        Ok(())
    })
}

#[test]
fn files_are_well_formed() -> Result<(), Error> {
    on("files", Screen::DESK, |tab| {
        let hostile = "</svg><script>&\"'\u{1}x_{<}";
        let chart = Chart::new(hostile, [Axis::linear(hostile)], Axis::log(hostile));
        let chart =
            chart.series(Series::new(hostile, [1.0, 2.0], [1.0, 2.0])).reference(Reference::horizontal(hostile, 1.5));
        let page = content::page();
        let charts = page.charts();
        for chart in charts.iter().map(|(_, chart)| *chart).chain([&chart]) {
            let source = Value::from(chart.svg());
            let parse = format!("new DOMParser().parseFromString({source}, 'image/svg+xml')");
            assert_eq!(
                tab.eval(&format!("{parse}.querySelector('parsererror')?.textContent ?? 'fine'"))?,
                "fine",
                "{}",
                chart.title
            );
            assert_eq!(tab.eval(&format!("{parse}.querySelectorAll('script').length"))?, 0);
        }
        Ok(())
    })
}

#[test]
fn a_chart_can_be_saved_from_the_page() -> Result<(), Error> {
    on("saved", Screen::DESK.dark(), |tab| {
        let svg = format!("document.querySelector('{CHART}').chart.standalone()");
        assert_eq!(
            tab.eval(&format!("new DOMParser().parseFromString({svg}, 'image/svg+xml').querySelector('parsererror')"))?,
            Value::Null
        );
        assert_eq!(tab.eval(&format!("{svg}.includes('var(')"))?, false, "colours are written out");
        let head = tab.eval(&format!("document.querySelector('{CHART}').chart.csv().split('\\n')[0]"))?;
        assert_eq!(head, "series,iteration,seconds,F(x_k)");
        Ok(())
    })
}

#[test]
fn without_scripts_the_static_pictures_stand() -> Result<(), Error> {
    on("static", Screen::PHONE.without_scripts(), |tab| {
        save("phone-static.png", &tab.screenshot(true)?)
        // What a script would ask, none may answer: the picture is for people. Its parts are checked below.
    })?;
    let html = content::page().html();
    let shown = html.split("<div class=\"plot\">").skip(1).filter(|rest| rest.contains("<svg"));
    assert_eq!(shown.count(), 7);
    assert_eq!(html.matches("class=\"controls\" hidden").count(), 7);
    Ok(())
}
