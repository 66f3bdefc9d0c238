//! Saved results with one thing changed: `verify` refuses them, or says that it did not check what was changed.

use melmo::seeded::Seeded;
use melmo_data::npy;
use serde_json::{Value, json};

use crate::place::{Place, heard};
use crate::run::{Run, below, one_of};

/// Results of every command, of methods that smooth and that do not, with claims and without.
const RUNS: [&str; 7] = [
    "recover y.csv --geometry spectral --method fista --epsilon 0.01",
    "recover y.csv --method melmo --iterations 7",
    "recover y.csv --penalty l1:lambda=0.1 --relative-gap 1e-6",
    "factorize y.csv --rank 2 --epsilon 0.01",
    "denoise y.csv --penalty l1:lambda=0.1 --method admm --iterations 9 --precision f32",
    "regress t.csv y --lambda 0.05 --epsilon 1e-4",
    "rpca y.csv --iterations 5",
];

/// What was done to a value that is no longer there.
const GONE: &str = "was removed";
/// By how much numbers are off: by two per cent at least.
const FACTORS: [f64; 9] = [1.02, 0.97, 1.5, 0.1, 3.0, -1.0, 1e9, 1e-40, 0.0];

pub fn campaign(run: &mut Run) {
    let place = Place::new();
    let rows: Vec<String> =
        (0..9).map(|i| (0..5).map(|j| ((i * 7 + j * j) % 5).to_string()).collect::<Vec<_>>().join(",")).collect();
    place.write("y.csv", rows.join("\n"));
    place.write("t.csv", format!("a,b,c,d,y\n{}", rows.join("\n")));
    let mut begun = Ok(());
    for (at, arguments) in RUNS.iter().enumerate() {
        begun = begun.and_then(|()| place.expect(&format!("{arguments} -q --result r{at}"), 0).map(drop));
        begun = begun.and_then(|()| place.expect(&format!("verify r{at}"), 0).map(drop));
    }
    run.until_the_end(|_, seeded| {
        begun.clone()?;
        let folder = format!("r{}", below(seeded, RUNS.len()));
        let found = if below(seeded, 4) == 0 { array(&place, &folder, seeded) } else { text(&place, &folder, seeded) };
        found.map_err(|wrong| format!("{}: {wrong}", RUNS[folder[1..].parse::<usize>().unwrap_or(0)]))
    });
}

/// One entry of an array.
fn array(place: &Place, folder: &str, seeded: &mut Seeded) -> Result<(), String> {
    let name = format!("{folder}/{}", one_of(seeded, &["x.npy", "z.npy", "u.npy"]));
    let good = place.read(&name);
    let Ok(mut array) = npy::parse(&good) else { return Ok(()) }; // not every result has a u
    let at = below(seeded, array.data.len());
    let old = array.data[at];
    array.data[at] = match below(seeded, 3) {
        0 => old * one_of(seeded, &FACTORS),
        1 => old + one_of(seeded, &[0.05, -1.0, 1e20, f64::NAN]),
        _ => seeded.normal(),
    };
    let new = array.data[at];
    // Single precision may move the certificate's numbers by less than they may be off.
    if (new - old).abs() <= 0.02 {
        return Ok(());
    }
    place.write(&name, npy::encode(&array).map_err(|error| error.to_string())?);
    let found = judged(place, folder);
    place.write(&name, good);
    match found? {
        // u is evidence: where everything still follows from it, everything is true.
        Some(_) if name.ends_with("u.npy") => Ok(()),
        Some(_) => Err(format!("{name}[{at}] was {old}, is {new}, and passed")),
        None => Ok(()),
    }
}

/// Rounding may do as much.
fn is_near(old: f64, new: f64) -> bool {
    (new - old).abs() <= 1e-4 * old.abs() + 1e-5
}

