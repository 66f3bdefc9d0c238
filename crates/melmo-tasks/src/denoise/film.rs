//! Films: frames in, frames out. Every frame is a picture with a problem of its own; how strong its noise is, the frames around it say.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use melmo::drive::Status;
use melmo::real::Real;
use melmo::solver::{Info, Solver};

use super::noise::Noise;
use super::{Joined, Options, Plan, Planes, range};
use crate::error::Error;
use crate::settings::Settings;
use crate::solve::{Watch, solve};
use crate::until::Until;

/// Frames on each side from which a frame's noise is seen: one estimate wavers, and the film would flicker.
const AROUND: usize = 4;
/// What is being done, for whoever waits.
const DOING: &str = "denoising a frame";

/// One picture of a frame, as [`Planes`] has it: all of it, or one of several planes that differ in size.
#[derive(Clone, Debug)]
pub struct Part<S> {
    /// Channel, row, column; the column runs fastest.
    pub data: Vec<S>,
    /// Rows, columns and channels.
    pub shape: [usize; 3],
}

impl<S: Real> Part<S> {
    fn planes(&self) -> Result<Planes<'_, S>, Error> {
        let [rows, cols, channels] = self.shape;
        Planes::new(&self.data, rows, cols, channels)
    }
}

/// A frame without its noise.
pub struct Cleaned<S> {
    /// Its parts, as they were given but for the noise.
    pub parts: Vec<Vec<S>>,
    /// How strong the noise of each was.
    pub noise: Vec<f64>,
    /// How each was denoised, in one line.
    pub penalty: String,
    /// (F − F*)/F at most, of the part where it is largest; none where it is not known.
    pub gap: Option<f64>,
    /// Why it ended: that of the last part, or of one that was cut short.
    pub status: Status,
}

/// A film as it comes: frames are given one by one, and come back a few frames later.
pub struct Film<S> {
    options: Options,
    waiting: VecDeque<Vec<Part<S>>>,
    /// The noise of the frames around the first that waits, and of all that wait.
    seen: VecDeque<Vec<Noise>>,
    /// How many of those are of frames before it.
    before: usize,
}

impl<S: Real> Film<S> {
    /// With these options for every part of every frame.
    pub fn new(options: Options) -> Self {
        Self { options, waiting: VecDeque::new(), seen: VecDeque::new(), before: 0 }
    }

    /// Takes the next frame, and looks at its noise.
    pub fn push(&mut self, frame: Vec<Part<S>>) -> Result<(), Error> {
        let look = |part: &Part<S>| -> Result<Noise, Error> {
            let image = part.planes()?;
            Ok(match self.options.noise {
                Some(level) => Noise::white(level),
                None => Noise::of(&image, range::step(image.data, self.options.range)),
            })
        };
        self.seen.push_back(frame.iter().map(look).collect::<Result<_, _>>()?);
        self.waiting.push_back(frame);
        Ok(())
    }

    /// The next frame, if the frames that say how strong its noise is have come, or `all` have. One that was cut short has to be left out.
    pub fn next(&mut self, all: bool, settings: &Settings, until: &Until) -> Result<Option<Cleaned<S>>, Error> {
        if !all && self.waiting.len() <= AROUND {
            return Ok(None);
        }
        let Some(frame) = self.waiting.pop_front() else { return Ok(None) };
        let noises: Vec<Noise> = (0..frame.len()).map(|part| self.noise_of(part)).collect();
        let found = self.clean(&frame, noises, settings, until)?;
        self.before += 1;
        if self.before > AROUND {
            self.seen.pop_front();
            self.before = AROUND;
        }
        Ok(Some(found))
    }

    /// The noise of a part of the frame that is next: its own outliers, and else that of the frames around it whose strength is in the middle.
    fn noise_of(&self, part: usize) -> Noise {
        let around = || self.seen.iter().take(self.before + AROUND + 1).filter_map(|noises| noises.get(part));
        let mut sorted: Vec<&Noise> = around().collect();
        sorted.sort_by(|a, b| a.level.total_cmp(&b.level));
        let middle = sorted.get(sorted.len() / 2).map_or_else(Noise::default, |noise| (*noise).clone());
        let own = self.seen.get(self.before).and_then(|noises| noises.get(part));
        Noise { outliers: own.and_then(|noise| noise.outliers.clone()), ..middle }
    }

    fn clean(
        &self,
        frame: &[Part<S>],
        noises: Vec<Noise>,
        settings: &Settings,
        until: &Until,
    ) -> Result<Cleaned<S>, Error> {
        let (parts, noise) = (Vec::new(), noises.iter().map(|noise| noise.level).collect());
        let mut cleaned = Cleaned { parts, noise, penalty: "none".into(), gap: None, status: Status::Settled };
        for (part, noise) in frame.iter().zip(noises) {
            let options = Options { found: Some(noise), noise: None, ..self.options.clone() };
            let plan = Plan::new(part.planes()?, &options)?;
            if plan.strips().is_empty() {
                cleaned.parts.push(part.data.clone());
                continue;
            }
            let (x, status, gap) = solved(&plan, settings, until)?;
            cleaned.parts.push(plan.view().image(&x, &part.data));
            cleaned.gap = [cleaned.gap, gap].into_iter().flatten().reduce(f64::max);
            (cleaned.status, cleaned.penalty) = (status, plan.penalty());
            if is_cut(status) {
                break;
            }
        }
        Ok(cleaned)
    }
}

