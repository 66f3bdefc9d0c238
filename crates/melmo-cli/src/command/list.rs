//! `melmo list`: the catalogue, as it is.

use std::fmt::Write;

use melmo::catalogue::{self, Entry};
use serde_json::{Value, json};

use crate::args::{Kind, List};

/// One section of the list.
struct Section {
    kind: Kind,
    title: &'static str,
    entries: Vec<Item>,
}

/// One line of the list with its parameters.
struct Item {
    name: String,
    formula: String,
    about: String,
    parameters: Vec<(String, String)>,
}

impl From<&Entry> for Item {
    fn from(entry: &Entry) -> Self {
        let parameter = |p: &melmo::catalogue::Parameter| {
            let default = match p.kind {
                catalogue::Kind::Word(words) => format!(" ({})", words.join(", ")),
                catalogue::Kind::Number(default) => format!(" (default {})", crate::render::short(default)),
                catalogue::Kind::Whole(default, _) => format!(" (default {default})"),
                catalogue::Kind::Unset => String::new(),
            };
            (p.name.to_string(), format!("{}{default}", p.about))
        };
        Self {
            name: entry.name.into(),
            formula: entry.formula.into(),
            about: entry.about.into(),
            parameters: entry.parameters.iter().map(parameter).collect(),
        }
    }
}

fn rows<R: AsRef<Entry>>(rows: &[R]) -> Vec<Item> {
    rows.iter().map(|row| Item::from(row.as_ref())).collect()
}

fn plain(name: &str, formula: &str, about: &str) -> Item {
    Item { name: name.into(), formula: formula.into(), about: about.into(), parameters: Vec::new() }
}

/// The processor, and the GPUs that are here; the reason where there is none.
fn devices() -> Vec<Item> {
    let mut items = vec![plain("cpu", "", "this machine's processor")];
    match melmo_tasks::device::described() {
        Ok(gpus) => items.extend(gpus.iter().enumerate().map(|(n, gpu)| {
            let about = format!("{}, {}, {:.1} GiB", gpu.name, gpu.arch, gpu.memory as f64 / (1u64 << 30) as f64);
            plain(&format!("cuda:{n}"), "", &about)
        })),
        Err(reason) => items.push(plain("cuda", "", &format!("none: {reason}"))),
    }
    items
}

fn sections() -> Vec<Section> {
    let sets = melmo_data::bundled::sets().iter().map(|set| plain(set.name, "", set.about));
    let formats = melmo_data::formats().iter();
    let formats = formats.map(|format| plain(format.name, &format!(".{}", format.extensions.join(" .")), format.about));
    let oracles = catalogue::oracles().iter().map(|(_, entry)| Item::from(entry)).collect();
    let section = |kind, title, entries| Section { kind, title, entries };
    vec![
        section(Kind::Penalties, "Penalties ψ, for --penalty name:key=value,…", rows(&catalogue::penalties::<f64>())),
        section(Kind::Lifts, "What a penalty is applied to", catalogue::lifts().iter().map(Item::from).collect()),
        section(Kind::Losses, "Losses f", rows(&catalogue::losses::<f64>())),
        section(Kind::Operators, "Operators T", rows(&catalogue::operators::<f64>())),
        section(Kind::Geometries, "Geometries, for --geometry", rows(&catalogue::geometries::<f64>())),
        section(Kind::Oracles, "Ways to spectral directions, for --oracle", oracles),
        section(Kind::Methods, "Methods, for --method", rows(&catalogue::methods::<f64>())),
        section(Kind::Devices, "Devices, for --device", devices()),
        section(Kind::Data, "Bundled data, in place of an input file", sets.collect()),
        section(Kind::Formats, "File formats", formats.collect()),
    ]
}

/// The text to print.
pub fn text(list: &List) -> String {
    let wanted = |section: &Section| list.kind.is_none_or(|kind| kind == section.kind);
    let sections: Vec<Section> = sections().into_iter().filter(wanted).collect();
    if list.json {
        return format!("{:#}\n", Value::Object(sections.iter().map(json_of).collect()));
    }
    let mut text = String::new();
    for section in sections {
        let width = section.entries.iter().map(|item| item.name.chars().count()).max().unwrap_or(0);
        writeln!(text, "{}\n", section.title).expect("a string takes everything");
        for Item { name, formula, about, parameters } in section.entries {
            let formula = if formula.is_empty() { String::new() } else { format!("{formula}\n  {:width$}  ", "") };
            writeln!(text, "  {name:width$}  {formula}{about}").expect("a string takes everything");
            for (name, about) in parameters {
                writeln!(text, "  {:width$}    {name}: {about}", "").expect("a string takes everything");
            }
        }
        text.push('\n');
    }
    text
}

fn json_of(section: &Section) -> (String, Value) {
    let item = |item: &Item| {
        let parameters: Vec<Value> =
            item.parameters.iter().map(|(name, about)| json!({"name": name, "about": about})).collect();
        json!({"name": item.name, "formula": item.formula, "about": item.about, "parameters": parameters})
    };
    (format!("{:?}", section.kind).to_lowercase(), section.entries.iter().map(item).collect())
}
