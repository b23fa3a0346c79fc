//! The listener: it starts, hands out one-time addresses, and ends.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::entry::store::{Store, StoreError};
use super::live::Live;
use super::request;
use super::shared::{Questions, Shared};
use crate::listen::Names;
use crate::reminders::rfc3339;
use crate::workspace::Workspace;

/// The page can't be served.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// Its state can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The address can't be listened on.
    #[error("can't listen on `{address}`: {source}")]
    Listen {
        /// The address of the settings.
        address: SocketAddr,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The operating system gives no random numbers.
    #[error("can't make a code: {0}")]
    Code(std::io::Error),
}

/// An address that lets one browser in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// The address with its code.
    pub url: String,
    /// Until when it is good, in the vault's zone.
    pub expires: String,
}

/// The page while it is served; dropped, it ends.
#[derive(Debug)]
pub struct Page {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl Page {
    /// Begins to listen where the settings say. With `reloads` the settings are read again at each request, for a
    /// process in which nobody else does that.
    ///
    /// # Errors
    /// The address is taken, or the state directory can't be used.
    pub async fn start(
        workspace: Arc<Workspace>,
        live: Live,
        reloads: bool,
        questions: Questions,
    ) -> Result<Self, WebError> {
        let web = &workspace.settings.web;
        let failed = |source| WebError::Listen { address: web.listen, source };
        let store = Store::open(&workspace.dirs.state)?;
        let listener = TcpListener::bind(web.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let names = Names::new(address, &web.trusted_hosts);
        let state = Arc::new(workspace.dirs.state.clone());
        let stop = CancellationToken::new();
        let ways = (names, address.port());
        let shared =
            Arc::new(Shared::new(ways, store, live.clone(), (workspace, reloads), questions, stop.clone()));
        tokio::spawn(live.follow_state(state, stop.clone()));
        let router = Router::new().fallback(request::handle).with_state(Arc::clone(&shared));
        tokio::spawn(async move {
            let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await;
            if let Err(error) = served {
                tracing::error!(%error, "the page ended");
            }
        });
        Ok(Self { shared, address })
    }

    /// Where it listens.
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

impl Drop for Page {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}
