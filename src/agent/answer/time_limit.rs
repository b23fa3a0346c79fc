//! Limits the time of a turn. The turn's clock stops while a person is being asked.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The time to close a question to a person, and to record a call of a brain, after a stop.
const STOP_TIME: Duration = Duration::from_secs(2);

/// The time to record a call of a brain that the time limit ends.
const CALL_END_TIME: Duration = Duration::from_secs(1);

/// The number of open questions to people in a turn, and the time limit.
#[derive(Debug, Default)]
pub(super) struct OpenQuestions {
    open: watch::Sender<u32>,
    /// When the time is over, if no question is open.
    end: watch::Sender<Option<Instant>>,
}

/// A pause of the turn's clock, while a person is asked. It ends when this is dropped.
pub(super) struct ClockPause<'a>(&'a OpenQuestions);

impl OpenQuestions {
    /// Stops the clock until the returned value is dropped.
    pub fn pause(&self) -> ClockPause<'_> {
        self.open.send_modify(|open| *open += 1);
        ClockPause(self)
    }

    /// How long a call of a brain that begins now may take, where no question is open.
    pub fn left(&self) -> Duration {
        let end = *self.end.borrow();
        end.map_or(Duration::MAX, |end| (end - Instant::now()).saturating_sub(CALL_END_TIME))
    }

    /// Runs `work` until `stop` or the time limit, pauses not counted; none if `work` did not finish. After a stop
    /// `work` has some time to end by itself.
    pub async fn limit<T>(
        &self,
        limit: Duration,
        stop: &CancellationToken,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut open = self.open.subscribe();
        let mut left = limit;
        tokio::pin!(work);
        loop {
            let paused = *open.borrow_and_update() > 0;
            let since = Instant::now();
            self.end.send_replace(Some(since + left));
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    let _ = tokio::time::timeout(STOP_TIME, &mut work).await;
                    return None;
                }
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

impl Drop for ClockPause<'_> {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn the_time_runs_but_while_a_person_is_asked() {
        let (time_limit, stop) = (OpenQuestions::default(), CancellationToken::new());
        let late = time_limit.limit(10 * MINUTE, &stop, tokio::time::sleep(11 * MINUTE)).await;
        assert_eq!(late, None);
        let asked = async {
            tokio::time::sleep(6 * MINUTE).await;
            let first = time_limit.pause();
            let second = time_limit.pause();
            tokio::time::sleep(30 * MINUTE).await;
            drop(first);
            tokio::time::sleep(30 * MINUTE).await;
            drop(second);
            tokio::time::sleep(3 * MINUTE).await;
            assert_eq!(time_limit.left(), MINUTE - CALL_END_TIME);
        };
        assert_eq!(time_limit.limit(10 * MINUTE, &stop, asked).await, Some(()));
        let asked = async {
            tokio::time::sleep(6 * MINUTE).await;
            let pause = time_limit.pause();
            tokio::time::sleep(30 * MINUTE).await;
            drop(pause);
            tokio::time::sleep(5 * MINUTE).await;
        };
        let late = time_limit.limit(10 * MINUTE, &stop, asked).await;
        assert_eq!(late, None, "what was used before counts");
    }
    #[tokio::test(start_paused = true)]
    async fn stopped_work_has_time_to_end() {
        let (time_limit, stop) = (OpenQuestions::default(), CancellationToken::new());
        let mut ended = false;
        let work = async {
            tokio::time::sleep(MINUTE).await;
            stop.cancel();
            tokio::time::sleep(Duration::from_millis(10)).await;
            ended = true;
            tokio::time::sleep(MINUTE).await;
        };
        assert_eq!(time_limit.limit(10 * MINUTE, &stop, work).await, None);
        assert!(ended);
    }
}
