//! Norms of blocks: each block's direction by its own norm, as `geometry/product.rs` puts them together.

use melmo::error::Error;
use melmo::geometry::{Answer, BlockNorm, Bracket, Norm};
use melmo::real::Real;

use crate::device::{Device, Point};
use crate::linalg::leading::Leading;
use crate::linalg::polar::Polar;
use crate::linalg::{Arithmetic, format_of};
use crate::lines::{Lines, roundings};
use crate::machine::{Address, Args, Kernel, Machine};

/// A block, its norm, and what the last look at it found.
pub(crate) struct Part {
    norm: BlockNorm,
    way: Way,
}

/// What a step needs to know.
enum Way {
    /// ℓ2: ‖φ‖₂.
    Length(f64),
    /// ℓ∞.
    Signs,
    /// ℓ1: the first entry of largest magnitude.
    Coordinate(Option<i64>),
    /// Rows or columns.
    Lines(Option<Lines>),
    Polar(Box<Polar>),
    Leading(Box<Leading>),
}

/// Ways of `block_step` in `kernels/matrix.cu`.
mod along {
    pub const DIRECTION: i64 = 0;
    pub const SIGNS: i64 = 1;
    pub const COORDINATE: i64 = 2;
    pub const ROWS: i64 = 3;
    pub const COLUMNS: i64 = 4;
    pub const OUTER: i64 = 5;
}

impl Arithmetic {
    /// The blocks of norms, each with its way.
    pub(crate) fn parts<S: Real>(self, norms: &[BlockNorm]) -> Result<Vec<Part>, Error> {
        let part = |norm: &BlockNorm| {
            let shape = [norm.block.rows, norm.block.cols];
            let way = match norm.norm {
                Norm::L2 => Way::Length(0.0),
                Norm::Linf => Way::Signs,
                Norm::L1 => Way::Coordinate(None),
                Norm::Row | Norm::Column => Way::Lines(None),
                Norm::Spectral => Way::Polar(Box::new(Polar::new::<S>(self, shape))),
                Norm::Nuclear => Way::Leading(Box::new(Leading::new::<S>(shape))),
                other => {
                    return Err(Error::Unsupported(format!(
                        "no kernel of the GPU knows the norm {other}: take device cpu"
                    )));
                }
            };
            Ok(Part { norm: norm.clone(), way })
        };
        norms.iter().map(part).collect()
    }
}

impl Part {
    pub(crate) fn multiplies(&self) -> bool {
        matches!(self.way, Way::Polar(_) | Way::Leading(_))
    }

    pub(crate) fn bytes(&self) -> usize {
        match &self.way {
            Way::Polar(polar) => polar.bytes(),
            Way::Leading(leading) => leading.bytes(),
            _ => 0,
        }
    }

    /// Where the block is in a point that starts at an address, and whether that is aligned to four entries.
    fn within<S: Real>(&self, point: Address) -> (Address, bool) {
        let start = self.norm.block.start;
        (point + (start * size_of::<S>()) as Address, !start.is_multiple_of(4))
    }
}

