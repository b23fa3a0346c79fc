//! Keeps the searcher loaded in the daemon, and computes missing vectors of blocks: at the start, after changes,
//! after failures and every hour.

use super::prelude::*;
use super::question_socket::QuestionSocket;
use crate::embed::retry::Backoff;
use crate::search::Recall;

/// A pass comes at least this often.
const EVERY: Duration = Duration::from_secs(3600);
/// Changes are collected for so long before a pass.
const SETTLE: Duration = Duration::from_secs(20);

/// Answers questions and keeps the vectors complete.
pub async fn run(context: PartContext) -> anyhow::Result<()> {
    let PartContext { mut workspace, mut events, board, stop, .. } = context;
    let mut recall = Arc::new(Recall::of(&workspace)?);
    let mut answers = open(None, &workspace, &recall, &board);
    let (mut wait, mut failures) = (SETTLE, 0);
    loop {
        tokio::select! {
            biased;
            event = events.next() => match event {
                Some(DaemonEvent::Settings(changed)) => {
                    recall = Arc::new(Recall::of(&changed)?);
                    answers = open(answers, &changed, &recall, &board);
                    wait = SETTLE;
                    workspace = changed;
                }
                Some(DaemonEvent::VaultGone) => wait = EVERY,
                Some(_) => wait = wait.min(SETTLE),
                None => return Ok(()),
            },
            () = tokio::time::sleep(wait) => {
                if !recall.is_current() {
                    recall = Arc::new(Recall::of(&workspace)?);
                    answers = open(answers, &workspace, &recall, &board);
                }
                let pass = tokio::select! {
                    () = stop.cancelled() => return Ok(()),
                    pass = recall.embed_pending() => pass,
                };
                board.set_part("vectors", words(&pass));
                let pass = pass.unwrap_or_default();
                failures = if pass.error.is_some_and(|error| error.is_temporary()) { failures + 1 } else { 0 };
                wait = pause(pass.again, failures);
            }
        }
    }
}

/// The wait until the next pass if nothing changes: until the first failed text is retried (`again`, in seconds), or,
/// after `failures` passes in a row that could not reach the model, 1 minute, doubled with each pass.
fn pause(again: Option<i64>, failures: u32) -> Duration {
    let seconds = |seconds: i64| Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    let down = failures.checked_sub(1).map_or(Duration::ZERO, |before| seconds(Backoff::next_try(before)));
    // A clock that stands still is no reason to try without a pause.
    let due = again.map_or(EVERY, |again| seconds(again.max(1)));
    due.max(down).min(EVERY)
}

/// Opens the socket for questions, after the one before is closed; without it, clients answer themselves.
fn open(
    before: Option<QuestionSocket>,
    workspace: &Arc<Workspace>,
    recall: &Arc<Recall>,
    board: &StatusBoard,
) -> Option<QuestionSocket> {
    drop(before);
    match QuestionSocket::open(Arc::clone(workspace), Arc::clone(recall)) {
        Ok(answers) => Some(answers),
        Err(error) => {
            tracing::warn!(%error, "other processes can't ask this daemon; they answer themselves");
            board.set_part("answers", format!("no other process can ask: {error}"));
            None
        }
    }
}

fn words(pass: &Result<crate::search::EmbeddingReport, crate::search::IndexError>) -> String {
    match pass {
        Ok(done) => {
            let counts = done.counts;
            if done.error.is_none() && (counts.ok, counts.pending, counts.failed) == (0, 0, 0) {
                return "none needed".to_owned();
            }
            let error = done.error.as_ref().map_or_else(String::new, |error| format!("; {error}"));
            format!("{} embedded, {} pending, {} failed{error}", counts.ok, counts.pending, counts.failed)
        }
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::broadcast;
    use tokio_util::sync::CancellationToken;

    use crate::clock::SystemClock;
    use crate::config::Dirs;
    use crate::instance::DaemonStatus;
    use crate::vault::Vault;

    #[test]
    fn a_vault_without_vectors_to_make_says_so() {
        use crate::search::EmbeddingReport;
        assert_eq!(words(&Ok(EmbeddingReport::default())), "none needed");
        let mut some = EmbeddingReport::default();
        some.counts.ok = 2;
        assert_eq!(words(&Ok(some)), "2 embedded, 0 pending, 0 failed");
    }

    /// Lets the part work until its report is `wanted`; the runtime's clock jumps to whatever is waited for.
    async fn until(board: &StatusBoard, wanted: &str) -> Duration {
        let from = tokio::time::Instant::now();
        for _ in 0..10_000 {
            let mut said = None;
            board.update(|status| said = status.parts.get("vectors").cloned());
            if said.as_deref() == Some(wanted) {
                board.set_part("vectors", "");
                return from.elapsed();
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        panic!("never: {wanted}");
    }

    #[test]
    fn what_failed_is_tried_again_after_a_minute_and_then_less_often() {
        let pauses: Vec<u64> =
            [(None, 0), (Some(60), 1), (Some(60), 2), (Some(240), 1), (Some(0), 3), (Some(0), 0)]
                .map(|(again, failures)| pause(again, failures).as_secs())
                .to_vec();
        assert_eq!(pauses, [3600, 60, 120, 240, 240, 1]);
        assert_eq!(pause(Some(9_999), 40), EVERY);
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_no_vector_is_found_on_start_after_changes_and_every_hour() {
        let temp = tempfile::tempdir().unwrap();
        let log = temp.path().join("vault/logs/discord-channel/pets-1/20260801T090000Z_0001.md");
        std::fs::create_dir_all(log.parent().unwrap()).unwrap();
        let write = |said: &[&str]| {
            let mut text =
                "---\nchannel: pets-1\nsession: 1\nstarted: 2026-08-01T09:00:00Z\n---\n".to_owned();
            for (n, said) in said.iter().enumerate() {
                text.push_str(&format!("\n## 2026-08-01T09:00:0{n}Z user Ann ^D1-{n}\n{said}\n"));
            }
            std::fs::write(&log, text).unwrap();
        };
        let vault = Vault::open(&temp.path().join("vault")).unwrap();
        let dirs = Dirs { state: temp.path().join("state"), cache: temp.path().join("cache") };
        let workspace = Arc::new(Workspace::open_in(vault, dirs, Arc::new(SystemClock)).unwrap());
        let board = StatusBoard::new(DaemonStatus::new(workspace.clock.now()), temp.path().to_path_buf());
        let (events, received) = broadcast::channel(8);
        let stop = CancellationToken::new();
        write(&["the kitten"]);
        let part = tokio::spawn(run(PartContext {
            workspace,
            events: PartEvents::new(received, stop.clone()),
            board: board.clone(),
            stop: stop.clone(),
            permits: Arc::default(),
        }));
        assert!(until(&board, "1 embedded, 0 pending, 0 failed").await >= SETTLE);
        // There is no event: the next check comes within the hour.
        write(&["the kitten", "the vet"]);
        assert!(until(&board, "2 embedded, 0 pending, 0 failed").await >= EVERY - SETTLE);
        write(&["the kitten"]);
        events.send(DaemonEvent::Rescan).unwrap();
        assert!(until(&board, "1 embedded, 0 pending, 0 failed").await < EVERY / 2);
        stop.cancel();
        part.await.unwrap().unwrap();
    }
}
