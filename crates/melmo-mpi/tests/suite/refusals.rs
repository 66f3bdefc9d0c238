//! What ranks cannot share is refused in words, by all of them.

use melmo::block::Layout;
use melmo::geometry::{Norm, Oracle};
use melmo::operator::{Dense, Identity, Jet, LinOp};
use melmo::penalty::{Entrywise, Group, Interval, L1, Prox, Spectral};
use melmo::problem::Problem;
use melmo::smooth::MaskedLeastSquares;
use melmo_mpi::{Alone, Distributed, Measure, Piece};

use crate::whole::{Kind, Whole, on_ranks};

fn words(problem: &Problem<f64>, rows: usize, norm: Norm) -> String {
    let measure = Measure::Blocks(vec![(norm, 1.0)]);
    let piece = Piece::of(rows, 0, 0, 1);
    let refused = Distributed::new(problem, &[Some(piece)], &measure, Oracle::Auto, Box::new(Alone));
    refused.err().expect("a refusal").to_string()
}

fn entries(rows: usize, cols: usize, g: Box<dyn Prox<f64>>) -> Problem<f64> {
    let layout = Layout::matrix(rows, cols).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), vec![1.0; rows * cols], None).unwrap();
    Problem::from_boxes(Box::new(f), g, Box::new(Identity::new(layout))).unwrap()
}

#[test]
fn groups_that_cross_ranks() {
    let layout = Layout::matrix(6, 4).unwrap();
    let l1 = || L1::new(1.0).unwrap();
    let crossing: [Box<dyn Prox<f64>>; 2] =
        [Box::new(Group::columns(l1(), &layout).unwrap()), Box::new(Spectral::new(l1(), &layout).unwrap())];
    for g in crossing {
        let refused = words(&entries(6, 4, g), 6, Norm::L2);
        assert!(refused.contains("lie on several ranks") && refused.contains("without mpirun"), "{refused}");
    }
    let above = Entrywise::new(Interval::new(1.0, 2.0).unwrap(), 24);
    assert!(words(&entries(6, 4, Box::new(above)), 6, Norm::L2).contains("not 0 at 0"));
}

#[test]
fn operators_that_reach_too_far() {
    let layout = Layout::vector(4).unwrap();
    let f = MaskedLeastSquares::new(layout, vec![1.0; 4], None).unwrap();
    let t = Dense::new(vec![1.0; 16], 4, 4).unwrap();
    let g = Entrywise::new(L1::new(1.0).unwrap(), 4);
    let refused = words(&Problem::new(f, g, t).unwrap(), 4, Norm::L2);
    assert!(refused.contains("an operator other than"), "{refused}");
}

/// Rows of neighbours that are needed and not held would be taken for a border of the picture.
#[test]
fn jets_need_two_rows_of_every_neighbour() {
    let jet = |rows: usize, channels: usize| {
        let layout = Layout::matrix(channels * rows, 4).unwrap();
        let f = MaskedLeastSquares::new(layout, vec![1.0; channels * rows * 4], None).unwrap();
        let t = Jet::new(rows, 4, channels, 0.5).unwrap();
        let g = Entrywise::new(L1::new(1.0).unwrap(), LinOp::<f64>::range(&t).size());
        Problem::new(f, g, t).unwrap()
    };
    let one = Piece { rows: 8, own: 0..4, held: 0..5, stretches: 1 };
    let refused = |problem: &Problem<f64>, piece: Piece, norm: Norm| {
        let measure = Measure::Blocks(vec![(norm, 1.0)]);
        let refused = Distributed::new(problem, &[Some(piece)], &measure, Oracle::Auto, Box::new(Alone));
        refused.err().expect("a refusal").to_string()
    };
    let said = refused(&jet(5, 1), one, Norm::L2);
    assert!(said.contains("0..4") && said.contains("reach 2"), "{said}");
    let said = refused(&jet(6, 3), Piece::of(6, 2, 0, 1), Norm::Spectral);
    assert!(said.contains("several channels") && said.contains("l2"), "{said}");
    let many = on_ranks(3, |thread, rank| {
        let piece = Piece::of(5, 2, rank, 3);
        let problem = jet(piece.held.len(), 1);
        let measure = Measure::Euclidean;
        let refused = Distributed::new(&problem, &[Some(piece)], &measure, Oracle::Auto, Box::new(thread));
        refused.err().expect("a refusal").to_string()
    });
    assert!(many.iter().all(|said| said.contains("5 rows on 3 ranks")), "{many:?}");
}

#[test]
fn singular_values_of_what_is_too_large_are_refused_with_the_numbers() {
    let (rows, cols) = (1, 1 << 23);
    let problem = entries(rows, cols, Box::new(Entrywise::new(L1::new(1.0).unwrap(), rows * cols)));
    for norm in Norm::ALL {
        let measure = Measure::Blocks(vec![(norm, 1.0)]);
        // This rank's row of eight.
        let piece = Piece { rows: 8, own: 0..1, held: 0..1, stretches: 1 };
        let refused = Distributed::new(&problem, &[Some(piece)], &measure, Oracle::Auto, Box::new(Alone));
        if !matches!(norm, Norm::Spectral | Norm::Nuclear) {
            assert!(refused.is_ok(), "{norm} takes no more than the rows that are here");
            continue;
        }
        let refused = refused.err().expect("a refusal").to_string();
        assert!(refused.contains("8×8388608") && refused.contains("67108864 numbers"), "{norm}: {refused}");
    }
}

/// One that cannot take part says why, and the others hear of it: nobody waits.
#[test]
fn everybody_is_refused_where_one_is() {
    let whole = Whole {
        kind: Kind::Entries,
        y: vec![1.0; 24],
        mask: None,
        rows: 6,
        cols: 4,
        penalty: Box::new(|range| Box::new(Entrywise::new(L1::new(1.0).unwrap(), range.size()))),
    };
    let refusals = on_ranks(3, |thread, rank| {
        let part = whole.part(rank, 3);
        let norms = if rank == 1 { vec![] } else { vec![(Norm::L2, 1.0)] };
        let measure = Measure::Blocks(norms);
        Distributed::new(&part.problem, &part.pieces, &measure, Oracle::Auto, Box::new(thread))
            .err()
            .unwrap()
            .to_string()
    });
    assert!(refusals[0].contains("another rank") && refusals[1].contains("norms (one a block)"), "{refusals:?}");
}
