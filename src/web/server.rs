//! Starts and ends the page's listener, and makes one-time addresses.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, RwLock};

use axum::Router;
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::entry::LoginCodes;
use super::visit::PageShared;
use super::{Invitation, LiveUpdates, PageStore, questions, request};
use crate::agent::CallPermits;
use crate::listen::{HostNames, serve};
use crate::reminders::rfc3339;
use crate::sqlite::DatabaseError;
use crate::workspace::Workspace;

/// The page can't be served.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// Its state can't be used.
    #[error(transparent)]
    Store(#[from] DatabaseError),
    /// The address can't be listened on.
    #[error("can't listen on `{address}`: {source}")]
    Listen {
        /// The address of the settings.
        address: SocketAddr,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The operating system gives no random numbers.
    #[error("can't make a code: {0}")]
    Code(std::io::Error),
}

/// The page while it is served; dropped, it ends.
pub struct PageServer {
    shared: Arc<PageShared>,
    address: SocketAddr,
    serving: tokio::task::JoinHandle<()>,
}

impl PageServer {
    /// Listens on the address of the settings. With `reloads` the settings are read again at each request, for a
    /// process in which no other part does that. `is_first` says that this process served no page before: questions
    /// that are open then are those of an earlier process, and end.
    ///
    /// # Errors
    /// The address is taken, or the state directory can't be used.
    pub async fn start(
        workspace: Arc<Workspace>,
        live: LiveUpdates,
        reloads: bool,
        permits: Arc<CallPermits>,
        is_first: bool,
    ) -> Result<Self, WebError> {
        let web = &workspace.settings.web;
        let failed = |source| WebError::Listen { address: web.listen, source };
        let store = PageStore::open(&workspace.dirs.state)?;
        let listener = TcpListener::bind(web.listen).await.map_err(failed)?;
        // Before, another process may serve the page, and still ask.
        if is_first {
            questions::end_open(&workspace);
        }
        let address = listener.local_addr().map_err(failed)?;
        let state = Arc::new(workspace.dirs.state.clone());
        let stop = CancellationToken::new();
        let shared = Arc::new(PageShared {
            names: HostNames::new(address, &web.trusted_hosts),
            port: address.port(),
            store: Arc::new(store),
            codes: LoginCodes::default(),
            live: live.clone(),
            stop: stop.clone(),
            changes: Mutex::default(),
            tasks: Mutex::default(),
            copies: Mutex::default(),
            permits,
            workspace: RwLock::new(workspace),
            reloads,
        });
        tokio::spawn(live.follow_state(state, stop.clone()));
        let router = Router::new().fallback(request::handle).with_state(Arc::clone(&shared));
        let serving = tokio::spawn(async move { drop(serve(listener, router, stop).await) });
        Ok(Self { shared, address, serving })
    }

    /// Ends it, and waits until its address is free.
    pub async fn end(mut self) {
        self.shared.stop.cancel();
        let _ = (&mut self.serving).await;
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The settings changed and are in force.
    pub fn set_workspace(&self, workspace: Arc<Workspace>) {
        self.shared.set_workspace(workspace);
    }

    /// A new address that lets one browser in; for a phone, by the first trusted host where there is one.
    ///
    /// # Errors
    /// The operating system gives no random numbers.
    pub fn invite(&self, is_for_phone: bool) -> Result<Invitation, WebError> {
        let (workspace, _) = self.shared.workspace();
        let now: Timestamp = workspace.clock.now();
        let (code, until) = self.shared.codes.make(now).map_err(WebError::Code)?;
        let trusted = workspace.settings.web.trusted_hosts.first().filter(|_| is_for_phone);
        let ip = self.address.ip();
        let base = match trusted {
            Some(host) => format!("https://{host}"),
            None if ip.is_unspecified() => format!("http://127.0.0.1:{}", self.address.port()),
            None => format!("http://{}", self.address),
        };
        Ok(Invitation { url: format!("{base}/in?code={code}"), expires: rfc3339(until, workspace.zone.tz()) })
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}
