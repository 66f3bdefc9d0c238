//! What a section of the page says, and what it says of `auto`.

/// A section's text, and its instances.
#[derive(Default)]
pub struct Section {
    pub text: String,
    pub instances: Vec<Instance>,
}

/// F of `auto` beside the lowest F that anyone reached from the same start with the steps of the page.
pub struct Instance {
    pub name: String,
    pub auto: f64,
    pub lowest: f64,
    pub winner: String,
}

impl Instance {
    /// Of (method, F), `auto` among them.
    pub fn new(name: impl Into<String>, reached: &[(String, f64)]) -> Self {
        let auto = reached.iter().find(|(method, _)| method.starts_with("auto")).map_or(f64::NAN, |(_, f)| *f);
        let others = reached.iter().filter(|(_, f)| f.is_finite());
        let best = others.min_by(|a, b| a.1.total_cmp(&b.1));
        let (winner, lowest) = best.map_or((String::new(), f64::NAN), |(method, f)| (method.clone(), *f));
        Self { name: name.into(), auto, lowest, winner }
    }

    /// How far `auto` is above the lowest, as a part of |F|.
    pub fn over(&self) -> f64 {
        (self.auto - self.lowest) / self.lowest.abs().max(f64::MIN_POSITIVE)
    }
}

/// `auto` may be this far above the lowest F.
pub const WITHIN: f64 = 5e-3;

/// The table of all instances, and whether the sentence "auto takes the winner" holds.
pub fn auto_wins(instances: &[Instance]) -> (String, bool) {
    let mut text = String::from("| instance | auto | lowest | by | auto over it |\n|---|---|---|---|---|\n");
    for instance in instances {
        let Instance { name, auto, lowest, winner } = instance;
        text += &format!("| {name} | {auto:.6} | {lowest:.6} | {winner} | {:+.3} % |\n", 100.0 * instance.over());
    }
    let worst = instances.iter().max_by(|a, b| a.over().total_cmp(&b.over()));
    let holds = instances.iter().all(|instance| instance.over() <= WITHIN);
    if let Some(worst) = worst {
        let (count, over) = (instances.len(), 100.0 * worst.over());
        text +=
            &format!("\nOf {count} instances `auto` is furthest above the lowest F on {}: {over:+.3} %.\n", worst.name);
    }
    (text, holds)
}
