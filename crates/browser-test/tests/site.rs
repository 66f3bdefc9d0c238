//! The documentation site in Chromium, opened as files: `scripts/site` builds it and runs this; without a site there is nothing to try.

use std::path::PathBuf;

use browser_test::{Browser, Error, Screen};

/// Waits until the search has answered, and says where its first answers lead.
const FOUND: &str = "(async () => {
    for (let i = 0; i < 600; i++) {
        const links = [...document.querySelectorAll('.md-search-result__link')].map(link => link.getAttribute('href'));
        if (links.length) return links.join(' ');
        await new Promise(done => setTimeout(done, 50));
    }
    return 'nothing: ' + document.querySelector('.md-search-result__meta').textContent;
})()";

#[test]
fn the_site_is_searched_without_a_server() -> Result<(), Error> {
    let Some(site) = std::env::var_os("MELMO_SITE").map(PathBuf::from) else { return Ok(()) };
    let Some(mut browser) = Browser::start_or_say_what_is_missing()? else { return Ok(()) };
    for (page, screen) in [("index.html", Screen::DESK), ("guide/regress.html", Screen::PHONE)] {
        let mut tab = browser.open(&site.join(page), screen)?;
        tab.eval(
            "(() => {
                const field = document.querySelector('[data-md-component=search-query]');
                field.focus();
                field.value = 'bracket';
                field.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }));
            })()",
        )?;
        let found = tab.eval(FOUND)?;
        assert!(found.as_str().is_some_and(|links| links.contains("brackets.html")), "{page}: {found}");
        let elsewhere: Vec<_> = tab.requests().into_iter().filter(|url| !url.starts_with("file:")).collect();
        assert!(elsewhere.is_empty(), "{page}: {elsewhere:?}");
    }
    Ok(())
}
