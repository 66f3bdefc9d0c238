//! Threads of one process as ranks: what tests run on, and whoever has no MPI.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::ranks::{Lost, Ranks};

/// One of several ranks that are threads. One that is dropped has left: the others lose it when they next wait for it.
pub struct Thread {
    rank: usize,
    to: Vec<Sender<Vec<f64>>>,
    from: Vec<Receiver<Vec<f64>>>,
}

/// So many ranks, one for each thread.
pub fn threads(size: usize) -> Vec<Thread> {
    let mut all: Vec<Thread> = (0..size).map(|rank| Thread { rank, to: Vec::new(), from: Vec::new() }).collect();
    for sender in 0..size {
        for receiver in 0..size {
            let (to, from) = channel();
            all[sender].to.push(to);
            all[receiver].from.push(from);
        }
    }
    all
}

impl Thread {
    fn send(&self, to: usize, numbers: &[f64]) -> Result<(), Lost> {
        self.to[to].send(numbers.to_vec()).map_err(|_| Lost)
    }

    fn receive(&self, from: usize, to: &mut [f64]) -> Result<(), Lost> {
        let numbers = self.from[from].recv().map_err(|_| Lost)?;
        to.copy_from_slice(&numbers);
        Ok(())
    }
}

impl Ranks for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn gather(&mut self, own: &[f64], counts: &[usize], all: &mut [f64]) -> Result<(), Lost> {
        (0..self.size()).try_for_each(|rank| self.send(rank, own))?;
        let mut rest = all;
        for (rank, &count) in counts.iter().enumerate() {
            let (part, others) = rest.split_at_mut(count);
            self.receive(rank, part)?;
            rest = others;
        }
        Ok(())
    }

    fn trade(&mut self, own: &[f64], counts: &[usize], received: &mut [f64], from: &[usize]) -> Result<(), Lost> {
        let mut rest = own;
        for (rank, &count) in counts.iter().enumerate() {
            let (part, others) = rest.split_at(count);
            self.send(rank, part)?;
            rest = others;
        }
        let mut rest = received;
        for (rank, &count) in from.iter().enumerate() {
            let (part, others) = rest.split_at_mut(count);
            self.receive(rank, part)?;
            rest = others;
        }
        Ok(())
    }

    fn beside(&mut self, send: [&[f64]; 2], receive: [&mut [f64]; 2]) -> Result<(), Lost> {
        let beside = [self.rank.wrapping_sub(1), self.rank + 1];
        for (rank, numbers) in beside.into_iter().zip(send).filter(|(_, numbers)| !numbers.is_empty()) {
            self.send(rank, numbers)?;
        }
        for (rank, numbers) in beside.into_iter().zip(receive).filter(|(_, numbers)| !numbers.is_empty()) {
            self.receive(rank, numbers)?;
        }
        Ok(())
    }
}
