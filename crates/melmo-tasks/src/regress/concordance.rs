/// Harrell's C: of the pairs of rows where it is known who had the event first, the share where that row has the higher risk; a tie
/// counts half. NaN where there is no such pair.
///
/// `times` carry a minus where no event was seen. Of two rows of one time, an event comes before the end of a watch, and two events
/// are no pair. Sorting and sums along a tree: n log n.
pub fn concordance(times: &[f64], risks: &[f64]) -> f64 {
    let mut levels = risks.to_vec();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let mut later = Counts(vec![0.0; levels.len() + 1]);
    let level = |row: usize| levels.partition_point(|level| *level < risks[row]);
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| times[b].abs().total_cmp(&times[a].abs()));
    let (mut right, mut pairs) = (0.0, 0.0);
    for tied in order.chunk_by(|&a, &b| times[a].abs() == times[b].abs()) {
        let (events, ends): (Vec<usize>, Vec<usize>) = tied.iter().partition(|&&row| times[row] > 0.0);
        ends.iter().for_each(|&row| later.add(level(row)));
        for &row in &events {
            let (below, up_to, all) = (later.below(level(row)), later.below(level(row) + 1), later.below(levels.len()));
            right += below + (up_to - below) / 2.0;
            pairs += all;
        }
        events.iter().for_each(|&row| later.add(level(row)));
    }
    if pairs > 0.0 { right / pairs } else { f64::NAN }
}

/// How many there are of each level, with sums (Fenwick).
struct Counts(Vec<f64>);

impl Counts {
    fn add(&mut self, level: usize) {
        let mut at = level + 1;
        while at < self.0.len() {
            self.0[at] += 1.0;
            at += at & at.wrapping_neg();
        }
    }

    /// Of all levels below one.
    fn below(&self, level: usize) -> f64 {
        let (mut at, mut sum) = (level, 0.0);
        while at > 0 {
            sum += self.0[at];
            at -= at & at.wrapping_neg();
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melmo::seeded::Seeded;

    #[test]
    fn it_counts_pairs() {
        let mut seeded = Seeded::new(3);
        let time = |t: f64, seen: bool| if seen { t } else { -t };
        let times: Vec<f64> =
            (0..80).map(|_| time(1.0 + (9.0 * seeded.uniform()).floor(), seeded.uniform() < 0.6)).collect();
        let risks: Vec<f64> = (0..80).map(|_| (6.0 * seeded.uniform()).floor()).collect();
        let (mut right, mut pairs) = (0.0, 0.0);
        for (&a, ra) in times.iter().zip(&risks) {
            for (&b, rb) in times.iter().zip(&risks) {
                if a > 0.0 && (a < b.abs() || (a == b.abs() && b < 0.0)) {
                    pairs += 1.0;
                    right += if ra > rb {
                        1.0
                    } else if ra == rb {
                        0.5
                    } else {
                        0.0
                    };
                }
            }
        }
        assert_eq!(concordance(&times, &risks), right / pairs);
        assert_eq!(concordance(&[1.0, 2.0, -3.0], &[3.0, 2.0, 1.0]), 1.0);
        assert!(concordance(&[-1.0, -2.0], &[1.0, 2.0]).is_nan());
    }
}
