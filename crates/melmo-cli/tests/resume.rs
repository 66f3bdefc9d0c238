//! Runs that are interrupted, killed and taken up again.

use std::process::Stdio;
use std::time::Duration;

use crate::support::Place;

const RUN: &str = "factorize miserables --rank 8 --method melmo --iterations 40000 --trace-every 100 -q";

#[test]
fn a_run_killed_and_resumed_is_the_same_run() {
    let place = Place::new();
    place.done(&format!("{RUN} --trace whole.csv -o whole.npy"));
    let checkpointed = format!("{RUN} --trace parts.csv -o parts.npy --checkpoint run.ck --every 20ms");
    place.killed(&checkpointed, "run.ck", Duration::from_millis(50));
    assert!(!place.file("parts.csv").exists(), "the run was to be killed before its end");
    place.done(&format!("{checkpointed} --resume"));
    assert_eq!(place.rows("whole.csv"), place.rows("parts.csv"));
    place.same_factors("whole", "parts");
}

/// Minibatches follow from k and the seed: what is left of a killed run draws what the whole run drew.
#[test]
fn minibatches_are_drawn_again_where_a_run_was_killed() {
    let place = Place::new();
    let run = "factorize miserables --rank 8 --method stochastic --set batch=16,momentum=storm,seed=3 --iterations 10000 --trace-every 100 -q";
    place.done(&format!("{run} --trace whole.csv -o whole.npy"));
    let checkpointed = format!("{run} --trace parts.csv -o parts.npy --checkpoint run.ck --every 20ms");
    place.killed(&checkpointed, "run.ck", Duration::from_millis(50));
    place.done(&format!("{checkpointed} --resume"));
    assert_eq!(place.rows("whole.csv"), place.rows("parts.csv"));
    place.same_factors("whole", "parts");
}

/// A resumed run that ends before it is time for a checkpoint notes what it writes in the one that is there, whether `--force` or
/// `--resume` had been typed for it: the trace, whose seconds differ every time, was taken for a stranger's.
#[test]
fn a_run_that_has_ended_is_resumed_again_and_again() {
    let place = Place::new();
    let run =
        "factorize miserables --rank 4 --method melmo --iterations 3000 -q -o f.npy --trace t.csv --checkpoint run.ck";
    place.done(&format!("{run} --every 1ms --force"));
    for _ in 0..3 {
        place.done(&format!("{run} --every 1h --resume"));
    }
    place.write("t.csv", "mine");
    place.refused(&format!("{run} --every 1h --resume"), &["t.csv", "exists"]);
}

#[test]
fn only_the_same_job_is_resumed() {
    let place = Place::new();
    place.write("y.csv", "1,0,0,2\n0,5,3,0\n");
    let run = "recover y.csv --method melmo --iterations 400000 --tolerance 0 --checkpoint run.ck --every 1ms -q";
    place.killed(run, "run.ck", Duration::ZERO);
    place.refused(&format!("{run} --resume --gamma 2"), &["run.ck", "--gamma"]);
    place.refused(run, &["run.ck", "exists"]);
    place.write("y.csv", "1,0,0,2\n0,5,3,1\n");
    place.refused(&format!("{run} --resume"), &["y.csv", "changed"]);
    place.write("run.ck", "something else");
    place.refused(&format!("{run} --resume"), &["run.ck", "not a checkpoint"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_point_so_far() {
    let place = Place::new();
    let run = "factorize miserables --rank 8 --method melmo --iterations 100000000 -o f.npy --trace t.csv --trace-every 1000 --checkpoint run.ck --every 10ms";
    let child = place.command(run).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    place.wait_for("run.ck");
    let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let ran = crate::support::Ran::from(child.wait_with_output().unwrap(), run);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("interrupted; the point so far is kept"), "{}", ran.stdout);
    assert_eq!(place.names(), ["f.H.npy", "f.W.npy", "run.ck", "t.csv"]);
}
