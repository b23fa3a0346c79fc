//! Takes snapshots of people's changes, in batches.
//!
//! The history records the agent's own writes as the editing engine reports them. A snapshot may wait for the disk,
//! so it is taken on a thread that other tasks don't wait for.

use super::prelude::*;
use crate::history::{HistoryError, Interrupted, Snapshotter};

/// Takes snapshots of people's changes.
pub async fn run(context: PartContext) -> anyhow::Result<()> {
    let PartContext { mut workspace, mut events, board, .. } = context;
    let mut snapshotter = open(&workspace)?;
    let mut notice: Option<String> = None;
    loop {
        let clock = Arc::clone(&workspace.clock);
        if let Some(snapshotter) = snapshotter.as_mut().filter(|_| !events.is_vault_gone()) {
            let taken = tokio::task::block_in_place(|| {
                if snapshotter.batch.next() <= clock.now() {
                    workspace.recover_edits();
                }
                snapshotter.run(clock.now())
            });
            let words = match taken {
                Ok(None) => None,
                Ok(Some(snapshot)) if snapshot.held.is_some() => Some(
                    "many notes are gone at once: nothing was taken; see `vault-agent doctor`".to_owned(),
                ),
                Ok(Some(_)) => Some(format!("last snapshot {}", clock.now())),
                Err(error) => {
                    tracing::warn!("no snapshot: {error}");
                    Some(format!("no snapshot: {error}"))
                }
            };
            notice = snapshotter.take_notice().or(notice);
            if let Some(words) = words {
                tokio::task::block_in_place(|| finish(&workspace));
                let notice = notice.iter().map(|notice| format!("{notice}; "));
                board.set_part("history", format!("{}{words}", notice.collect::<String>()));
            }
        }
        let wait = match snapshotter.as_ref().filter(|_| !events.is_vault_gone()) {
            Some(snapshotter) => {
                let until = clock.now().duration_until(snapshotter.batch.next());
                clock.sleep(Duration::try_from(until).unwrap_or(Duration::ZERO)).max(Duration::from_millis(5))
            }
            None => Duration::from_secs(60),
        };
        tokio::select! {
            biased;
            event = events.next() => match (event, snapshotter.as_mut()) {
                (Some(DaemonEvent::Changed(paths)), Some(snapshotter)) => {
                    let logs = workspace.note(&workspace.settings.paths.logs);
                    snapshotter.batch.dirty(paths.iter().cloned(), clock.now(), |path| path.is_within(&logs));
                }
                (Some(DaemonEvent::Rescan | DaemonEvent::VaultBack | DaemonEvent::Unwatched), Some(snapshotter)) => {
                    snapshotter.batch.rescan(clock.now());
                }
                (Some(DaemonEvent::Settings(changed)), _) => {
                    workspace = changed;
                    snapshotter = open(&workspace)?;
                }
                (None, _) => break,
                (_, None) | (Some(DaemonEvent::Voice | DaemonEvent::VaultGone), _) => {}
            },
            () = tokio::time::sleep(wait) => {}
        }
    }
    if let Some(mut snapshotter) = snapshotter.filter(|_| !events.is_vault_gone()) {
        tokio::task::block_in_place(|| {
            workspace.recover_edits();
            snapshotter.flush()
        })?;
    }
    Ok(())
}

/// Finishes an undo whose process was killed, so that no operation is half undone.
fn finish(workspace: &Workspace) {
    let finish = || {
        let Some(history) = workspace.history()? else { return Ok(()) };
        if history.pending_restore()?.is_none_or(|pending| pending.undoing.is_none()) {
            return Ok(());
        }
        history.finish_pending(&workspace.editor, Interrupted::Finish).map(drop)
    };
    match finish() {
        Ok(()) | Err(HistoryError::UnderWay) => {}
        Err(error) => tracing::warn!("an interrupted undo could not be finished: {error}"),
    }
}

fn open(workspace: &Workspace) -> anyhow::Result<Option<Snapshotter>> {
    let remote = workspace.settings.history.remote.as_deref();
    Ok(workspace.history()?.map(|history| Snapshotter::new(history, remote, workspace.machines.name())))
}
