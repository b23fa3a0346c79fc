//! Passes the watcher's events on to the index, which follows every change and proves to other processes that it is
//! fresh.
//!
//! The follower's own thread does the work ([`Follower`]).

use std::collections::BTreeSet;

use tokio::sync::mpsc::UnboundedReceiver;

use super::prelude::*;
use crate::search::follow::follower::{Follower, Following};
use crate::search::{Index, IndexError};

/// The shortest interval of the index's reports to `status`.
const REPORT: Duration = Duration::from_secs(5);

/// Keeps the index up to date with what the watcher says. Of the parts' events it uses changed settings alone.
pub async fn run(context: PartContext, mut watched: UnboundedReceiver<WatchEvent>) -> anyhow::Result<()> {
    let PartContext { mut workspace, mut events, board, .. } = context;
    let mut index = Arc::new(workspace.index()?);
    let mut unwatched = None;
    let mut follower = start(&index, None);
    loop {
        // An obstacle of the cache may be gone by now; a first scan finds the missed changes.
        if follower.is_err() {
            follower = start(&index, unwatched.as_deref());
        }
        let said = match &follower {
            Ok(follower) => describe(follower.following()),
            Err(error) => format!("not followed, tried again within seconds: {error}"),
        };
        board.set_part("index", said);
        tokio::select! {
            biased;
            Some(event) = watched.recv() => {
                if let WatchEvent::Error(why) = &event {
                    unwatched = Some(why.clone());
                }
                if let Ok(follower) = &follower {
                    tell(follower, event);
                }
            }
            event = events.next() => match event {
                Some(DaemonEvent::Settings(changed)) => {
                    let (old, new) = (&workspace.settings, &changed.settings);
                    let is_other =
                        old.index != new.index || old.paths != new.paths || old.timezone != new.timezone;
                    workspace = changed;
                    if is_other {
                        // The lock is let go first: one follower a vault.
                        tokio::task::block_in_place(|| drop(follower));
                        index = Arc::new(workspace.index()?);
                        follower = start(&index, unwatched.as_deref());
                    }
                }
                Some(_) => {}
                None => break,
            },
            () = tokio::time::sleep(REPORT) => {}
        }
    }
    tokio::task::block_in_place(|| drop(follower));
    Ok(())
}

/// Starts a follower. The watcher reports once that it can't see every change, so a later follower is told, too.
fn start(index: &Arc<Index>, unwatched: Option<&str>) -> Result<Follower, IndexError> {
    let follower = Follower::start(Arc::clone(index))?;
    unwatched.into_iter().for_each(|why| follower.unwatched(why));
    Ok(follower)
}

fn tell(follower: &Follower, event: WatchEvent) {
    let names = |paths: BTreeSet<NotePath>| paths.into_iter().map(|path| path.as_str().to_owned());
    match event {
        WatchEvent::FirstChange(paths) => follower.changing(names(paths)),
        WatchEvent::Dirty(paths) => follower.changed(names(paths)),
        WatchEvent::Rescan(why) => follower.rescan(&why),
        WatchEvent::CaughtUp(cookies) => follower.caught_up(&cookies),
        WatchEvent::Error(why) => follower.unwatched(&why),
        WatchEvent::VaultGone => follower.vault_gone(),
        WatchEvent::VaultBack => follower.rescan("the vault is back"),
        WatchEvent::Polled { .. } => {}
    }
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
    use std::time::Instant;

    use super::*;
    use crate::clock::SystemClock;
    use crate::config::Dirs;
    use crate::vault::Vault;

    fn until(is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(60), "it never came");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn lost_events_lead_to_a_look_at_every_file() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("vault");
        std::fs::create_dir(&root).unwrap();
        let dirs = Dirs { state: temp.path().join("state"), cache: temp.path().join("cache") };
        dirs.create().unwrap();
        let workspace = Workspace::open_in(Vault::open(&root).unwrap(), dirs, Arc::new(SystemClock)).unwrap();
        let index = Arc::new(workspace.index().unwrap());
        let follower = start(&index, None).unwrap();
        until(|| follower.following().following);
        let database = temp.path().join("cache/index.sqlite");
        let count = || -> rusqlite::Result<usize> {
            let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
            let conn = rusqlite::Connection::open_with_flags(&database, flags)?;
            conn.query_row("SELECT count(*) FROM files", [], |row| row.get(0))
        };
        let lost = [
            WatchEvent::Rescan("the system's queue of changes overflowed".to_owned()),
            WatchEvent::VaultBack,
            WatchEvent::Error("no more watches".to_owned()),
        ];
        for (round, event) in lost.into_iter().enumerate() {
            // No event names it.
            std::fs::write(root.join(format!("{round}.md")), "words\n").unwrap();
            tell(&follower, event);
            // A question would look at the files itself, so the database is asked.
            until(|| count().is_ok_and(|files| files == round + 1));
        }
    }

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
