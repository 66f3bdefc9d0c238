//! A chart in the page: its drawings, and the values that the script reads out.

use super::view::View;
use super::{Chart, Scale, json, legend};
use crate::{escape, markup};

impl Chart {
    /// The figure with the given anchor.
    pub(crate) fn html(&self, id: &str) -> String {
        let mut views = View::all(self).into_iter().map(|view| view.html(self));
        let first = views.next().unwrap_or_default();
        let others: String = views.collect();
        let caption = self
            .caption
            .as_deref()
            .map(|c| format!("<p class=\"caption\">{}</p>", markup::html(c)))
            .unwrap_or_default();
        format!(
            "<figure class=\"chart card\" id=\"{id}\"><figcaption class=\"title\">{title}</figcaption>{controls}{legend}\
             <div class=\"plot\">{first}</div><template>{others}</template>{caption}<script type=\"application/json\">{data}</script></figure>\n",
            title = markup::html(&self.title),
            controls = self.controls(),
            legend = legend::html(self),
            data = escape::script(&json::chart(self)),
        )
    }

    /// Switches, hidden until the script has taken them over.
    fn controls(&self) -> String {
        let mut out = String::from("<div class=\"controls\" hidden>");
        if self.x.len() > 1 {
            let axes: Vec<(String, String)> =
                self.x.iter().enumerate().map(|(n, axis)| (n.to_string(), markup::html(&axis.label))).collect();
            out.push_str(&switch("axis", "Along x", &axes, &self.first().to_string()));
        }
        let scales = [("linear".to_owned(), "lin".to_owned()), ("log".to_owned(), "log".to_owned())];
        let x = self.x.get(self.first()).map_or(Scale::Linear, |axis| axis.scale);
        out.push_str(&switch("x", "Scale of x", &scales, x.name()));
        out.push_str(&switch("y", "Scale of y", &scales, self.y.scale.name()));
        out.push_str("</div><div class=\"exports\" hidden>");
        for kind in ["csv", "svg"] {
            let (label, text) = (format!("Save as {}", kind.to_uppercase()), kind.to_uppercase());
            out.push_str(&format!(
                "<button type=\"button\" class=\"quiet\" aria-label=\"{label}\" data-export=\"{kind}\">{text}</button>"
            ));
        }
        out.push_str("</div>");
        out
    }
}

/// Buttons of which one is pressed.
fn switch(kind: &str, label: &str, choices: &[(String, String)], pressed: &str) -> String {
    let prefix = if kind == "axis" { String::new() } else { format!("<span aria-hidden=\"true\">{kind}</span>") };
    let mut out =
        format!("<div class=\"switch\" role=\"group\" aria-label=\"{label}\" data-switch=\"{kind}\">{prefix}");
    for (value, text) in choices {
        let is = value == pressed;
        out.push_str(&format!("<button type=\"button\" data-value=\"{value}\" aria-pressed=\"{is}\">{text}</button>"));
    }
    out.push_str("</div>");
    out
}
