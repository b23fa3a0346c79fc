//! Decides which of several machines finishes a scheduled run: the voice, which claims the run before a brain is asked.
//!
//! After a machine dies within a run, the next voice runs it from its beginning: a message that was sent by then may
//! come again.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::deliver::Journal;
use crate::deliver::journal::run_claim;
use crate::machines::IntendedSend;
use crate::machines::protocol::SendRight;
use crate::sqlite::DatabaseError;
use crate::workspace::Workspace;

/// The interval between checks of a claim.
const LOOK: Duration = Duration::from_secs(1);

/// The owner of a run.
pub(super) enum RunOwner {
    /// This machine's.
    Ours,
    /// Another machine ran it.
    Others,
    /// It isn't known yet: why.
    Later(String),
}

/// Claims a run, and waits for the claim while this machine is the voice.
///
/// # Errors
/// The delivery journal can't be used.
pub(super) async fn of_this_machine(
    workspace: &Workspace,
    journal: &Journal,
    run: &str,
    stop: &CancellationToken,
) -> Result<RunOwner, DatabaseError> {
    let machines = &workspace.machines;
    let Some(claim) = run_claim(run).filter(|_| !machines.is_alone()) else { return Ok(RunOwner::Ours) };
    let open = journal.open_runs()?;
    let wanted = open.iter().filter_map(|run| run_claim(&run.key));
    machines.set_intended_sends(
        "routines",
        wanted.map(|key| IntendedSend { key, due: None, within: None }).collect(),
    );
    let mut changes = machines.rights_changes();
    loop {
        match machines.send_right(&claim) {
            SendRight::Yes { .. } => return Ok(RunOwner::Ours),
            SendRight::Never => return Ok(RunOwner::Others),
            SendRight::Wait if !machines.is_voice() => {
                return Ok(RunOwner::Later("another machine is the voice".to_owned()));
            }
            SendRight::Wait => tokio::select! {
                () = stop.cancelled() => return Ok(RunOwner::Later("the program is stopping".to_owned())),
                () = changes.changed() => {}
                () = tokio::time::sleep(workspace.clock.sleep(LOOK)) => {}
            },
        }
    }
}
