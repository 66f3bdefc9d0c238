//! Everything that a space is asked, on ranks and on slices: the same numbers.

use std::borrow::Borrow;

use melmo::block::Layout;
use melmo::certificate::{Shown, Witness};
use melmo::geometry::{Geometry, Norm, Oracle, euclidean, for_layout};
use melmo::penalty::{Blocks, Entrywise, Group, L1, Mcp, Prox};
use melmo::seeded::Seeded;
use melmo::space::{Host, Space};

use crate::whole::{Kind, Whole};

fn mcp(range: &Layout) -> Box<dyn Prox<f64>> {
    Box::new(Entrywise::new(Mcp::new(0.3, 2.0).unwrap(), range.size()))
}

fn problem(kind: Kind, rows: usize, cols: usize, masked: bool) -> Whole {
    let width = match kind {
        Kind::Volume(high) => high * cols,
        Kind::Jet(channels) => channels * cols,
        _ => cols,
    };
    let n = rows * width;
    let mask = masked.then(|| (0..n).map(|i| f64::from(i % 5 != 0)).collect());
    Whole { kind, y: Seeded::new(3).normals(n), mask, rows, cols, penalty: Box::new(mcp) }
}

fn close(what: &str, got: f64, want: f64, scale: f64) {
    let same = got == want || got.is_nan() && want.is_nan();
    assert!(same || (got - want).abs() <= 1e-12 * (scale.abs() + want.abs()), "{what}: {got:e} instead of {want:e}");
}

