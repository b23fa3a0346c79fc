//! The time that a turn may take, which doesn't run while a person is asked.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// How many questions to people are open in a turn.
#[derive(Debug)]
pub(super) struct Patience(watch::Sender<u32>);

/// A person is being asked, until this is dropped.
pub(super) struct Pause<'a>(&'a Patience);

impl Default for Patience {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Patience {
    /// Stops the clock until what is returned is dropped.
    pub fn pause(&self) -> Pause<'_> {
        self.0.send_modify(|open| *open += 1);
        Pause(self)
    }

    /// Does the work, for so long at most without the pauses; none where the time is up.
    pub async fn limit<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut open = self.0.subscribe();
        let mut left = limit;
        tokio::pin!(work);
        loop {
            let paused = *open.borrow_and_update() > 0;
            let since = Instant::now();
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                _ = open.changed() => {
                    if !paused {
                        left = left.saturating_sub(since.elapsed());
                    }
                }
                () = tokio::time::sleep(left), if !paused => return None,
            }
        }
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|open| *open -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn the_time_runs_but_while_a_person_is_asked() {
        let patience = Patience::default();
        let late = patience.limit(10 * MINUTE, tokio::time::sleep(11 * MINUTE)).await;
        assert!(late.is_none());
        let asked = async {
            tokio::time::sleep(6 * MINUTE).await;
            let first = patience.pause();
            let second = patience.pause();
            tokio::time::sleep(30 * MINUTE).await;
            drop(first);
            tokio::time::sleep(30 * MINUTE).await;
            drop(second);
            tokio::time::sleep(3 * MINUTE).await;
        };
        assert!(patience.limit(10 * MINUTE, asked).await.is_some());
        let asked = async {
            tokio::time::sleep(6 * MINUTE).await;
            let pause = patience.pause();
            tokio::time::sleep(30 * MINUTE).await;
            drop(pause);
            tokio::time::sleep(5 * MINUTE).await;
        };
        assert!(patience.limit(10 * MINUTE, asked).await.is_none(), "what was used before counts");
    }
}
