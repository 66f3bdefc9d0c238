//! A solving command on ranks, from beginning to end: each reads its rows, all solve, each writes its rows, rank 0 tells.

use std::process::ExitCode;
use std::time::Duration;

use melmo::certificate::Stationarity;
use melmo::drive::Status;
use melmo::guarantee::Facts;
use melmo::patience::Patience;
use melmo::real::Real;
use melmo::space::Space;
use melmo_data::npy;
use melmo_mpi::{Distributed, Extent, Measure, Piece, Ranks, Spent, Way};
use melmo_tasks::{DeviceChoice, Prepared, Settings, Solved, Watch, elsewhere};

use crate::checkpoint::{self, Checkpoint, Header};
use crate::error::Error;
use crate::input::Inputs;
use crate::job::Job;
use crate::output::Outputs;
use crate::ranks::overseer::{Ended, Overseer};
use crate::ranks::set::{self, Keeper};
use crate::ranks::{Crew, refusal, same, shared};
use crate::render::progress::{self, Progress};
use crate::render::{Summary, report, say, seconds, trace};
use crate::result::{self, Saved};
use crate::session::{Solve, exit, plan, recorded, told, unkept};

/// Another end of what connects the ranks, as often as one is needed.
pub type Ends<'e> = &'e mut dyn FnMut() -> Box<dyn Ranks>;

/// Entries of x̃ that a certificate may have on ranks: rank 0 writes them.
const LONGEST: f64 = 4_194_304.0;

/// Why a certificate has no bound where one machine has another.
const NO_BOUND: &str = "a bound on F − F* that goes by which rows a rank has";

/// A rank's part of a problem.
pub struct Part<S: Real, K> {
    /// Its terms, of the rows that are held here.
    pub prepared: Prepared<S>,
    /// Which rows of each block those are.
    pub pieces: Vec<Option<Piece>>,
    pub way: Way,
    /// What is needed to deliver it.
    pub kept: K,
}

/// A command that runs on ranks too.
pub trait OnRanks: Solve {
    /// What delivery needs of what was read.
    type Held<S: Real>;

    /// Refuses what ranks do not carry, before anything is read.
    fn refuse(&self) -> Result<(), Error>;

