//! What ranks decide together.

use melmo_mpi::{Lost, Ranks};

use crate::error::Error;

/// This rank's end, for decisions: everybody asks the same, in the same order.
pub struct Crew {
    ranks: Box<dyn Ranks>,
}

fn lost(_: Lost) -> Error {
    Error::Ranks(format!("{Lost}"))
}

impl Crew {
    pub fn new(ranks: Box<dyn Ranks>) -> Self {
        Self { ranks }
    }

    pub fn rank(&self) -> usize {
        self.ranks.rank()
    }

    pub fn size(&self) -> usize {
        self.ranks.size()
    }

    /// Rank 0: it speaks, and writes what is not shared.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// Everybody's numbers.
    pub fn each<const N: usize>(&mut self, own: [f64; N]) -> Result<Vec<[f64; N]>, Error> {
        let mut all = vec![0.0; N * self.size()];
        self.ranks.gather(&own, &vec![N; self.size()], &mut all).map_err(lost)?;
        Ok(all.chunks_exact(N).map(|part| std::array::from_fn(|i| part[i])).collect())
    }

    /// Sums over all, in the order of the ranks.
    pub fn sums<const N: usize>(&mut self, own: [f64; N]) -> Result<[f64; N], Error> {
        let all = self.each(own)?;
        Ok(all.into_iter().fold([0.0; N], |sum, part| std::array::from_fn(|i| sum[i] + part[i])))
    }

    /// The least of all, and the largest.
    pub fn range(&mut self, low: f64, high: f64) -> Result<(f64, f64), Error> {
        let all = self.each([low, high])?;
        Ok(all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), [low, high]| (l.min(*low), h.max(*high))))
    }

    /// Everybody's numbers, as many as each has: for those of which a rank can hold all.
    pub fn numbers(&mut self, own: &[f64]) -> Result<Vec<Vec<f64>>, Error> {
        let counts: Vec<usize> = self.each([own.len() as f64])?.iter().map(|[length]| *length as usize).collect();
        let mut all = vec![0.0; counts.iter().sum()];
        self.ranks.gather(own, &counts, &mut all).map_err(lost)?;
        let mut rest = &all[..];
        let split = |&count: &usize| {
            let (part, others) = rest.split_at(count);
            rest = others;
            part.to_vec()
        };
        Ok(counts.iter().map(split).collect())
    }

    /// What everybody has for this rank, in their order: `own` are the numbers for each.
    pub fn traded(&mut self, own: &[Vec<f64>]) -> Result<Vec<f64>, Error> {
        let counts: Vec<usize> = own.iter().map(Vec::len).collect();
        let said: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
        let mut sizes = vec![0.0; self.size() * self.size()];
        self.ranks.gather(&said, &vec![self.size(); self.size()], &mut sizes).map_err(lost)?;
        let from: Vec<usize> = sizes.iter().skip(self.rank()).step_by(self.size()).map(|size| *size as usize).collect();
        let mut received = vec![0.0; from.iter().sum()];
        self.ranks.trade(&own.concat(), &counts, &mut received, &from).map_err(lost)?;
        Ok(received)
    }

    /// Sums over all of as many numbers as everybody has, in the order of the ranks: each adds up a part of them.
    pub fn summed(&mut self, own: &mut [f64]) -> Result<(), Error> {
        let (size, n) = (self.size(), own.len());
        let parts: Vec<Vec<f64>> = (0..size).map(|rank| own[melmo_mpi::share(n, rank, size)].to_vec()).collect();
        let received = self.traded(&parts)?;
        let mut sums = vec![0.0; parts[self.rank()].len()];
        for numbers in received.chunks_exact(sums.len().max(1)) {
            sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        }
        own.copy_from_slice(&self.numbers(&sums)?.concat());
        Ok(())
    }

    /// Everybody's bytes: a few.
    pub fn bytes(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let numbers: Vec<f64> = own.iter().map(|&byte| f64::from(byte)).collect();
        let all = self.numbers(&numbers)?;
        Ok(all.into_iter().map(|part| part.into_iter().map(|byte| byte as u8).collect()).collect())
    }

    /// What rank 0 says, to everybody.
    pub fn told(&mut self, said: &str) -> Result<String, Error> {
        let own = if self.is_first() { said.as_bytes() } else { &[] };
        let mut all = self.bytes(own)?;
        Ok(String::from_utf8_lossy(&all.swap_remove(0)).into_owned())
    }

    /// Goes on where everybody can; else all have the error of the first who cannot, and who that is.
    ///
    /// Whoever fails alone comes to the next of these sooner than the others, who then hear of it; who has heard does not ask again.
    pub fn agree<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(Error::Ranks(_)) = result {
            return result;
        }
        let own = result.as_ref().err().map(|error| format!("!{error}")).unwrap_or_default();
        let all = self.bytes(own.as_bytes())?;
        match (result, all.iter().position(|said| !said.is_empty())) {
            (Ok(value), None) => Ok(value),
            (Err(error), None) => Err(error), // it said so
            (_, Some(rank)) => {
                let said = String::from_utf8_lossy(&all[rank][1..]).into_owned();
                // What rank 0 finds is not its own affair: mostly all find the same.
                Err(Error::Ranks(if rank == 0 { said } else { format!("rank {rank}: {said}") }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn on(size: usize, act: impl Fn(Crew) -> String + Sync) -> Vec<String> {
        std::thread::scope(|scope| {
            let act = &act;
            let all: Vec<_> = melmo_mpi::threads(size)
                .into_iter()
                .map(|thread| scope.spawn(move || act(Crew::new(Box::new(thread)))))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }

    #[test]
    fn all_hear_what_one_says() {
        let heard = on(3, |mut crew| {
            let told = crew.told(&format!("from {}", crew.rank())).unwrap();
            let [sum] = crew.sums([crew.rank() as f64]).unwrap();
            let range = crew.range(-(crew.rank() as f64), crew.rank() as f64).unwrap();
            format!("{told} {sum} {range:?}")
        });
        assert_eq!(heard, vec!["from 0 3 (-2.0, 2.0)"; 3]);
    }

    #[test]
    fn everybody_has_what_others_have_for_it() {
        let had = on(3, |mut crew| {
            let (rank, size) = (crew.rank(), crew.size());
            let own: Vec<Vec<f64>> = (0..size).map(|to| vec![(10 * rank + to) as f64; rank]).collect();
            let mut sums = [rank as f64, 1.0, 2.0, 3.0];
            crew.summed(&mut sums).unwrap();
            assert_eq!(sums, [3.0, 3.0, 6.0, 9.0]);
            format!("{:?}", crew.traded(&own).unwrap())
        });
        assert_eq!(had, ["[10.0, 20.0, 20.0]", "[11.0, 21.0, 21.0]", "[12.0, 22.0, 22.0]"]);
    }

    #[test]
    fn all_have_the_error_of_one() {
        let heard = on(3, |mut crew| {
            let own = if crew.rank() == 1 { Err(Error::input(Path::new("y.npy"), "is short")) } else { Ok(()) };
            let first = crew.agree(Ok(())).is_ok();
            format!("{first} {}", crew.agree(own).unwrap_err())
        });
        assert_eq!(heard, vec!["true rank 1: y.npy: is short"; 3]);
    }
}
