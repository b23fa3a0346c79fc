//! Serves the local web page: from the daemon's start if the settings enable it, otherwise after a command or changed
//! settings ask for it.
//!
//! Commands ask over a Unix socket that only the owner can reach ([`crate::web::control_socket`]).

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::prelude::*;
use crate::web::control_socket::{self, ControlReply, ControlRequest};
use crate::web::{LiveUpdates, PageChange, PageServer};

/// An address that can't be had is tried again after this.
const RETRY: Duration = Duration::from_secs(10);
/// A connection that sends nothing is closed after this.
const SILENCE: Duration = Duration::from_secs(2);

/// Serves the page.
pub async fn run(context: PartContext) -> anyhow::Result<()> {
    let PartContext { permits, mut workspace, mut events, board, .. } = context;
    let socket = control_socket::socket(&workspace.dirs.state);
    let listener = super::question_socket::bind(&socket)?;
    let is_wanted = workspace.settings.web.enabled;
    let live = LiveUpdates::default();
    let mut page = PageState { page: None, has_served: false, is_wanted, live, board, permits };
    page.open_if_wanted(&workspace).await;
    let mut next_try = Instant::now();
    loop {
        tokio::select! {
            biased;
            event = events.next() => match event {
                Some(DaemonEvent::Settings(changed)) => {
                    page.settings(&workspace, &changed).await;
                    workspace = changed;
                }
                Some(event) => notify_pages(&page.live, &event),
                None => break,
            },
            asked = listener.accept() => if let Ok((stream, _)) = asked
                && let Err(error) = page.converse(stream, &workspace).await
            {
                tracing::debug!(%error, "a command was not answered");
            },
            () = tokio::time::sleep_until(next_try), if page.is_wanted && page.page.is_none() => {
                // `status` says why not.
                let _ = page.open(&workspace).await;
                next_try = Instant::now() + workspace.clock.sleep(RETRY);
            }
        }
    }
    drop(page);
    let _ = std::fs::remove_file(&socket);
    Ok(())
}

/// Tells open pages of an event.
pub(crate) fn notify_pages(live: &LiveUpdates, event: &DaemonEvent) {
    live.send(match event {
        DaemonEvent::Changed(paths) => PageChange::Notes(paths.iter().map(ToString::to_string).collect()),
        DaemonEvent::Rescan => PageChange::Notes(Vec::new()),
        DaemonEvent::VaultGone => PageChange::Vault(false),
        DaemonEvent::VaultBack => PageChange::Vault(true),
        _ => return,
    });
}

struct PageState {
    page: Option<PageServer>,
    /// Whether this process served it before.
    has_served: bool,
    /// Whether it is to listen: the settings or a command said so last.
    is_wanted: bool,
    live: LiveUpdates,
    board: StatusBoard,
    permits: Arc<CallPermits>,
}

impl PageState {
    async fn open(&mut self, workspace: &Arc<Workspace>) -> Result<&PageServer, String> {
        if self.page.is_none() {
            let (live, permits) = (self.live.clone(), Arc::clone(&self.permits));
            let page = PageServer::start(Arc::clone(workspace), live, false, permits, !self.has_served).await;
            let page = page.map_err(|error| error.to_string());
            self.has_served |= page.is_ok();
            match &page {
                Ok(page) => self.board.set_part("page", format!("listens on http://{}", page.address())),
                Err(error) => self.board.set_part("page", error.clone()),
            }
            self.page = Some(page?);
            self.is_wanted = true;
        }
        self.page.as_ref().ok_or_else(|| "the page is closed".to_owned())
    }

    async fn open_if_wanted(&mut self, workspace: &Arc<Workspace>) {
        if self.is_wanted
            && let Err(error) = self.open(workspace).await
        {
            tracing::error!("{error}");
        }
    }

    async fn close(&mut self) -> bool {
        let Some(page) = self.page.take() else { return false };
        page.end().await;
        self.board.set_part("page", "closed; `vault-agent web` opens it");
        true
    }

    /// Applies new settings: with another address the listener is replaced, all else is passed on to the page. A page
    /// that a command closed stays closed until `enabled` is another.
    async fn settings(&mut self, old: &Arc<Workspace>, new: &Arc<Workspace>) {
        let (before, after) = (&old.settings.web, &new.settings.web);
        if before.enabled != after.enabled {
            self.is_wanted = after.enabled;
        }
        if !self.is_wanted || (before.listen, &before.trusted_hosts) != (after.listen, &after.trusted_hosts) {
            self.close().await;
        }
        self.open_if_wanted(new).await;
        if let Some(page) = &self.page {
            page.set_workspace(Arc::clone(new));
        }
        self.live.send(PageChange::Notes(Vec::new()));
    }

    /// Answers one question. The line is short, and the client is this machine's owner.
    async fn converse(&mut self, stream: UnixStream, workspace: &Arc<Workspace>) -> std::io::Result<()> {
        if stream.peer_cred()?.uid() != rustix::process::getuid().as_raw() {
            return Ok(());
        }
        let (read, mut write) = stream.into_split();
        let mut line = String::new();
        let mut read = BufReader::new(read.take(1024));
        if tokio::time::timeout(SILENCE, read.read_line(&mut line)).await.is_err() {
            return Ok(());
        }
        let reply = match serde_json::from_str::<ControlRequest>(&line) {
            Ok(ControlRequest::Stop) => {
                self.is_wanted = false;
                ControlReply::Stopped(self.close().await)
            }
            Ok(asked) => match self.open(workspace).await {
                Ok(page) => page
                    .invite(asked == ControlRequest::Pair)
                    .map_or_else(|error| ControlReply::Refused(error.to_string()), ControlReply::Open),
                Err(error) => ControlReply::Refused(error),
            },
            Err(error) => ControlReply::Refused(format!("not understood: {error}")),
        };
        write.write_all(format!("{}\n", serde_json::to_string(&reply)?).as_bytes()).await
    }
}