    /// Reads this rank's rows and builds its part; every rank comes here, in step. `ends` are for a penalty that talks by itself.
    fn part<S: Real>(
        &self,
        inputs: &mut Inputs,
        ways: (&mut Crew, Ends<'_>),
        summary: &mut Summary,
    ) -> Result<Part<S, Self::Held<S>>, Error>;

    /// Whether one machine finds the bound on F* again that ranks find: else a certificate has none. The same on every rank.
    fn has_bound<S: Real>(&self, _held: &Self::Held<S>) -> bool {
        true
    }

    /// Writes what came out, everybody its rows, and says how good it is. `solved` is this rank's part, outputs are rank 0's.
    fn deliver_part<S: Real>(
        &self,
        held: &Self::Held<S>,
        solved: &Solved<S>,
        crew: &mut Crew,
        outputs: &mut Option<Outputs>,
        summary: &mut Summary,
    ) -> Result<(), Error>;
}

/// Runs a command on ranks, in the precision it asks for.
pub fn run<C: OnRanks>(command: &C, job: &Job, begun: Option<Checkpoint>, ends: Ends<'_>) -> Result<ExitCode, Error> {
    // Who gives up a decomposition by itself leaves the others waiting: ends are agreed on, between steps.
    Patience::endless().run(|| match command.solving().precision() {
        "f32" => run_in::<f32, C>(command, job, begun, ends),
        _ => run_in::<f64, C>(command, job, begun, ends),
    })
}

fn run_in<S: Real, C: OnRanks>(
    command: &C,
    job: &Job,
    begun: Option<Checkpoint>,
    ends: Ends<'_>,
) -> Result<ExitCode, Error> {
    let solving = command.solving();
    let mut crew = Crew::new(ends());
    same::expect_job(&mut crew, job)?;
    command.refuse()?;
    if solving.device != DeviceChoice::Cpu {
        return Err(refusal("--device"));
    }
    let planned = if crew.is_first() { plan(command, begun.as_ref()).map(Some) } else { Ok(None) };
    let mut outputs = crew.agree(planned)?;
    let mut summary = Summary::default();
    summary.silent("command", job.command.clone());
    let known_again = crew.is_first() && (solving.checkpoint.is_some() || solving.result.is_some());
    let mut inputs = Inputs::new(solving, known_again, &progress::until(!crew.is_first(), solving.time_limit));
    let part = command.part::<S>(&mut inputs, (&mut crew, &mut *ends), &mut summary);
    let Part { prepared, pieces, way, kept } = crew.agree(part)?;
    same::expect_files(&mut crew, &inputs.in_pieces)?;
    let placed = begun.as_ref().map_or_else(Vec::new, |begun| begun.header.placed.clone());
    let sources = std::mem::take(&mut inputs.sources);
    let header = Header { placed, ..Header::new::<S>(job, &[], sources) };
    let same = begun.as_ref().filter(|_| crew.is_first()).map_or(Ok(()), |begun| begun.check_sources(&header.sources));
    crew.agree(same)?;
    let settings = solving.settings();
    if settings.gap.is_some() && !command.has_bound(&kept) {
        return Err(refusal(NO_BOUND));
    }
    let limit = inputs.until.left();
    let here = (&prepared, &pieces[..], way);
    let found = solved(command, here, (&settings, limit, &header), begun.as_ref(), (&mut crew, ends));
    let Run { mut solved, facts, spent, extents, images } = crew.agree(found)?;
    if let Some(certificate) = solved.report.certificate.as_mut().filter(|_| !command.has_bound(&kept)) {
        (certificate.optimality, certificate.no_gap) = (None, Some(NO_BOUND.into()));
    }
    say_ranks(&crew, spent, &solved, &mut summary);
    told(prepared.optimum, facts, &solved, solving, &mut summary);
    drop(prepared);
    command.deliver_part(&kept, &solved, &mut crew, &mut outputs, &mut summary)?;
    let saved = || Saving { job, solving, header: &header, extents: &extents, images: &images };
    saved().deliver(&solved, &mut crew, &mut outputs, &mut summary)?;
    if crew.is_first() && (!solving.quiet || solving.json) {
        say::printed(summary.print(solving.json, false))?;
    }
    Ok(exit(&settings, solved.report.status))
}

/// How many took part, and what their talk took.
fn say_ranks<S: Real>(crew: &Crew, spent: Spent, solved: &Solved<S>, summary: &mut Summary) {
    let (talk, all) = (spent.time.as_secs_f64(), solved.report.elapsed.as_secs_f64());
    let text = format!("{}; rank 0 talked and waited for {} of {}", crew.size(), seconds(talk), seconds(all));
    summary.add("ranks", crew.size(), "ranks", text);
    summary.silent("talk_seconds", talk);
    summary.silent("talk_meetings", spent.meetings);
    summary.silent("talk_numbers_sent", spent.sent);
}

/// A run that has ended: what this rank has of it, and where that stands in the whole.
struct Run<S: Real> {
    solved: Solved<S>,
    facts: Facts,
    spent: Spent,
    extents: Vec<Extent>,
    images: Vec<Extent>,
}

/// Everybody solves, and everybody ends for the same reason.
fn solved<S: Real, C: OnRanks>(
    command: &C,
    (prepared, pieces, way): (&Prepared<S>, &[Option<Piece>], Way),
    (settings, limit, header): (&Settings, Option<Duration>, &Header),
    begun: Option<&Checkpoint>,
    (crew, ends): (&mut Crew, Ends<'_>),
) -> Result<Run<S>, Error> {
    let solving = command.solving();
    let measure = Measure::of(elsewhere::norms(&prepared.problem, &prepared.defaults, settings)?);
    let mut space = Distributed::by(way, &prepared.problem, pieces, &measure, settings.oracle, ends())?;
    if settings.gap.is_some() {
        space.expect_bound(settings.radius)?;
    }
    let (extents, images, meter, facts) = (space.extents(), space.image_extents(), space.meter(), space.facts());
    let start = space.own_entries(&prepared.start);
    let resume = match (begun, &solving.checkpoint) {
        (Some(begun), Some(path)) => Some(crew.agree(set::snapshot::<S>(begun, path, &extents))?),
        _ => None,
    };
    let keeper = solving.checkpoint.as_deref().map(|path| Keeper::new(path, header, &extents, begun));
    let iterations = melmo_tasks::solve::iterations(&prepared.defaults, settings);
    let progress = crew.is_first().then(|| Progress::new(solving.quiet, iterations, limit));
    let mut overseer = Overseer::new(Crew::new(ends()), keeper.map(|keeper| (solving.every, keeper)), progress);
    if let Some(resume) = &resume {
        (overseer.rows, overseer.before) = (resume.rows.clone(), resume.elapsed);
    }
    overseer.limit = limit.map(|limit| limit.saturating_sub(overseer.before));
    let (trace_every, exact) = recorded(solving, iterations);
    let watch = Watch { watcher: Some(&mut overseer), trace_every, exact, keep: None, resume, look: true };
    let settings = Settings { time_limit: None, ..settings.clone() };
    let first = |space: &mut Distributed<'_, S>| space.first_beta(&start);
    let mut solved = elsewhere::solve_in(space, &start, (&prepared.defaults, &settings), first, watch)?;
    overseer.progress.iter().for_each(Progress::finish);
    match overseer.ended {
        Some(Ended::Failed(error)) => return Err(error),
        Some(Ended::Unkept(error)) if crew.is_first() => unkept(&error),
        Some(Ended::Late) if solved.report.status == Status::Interrupted => solved.report.status = Status::Time,
        Some(Ended::Late | Ended::Asked | Ended::Unkept(_)) | None => {}
    }
    let spent = *meter.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Run { solved, facts, spent, extents, images })
}

/// What is written of every run: its rows, its page, its result.
struct Saving<'a> {
    job: &'a Job,
    solving: &'a crate::args::Solving,
    header: &'a Header,
    extents: &'a [Extent],
    images: &'a [Extent],
}

