//! Checkpoints of ranks: one set of files that any number of ranks can go on from.
//!
//! `FILE` says what was solved and which parts there are; rank r's part is `FILE.a.r` or `FILE.b.r`, by turns: a set is whole before `FILE` speaks
//! of it, and the one before it stays until then.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use melmo::real::Real;
use melmo::solver::State;
use melmo::trace::Row;
use melmo_mpi::Extent;
use melmo_tasks::Snapshot;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::checkpoint::{self, Checkpoint, Header};
use crate::error::Error;
use crate::input;
use crate::ranks::Crew;

/// What `FILE` knows of the parts.
#[derive(Serialize, Deserialize)]
struct Index {
    /// `a` or `b`.
    turn: String,
    parts: Vec<About>,
    rows: Vec<Row>,
    elapsed: Duration,
}

/// A rank's part: its digest, and where the entries of its points stand in the whole.
#[derive(Serialize, Deserialize)]
struct About {
    digest: Vec<u8>,
    places: Vec<Place>,
}

/// Entries of a part, and where they begin in the whole.
#[derive(Clone, Serialize, Deserialize)]
struct Place {
    own: Range<usize>,
    whole: usize,
}

/// Whether this is a file that tells of the checkpoint of ranks.
pub fn is_set(path: &Path) -> bool {
    checkpoint::read(path).is_ok_and(|found| found.of_ranks)
}

fn part(path: &Path, turn: &str, rank: usize) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{turn}.{rank}"));
    path.with_file_name(name)
}

/// Writes sets, by turns.
pub struct Keeper<'a> {
    path: &'a Path,
    header: &'a Header,
    extents: &'a [Extent],
    turn: bool,
}

impl<'a> Keeper<'a> {
    /// Beside the set that `begun` is of, where a run is taken up.
    pub fn new(path: &'a Path, header: &'a Header, extents: &'a [Extent], begun: Option<&Checkpoint>) -> Self {
        let turn = begun.and_then(|begun| begun.rest::<Index>().ok()).is_some_and(|index| index.turn == "a");
        Self { path, header, extents, turn }
    }

    /// The file that a run goes on from.
    pub fn path(&self) -> &Path {
        self.path
    }

    /// Everybody's part, then the file that speaks of them. All succeed, or all hear why not.
    pub fn write<S: Real>(&mut self, crew: &mut Crew, state: &State<S>, past: (&[Row], Duration)) -> Result<(), Error> {
        let turn = if self.turn { "b" } else { "a" };
        let own = self.part(crew.rank(), turn, state);
        let own = crew.agree(own)?;
        let parts = crew.bytes(&own)?;
        let told = if crew.is_first() { self.tell(turn, &parts, past) } else { Ok(()) };
        crew.agree(told)?;
        self.turn = !self.turn;
        Ok(())
    }

    /// Writes a part, and says what `FILE` has to know of it.
    fn part<S: Real>(&self, rank: usize, turn: &str, state: &State<S>) -> Result<Vec<u8>, Error> {
        let path = part(self.path, turn, rank);
        let encoded = |error| Error::input(&path, format!("could not be encoded: {error}"));
        let bytes = postcard::to_stdvec(state).map_err(encoded)?;
        melmo_data::file::save(&path, &bytes, true)?;
        let counted = self.extents.iter().filter(|extent| extent.counted);
        let places = counted.map(|extent| Place { own: extent.own.clone(), whole: extent.whole.start }).collect();
        postcard::to_stdvec(&About { digest: Sha256::digest(&bytes).to_vec(), places }).map_err(encoded)
    }

    fn tell(&self, turn: &str, parts: &[Vec<u8>], (rows, elapsed): (&[Row], Duration)) -> Result<(), Error> {
        let damaged = |error| Error::input(self.path, format!("could not be encoded: {error}"));
        let parts = parts.iter().map(|bytes| postcard::from_bytes(bytes)).collect::<Result<_, _>>().map_err(damaged)?;
        let index = Index { turn: turn.into(), parts, rows: rows.to_vec(), elapsed };
        checkpoint::write_set(self.path, self.header, &index)
    }
}

/// This rank's part of where the run stood, whatever the ranks were that wrote it.
pub fn snapshot<S: Real>(begun: &Checkpoint, path: &Path, extents: &[Extent]) -> Result<Snapshot<S>, Error> {
    let index: Index = begun.rest()?;
    let refused = |message: &str| Error::input(path, format!("{message}; start anew without --resume"));
    let mine: usize = extents.iter().map(|extent| extent.own.len()).sum();
    let mut found: Option<State<S>> = None;
    let mut filled = 0;
    for (rank, about) in index.parts.iter().enumerate() {
        if found.is_some() && !about.places.iter().any(|place| extents.iter().any(|own| overlap(own, place).is_some()))
        {
            continue;
        }
        let part = part(path, &index.turn, rank);
        let bytes = input::own(&part).map_err(|error| Error::input(&part, format!("could not read it: {error}")))?;
        if Sha256::digest(&bytes).as_slice() != about.digest {
            return Err(Error::input(&part, "is damaged, or of another checkpoint; start anew without --resume"));
        }
        let mut there: State<S> = postcard::from_bytes(&bytes).map_err(|_| refused("is damaged"))?;
        let state = found.get_or_insert_with(|| {
            let mut state = there.clone();
            let points = state.points_mut().into_iter().filter(|point| !point.is_empty());
            points.for_each(|point| *point = vec![S::ZERO; mine]);
            state
        });
        for (own, place) in extents.iter().flat_map(|own| about.places.iter().map(move |place| (own, place))) {
            let Some((at, from)) = overlap(own, place) else { continue };
            filled += at.len();
            for (to, point) in state.points_mut().into_iter().zip(there.points_mut()) {
                if !to.is_empty() {
                    let part = point.get(from.clone()).ok_or_else(|| refused("its parts do not fit together"))?;
                    to[at.clone()].copy_from_slice(part);
                }
            }
        }
    }
    let state = found.filter(|_| filled == mine).ok_or_else(|| refused("its parts are not all of x"))?;
    Ok(Snapshot { state, rows: index.rows, elapsed: index.elapsed })
}

/// The entries that both have: where they stand in what is held here, and in the part.
fn overlap(own: &Extent, place: &Place) -> Option<(Range<usize>, Range<usize>)> {
    let first = own.whole.start.max(place.whole);
    let last = own.whole.end.min(place.whole + place.own.len());
    (first < last).then(|| {
        let (here, there) = (own.own.start + first - own.whole.start, place.own.start + first - place.whole);
        (here..here + last - first, there..there + last - first)
    })
}
