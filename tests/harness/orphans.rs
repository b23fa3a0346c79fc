//! Turns that are killed at any moment leave no process. `VAULT_AGENT_KILLS` says how many; 200 nightly.

use crate::harness::rig::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_turns_leave_nothing_behind() {
    let kills = std::env::var("VAULT_AGENT_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let rig = Rig::new(|rig| rig.brain("claude-code", "cc")).await;
    let mut asked = 0;
    rig.server.respond(move |_| {
        asked += 1;
        if asked % 2 == 1 { remind("claude-code") } else { Reply::hang() }
    });
    let mut random = Rng::with_seed(0x9e37_79b9);
    for message in 1..=kills {
        rig.accept(message, "?", "");
        let (engine, stop) = (rig.engine(), CancellationToken::new());
        let moment = Duration::from_micros(random.u64(..400_000));
        let answering = engine.answer(message, &rig.desk, &stop);
        // Dropped in the midst of it, as by a crash of the task; or stopped, as by a person.
        if message % 2 == 0 {
            let _ = tokio::time::timeout(moment, answering).await;
        } else {
            let stopping = async {
                tokio::time::sleep(moment).await;
                stop.cancel();
            };
            let _ = tokio::join!(answering, stopping);
        }
    }
    assert_eq!(rig.left(), Vec::<String>::new());
}