/// All that is asked of a space and of its witness at seeded points: numbers, then vectors.
fn asked<X: Space<Real = f64>>(
    space: &mut X,
    x: &[f64],
    d: &[f64],
    n: usize,
) -> (Vec<(&'static str, f64)>, Vec<Vec<f64>>) {
    let (mut found, mut vectors) = (Vec::new(), Vec::new());
    let beta = 0.4 * space.facts().default_beta();
    let mut points: Vec<X::Point> = (0..4).map(|_| space.point()).collect();
    space.write(&mut points[0], 0, x);
    space.write(&mut points[1], 0, d);
    let [at, way, y, phi] = &mut points[..] else { unreachable!() };
    found.push(("dot", space.dot(at, way)));
    found.push(("norm", space.norm(at)));
    found.push(("norm²", space.norm_squared(at)));
    found.push(("g", space.penalty(at)));
    found.push(("g_β", space.envelope(at, beta)));
    let evaluated = space.gradient(phi, at, beta);
    found.push(("f", evaluated.f));
    found.push(("slopes", evaluated.slope_squared));
    let mut read = |space: &mut X, point: &X::Point| {
        let mut to = vec![0.0; n];
        space.read(point, 0, &mut to);
        vectors.push(to);
    };
    read(space, phi);
    let squared = space.norm_squared(phi);
    found.push(("dual norm", space.oracle(phi, Some(squared)).dual_norm.middle()));
    let evaluated = space.advance_and_evaluate(y, at, phi, [0.3, beta]);
    found.push(("f after", evaluated.f));
    read(space, y);
    read(space, phi);
    found.push(("exact", space.dual_norm(phi)));
    space.extrapolate(phi, at, way, 0.7);
    space.scale(phi, -1.5);
    space.add(phi, 0.3, way);
    read(space, phi);
    let (mut tx, mut v) = (space.image(), space.image());
    found.push(("F", space.subgradient(phi, at, &mut tx, &mut v)));
    read(space, phi);
    let stored = space.show(&tx, &v, 0.5);
    found.push(("shown", stored.beta));
    let norms = space.norms();
    for shown in [Shown::smoothed(beta), stored] {
        let seen = space.witness().look(as_seen::<X>(at), shown);
        let numbers = [seen.f, seen.at_z, seen.at_tx, seen.overlap, seen.of_f, seen.of_g, seen.of_sum, seen.prox_gap];
        found.extend(numbers.map(|number| ("seen", number)));
        found.extend([seen.x_norm, seen.tx_norm, seen.u_norm, seen.w_norm].map(|number| ("size", number)));
        found.push(("residual", space.witness().residual(&norms).unwrap().middle()));
        if let Some(near) = space.witness().near(as_seen::<X>(at)) {
            found.extend([near.distance, near.bound].map(|number| ("near", number)));
        }
    }
    space.witness().look(as_seen::<X>(at), Shown::smoothed(beta));
    found.push(("strengthened", space.witness().strengthen().beta));
    (found, vectors)
}

/// A point as the witness of its space takes it.
fn as_seen<X: Space>(point: &X::Point) -> &<X::Witness as Witness>::Point {
    point.borrow()
}

fn compare(name: &str, whole: &Whole, norm: Option<Norm>, sizes: &[usize]) {
    let problem = whole.alone();
    let n = problem.layout().size();
    let [x, d]: [Vec<f64>; 2] = [Seeded::new(11).normals(n), Seeded::new(12).normals(n)];
    let geometry: Box<dyn Geometry<f64>> = match norm {
        Some(norm) => for_layout(norm, problem.layout(), Oracle::Gram).unwrap(),
        None => euclidean(problem.layout()),
    };
    let (want, want_vectors) = asked(&mut Host::new(&problem, geometry).unwrap(), &x, &d, n);
    for &size in sizes {
        let answers = whole.on(size, norm, Oracle::Gram, |mut space, rank| {
            let [x, d] = [&x, &d].map(|point| whole.own(point, rank, size));
            asked(&mut space, &x, &d, x.len())
        });
        for (got, _) in &answers {
            assert_eq!(got, &answers[0].0, "{name}: ranks see the same numbers");
            assert_eq!(got.len(), want.len(), "{name}");
            for ((what, got), (_, want)) in got.iter().zip(&want) {
                close(&format!("{name}, {size} ranks: {what}"), *got, *want, n as f64);
            }
        }
        for (at, want) in want_vectors.iter().enumerate() {
            let parts: Vec<Vec<f64>> = answers.iter().map(|(_, vectors)| vectors[at].clone()).collect();
            for (got, want) in whole.joined(&parts).iter().zip(want) {
                close(&format!("{name}, {size} ranks: vector {at}"), *got, *want, 10.0);
            }
        }
    }
}

const SIZES: [usize; 4] = [1, 2, 3, 4];

#[test]
fn pictures_in_every_norm() {
    let whole = problem(Kind::Image, 37, 23, true);
    compare("image", &whole, None, &SIZES);
    for norm in Norm::ALL {
        compare(&format!("image in {norm}"), &whole, Some(norm), &SIZES);
    }
}

#[test]
fn pixels_and_volumes() {
    let pixels =
        |range: &Layout| -> Box<dyn Prox<f64>> { Box::new(Group::pixels(L1::new(0.3).unwrap(), range).unwrap()) };
    compare("pixels", &Whole { penalty: Box::new(pixels), ..problem(Kind::Image, 19, 24, false) }, None, &SIZES);
    for norm in [None, Some(Norm::L1), Some(Norm::Row), Some(Norm::Column)] {
        compare("volume", &problem(Kind::Volume(7), 5, 10, true), norm, &SIZES);
    }
    compare("voxels", &Whole { penalty: Box::new(pixels), ..problem(Kind::Volume(3), 9, 4, false) }, None, &SIZES);
}

/// Second differences reach two rows; what belongs to a pixel is taken together over all channels.
#[test]
fn jets_of_several_channels() {
    for channels in [1, 3] {
        for norm in [None, Some(Norm::L2)] {
            compare("jets", &problem(Kind::Jet(channels), 17, 6, true), norm, &SIZES);
        }
    }
    let together = |range: &Layout| -> Box<dyn Prox<f64>> {
        let of = |name: &str| -> Box<dyn Prox<f64>> {
            let block = range.require(name).unwrap();
            let layout = Layout::matrix(block.rows, block.cols).unwrap();
            Box::new(Group::columns(L1::new(0.3).unwrap(), &layout).unwrap())
        };
        Box::new(Blocks::new(range, vec![("first", 1.0, of("first")), ("second", 2.0, of("second"))]).unwrap())
    };
    for rows in [8, 11] {
        let whole = Whole { penalty: Box::new(together), ..problem(Kind::Jet(3), rows, 5, false) };
        compare("jets of pixels", &whole, None, &SIZES);
    }
}

#[test]
fn entries_and_groups_of_a_row() {
    for norm in Norm::ALL {
        compare(&format!("entries in {norm}"), &problem(Kind::Entries, 40, 6, true), Some(norm), &SIZES);
    }
    let rows = |range: &Layout| -> Box<dyn Prox<f64>> { Box::new(Group::rows(L1::new(0.3).unwrap(), range).unwrap()) };
    compare("rows", &Whole { penalty: Box::new(rows), ..problem(Kind::Entries, 11, 6, false) }, None, &SIZES);
}

#[test]
fn factors() {
    for norm in Norm::ALL {
        compare(&format!("factors in {norm}"), &problem(Kind::Factors(3, false), 31, 12, false), Some(norm), &SIZES);
    }
    let both = |range: &Layout| -> Box<dyn Prox<f64>> {
        let entries = |name: &str| -> Box<dyn Prox<f64>> {
            Box::new(Entrywise::new(L1::new(0.2).unwrap(), range.require(name).unwrap().size()))
        };
        Box::new(Blocks::new(range, vec![("W", 1.0, entries("W")), ("H", 2.0, entries("H"))]).unwrap())
    };
    compare("both", &Whole { penalty: Box::new(both), ..problem(Kind::Factors(2, true), 13, 7, false) }, None, &SIZES);
}

#[test]
fn rows_of_a_regression() {
    for norm in [None, Some(Norm::L1), Some(Norm::Linf)] {
        compare("regression", &problem(Kind::Regression, 29, 6, false), norm, &SIZES);
    }
}

/// Some ranks have a row more than others, some have one, some none.
#[test]
fn uneven_rows_and_more_ranks_than_rows() {
    for kind in [Kind::Image, Kind::Entries, Kind::Volume(3), Kind::Factors(2, false), Kind::Regression] {
        for norm in [None, Some(Norm::L2), Some(Norm::L1), Some(Norm::Row)] {
            compare(&format!("{kind:?}"), &problem(kind, 5, 4, false), norm, &[2, 3, 4, 5, 6, 9]);
        }
    }
    for kind in [Kind::Image, Kind::Factors(2, false)] {
        compare(&format!("{kind:?}"), &problem(kind, 5, 4, false), Some(Norm::Spectral), &[2, 4, 7]);
    }
}
