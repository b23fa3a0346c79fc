//! Copies changes in folders of other programs into the vault, shortly after they happen ([`crate::transfer::follow`]).

use std::path::PathBuf;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use super::prelude::*;
use crate::transfer::follow::{self, FollowReport};

/// The time in which further changes are awaited: a program writes several files at once.
const TOGETHER: Duration = Duration::from_millis(100);
/// The interval at which a missing folder, or one with lost events, is read.
const SWEEP: Duration = Duration::from_secs(60);

/// Follows the folders of `[follow]`.
pub async fn run(context: PartContext) -> anyhow::Result<()> {
    let PartContext { mut workspace, mut events, board, .. } = context;
    loop {
        let folders = follow::folders(&workspace);
        let (sender, mut changed) = mpsc::channel::<()>(1);
        let _watchers: Vec<_> =
            folders.iter().filter_map(|(_, folder)| watch(folder, sender.clone())).collect();
        // Changes in a pause are read with the first sweep after it.
        if !workspace.is_paused() {
            let words = tokio::task::block_in_place(|| follow_all(&workspace, &folders));
            board.set_part("follow", words);
        }
        // After one event or one sweep all folders are read again: the watchers are made anew with it, so that a
        // folder that was moved away and made again is watched too.
        let sweep = if folders.is_empty() { Duration::MAX } else { workspace.clock.sleep(SWEEP) };
        tokio::select! {
            biased;
            changed = next_settings(&mut events) => match changed {
                Some(changed) => workspace = changed,
                None => return Ok(()),
            },
            Some(()) = changed.recv() => tokio::time::sleep(TOGETHER).await,
            () = tokio::time::sleep(sweep) => {}
        }
    }
}

/// Waits for other settings; none when the daemon stops.
async fn next_settings(events: &mut PartEvents) -> Option<Arc<Workspace>> {
    loop {
        if let DaemonEvent::Settings(changed) = events.next().await? {
            return Some(changed);
        }
    }
}

fn watch(folder: &std::path::Path, sender: mpsc::Sender<()>) -> Option<RecommendedWatcher> {
    let heard = move |event: notify::Result<notify::Event>| {
        // One word that waits is enough.
        if event.is_ok_and(|event| !event.kind.is_access()) {
            let _ = sender.try_send(());
        }
    };
    let mut watcher = notify::recommended_watcher(heard).ok()?;
    watcher.watch(folder, RecursiveMode::Recursive).ok()?;
    Some(watcher)
}

/// Checks all folders. Returns their state in words.
fn follow_all(workspace: &Workspace, folders: &[(String, PathBuf)]) -> String {
    let one = |(name, folder): &(String, PathBuf)| match follow::follow(workspace, name, folder) {
        Ok(FollowReport { kept, skipped, .. }) if kept.is_empty() && skipped.is_empty() => name.clone(),
        Ok(FollowReport { kept, skipped, .. }) => {
            let kept = kept.into_iter().map(|path| format!("{path} was changed here and stays"));
            format!("{name} ({})", kept.chain(skipped).collect::<Vec<_>>().join("; "))
        }
        Err(error) => format!("{name}: {error}"),
    };
    folders.iter().map(one).collect::<Vec<_>>().join(", ")
}
