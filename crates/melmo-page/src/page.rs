//! The page: sections, a table of contents, and everything the browser needs in one file.

use crate::block;
use crate::chart::Chart;
use crate::escape;
use crate::markup;
use crate::palette;
use crate::section::{Entry, Item, Section};
use crate::slug::Slugs;
use crate::table::Table;

/// A page of sections.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// What it is about.
    pub title: String,
    /// One line more.
    pub subtitle: Option<String>,
    /// Its parts.
    pub sections: Vec<Section>,
    /// How the page came about: versions, machine, command, date.
    pub facts: Vec<(String, String)>,
}

/// The browser is told to ask for nothing but what is in the file.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Before anything is drawn: the reader's choice of light or dark, and word that there is a script.
const EARLY: &str = "document.documentElement.classList.add('js');\
    try{const t=localStorage.getItem('melmo-theme');if(t)document.documentElement.dataset.theme=t}catch{}";

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: [&str; 2] = [include_str!("assets/chart.js"), include_str!("assets/page.js")];

impl Page {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), subtitle: None, sections: Vec::new(), facts: Vec::new() }
    }

    /// With a line below the title.
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = Some(subtitle.into());
        self
    }

    /// With one more section.
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// With one more fact in the footer.
    pub fn fact(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.facts.push((name.into(), value.into()));
        self
    }

    /// The HTML file.
    pub fn html(&self) -> String {
        let mut slugs = Slugs::default();
        let mut contents = Vec::new();
        ["top", "content"].into_iter().for_each(|taken| drop(slugs.name(taken)));
        let sections: String = self.sections.iter().map(|section| section.html(&mut slugs, &mut contents)).collect();
        let subtitle = self.subtitle.as_deref().map(|s| format!("<p class=\"subtitle\">{}</p>", markup::html(s)));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"generator\" content=\"melmo\">\n<title>{name}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
             <style>\n{colours}{STYLE}</style>\n<script>{EARLY}</script>\n</head>\n<body id=\"top\">\n\
             <a class=\"skip\" href=\"#content\">Skip to content</a>\n\
             <button type=\"button\" class=\"theme\" hidden aria-label=\"Light or dark\"></button>\n\
             <div class=\"page\">\n{nav}<main id=\"content\">\n\
             <header><h1>{title}</h1>{subtitle}</header>\n{sections}{footer}</main>\n</div>\n\
             <script>\n(() => {{\n'use strict';\n{script}}})();\n</script>\n</body>\n</html>\n",
            name = escape::html(&markup::text(&self.title)),
            colours = palette::css(),
            nav = nav(&contents),
            title = markup::html(&self.title),
            subtitle = subtitle.unwrap_or_default(),
            footer = self.footer(),
            script = SCRIPT.concat(),
        )
    }

    fn footer(&self) -> String {
        if self.facts.is_empty() { String::new() } else { format!("<footer>{}</footer>\n", block::list(&self.facts)) }
    }

    /// Every chart, in order, with a name for its file.
    pub fn charts(&self) -> Vec<(String, &Chart)> {
        let mut slugs = Slugs::default();
        let mut out = Vec::new();
        self.walk(&mut |item| {
            if let Item::Chart(chart) = item {
                out.push((slugs.name(&markup::text(&chart.title)), chart));
            }
        });
        out
    }

    /// Every table, in order, with a name for its file.
    pub fn tables(&self) -> Vec<(String, &Table)> {
        let mut slugs = Slugs::default();
        let mut out = Vec::new();
        self.walk(&mut |item| {
            if let Item::Table(table) = item {
                out.push((slugs.name(&markup::text(table.title.as_deref().unwrap_or("table"))), table));
            }
        });
        out
    }

    fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Item)) {
        self.sections.iter().flat_map(|section| &section.items).for_each(|item| item.walk(visit));
    }
}

/// The table of contents; none for a page of one section.
fn nav(contents: &[Entry]) -> String {
    if contents.len() < 2 {
        return String::new();
    }
    let line = |entry: &Entry| {
        let class = if entry.inner { " class=\"inner\"" } else { "" };
        format!("<li{class}><a href=\"#{}\">{}</a></li>\n", entry.id, entry.title)
    };
    let lines: String = contents.iter().map(line).collect();
    format!(
        "<nav aria-label=\"Contents\"><details open><summary>Contents</summary><ol>\n{lines}</ol></details></nav>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Callout, Cell, Column, Item, Series};

    fn hostile() -> Page {
        let bad = "</script><img src=x onerror=\"alert('1')\">&";
        let chart =
            Chart::new(bad, [Axis::linear(bad)], Axis::log(bad)).series(Series::new(bad, [1.0, 2.0], [1.0, 2.0]));
        let table = Table::new([Column::text(bad)]).row([Cell::from(bad)]).caption(bad).title(bad);
        let section = Section::new(bad).paragraph(bad).subheading(bad).item(Callout::note(bad).title(bad)).item(table);
        Page::new(bad).subtitle(bad).section(section.columns([chart.clone(), chart])).fact(bad, bad)
    }

    #[test]
    fn nothing_gets_out_of_its_place() {
        let html = hostile().html();
        assert!(!html.contains("<img"));
        assert_eq!(html.matches("</script>").count(), html.matches("<script").count());
    }

    #[test]
    fn anchors_are_unique_and_links_lead_to_them() {
        let html = hostile().html();
        let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let unique: std::collections::HashSet<&&str> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        for link in html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(ids.contains(&link), "{link}");
        }
    }

    #[test]
    fn charts_inside_columns_are_found_and_named_apart() {
        let page = hostile();
        let names: Vec<String> = page.charts().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), 2);
        assert_ne!(names[0], names[1]);
        assert_eq!(page.tables().len(), 1);
        assert!(matches!(page.sections[0].items.last(), Some(Item::Columns(_))));
    }
}
