//! How this process was started, and the way to the others.

use melmo_mpi::Ranks;

use crate::error::Error;

/// Which of how many processes this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    pub rank: usize,
    pub size: usize,
    /// How many of them are on this machine, where that is known.
    pub beside: Option<usize>,
    /// The variable of the environment that says so.
    pub said: &'static str,
}

impl Started {
    /// Threads of a rank, where the environment does not say: the cores that this process may use, shared with those beside it.
    pub fn threads(self) -> Option<usize> {
        let told = |name| std::env::var(name).is_ok_and(|typed| !typed.trim().is_empty());
        let cores = std::thread::available_parallelism().ok()?.get();
        let beside = self.beside.filter(|_| !told("MELMO_THREADS") && !told("OMP_NUM_THREADS"))?;
        Some((cores / beside).max(1))
    }
}

/// What those who start processes of MPI leave in the environment: this one's number, how many there are, and how many are on this machine.
const SAID: [[&str; 3]; 3] = [
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"], // Open MPI
    ["PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"],                                    // MPICH and its kin
    ["PMIX_RANK", "SLURM_NTASKS", "SLURM_TASKS_PER_NODE"],                          // srun
];

/// None where nobody says that this process is one of several.
pub fn started() -> Option<Started> {
    from(|name| std::env::var(name).ok())
}

fn from(said: impl Fn(&str) -> Option<String>) -> Option<Started> {
    let number = |name: &str| said(name)?.trim().parse::<usize>().ok();
    SAID.iter().find_map(|&[said, size, beside]| {
        let (rank, size) = (number(said)?, number(size)?);
        Some(Started { rank, size, beside: number(beside).filter(|&beside| beside > 0), said })
    })
}

/// Joins the others: what it answers hands out this process's end, as often as it is called.
#[cfg(feature = "mpi")]
pub fn join(_: Started) -> Result<impl FnMut() -> Box<dyn Ranks>, Error> {
    let none = || Error::Ranks("MPI could not be started for calls from one thread at a time".into());
    let world = melmo_mpi::World::join().ok_or_else(none)?;
    // One that panics leaves at once: the farewell of MPI would wait for the others.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        usual(info);
        std::process::exit(101);
    }));
    Ok(move || Box::new(world.ranks()) as Box<dyn Ranks>)
}

/// Without MPI there is no way to the others: so many copies would each do all of the work, and overwrite what the others write.
#[cfg(not(feature = "mpi"))]
pub fn join(started: Started) -> Result<fn() -> Box<dyn Ranks>, Error> {
    let message = format!(
        "mpirun started {} copies of a program that was built without MPI, which would all do the same: build it with \
         `cargo install melmo-cli --features mpi`, or run it without mpirun; where every copy has files of its own, with `env -u {}`",
        started.size, started.said
    );
    Err(Error::Ranks(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_started_it_is_read_from_the_environment() {
        let said = |given: &'static [(&str, &str)]| {
            from(|name| given.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into()))
        };
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[("SLURM_NTASKS", "4")]), None, "a job of a queue, not yet a process of MPI");
        let open = said(&[("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "1")]);
        assert_eq!(open, Some(Started { rank: 1, size: 4, beside: None, said: "OMPI_COMM_WORLD_RANK" }));
        let mpich = said(&[("PMI_RANK", "0"), ("PMI_SIZE", "2"), ("MPI_LOCALNRANKS", "2")]);
        assert_eq!(mpich, Some(Started { rank: 0, size: 2, beside: Some(2), said: "PMI_RANK" }));
        assert_eq!(said(&[("PMI_RANK", "x"), ("PMI_SIZE", "2")]), None);
    }
}
