//! What ranks cannot share is refused in words, by all of them.

use melmo::block::Layout;
use melmo::geometry::{Norm, Oracle};
use melmo::operator::{Identity, Jet};
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
    let layout = Layout::matrix(6, 4).unwrap();
    let f = MaskedLeastSquares::new(layout, vec![1.0; 24], None).unwrap();
    let t = Jet::new(6, 4, 1, 0.5).unwrap();
    let g = Entrywise::new(L1::new(1.0).unwrap(), melmo::operator::LinOp::<f64>::range(&t).size());
    let refused = words(&Problem::new(f, g, t).unwrap(), 6, Norm::L2);
    assert!(refused.contains("an operator other than"), "{refused}");
}

#[test]
fn singular_values_of_what_is_too_large_are_refused_with_the_numbers() {
    let (rows, cols) = (1, 1 << 23);
    let problem = entries(rows, cols, Box::new(Entrywise::new(L1::new(1.0).unwrap(), rows * cols)));
    let measure = Measure::Blocks(vec![(Norm::Spectral, 1.0)]);
    // This rank's row of eight.
    let piece = Piece { rows: 8, own: 0..1, held: 0..1 };
    let refused = Distributed::new(&problem, &[Some(piece)], &measure, Oracle::Auto, Box::new(Alone));
    let refused = refused.err().expect("a refusal").to_string();
    assert!(refused.contains("8×8388608") && refused.contains("67108864 numbers"), "{refused}");
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
