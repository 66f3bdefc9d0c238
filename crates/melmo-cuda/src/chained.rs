//! Walks of a chain, link by link: Tx is written down, answered part by part, and pulled back.

use melmo::operator::{Boundary, Convolution, Kernel as Taps};
use melmo::real::Real;
use melmo::smooth::Rounding;

use crate::chain::{Blurred, Linear};
use crate::device::Device;
use crate::formula::{Formula, Kind};
use crate::machine::{Address, Args, Blur, Kernel, Machine, Part, RESULTS, bytes};

/// What a chain is told, and its room.
pub(crate) struct Links {
    /// Tx, and what is answered to it.
    tx: Address,
    told: Args,
    /// Each part, with its formula.
    parts: Vec<(Part, Psi)>,
    /// Sums over parts of groups.
    sums: Address,
}

/// ψ of a part.
#[derive(Clone, Copy, Default)]
struct Psi {
    parameters: [f64; 2],
    pieces: Address,
    /// Which of the plan's formulas.
    formula: i64,
}

/// Where links leave their sums: the residual of the loss, the answers of the penalty, and what is pulled back.
mod slots {
    pub const RESIDUAL: usize = 0;
    pub const ANSWER: usize = 4;
    pub const PULL: usize = 16;
}

impl<S: Real, M: Machine> Device<'_, S, M> {
    /// Copies what a chain is told, and makes room for Tx.
    pub(crate) fn make_links(&mut self) {
        let Some(chain) = self.plan.chain.clone() else { return };
        let n = self.plan.size();
        let mut told = Args {
            cols: chain.cols(n) as i64,
            channels: chain.channels() as i64,
            components: 1,
            residual: if chain.blurred.is_some() { self.raw(n * size_of::<S>()) } else { 0 },
            of_loss: chain.blurred.map(|blurred| self.blur(blurred.kernel)).unwrap_or_default(),
            ..self.told
        };
        match chain.operator {
            Linear::Select { first, count, mask } => {
                (told.first, told.count) = (first as i64, count as i64);
                told.mask_of_t = mask.map_or(0, |mask| self.put(bytes(mask)));
            }
            Linear::Differences { shape, components } => {
                [told.slices, told.rows, _] = shape.map(|n| n as i64);
                told.components = components as i64;
            }
            Linear::Jet(jet) => told.second = jet.weight(),
            Linear::Convolution(kernel) => told.blur = self.blur(kernel),
        }
        let kinds = chain.kinds().unwrap_or_default();
        let parts: Vec<_> = chain.parts.iter().map(|part| (self.part(part), self.psi(part, &kinds))).collect();
        let most = parts.iter().filter(|(part, _)| part.shares > 1).map(|(part, _)| part.groups * part.shares).max();
        let sums = self.raw(most.map_or(0, |count| count as usize * size_of::<f64>()));
        self.links = Some(Links { tx: self.raw(chain.range * size_of::<S>()), told, parts, sums });
    }

    fn blur(&mut self, kernel: &Convolution<S>) -> Blur {
        let Taps { entries, shape, boundary } = kernel.kernel();
        let boundary = match boundary {
            Boundary::Zero => 0,
            Boundary::Periodic => 1,
            Boundary::Reflect => 2,
        };
        Blur { taps: self.put(bytes(&entries)), rows: shape.0 as i64, cols: shape.1 as i64, boundary }
    }

    /// That of a part without a penalty weighs nothing, whatever it is.
    fn psi(&mut self, part: &crate::chain::Part<'_, S>, kinds: &[Kind]) -> Psi {
        let Some(own) = part.psi.and_then(Formula::of) else { return Psi::default() };
        let formula = kinds.iter().position(|kind| *kind == own.kind).unwrap_or(0) as i64;
        Psi { parameters: own.parameters, pieces: self.table(&own), formula }
    }

    fn part(&mut self, part: &crate::chain::Part<'_, S>) -> Part {
        let mut list = |list: &[usize]| -> Address {
            let numbers: Vec<u8> = list.iter().flat_map(|&i| (i as i64).to_ne_bytes()).collect();
            self.put(&numbers)
        };
        let (members, ends) = part.listed.as_ref().map_or((0, 0), |(members, ends)| (list(members), list(ends)));
        let shares = part.shares();
        let norms = if shares > 1 { part.groups * size_of::<f64>() } else { 0 };
        let (norms, others) = if norms > 0 { (self.raw(norms), self.raw(norms)) } else { (0, 0) };
        Part {
            start: part.start as i64,
            groups: part.groups as i64,
            length: part.length as i64,
            step: part.step as i64,
            stride: part.stride as i64,
            shares: shares as i64,
            by_norm: i64::from(part.by_norm),
            weight: part.weight,
            weights: part.weights.map_or(0, |weights| self.put(bytes(weights))),
            members,
            ends,
            norms,
            others,
        }
    }

    /// One of the kernels that walk through a problem, as links; what it found is kept.
    pub(crate) fn chained(&mut self, kernel: Kernel, args: Args) {
        let Some(links) = self.links.take() else { return };
        let answer = match kernel {
            Kernel::Gradient => Kernel::AnswerGradient,
            Kernel::Value => Kernel::AnswerValue,
            Kernel::Subgradient => Kernel::AnswerSubgradient,
            Kernel::Look => Kernel::AnswerLook,
            _ => Kernel::AnswerDual,
        };
        // Where a caller wants Tx, or w, it is written there.
        let tx = if args.tx == 0 { links.tx } else { args.tx };
        let Args { x, u, z, out, beta, .. } = args;
        let target = if self.plan.given() { args.target } else { links.told.target };
        let args = Args { x, u, z, out, beta, tx, target, ..links.told };
        let places = self.plan.threads();
        if args.residual != 0 && asks_for_loss(kernel) {
            self.run(Kernel::ConvolvedResidual, places, Args { at: slots::RESIDUAL as i64, ..args });
        }
        self.run(Kernel::Apply, places, args);
        for (number, (part, psi)) in links.parts.iter().enumerate() {
            let part = self.with_norms(*part, args, links.sums);
            let Psi { parameters: psi, pieces, formula } = *psi;
            let args =
                Args { part, psi, pieces, formula, at: slots::ANSWER as i64, more: i64::from(number > 0), ..args };
            self.run(answer, (part.groups * part.shares) as usize, args);
        }
        let pull = match kernel {
            Kernel::Gradient => Some(Kernel::PullGradient),
            Kernel::Subgradient => Some(Kernel::PullSubgradient),
            Kernel::Look => Some(Kernel::PullLook),
            _ => None,
        };
        if let Some(pull) = pull {
            self.run(pull, places, Args { at: slots::PULL as i64, ..args });
        }
        self.links = Some(links);
        if answer != Kernel::AnswerDual {
            let raw = self.results();
            self.found = Some(self.in_place(kernel, raw));
        }
    }

    /// A part whose long groups have been measured: those of u, and of Tx where that is another.
    fn with_norms(&mut self, part: Part, args: Args, sums: Address) -> Part {
        if part.shares == 1 {
            return part;
        }
        let mut measure = |x: Address, norms: Address| {
            let args = Args { x, part, parts: sums, norms, ..args };
            self.run(Kernel::GroupParts, (part.groups * part.shares) as usize, args);
            self.run(Kernel::GroupNorms, part.groups as usize, args);
            norms
        };
        let norms = measure(if args.u == 0 { args.tx } else { args.u }, part.norms);
        let others = if args.u == 0 { norms } else { measure(args.tx, part.others) };
        Part { norms, others, ..part }
    }

    /// The sums of links, where a walk in one pass would have left them.
    fn in_place(&self, kernel: Kernel, raw: [f64; RESULTS]) -> [f64; RESULTS] {
        use slots::{ANSWER, PULL, RESIDUAL};
        let blurred = self.plan.chain.as_ref().is_some_and(|chain| chain.blurred.is_some());
        let twice_f = raw[if blurred { RESIDUAL } else { PULL }];
        let mut found = [0.0; RESULTS];
        match kernel {
            Kernel::Gradient => [found[0], found[1], found[2]] = [twice_f, raw[ANSWER], raw[PULL + 1]],
            Kernel::Value => [found[0], found[1]] = [raw[ANSWER], raw[ANSWER + 1]],
            Kernel::Subgradient if self.plan.given() => found[0] = raw[ANSWER],
            Kernel::Subgradient => found[0] = 0.5 * twice_f + raw[ANSWER],
            _ => {
                let [z, tx, overlap, gap, of_tx, u, w] = std::array::from_fn(|k| raw[ANSWER + k]);
                let [of_f, of_g, sum, x, absolute, largest] = std::array::from_fn(|k| raw[PULL + k]);
                let all = [z, tx, overlap, of_f, of_g, sum, gap, x, of_tx, u, w, absolute, largest, twice_f];
                found[..all.len()].copy_from_slice(&all);
            }
        }
        found
    }

    /// How far rounding takes f and ∇f, from f, ‖∇f‖ and ‖x‖.
    pub(crate) fn rounding_of_link(&self, f: f64, of_f: f64, x_norm: f64) -> Rounding {
        match self.plan.chain.as_ref().and_then(|chain| chain.blurred) {
            Some(Blurred { operator, rows, .. }) => rows.rounding(operator, x_norm, f),
            None => Rounding::of_proximity::<S>(f, of_f, self.plan.size()),
        }
    }
}

/// Whether a walk asks for the loss.
fn asks_for_loss(kernel: Kernel) -> bool {
    matches!(kernel, Kernel::Gradient | Kernel::Subgradient | Kernel::Look)
}
