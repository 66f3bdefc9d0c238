//! The first section: what the paper says, what came back, what is missing.

use melmo_page::{Callout, Cell, Column, Section, Table};

use crate::claims::{Claim, Evidence, claims};
use crate::results::Results;

pub(super) fn section(results: &Results) -> Section {
    let mut section = Section::new("Summary").paragraph(
        "The paper minimises F(x) = f(x) + g(Tx) with a smooth f and a weakly convex g, replaced by its Moreau envelope \
         g_{β}, and moves along directions that a linear minimisation oracle picks in a norm of choice. Below, each of its \
         experiments is run again from seeds and set beside the published value. Where the text and the numbers disagree, \
         a note beside the number says so and gives the evidence.",
    );
    if results.options.quick {
        section = section.item(
            Callout::note(
                "Smaller problems, an eighth of the steps and two seeds at most: everything below shows how the page \
                 looks, and no number is comparable with the paper. Published values are left out.",
            )
            .title("A quick run"),
        );
    }
    let missing = results.library.missing();
    if !missing.is_empty() {
        let how = missing.iter().map(|set| format!("**{}**: put {}.", set.name(), set.how_to_get()));
        let text = format!("Their rows are left out of the tables.\n\n{}", how.collect::<Vec<_>>().join("\n\n"));
        section = section.item(Callout::warning(text).title("Data sets that were not found"));
    }
    let claims = claims(results);
    if claims.is_empty() { section } else { section.item(table(&claims)).item(counted(&claims)) }
}

fn word(evidence: &Evidence) -> &'static str {
    match evidence.holds {
        Some(true) => "● yes",
        Some(false) => "○ no",
        None => "–",
    }
}

fn table(claims: &[Claim]) -> Table {
    let columns = ["the paper says", "read as", "these runs", "so", "its printed numbers", "so"].map(Column::text);
    let mut table = Table::new(columns)
        .title("The paper’s sentences, and the numbers that decide them")
        .caption("Word for word, with … where words are left out. A dash where the words name no number, or the data is not there.");
    for claim in claims {
        let printed = claim.printed.as_ref().map_or(("", ""), |printed| (printed.found.as_str(), word(printed)));
        let quoted = format!("“{}”", claim.sentence);
        let cells = [&quoted[..], claim.reading, &claim.ours.found, word(&claim.ours), printed.0, printed.1];
        table = table.row(cells.map(Cell::from));
    }
    table
}

fn counted(claims: &[Claim]) -> Callout {
    let count = |holds| claims.iter().filter(|claim| claim.ours.holds == holds).count();
    let text = format!(
        "Of {} sentences, the runs of this page confirm {} and contradict {}; {} they cannot decide.\n\nThe text’s own settings (β_{{0}} = \
         1, one start, the stated functions) do not give the published numbers; those listed beside each table come nearest of what \
         was tried. The paper’s starts, masks and noise were not seeded, so compare single numbers with the range over our seeds.",
        claims.len(),
        count(Some(true)),
        count(Some(false)),
        count(None)
    );
    Callout::note(text).title("How many hold")
}
