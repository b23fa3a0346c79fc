//! Passes events on to the index, which follows every change and proves to other processes that it is fresh.
//!
//! The work is done in the follower's own thread ([`Follower`]).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

use crate::daemon::part::{DaemonEvent, Part, StatusBoard};
use crate::search::follow::live::{Follower, Following};
use crate::workspace::Workspace;

/// The shortest interval of the index's reports to `status`.
const REPORT: Duration = Duration::from_secs(5);

/// Keeps the index up to date.
#[derive(Debug)]
pub struct IndexPart;

#[async_trait]
impl Part for IndexPart {
    fn name(&self) -> &'static str {
        "index"
    }

    async fn run(
        self: Box<Self>,
        mut workspace: Arc<Workspace>,
        mut events: broadcast::Receiver<DaemonEvent>,
        board: StatusBoard,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        let mut follower = start(&workspace)?;
        let mut said = String::new();
        loop {
            let words = describe(follower.following());
            if words != said {
                board.set_part("index", &*words);
                said = words;
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                event = events.recv() => match event {
                    Ok(DaemonEvent::FirstChange(paths)) => follower.stirring(paths.iter().map(|path| path.as_str().to_owned())),
                    Ok(DaemonEvent::Changed(paths)) => follower.changed(paths.iter().map(|path| path.as_str().to_owned())),
                    Ok(DaemonEvent::Rescan(why)) => follower.rescan(&why),
                    Ok(DaemonEvent::CaughtUp(cookies)) => follower.caught_up(&*cookies),
                    Ok(DaemonEvent::Unwatched(why)) => follower.unwatched(&why),
                    Ok(DaemonEvent::VaultGone) => follower.vault_gone(),
                    Ok(DaemonEvent::VaultBack) => follower.rescan("the vault is back"),
                    Ok(DaemonEvent::Voice) => {}
                    Ok(DaemonEvent::Settings(changed)) if changed.settings.index != workspace.settings.index
                        || changed.settings.paths != workspace.settings.paths
                        || changed.settings.timezone != workspace.settings.timezone =>
                    {
                        workspace = changed;
                        // The lock is let go first: one follower a vault.
                        drop(follower);
                        follower = start(&workspace)?;
                    }
                    Ok(DaemonEvent::Settings(changed)) => workspace = changed,
                    Err(RecvError::Lagged(_)) => follower.rescan("events were lost"),
                    Err(RecvError::Closed) => break,
                },
                () = tokio::time::sleep(REPORT) => {}
            }
        }
        tokio::task::block_in_place(|| drop(follower));
        Ok(())
    }
}

fn start(workspace: &Workspace) -> anyhow::Result<Follower> {
    Ok(Follower::start(Arc::new(workspace.index()?))?)
}

fn describe(following: Following) -> String {
    match (following.error, following.following) {
        (Some(error), _) => error,
        (None, false) => "catching up".to_owned(),
        (None, true) if following.behind == 0 => "follows every change".to_owned(),
        (None, true) if following.behind == 1 => "1 file is being indexed".to_owned(),
        (None, true) => format!("{} files are being indexed", following.behind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_how_far_the_index_is_behind() {
        let at = |following: bool, behind: usize| {
            describe(Following { following, behind, ..Following::default() })
        };
        assert_eq!(at(false, 3), "catching up");
        assert_eq!(at(true, 0), "follows every change");
        assert_eq!(at(true, 1), "1 file is being indexed");
        assert_eq!(at(true, 2), "2 files are being indexed");
        let error = Some("its disk is full".to_owned());
        assert_eq!(describe(Following { error, ..Following::default() }), "its disk is full");
    }
}
