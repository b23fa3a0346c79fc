//! The REST door with TLS: serenity's rate limiter speaks to `https://discord.com` alone, so one test gives that name
//! this address and trusts this certificate. Certificate and key are for tests, and worth nothing elsewhere.

use crate::support::prelude::*;
use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig, server::TlsStream};

struct TlsListener {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            if let Ok((stream, address)) = self.tcp.accept().await
                && let Ok(stream) = self.acceptor.accept(stream).await
            {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}

/// Serves `router` as discord.com.
pub async fn serve(router: Router) -> (SocketAddr, tokio::task::JoinHandle<()>) {
    serve_as(router, include_bytes!("tls/cert.pem"), include_bytes!("tls/key.pem")).await
}

/// Serves `router` with this certificate and its key, in PEM form.
pub async fn serve_as(
    router: Router,
    certificate: &[u8],
    key: &[u8],
) -> (SocketAddr, tokio::task::JoinHandle<()>) {
    let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key).unwrap();
    let config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = tcp.local_addr().unwrap();
    let listener = TlsListener { tcp, acceptor: TlsAcceptor::from(Arc::new(config)) };
    let task = tokio::spawn(async move {
        let _ = axum::serve(listener, router).await;
    });
    (address, task)
}

pub fn client(address: SocketAddr) -> reqwest::Client {
    let root = reqwest::Certificate::from_pem(include_bytes!("tls/ca.pem")).unwrap();
    reqwest::Client::builder()
        .no_proxy()
        .resolve("discord.com", address)
        .add_root_certificate(root)
        .build()
        .unwrap()
}