/// Whether the time or somebody ended it.
pub fn is_cut(status: Status) -> bool {
    matches!(status, Status::Time | Status::Interrupted)
}

/// A part's point, why it ended, and how far it is from the least there is, as part of F.
fn solved<S: Real>(
    plan: &Plan<'_, S>,
    settings: &Settings,
    until: &Until,
) -> Result<(Vec<S>, Status, Option<f64>), Error> {
    if plan.strips().len() > 1 {
        let Joined { x, status, .. } = Joined::solve(plan, settings, until, &|| until.asked(DOING))?;
        return Ok((x, status, None));
    }
    let prepared = plan.whole(until)?;
    let mut watcher = |_: &Info, _: &mut dyn Solver<S>| -> ControlFlow<()> { until.asked(DOING) };
    let settings = Settings { time_limit: until.left(), ..settings.clone() };
    let watch = Watch { watcher: Some(&mut watcher), ..Watch::default() };
    let report = solve(&prepared, &settings, watch)?.report;
    let found = report.certificate.as_ref().and_then(|certificate| certificate.optimality);
    let gap = found.filter(|found| found.objective > 0.0).map(|found| found.gap / found.objective);
    Ok((report.x, report.status, gap))
}

#[cfg(test)]
mod tests {
    use super::*;
    use melmo::seeded::Seeded;

    /// A film of a square that moves, with noise.
    fn frames(count: usize, level: f64) -> Vec<Vec<Part<f64>>> {
        let mut seeded = Seeded::new(7);
        let pixel =
            |t: usize, at: usize| f64::from(u8::from((at % 32).abs_diff(8 + t) < 6 && (at / 32).abs_diff(12) < 6));
        let mut part = |t| Part {
            data: (0..24 * 32).map(|at| 0.2 + 0.6 * pixel(t, at) + level * seeded.normal()).collect(),
            shape: [24, 32, 1],
        };
        (0..count).map(|t| vec![part(t)]).collect()
    }

    fn all(options: Options, frames: Vec<Vec<Part<f64>>>) -> Vec<Cleaned<f64>> {
        let (mut film, mut done) = (Film::new(options), Vec::new());
        let (settings, until) = (Settings::default(), Until::done());
        for frame in frames {
            film.push(frame).unwrap();
            done.extend(film.next(false, &settings, &until).unwrap());
        }
        while let Some(frame) = film.next(true, &settings, &until).unwrap() {
            done.push(frame);
        }
        done
    }

    #[test]
    fn frames_come_back_in_order_with_the_noise_of_those_around() {
        for count in [1, 4, 12] {
            let given = frames(count, 0.05);
            let done = all(Options { range: Some(1.0), ..Options::default() }, given.clone());
            assert_eq!(done.len(), count);
            let alone = |t: usize| Noise::of(&given[t][0].planes().unwrap(), None).level;
            for (t, frame) in done.iter().enumerate() {
                let mut around: Vec<f64> = (t.saturating_sub(AROUND)..count.min(t + AROUND + 1)).map(alone).collect();
                around.sort_by(f64::total_cmp);
                assert_eq!(frame.noise, [around[around.len() / 2]], "{t} of {count}");
                assert!(frame.gap.unwrap() < 0.02 && !is_cut(frame.status));
            }
        }
    }

    #[test]
    fn a_frame_is_what_it_is_alone_with_that_noise() {
        let given = frames(3, 0.05);
        let options = Options { noise: Some(0.05), range: Some(1.0), ..Options::default() };
        let done = all(options.clone(), given.clone());
        for (frame, cleaned) in given.iter().zip(&done) {
            let image = frame[0].planes().unwrap();
            let alone = super::super::denoise(image, &options, &Settings::default(), &Until::done()).unwrap();
            assert_eq!(alone.image, cleaned.parts[0]);
        }
    }

    #[test]
    fn a_frame_that_there_is_no_time_for_says_so() {
        let mut film = Film::new(Options::default());
        film.push(frames(1, 0.05).remove(0)).unwrap();
        let until = Until::done().asking(|_| ControlFlow::Break(()));
        let cut = film.next(true, &Settings::default(), &until).unwrap().unwrap();
        assert!(is_cut(cut.status));
        let bad = Part { data: vec![0.0; 5], shape: [2, 3, 1] };
        assert!(film.push(vec![bad]).is_err());
    }
}
