//! What the box costs: `bash -c true` in a box of each kind, over plain `bash -c true`, as a ratio of the same run.
//!
//! `cargo bench --bench confine` prints medians and 99th percentiles, and asserts nothing.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use vault_agent::confine::{Helper, Policy};

const RUNS: usize = 200;
const PROGRAM: &str = env!("CARGO_BIN_EXE_vault-agent");

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let policy = Policy::new(scratch.path());
    let boxes = [Helper::new(PROGRAM), Helper::new(PROGRAM).without_namespaces()];
    let mut times: [Vec<Duration>; 3] = Default::default();
    // In turns, so that whatever else the machine does meets all alike.
    for _ in 0..RUNS {
        let plain = async {
            let status =
                tokio::process::Command::new("bash").args(["-c", "true"]).output().await.unwrap().status;
            assert!(status.success());
        };
        times[0].push(timed(&runtime, plain));
        for (helper, times) in boxes.iter().zip(&mut times[1..]) {
            let confined = async {
                let stop = CancellationToken::new();
                assert!(helper.run(&policy, "true", None, &stop).await.unwrap().exit.is_success());
            };
            times.push(timed(&runtime, confined));
        }
    }
    times.iter_mut().for_each(|times| times.sort());
    let plain = median(&times[0]);
    for (name, times) in ["plain", "box with namespaces", "box without namespaces"].iter().zip(&times) {
        let ratio = median(times).as_secs_f64() / plain.as_secs_f64();
        let high = times[times.len() * 99 / 100];
        println!("{name:24} median {:8.2?}  p99 {high:8.2?}  {ratio:5.2} times plain", median(times));
    }
    println!("{:?}", boxes[0].enforcement());
}

fn timed(runtime: &tokio::runtime::Runtime, work: impl Future<Output = ()>) -> Duration {
    let start = Instant::now();
    runtime.block_on(work);
    start.elapsed()
}

fn median(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() / 2]
}
