//! Passes events on to the index, which follows every change and proves to other processes that it is fresh.
//!
//! The work is done in the follower's own thread ([`Follower`]).

use std::sync::Arc;
use std::time::Duration;

use crate::daemon::part::{DaemonEvent, PartContext};
use crate::search::follow::live::{Follower, Following};
use crate::workspace::Workspace;

/// The shortest interval of the index's reports to `status`.
const REPORT: Duration = Duration::from_secs(5);

/// Keeps the index up to date.
pub async fn run(context: PartContext) -> anyhow::Result<()> {
    let PartContext { mut workspace, mut events, board, .. } = context;
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
            event = events.next() => match event {
                Some(DaemonEvent::FirstChange(paths)) => follower.stirring(paths.iter().map(|path| path.as_str().to_owned())),
                Some(DaemonEvent::Changed(paths)) => follower.changed(paths.iter().map(|path| path.as_str().to_owned())),
                Some(DaemonEvent::Rescan(why)) => follower.rescan(&why),
                Some(DaemonEvent::CaughtUp(cookies)) => follower.caught_up(&*cookies),
                Some(DaemonEvent::Unwatched(why)) => follower.unwatched(&why),
                Some(DaemonEvent::VaultGone) => follower.vault_gone(),
                Some(DaemonEvent::VaultBack) => follower.rescan("the vault is back"),
                Some(DaemonEvent::Voice) => {}
                Some(DaemonEvent::Settings(changed)) if changed.settings.index != workspace.settings.index
                    || changed.settings.paths != workspace.settings.paths
                    || changed.settings.timezone != workspace.settings.timezone =>
                {
                    workspace = changed;
                    // The lock is let go first: one follower a vault.
                    drop(follower);
                    follower = start(&workspace)?;
                }
                Some(DaemonEvent::Settings(changed)) => workspace = changed,
                None => break,
            },
            () = tokio::time::sleep(REPORT) => {}
        }
    }
    tokio::task::block_in_place(|| drop(follower));
    Ok(())
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
