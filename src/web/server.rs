//! Runs the listener: starts it, hands out one-time addresses, and ends it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use jiff::Timestamp;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::entry::LoginCodes;
use super::visit::PageShared;
use super::{Invitation, LiveUpdates, PageStore, questions, request};
use crate::agent::CallPermits;
use crate::listen::HostNames;
use crate::reminders::rfc3339;
use crate::sqlite::DatabaseError;
use crate::workspace::Workspace;

/// A request's headers have to be there so soon after the connection, or the answer before.
const HEADERS: Duration = Duration::from_secs(10);
/// Connections that are answered at once; further ones wait, so that they don't take the files of the other parts.
const MOST_CONNECTIONS: usize = 128;
/// After a connection that could not be taken.
const AGAIN: Duration = Duration::from_millis(200);

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
        let serving = tokio::spawn(serve(listener, router, stop));
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

/// Takes connections until `stop`; those that are open then end their request first.
async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            accepted = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, listener.accept().await)
            } => accepted,
        };
        match accepted {
            (place, Ok((stream, _))) => {
                // Small answers shall not wait for an acknowledgement.
                let _ = stream.set_nodelay(true);
                let conversation = converse(stream, router.clone(), stop.clone());
                drop(tokio::spawn(async move {
                    let _place = place;
                    conversation.await;
                }));
            }
            (_, Err(error)) => {
                // Too many files are open, or the connection ended already: the next one may do.
                tracing::warn!(%error, "a connection was not taken");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}

/// Answers the requests of one connection.
async fn converse<S>(stream: S, router: Router, stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADERS);
    let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    /// The answer to a connection that sends some bytes and then nothing, and whether it waited as long as headers may
    /// take. The clock of the runtime stands still, and goes on to the next timer where nothing else is to do.
    async fn answer_to(bytes: &[u8]) -> (String, bool) {
        let router = Router::new().fallback(async || "answered");
        let (mut client, server) = duplex(1024);
        let began = Instant::now();
        let served = tokio::spawn(converse(server, router, CancellationToken::new()));
        client.write_all(bytes).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        served.await.unwrap();
        (answer, began.elapsed() >= HEADERS)
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_does_not_finish_its_headers_is_ended() {
        for slow in ["", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "] {
            let (answer, has_waited) = answer_to(slow.as_bytes()).await;
            assert!(!answer.contains("answered") && has_waited, "{slow:?}: {answer:?}");
        }
        let (answer, _) = answer_to(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
        assert!(answer.ends_with("answered"), "{answer:?}");
    }
}