/// One value of `result.json`.
fn text(place: &Place, folder: &str, seeded: &mut Seeded) -> Result<(), String> {
    let name = format!("{folder}/result.json");
    let good = place.read(&name);
    let mut forged: Value = serde_json::from_slice(&good).map_err(|error| error.to_string())?;
    let mut path = Vec::new();
    let what = forge(&mut forged, &mut path, seeded);
    let Some(what) = what else { return Ok(()) };
    place.write(&name, forged.to_string());
    let found = judged(place, folder);
    place.write(&name, good);
    match found? {
        Some(unchecked) if !is_told(&path, &what, &unchecked) => Err(format!("{} {what}, and passed", path.join("."))),
        _ => Ok(()),
    }
}

/// What passes states nothing that is false: it was said to be unchecked, is a fact that is no longer there, or is of another
/// problem, of which everything holds as well.
fn is_told(path: &[String], what: &str, unchecked: &[String]) -> bool {
    let said = |key: &str| unchecked.iter().any(|told| told == key || told.starts_with(&format!("{key} ")));
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let fact = match path[..] {
        ["summary", ..] => true,
        ["certificate", part, ..] => ["stationarity", "optimality", "no_gap"].contains(&part),
        _ => false,
    };
    let told = match path[..] {
        ["summary", key, ..] | ["certificate", key @ "no_gap"] | [key] => said(key),
        // A lower bound that lies lower is true as well.
        ["certificate", "dual_norm", "lower"] | ["job", "options", ..] => true,
        _ => false,
    };
    told || (fact && what == GONE)
}

/// Walks to a value and changes it, noting the way there; what was done, if it changes anything.
fn forge(value: &mut Value, path: &mut Vec<String>, seeded: &mut Seeded) -> Option<String> {
    let stop = below(seeded, 12) == 0 && !path.is_empty();
    let size = value.as_array().map(Vec::len).or(value.as_object().map(serde_json::Map::len)).unwrap_or(0);
    if size == 0 {
        let old = std::mem::take(value);
        *value = other(&old, seeded);
        let same = old.as_f64().zip(value.as_f64()).map_or(old == *value, |(old, new)| is_near(old, new));
        return (!same).then(|| format!("was {old}, is {value}"));
    }
    let at = below(seeded, size);
    let key = value.as_object().and_then(|fields| fields.keys().nth(at).cloned());
    path.push(key.clone().unwrap_or_else(|| at.to_string()));
    let stop = stop && key.as_ref().is_none_or(|key| !value[key].is_null());
    match (value, key) {
        (Value::Object(fields), Some(key)) if stop => drop(fields.remove(&key)),
        (Value::Array(items), _) if stop => drop(items.remove(at)),
        (Value::Object(fields), Some(key)) => return forge(&mut fields[&key], path, seeded),
        (items, _) => return forge(&mut items[at], path, seeded),
    }
    Some(GONE.into())
}

fn other(value: &Value, seeded: &mut Seeded) -> Value {
    match value {
        Value::Bool(is) => json!(!is),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(0.0);
            let moved = number * one_of(seeded, &FACTORS) + if number == 0.0 { 0.5 } else { 0.0 };
            if number.fract() == 0.0 && moved.abs() < 1e6 { json!(moved.round() as i64) } else { json!(moved) }
        }
        Value::String(text) => match (below(seeded, 3), text.parse::<f64>()) {
            (0 | 1, Ok(number)) => json!((number * one_of(seeded, &FACTORS)).to_string()),
            (0, _) => json!(""),
            (1, _) => json!(one_of(seeded, &["l2", "y.csv", "t.csv", "f32", "recover", "0.5", "x"])),
            _ => json!(format!("{text}1")),
        },
        _ => json!(one_of(seeded, &[0.5, 1e-9])),
    }
}

/// What was said to be unchecked, where the result passed.
fn judged(place: &Place, folder: &str) -> Result<Option<Vec<String>>, String> {
    let output = place.run(&format!("verify {folder} --json"))?;
    match output.status.code() {
        Some(0) => {
            let told: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
            let unchecked = told["not_checked"].as_array().cloned().unwrap_or_default();
            Ok(Some(unchecked.iter().filter_map(|key| key.as_str().map(Into::into)).collect()))
        }
        Some(1 | 2) => Ok(None),
        code => Err(format!("status {code:?}: {}", heard(&output))),
    }
}