impl<S: Real, M: Machine> Device<'_, S, M> {
    /// Room for what directions need.
    pub(crate) fn make_parts(&mut self) {
        if self.by_lines() {
            let norm = self.norms[0].clone();
            self.lines = Some(self.room_for_lines(&norm));
        }
        let mut parts = std::mem::take(&mut self.parts);
        for part in &mut parts {
            match &mut part.way {
                Way::Lines(lines) => *lines = Some(self.room_for_lines(&part.norm)),
                Way::Polar(polar) => self.make_polar(polar),
                Way::Leading(leading) => self.make_leading(leading),
                _ => {}
            }
        }
        self.parts = parts;
    }

    /// ‖φ‖_* = Σ r‖φ_b‖_*, with what each block's step needs.
    pub(crate) fn oracle_by_parts(&mut self, phi: &Point) -> Answer {
        let (mut parts, phi) = (std::mem::take(&mut self.parts), self.at(phi));
        let mut total = Answer { dual_norm: Bracket::default(), decrease: 0.0, excess: 0.0 };
        let dual_norm = Bracket::sum(parts.iter_mut().map(|part| {
            let (answer, radius) = (self.oracle_of_part(part, phi), part.norm.radius);
            total.decrease += radius * answer.decrease;
            total.excess = total.excess.max(answer.excess);
            if radius == 1.0 { answer.dual_norm } else { answer.dual_norm.times(radius) }
        }));
        total.dual_norm = dual_norm;
        self.parts = parts;
        total
    }

    fn oracle_of_part(&mut self, part: &mut Part, phi: Address) -> Answer {
        let (n, (phi, loose)) = (part.norm.block.size(), part.within::<S>(phi));
        if let Way::Lines(Some(lines)) = &part.way {
            let total = self.measure_lines_at(&part.norm, lines, phi, true);
            return Answer::rounded(total, roundings(&part.norm));
        }
        let own = format_of::<S>();
        let [squared, _, absolute, largest] = self.sums_of([phi; 2], n, [own; 2], loose);
        let roundings = self.roundings(false, n);
        let frobenius = squared.sqrt();
        let in_range = (1e-280..1e280).contains(&squared);
        match &mut part.way {
            Way::Signs => Answer::rounded(absolute, roundings),
            Way::Coordinate(at) => {
                let args = Args { x: phi, a: largest, loose: i64::from(loose), ..Args::default() };
                self.entries(Kernel::Find, n, args);
                *at = Some(-self.results()[1] as i64).filter(|_| largest > 0.0);
                Answer::exact(largest)
            }
            Way::Length(length) => {
                *length = if in_range || squared == 0.0 { frobenius } else { f64::NAN };
                Answer::rounded(*length, roundings)
            }
            Way::Polar(polar) if in_range => self.polar(polar, phi, frobenius, loose),
            Way::Leading(leading) if in_range => self.leading(leading, phi, frobenius, loose),
            Way::Polar(polar) => {
                let (d, stored) = polar.direction();
                self.nothing(d, n, stored, largest)
            }
            Way::Leading(leading) => {
                let (vectors, stored) = leading.direction();
                self.nothing(vectors, part.norm.block.rows + part.norm.block.cols, stored, largest)
            }
            Way::Lines(_) => Answer::exact(f64::NAN),
        }
    }

    /// d ← 0: for φ = 0, and for one whose norm leaves the range of numbers, of which nothing is known.
    fn nothing(&mut self, d: Address, n: usize, stored: crate::machine::Format, largest: f64) -> Answer {
        self.convert([d; 2], 0.0, n, [stored; 2], false);
        Answer::exact(if largest == 0.0 { 0.0 } else { f64::NAN })
    }

    /// y ← x + γd, block by block.
    pub(crate) fn step_by_parts(&mut self, [y, x, phi]: [&Point; 3], gamma: f64) {
        let (parts, [y, x, phi]) = (std::mem::take(&mut self.parts), [y, x, phi].map(|point| self.at(point)));
        for part in &parts {
            let (n, (phi, loose)) = (part.norm.block.size(), part.within::<S>(phi));
            let [(y, _), (x, _)] = [y, x].map(|point| part.within::<S>(point));
            let (gamma, cols) = (gamma * part.norm.radius, part.norm.block.cols as i64);
            let args = Args { y, x, d: phi, a: -gamma, cols, from: format_of::<S>() as i64, ..Args::default() };
            let args = match &part.way {
                Way::Length(0.0) => Args { a: 0.0, slices: along::DIRECTION, ..args },
                Way::Length(length) => Args { a: -gamma / length, slices: along::DIRECTION, ..args },
                Way::Signs => Args { slices: along::SIGNS, ..args },
                Way::Coordinate(at) => Args { slices: along::COORDINATE, first: at.unwrap_or(-1), ..args },
                Way::Lines(lines) => {
                    let slices = if part.norm.norm == Norm::Row { along::ROWS } else { along::COLUMNS };
                    Args { slices, norms: lines.as_ref().map_or(0, |lines| lines.norms), ..args }
                }
                Way::Polar(polar) => {
                    let (d, stored) = polar.direction();
                    Args { a: gamma, slices: along::DIRECTION, d, from: stored as i64, ..args }
                }
                Way::Leading(leading) => {
                    let [u, z] = leading.vectors();
                    Args { slices: along::OUTER, u, z, ..args }
                }
            };
            self.entries(Kernel::BlockStep, n, Args { loose: i64::from(loose), ..args });
        }
        self.parts = parts;
    }
}
