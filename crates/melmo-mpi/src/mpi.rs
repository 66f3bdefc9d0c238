//! Ranks of MPI.

use mpi::Count;
use mpi::Threading;
use mpi::collective::CommunicatorCollectives;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::Universe;
use mpi::point_to_point::{Destination, Source};
use mpi::request::{WaitGuard, scope};
use mpi::topology::{Communicator, SimpleCommunicator};

use crate::ranks::{Lost, Ranks};

/// All processes that `mpirun` started: taken part in until it is dropped.
pub struct World(Universe);

impl World {
    /// Takes part. None where this process did so before, or where MPI could not be started for calls from one thread at a time.
    pub fn join() -> Option<Self> {
        let (universe, threading) = mpi::environment::initialize_with_threading(Threading::Serialized)?;
        (threading >= Threading::Serialized).then_some(Self(universe))
    }

    /// This process's end.
    pub fn ranks(&self) -> Mpi {
        Mpi::default()
    }

    /// Ends all processes.
    pub fn abort(&self, code: i32) -> ! {
        self.0.world().abort(code)
    }
}

/// A rank of MPI. A failure of MPI itself, or of another process, ends this one: that is what MPI does unless told otherwise.
///
/// MPI's handle of all processes is asked for in every call: it may not be moved between threads, a solver may.
#[derive(Default)]
pub struct Mpi {
    counts: Vec<Count>,
    starts: Vec<Count>,
    received: Vec<Count>,
    places: Vec<Count>,
}

/// Counts and places as MPI takes them: 32 bits.
fn fill(counts: &mut Vec<Count>, starts: &mut Vec<Count>, given: impl Iterator<Item = usize>) -> Result<(), Lost> {
    counts.clear();
    starts.clear();
    let mut total = 0usize;
    for count in given {
        counts.push(Count::try_from(count).map_err(|_| Lost)?);
        starts.push(Count::try_from(total).map_err(|_| Lost)?);
        total += count;
    }
    Ok(())
}

impl Ranks for Mpi {
    fn rank(&self) -> usize {
        SimpleCommunicator::world().rank() as usize
    }

    fn size(&self) -> usize {
        SimpleCommunicator::world().size() as usize
    }

    fn gather(&mut self, own: &[f64], counts: &[usize], all: &mut [f64]) -> Result<(), Lost> {
        fill(&mut self.counts, &mut self.starts, counts.iter().copied())?;
        let mut parts = PartitionMut::new(all, &self.counts[..], &self.starts[..]);
        SimpleCommunicator::world().all_gather_varcount_into(own, &mut parts);
        Ok(())
    }

    fn trade(&mut self, own: &[f64], counts: &[usize], received: &mut [f64], from: &[usize]) -> Result<(), Lost> {
        fill(&mut self.counts, &mut self.starts, counts.iter().copied())?;
        fill(&mut self.received, &mut self.places, from.iter().copied())?;
        let parts = Partition::new(own, &self.counts[..], &self.starts[..]);
        let mut to = PartitionMut::new(received, &self.received[..], &self.places[..]);
        SimpleCommunicator::world().all_to_all_varcount_into(&parts, &mut to);
        Ok(())
    }

    fn beside(&mut self, send: [&[f64]; 2], receive: [&mut [f64]; 2]) -> Result<(), Lost> {
        let world = SimpleCommunicator::world();
        let rank = world.rank();
        let [before, after] = receive;
        scope(|scope| {
            let sent = [(rank - 1, send[0]), (rank + 1, send[1])];
            let sent = sent.map(|(to, numbers)| {
                (!numbers.is_empty()).then(|| WaitGuard::from(world.process_at_rank(to).immediate_send(scope, numbers)))
            });
            let received = [(rank - 1, before), (rank + 1, after)].map(|(from, numbers)| {
                (!numbers.is_empty())
                    .then(|| WaitGuard::from(world.process_at_rank(from).immediate_receive_into(scope, numbers)))
            });
            drop((sent, received)); // both are waited for here
        });
        Ok(())
    }
}
