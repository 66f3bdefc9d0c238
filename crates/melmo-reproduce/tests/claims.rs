//! The paper's sentences: quoted word for word, undecided without runs, and held against the paper's printed tables.

use melmo_reproduce::claims::{Claim, claims};
use melmo_reproduce::data::Library;
use melmo_reproduce::results::Results;
use melmo_reproduce::{Options, Setting};

fn without_runs(setting: Setting) -> Vec<Claim> {
    let options = Options::new(setting);
    claims(&Results { library: Library::load(&options).unwrap(), options, runs: Vec::new() })
}

/// What is quoted stands in the paper: checked where a file with its source is named by `MELMO_PAPER`.
#[test]
fn quotations_are_word_for_word() {
    let Ok(file) = std::env::var("MELMO_PAPER") else {
        eprintln!("SKIPPED: MELMO_PAPER names no file with the paper's source");
        return;
    };
    let paper = plain(&std::fs::read_to_string(file).unwrap());
    for claim in without_runs(Setting::AsStated) {
        for part in claim.sentence.split('…').map(str::trim).filter(|part| !part.is_empty()) {
            assert!(paper.contains(part), "not in the paper: {part}");
        }
    }
}

/// The source without its commands, as we write it.
fn plain(source: &str) -> String {
    let mut text = source.replace('~', " ").replace("\\ ", " ").replace('$', "");
    for (from, to) in [
        ("\\ell_2", "ℓ2"),
        ("\\omega", "ω"),
        ("\\mathcal O", "O"),
        ("\\epsilon", "ε"),
        ("\\nabla", "∇"),
        ("\\|", "‖"),
        ("_F^2", "²"),
        ("--", "–"),
        ("\\in\\{", " ∈ {"),
        ("\\}", "}"),
    ] {
        text = text.replace(from, to);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Without runs nothing is decided, but for what the paper's printed numbers decide alone.
#[test]
fn nothing_is_decided_without_numbers() {
    for claim in without_runs(Setting::AsPublished) {
        let alone = claim.place == "Appendix, reconstruction table";
        assert!(claim.ours.holds.is_none() || alone, "{}: {:?}", claim.sentence, claim.ours);
    }
}

/// The printed Table 1 against the sentences about it: one cell and one ratio are not what the text says.
#[test]
fn the_paper_is_held_to_its_own_table() {
    let claims = without_runs(Setting::AsPublished);
    let printed = |start: &str| {
        let claim = claims.iter().find(|claim| claim.sentence.starts_with(start)).unwrap();
        claim.printed.as_ref().unwrap()
    };
    let lowest = printed("The balanced schedule (p,q)=(7/12,1/3) achieves");
    assert_eq!(lowest.holds, Some(false));
    assert!(lowest.found.contains("7 of 8") && lowest.found.contains("Synthetic r = 10"), "{}", lowest.found);
    assert_eq!(printed("on Spectrometer at rank 30").holds, Some(true));
    assert_eq!(printed("on Olivetti at ranks 20 and 30").holds, Some(true));
    assert_eq!(printed("Overall, the (7/12,1/3) schedule").holds, Some(true));
    assert_eq!(printed("MELMO with ℓ2 LMO outperforms").holds, Some(true));
}
