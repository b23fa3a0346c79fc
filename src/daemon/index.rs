//! The daemon's part that keeps the index: it hands what the watcher saw to the follower.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

use super::part::{Board, Event, Part};
use crate::index::Index;
use crate::index::live::Follower;
use crate::workspace::Workspace;

/// How often the report is brought up to date.
const REPORT: Duration = Duration::from_secs(5);

/// Follows the vault with the index.
#[derive(Debug)]
pub struct IndexPart;

fn follow(workspace: &Workspace) -> anyhow::Result<Follower> {
    let index = Index::of(
        workspace.vault.clone(),
        &workspace.settings,
        &workspace.dirs.cache,
        Arc::clone(&workspace.clock),
    )?;
    Ok(Follower::start(Arc::new(index))?)
}

#[async_trait]
impl Part for IndexPart {
    fn name(&self) -> &'static str {
        "index"
    }

    async fn run(
        self: Box<Self>,
        workspace: Arc<Workspace>,
        mut events: broadcast::Receiver<Event>,
        board: Board,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        let mut follower = tokio::task::spawn_blocking(move || follow(&workspace)).await??;
        let mut report = tokio::time::interval(REPORT);
        loop {
            let event = tokio::select! {
                () = stop.cancelled() => break,
                _ = report.tick() => {
                    board.say(self.name(), words(&follower));
                    continue;
                }
                event = events.recv() => event,
            };
            match event {
                Ok(Event::Changed(paths)) => follower.changed(paths.iter().map(ToString::to_string)),
                Ok(Event::Rescan(why)) => follower.rescan(&why),
                Ok(Event::VaultBack) => follower.rescan("the vault is back"),
                Ok(Event::VaultGone) => follower.vault_gone(),
                Ok(Event::Settings(workspace)) => {
                    // What is indexed may have changed.
                    follower = tokio::task::spawn_blocking(move || {
                        drop(follower);
                        follow(&workspace)
                    })
                    .await??;
                }
                Err(RecvError::Lagged(_)) => follower.rescan("events were lost"),
                Err(RecvError::Closed) => break,
            }
        }
        tokio::task::spawn_blocking(move || drop(follower)).await?;
        Ok(())
    }
}

fn words(follower: &Follower) -> String {
    let following = follower.following();
    match (&following.error, following.following, following.behind) {
        (Some(error), ..) => format!("behind: {error}"),
        (None, true, 0) => "follows every change".to_owned(),
        (None, true, behind) => format!("{behind} files behind"),
        (None, false, _) => "looking at every file".to_owned(),
    }
}
