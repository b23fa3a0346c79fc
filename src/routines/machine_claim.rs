//! Decides which of several machines brings a scheduled run to its end: the voice, which claims it before anything is asked.
//!
//! A machine that dies in the middle is followed by the next voice, which runs it from its beginning: what was sent by then
//! may come again.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::deliver::journal::run_claim;
use crate::deliver::{Journal, JournalError};
use crate::machines::Want;
use crate::machines::protocol::May;
use crate::workspace::Workspace;

/// How often a claim is looked at again while it is made.
const LOOK: Duration = Duration::from_secs(1);

/// Whose run it is.
pub(super) enum RunOwner {
    /// This machine's.
    Ours,
    /// Another one ran it.
    Others,
    /// It isn't known yet: why.
    Later(String),
}

/// Claims a run, and waits for that while this machine is the voice.
///
/// # Errors
/// The delivery journal can't be used.
pub(super) async fn of_this_machine(
    workspace: &Workspace,
    journal: &Journal,
    run: &str,
    stop: &CancellationToken,
) -> Result<RunOwner, JournalError> {
    let machines = &workspace.machines;
    let Some(claim) = run_claim(run).filter(|_| !machines.is_alone()) else { return Ok(RunOwner::Ours) };
    let open = journal.open_runs()?;
    let wanted = open.iter().filter_map(|run| run_claim(&run.key));
    machines.want("routines", wanted.map(|key| Want { key, due: None, within: None }).collect());
    let mut news = machines.news();
    loop {
        match machines.may(&claim) {
            May::Yes { .. } => return Ok(RunOwner::Ours),
            May::Never => return Ok(RunOwner::Others),
            May::Wait if !machines.is_voice() => {
                return Ok(RunOwner::Later("another machine is the voice".to_owned()));
            }
            May::Wait => tokio::select! {
                () = stop.cancelled() => return Ok(RunOwner::Later("the program is stopping".to_owned())),
                () = news.changed() => {}
                () = tokio::time::sleep(workspace.clock.sleep(LOOK)) => {}
            },
        }
    }
}
