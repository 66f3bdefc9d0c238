//! Sections and what stands in them.

use crate::bars::Bars;
use crate::block::{self, Callout, Code, KeyValues};
use crate::chart::Chart;
use crate::image::{Gallery, ImagePair};
use crate::markup;
use crate::slug::Slugs;
use crate::table::Table;

/// One thing in a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Marked-up text; an empty line starts a new paragraph.
    Paragraph(String),
    /// A heading inside the section, which the table of contents lists.
    Subheading(String),
    /// Something to notice.
    Callout(Callout),
    /// A table.
    Table(Table),
    /// A chart.
    Chart(Chart),
    /// A number for each of several names.
    Bars(Bars),
    /// Two images with a slider.
    ImagePair(ImagePair),
    /// Several images.
    Gallery(Gallery),
    /// Facts.
    Facts(KeyValues),
    /// Code with a button that copies it.
    Code(Code),
    /// Things side by side where there is room: small multiples.
    Columns(Vec<Item>),
}

macro_rules! from {
    ($($kind:ident($type:ty)),*) => { $(
        impl From<$type> for Item {
            fn from(item: $type) -> Self {
                Self::$kind(item)
            }
        }
    )* };
}

from!(
    Callout(Callout),
    Table(Table),
    Chart(Chart),
    Bars(Bars),
    ImagePair(ImagePair),
    Gallery(Gallery),
    Facts(KeyValues),
    Code(Code)
);

/// A part of a page with a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What stands in it, in order.
    pub items: Vec<Item>,
}

/// A line of the table of contents.
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) inner: bool,
}

impl Section {
    /// An empty section.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), items: Vec::new() }
    }

    /// With one more item.
    pub fn item(mut self, item: impl Into<Item>) -> Self {
        self.items.push(item.into());
        self
    }

    /// With one more paragraph.
    pub fn paragraph(self, text: impl Into<String>) -> Self {
        self.item(Item::Paragraph(text.into()))
    }

    /// With one more heading inside.
    pub fn subheading(self, text: impl Into<String>) -> Self {
        self.item(Item::Subheading(text.into()))
    }

    /// With items side by side.
    pub fn columns<T: Into<Item>>(self, items: impl IntoIterator<Item = T>) -> Self {
        self.item(Item::Columns(items.into_iter().map(Into::into).collect()))
    }

    pub(crate) fn html(&self, slugs: &mut Slugs, contents: &mut Vec<Entry>) -> String {
        let title = markup::html(&self.title);
        let id = slugs.name(&markup::text(&self.title));
        contents.push(Entry { id: id.clone(), title: title.clone(), inner: false });
        let items: String = self.items.iter().map(|item| item.html(slugs, contents)).collect();
        format!("<section aria-labelledby=\"{id}\"><h2 id=\"{id}\">{title}</h2>\n{items}</section>\n")
    }
}

impl Item {
    fn html(&self, slugs: &mut Slugs, contents: &mut Vec<Entry>) -> String {
        match self {
            Self::Paragraph(text) => format!("<div class=\"prose\">{}</div>\n", block::paragraphs(text)),
            Self::Subheading(text) => {
                let (id, title) = (slugs.name(&markup::text(text)), markup::html(text));
                contents.push(Entry { id: id.clone(), title: title.clone(), inner: true });
                format!("<h3 id=\"{id}\">{title}</h3>\n")
            }
            Self::Callout(callout) => callout.html(),
            Self::Table(table) => table.html(&slugs.name(&markup::text(table.title.as_deref().unwrap_or("table")))),
            Self::Chart(chart) => chart.html(&slugs.name(&markup::text(&chart.title))),
            Self::Bars(bars) => bars.html(),
            Self::ImagePair(pair) => pair.html(),
            Self::Gallery(gallery) => gallery.html(),
            Self::Facts(facts) => facts.html(),
            Self::Code(code) => code.html(),
            Self::Columns(items) => {
                let inner: String = items.iter().map(|item| item.html(slugs, contents)).collect();
                format!("<div class=\"columns\">{inner}</div>\n")
            }
        }
    }

    /// This item and those inside it.
    pub(crate) fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Item)) {
        visit(self);
        if let Self::Columns(items) = self {
            items.iter().for_each(|item| item.walk(visit));
        }
    }
}
