//! The first section: what was asked, what came back, what is missing.

use melmo_page::{Callout, Cell, Column, Section, Table};

use super::verdict::{Verdict, verdicts};
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
    let verdicts = verdicts(results);
    if verdicts.is_empty() { section } else { section.item(table(&verdicts)).item(tried(&verdicts)) }
}

fn table(verdicts: &[Verdict]) -> Table {
    let columns = ["claim", "asked for", "found", "holds"].map(Column::text);
    let mut table = Table::new(columns).title("What was asked, and what came back");
    for verdict in verdicts {
        let holds = match verdict.holds {
            Some(true) => "● yes",
            Some(false) => "○ no",
            None => "–",
        };
        table = table.row([&verdict.claim[..], &verdict.required, &verdict.found, holds].map(Cell::from));
    }
    table
}

fn tried(verdicts: &[Verdict]) -> Callout {
    let failed: Vec<&str> = verdicts.iter().filter(|v| v.holds == Some(false)).map(|v| v.claim.as_str()).collect();
    if failed.is_empty() {
        return Callout::good("Everything that could be asked with these data holds.");
    }
    let text = format!(
        "{}.\n\nWhat the settings of this page rest on: the text’s own (β_{{0}} = 1, one start, the stated functions) do not give \
         the published numbers; those listed beside each table come nearest of what was tried. The paper’s starts, masks and \
         noise were not seeded, so compare what is left with the range over our seeds.",
        failed.join("; ")
    );
    Callout::warning(text).title("What did not come back")
}