impl Saving<'_> {
    fn deliver<S: Real>(
        &self,
        solved: &Solved<S>,
        crew: &mut Crew,
        outputs: &mut Option<Outputs>,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let alone = outputs.as_mut().map_or(Ok(()), |outputs| self.alone(solved, outputs, summary));
        crew.agree(alone)?;
        if let (Some(folder), Some(_)) = (&self.solving.result, &solved.report.certificate) {
            self.result(solved, crew, outputs, summary)?;
            summary.text("result", "result", format!("{}", folder.display()));
        }
        let placed = outputs.as_mut().map_or(Ok(()), |outputs| {
            if let Some(path) = &self.solving.checkpoint {
                checkpoint::note(path, self.header, outputs.coming())?;
            }
            outputs.place()
        });
        crew.agree(placed)
    }

    /// What rank 0 writes.
    fn alone<S: Real>(&self, solved: &Solved<S>, outputs: &mut Outputs, summary: &mut Summary) -> Result<(), Error> {
        let solving = self.solving;
        if let Some(path) = &solving.save_config {
            outputs.bytes(path, self.job.to_toml().as_bytes())?;
        }
        if let Some(path) = &solving.trace {
            outputs.bytes(path, trace::render(path, &solved.report.trace).as_bytes())?;
        }
        if let Some(path) = &solving.report {
            outputs.bytes(path, report::page(self.job, summary, solved, Vec::new()).as_bytes())?;
        }
        let files: Vec<String> = outputs.written.iter().map(|path| path.display().to_string()).collect();
        if !files.is_empty() {
            summary.add("written", files.clone(), "written", files.join(", "));
        }
        if let (Some(folder), None) = (&solving.result, &solved.report.certificate) {
            say::note(&format!("melmo: warning: {} was not written: a result needs a certificate", folder.display()));
        }
        Ok(())
    }

    /// x̃ of the whole, which stands among the numbers of a certificate; left out where it is too long for that.
    fn whole<S: Real>(&self, near: Option<Stationarity<S>>, crew: &mut Crew) -> Result<Option<Stationarity<S>>, Error> {
        let end = self.extents.iter().map(|extent| extent.whole.end as f64).fold(0.0, f64::max);
        let (_, size) = crew.range(0.0, end)?;
        let Some(near) = near.filter(|_| size <= LONGEST) else { return Ok(None) };
        let counted = || self.extents.iter().filter(|extent| extent.counted);
        let places: Vec<f64> = counted().flat_map(|extent| extent.whole.clone()).map(|at| at as f64).collect();
        let own: Vec<f64> = counted().flat_map(|extent| &near.point[extent.own.clone()]).map(|v| v.f64()).collect();
        let (places, numbers) = (crew.numbers(&places)?, crew.numbers(&own)?);
        let mut point = vec![S::ZERO; size as usize];
        places.iter().flatten().zip(numbers.iter().flatten()).for_each(|(at, v)| point[*at as usize] = S::of(*v));
        Ok(Some(Stationarity { point, ..near }))
    }

    /// The folder of a result, which `melmo verify` reads on one machine: everybody writes its entries of x, z and u.
    fn result<S: Real>(
        &self,
        solved: &Solved<S>,
        crew: &mut Crew,
        outputs: &mut Option<Outputs>,
        summary: &Summary,
    ) -> Result<(), Error> {
        let Some(mut certificate) = solved.report.certificate.clone() else { return Ok(()) };
        certificate.stationarity = self.whole(certificate.stationarity, crew)?;
        let u = certificate.u.clone();
        let arrays = [
            ("x.npy", Some(&solved.report.x[..]), self.extents),
            ("z.npy", Some(&solved.report.z[..]), self.images),
            ("u.npy", u.as_deref(), self.images),
        ];
        let mut sizes = Vec::new();
        for (_, data, extents) in &arrays {
            let end = extents.iter().map(|extent| extent.whole.end as f64).fold(0.0, f64::max);
            let (_, size) = crew.range(0.0, end)?;
            sizes.push(data.map(|_| npy::header(&[size as usize], shared::is_single::<S>())).transpose()?);
        }
        let made =
            outputs.as_mut().zip(self.solving.result.as_deref()).map_or(Ok(String::new()), |(outputs, folder)| {
                // With the method and the precision that ran: on one machine others may be the usual ones.
                let chosen = [("method", solved.method.clone()), ("precision", S::NAME.into())];
                let job = self.job.clone().with(&chosen).problem();
                let (version, sources) = (self.header.version.clone(), self.header.sources.clone());
                let saved = Saved { version, job, sources, summary: summary.json(), certificate };
                outputs.folder(folder, &result::FILES, |part| {
                    result::tell(part, saved)?;
                    for ((name, ..), header) in arrays.iter().zip(&sizes) {
                        header.iter().try_for_each(|header| melmo_data::file::save(&part.join(name), header, false))?;
                    }
                    Ok(())
                })?;
                Ok(outputs.part().to_string_lossy().into_owned())
            });
        let part = crew.agree(made).and_then(|part| crew.told(&part))?;
        let mut written = Ok(());
        for ((name, data, extents), header) in arrays.iter().zip(&sizes) {
            if let (Some(data), Some(header), Ok(())) = (data, header, &written) {
                let path = std::path::Path::new(&part).join(name);
                written = shared::write(&path, shared::is_single::<S>(), header.len(), &shared::counted(extents, data));
            }
        }
        crew.agree(written)
    }
}
