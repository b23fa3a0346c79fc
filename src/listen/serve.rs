//! Accepts connections, at most [`MOST_CONNECTIONS`] at a time.
//!
//! A connection is closed if its client sends its headers too slowly. On Linux it is also closed if the client doesn't
//! read the response for a minute.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// A request's headers have to be there so soon after the connection, or the answer before.
const HEADERS: Duration = Duration::from_secs(10);
/// Connections that are answered at once; further ones wait, so that they don't take the files of the other parts.
pub const MOST_CONNECTIONS: u32 = 128;
/// A connection whose other end takes nothing for so long is ended. A WLAN is sometimes gone for half a minute.
#[cfg(target_os = "linux")]
const UNREAD_MS: u32 = 60_000;
/// After a connection that could not be taken.
const AGAIN: Duration = Duration::from_millis(200);

/// Takes connections until `stop`; those that are open then end their request first, and give back their place.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) -> Arc<Semaphore> {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS as usize));
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => return places,
            accepted = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, listener.accept().await)
            } => accepted,
        };
        match accepted {
            (place, Ok((stream, _))) => {
                // Small answers shall not wait for an acknowledgement.
                let _ = stream.set_nodelay(true);
                // A client that doesn't read must not occupy a connection.
                #[cfg(target_os = "linux")]
                let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, UNREAD_MS);
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    use super::*;

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
