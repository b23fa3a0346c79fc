//! Counts the requests of machines at rest to a git server.

use crate::parts::*;
use vault_agent::machines::engine::git::{GitEngine, GitPlace};

/// A machine as the daemon drives it, by a clock that the test moves.
struct Machine {
    protocol: Protocol,
    engine: GitEngine,
    at: usize,
    nonces: u64,
}

impl Machine {
    /// Its git talks to the repository through a script that notes who asked for what.
    fn new(at: usize, folder: &Path, repository: &Path, clock: &Arc<ManualClock>) -> Self {
        let (state, script) = (folder.join(format!("m{at}")), folder.join(format!("ssh{at}")));
        std::fs::create_dir(&state).unwrap();
        let log = folder.join(format!("log{at}"));
        let notes = format!("for last; do :; done\necho \"$last\" >> {}", log.display());
        write_program(&script, &format!("#!/bin/sh\n{notes}\nexec sh -c \"$last\"\n"));
        let mut place = GitPlace::new(&format!("ssh://nowhere{}", repository.display()), state).unwrap();
        (place.ssh, place.patience) = (Some(script.display().to_string()), Duration::from_secs(60));
        let engine = GitEngine::new(place, Arc::clone(clock) as Arc<dyn Clock>);
        Self { protocol: Protocol::new(own_machine(at), Timing::GIT, 0), engine, at, nonces: 0 }
    }

    /// Does what is to be done now: when there is something again.
    async fn turn(&mut self, clock: &ManualClock) -> Duration {
        loop {
            let now = ClockReadings { clock: clock.boot(), wall_ms: clock.now().as_millisecond() };
            if self.protocol.must_read(now.clock) {
                self.protocol.record_entries(self.engine.read().await.unwrap(), now.clock);
                continue;
            }
            let (at, nonces) = (self.at, &mut self.nonces);
            let mut nonce = || {
                *nonces += 1;
                format!("m{at}-{nonces}")
            };
            let Some(attempt) = self.protocol.attempt(now, &[], &mut nonce) else {
                return self.protocol.next_wake(now.clock, &[]);
            };
            let swapped = self.engine.swap(&attempt.changes).await;
            self.protocol.record_outcome(attempt, swapped, now.clock);
            // After a git that failed on a busy machine, all is read again.
            if let Some(entries) = self.engine.standing().await {
                self.protocol.record_entries(entries, now.clock);
            }
        }
    }
}

/// A tenth of a day: the voice and another machine, with nothing to tell.
#[tokio::test]
async fn machines_at_rest_ask_a_git_server_at_most_three_hundred_times_a_day() {
    let Some(folder) = folder_with(&["git", "sh"]) else { return };
    let repository = bare(folder.path(), &[]);
    let clock = Arc::new(ManualClock::new("2026-12-01T00:00:00Z".parse().unwrap()));
    let mut machines = [0, 1].map(|at| Machine::new(at, folder.path(), &repository, &clock));
    let mut wake = [Duration::ZERO; 2];
    // The first ten minutes are for finding each other.
    let counts = |at: usize| {
        let log = std::fs::read_to_string(folder.path().join(format!("log{at}"))).unwrap_or_default();
        ["upload-pack", "receive-pack"].map(|what| log.lines().filter(|line| line.contains(what)).count())
    };
    let (begun, mut first) = (clock.boot(), None);
    while clock.boot() < begun + Duration::from_secs(600 + 8640) {
        if clock.boot() > begun + Duration::from_secs(600) {
            first.get_or_insert([counts(0), counts(1)]);
        }
        for at in 0..2 {
            if wake[at] <= clock.boot() {
                wake[at] = machines[at].turn(&clock).await;
            }
        }
        let next = wake.iter().min().unwrap().saturating_sub(clock.boot()).max(Duration::from_millis(1));
        clock.advance(next.try_into().unwrap());
    }
    for (at, name) in ["the voice", "another"].into_iter().enumerate() {
        let (all, first) = (counts(at), first.unwrap()[at]);
        let [fetches, pushes] = [0, 1].map(|what| all[what] - first[what]);
        eprintln!("{name}, in a tenth of a day: {fetches} fetches, {pushes} pushes");
        // One more, where the tenth begins just before a look.
        assert!(fetches <= 30 + 1, "{name}: {fetches} fetches");
        assert!(pushes <= [86 + 30 + 1, 30 + 1][at], "{name}: {pushes} pushes");
    }
}
