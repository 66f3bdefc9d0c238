//! Every catalogue row, timed: `cargo bench --bench kernels`, with a word after `--` to pick some.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use melmo::block::Layout;
use melmo::catalogue::{Arguments, Lift, geometries, losses, oracles, penalties};
use melmo::geometry::{Geometry, Norm};
use melmo::seeded::Seeded;

const SIDE: usize = 256;

fn main() {
    divan::main();
}

#[divan::bench(args = penalties::<f64>().iter().map(|row| row.entry.name).collect::<Vec<_>>())]
fn penalty_envelope(bencher: Bencher, name: &str) {
    let rows = penalties::<f64>();
    let row = melmo::catalogue::find("penalty", &rows, name).expect("a row");
    let arguments = Arguments::defaults(&row.entry).expect("defaults");
    let layout = Layout::matrix(SIDE, SIDE).expect("a layout");
    let g = (row.build)(&arguments, &Lift::Entries, &layout).expect("a penalty");
    let u: Vec<f64> = Seeded::new(1).normals(layout.size());
    let mut slope = vec![0.0; u.len()];
    bencher.counter(ItemsCount::new(u.len())).bench_local(|| black_box(g.moreau(&mut slope, &u, 0.3, &mut [])));
}

#[divan::bench(args = ["rows", "columns", "pixels", "singular-values"])]
fn lifted_mcp(bencher: Bencher, name: &str) {
    let lift = match name {
        "rows" => Lift::Rows,
        "columns" => Lift::Columns,
        "pixels" => Lift::Pixels,
        _ => Lift::SingularValues,
    };
    let rows = penalties::<f64>();
    let row = melmo::catalogue::find("penalty", &rows, "mcp").expect("a row");
    let layout = Layout::new([("dx", SIDE, SIDE), ("dy", SIDE, SIDE)]).expect("a layout");
    let g = (row.build)(&Arguments::defaults(&row.entry).expect("defaults"), &lift, &layout).expect("a penalty");
    let u: Vec<f64> = Seeded::new(1).normals(layout.size());
    let (mut slope, mut work) = (vec![0.0; u.len()], vec![0.0; g.work_len()]);
    bencher.counter(ItemsCount::new(u.len())).bench_local(|| black_box(g.moreau(&mut slope, &u, 0.3, &mut work)));
}

#[divan::bench(args = losses::<f64>().iter().map(|row| row.entry.name).collect::<Vec<_>>())]
fn loss_value_and_gradient(bencher: Bencher, name: &str) {
    let rows = losses::<f64>();
    let row = melmo::catalogue::find("loss", &rows, name).expect("a row");
    let example = (row.examples)(1).swap_remove(0);
    let arguments = Arguments::new(&row.entry, example.given).expect("arguments");
    let f = (row.build)(&arguments, example.inputs).expect("a loss");
    let x: Vec<f64> = Seeded::new(2).normals(f.layout().size());
    let (mut grad, mut work) = (vec![0.0; x.len()], vec![0.0; f.work_len()]);
    bencher.bench_local(|| black_box(f.value_grad(&mut grad, &x, &mut work)));
}

#[divan::bench(args = geometries::<f64>().iter().map(|row| row.entry.name).collect::<Vec<_>>())]
fn geometry_look_and_move(bencher: Bencher, name: &str) {
    let rows = geometries::<f64>();
    let row = melmo::catalogue::find("geometry", &rows, name).expect("a row");
    let layout = Layout::matrix(SIDE, SIDE).expect("a layout");
    let geometry = (row.build)(&layout.blocks()[0], melmo::geometry::Oracle::Auto).expect("a geometry");
    look_and_move(bencher, geometry, SIDE * SIDE);
}

#[divan::bench(args = oracles().iter().map(|(_, entry)| entry.name).collect::<Vec<_>>())]
fn spectral_oracle_256x30(bencher: Bencher, name: &str) {
    let layout = Layout::matrix(SIDE, 30).expect("a layout");
    let oracle = name.parse().expect("an oracle");
    let geometry = melmo::geometry::for_layout(Norm::Spectral, &layout, oracle).expect("a geometry");
    look_and_move(bencher, geometry, SIDE * 30);
}

fn look_and_move(bencher: Bencher, mut geometry: Box<dyn Geometry<f64>>, size: usize) {
    let (phi, x): (Vec<f64>, Vec<f64>) = (Seeded::new(3).normals(size), Seeded::new(4).normals(size));
    let mut y = vec![0.0; size];
    bencher.counter(ItemsCount::new(size)).bench_local(|| {
        let answer = geometry.oracle(&phi);
        geometry.advance(&mut y, &x, &phi, 0.1);
        black_box(answer)
    });
}
