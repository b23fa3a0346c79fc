//! Answers questions of other processes on a Unix socket that only the owner can reach: one line in, one line out.
//!
//! [`crate::search::results::daemon_client`] defines the protocol. Each question is answered on a thread of its own, so
//! a long question delays no other. At most [`AT_ONCE`] clients are served at a time; any further client answers its
//! question itself. Hooks also report here which session of a coding agent has new events
//! ([`crate::hooks::archive::delegate`]).

use std::path::{Path, PathBuf};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::prelude::*;
use crate::daemon::KEEP_FREE_MEMORY;
use crate::hooks::archive::delegate::{self, ArchiveMessage};
use crate::machines::join::TakeVoiceRequest;
use crate::search::Recall;
use crate::search::results::daemon_client;
use crate::search::results::daemon_client::{LONGEST_LINE, ProcessIdentity};

/// Questions that are answered at the same time.
const AT_ONCE: usize = 8;
/// After this time without a question, the memory that is kept for questions is given back.
const QUIET: Duration = Duration::from_secs(10);
/// A connection that sends nothing is closed after this.
const SILENCE: Duration = Duration::from_secs(5);

/// The open socket; dropping it closes and removes it.
#[derive(Debug)]
pub struct QuestionSocket {
    socket: PathBuf,
    task: JoinHandle<()>,
}

impl QuestionSocket {
    /// Opens the socket.
    ///
    /// # Errors
    /// The socket can't be made: the path of the state directory is too long for one, or it can't be written.
    pub fn open(workspace: Arc<Workspace>, recall: Arc<Recall>) -> std::io::Result<Self> {
        let socket = daemon_client::socket(&workspace.dirs.state);
        let listener = bind(&socket)?;
        Ok(Self { socket, task: tokio::spawn(listen(listener, workspace, recall)) })
    }
}

impl Drop for QuestionSocket {
    fn drop(&mut self) {
        self.task.abort();
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Opens a socket. This process holds the daemon's lock, so an existing socket is a dead daemon's.
pub(super) fn bind(socket: &Path) -> std::io::Result<UnixListener> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => UnixListener::bind(socket),
    }
}

async fn listen(listener: UnixListener, workspace: Arc<Workspace>, recall: Arc<Recall>) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let me = ProcessIdentity::new(&workspace.settings, &*workspace.clock);
    let mut is_resting = true;
    keep_free_memory(false);
    loop {
        let next = listener.accept();
        let next = if is_resting { Ok(next.await) } else { tokio::time::timeout(QUIET, next).await };
        let Ok(next) = next else {
            tokio::task::spawn_blocking(|| {
                keep_free_memory(false);
                // The threads that helped with questions have free memory of their own.
                rayon::broadcast(|_| keep_free_memory(false));
            });
            is_resting = true;
            continue;
        };
        match next {
            Ok((stream, _)) => {
                if std::mem::take(&mut is_resting) {
                    keep_free_memory(true);
                }
                // Full: the client finds its connection closed and answers itself.
                let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
                let (workspace, recall) = (Arc::clone(&workspace), Arc::clone(&recall));
                let me = me.clone();
                tokio::spawn(async move {
                    if let Err(error) = converse(stream, workspace, recall, &me).await {
                        tracing::debug!(%error, "a question was not answered");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "can't take a question");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

fn keep_free_memory(keeps: bool) {
    if let Some(keep) = KEEP_FREE_MEMORY.get() {
        keep(keeps);
    }
}

/// Answers one client, line by line, until it goes or falls silent.
async fn converse(
    stream: UnixStream,
    workspace: Arc<Workspace>,
    recall: Arc<Recall>,
    me: &ProcessIdentity,
) -> std::io::Result<()> {
    // The directory is private already; this check is for one whose mode was changed.
    if stream.peer_cred()?.uid() != rustix::process::getuid().as_raw() {
        return Ok(());
    }
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    loop {
        let mut line = String::new();
        let mut bounded = (&mut read).take(LONGEST_LINE as u64);
        match tokio::time::timeout(SILENCE, bounded.read_line(&mut line)).await {
            Ok(Ok(1..)) if line.ends_with('\n') => {}
            Ok(Err(error)) => return Err(error),
            _ => return Ok(()),
        }
        let (workspace, recall) = (Arc::clone(&workspace), Arc::clone(&recall));
        if let Ok(ArchiveMessage { archive }) = serde_json::from_str(&line) {
            // Taken is enough for a hook; its thread goes on after the answer.
            tokio::task::spawn_blocking(move || {
                if let Err(error) = delegate::archive_and_sweep(&workspace, &archive) {
                    tracing::warn!("a coding agent's session is not kept: {error}");
                }
            });
            write.write_all(format!("{}\n", delegate::ACCEPTED).as_bytes()).await?;
            continue;
        }
        if serde_json::from_str::<TakeVoiceRequest>(&line).is_ok() {
            workspace.machines.take_voice();
            write.write_all(format!("{}\n", delegate::ACCEPTED).as_bytes()).await?;
            continue;
        }
        let me = me.at(workspace.clock.now());
        let answered = tokio::task::spawn_blocking(move || daemon_client::answer(&recall, &me, &line));
        let mut answer = answered.await.map_err(std::io::Error::other)?;
        answer.push('\n');
        write.write_all(answer.as_bytes()).await?;
    }
}
