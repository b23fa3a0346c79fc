//! Tests a git server over https that wants a password: git's own `http-backend` behind a small TLS server on loopback.
//!
//! The program runs as a process, because its git reads the settings that the environment names.

use std::process::Output;

use axum::http::{Response, StatusCode, header};
use axum::{Router, body::Bytes, extract::Request, response::IntoResponse};
use tokio::{io::AsyncWriteExt, process::Command};

use crate::fake::tls;
use crate::parts::*;
use crate::support::program;

/// `me:secret`, as a client sends it.
const RIGHT: &str = "Basic bWU6c2VjcmV0";

/// Answers as git's server does; without the password with 401.
async fn answer(root: Arc<PathBuf>, request: Request) -> Response<axum::body::Body> {
    let (head, body) = request.into_parts();
    let field = |name: header::HeaderName| {
        head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    if field(header::AUTHORIZATION) != RIGHT {
        let wanted = [(header::WWW_AUTHENTICATE, "Basic realm=\"voice\"")];
        return (StatusCode::UNAUTHORIZED, wanted).into_response();
    }
    let body = axum::body::to_bytes(body, 16 << 20).await.unwrap();
    let mut command = Command::new("git");
    command.arg("http-backend").env("GIT_PROJECT_ROOT", &*root).env("GIT_HTTP_EXPORT_ALL", "1");
    command.env("REQUEST_METHOD", head.method.as_str()).env("PATH_INFO", head.uri.path());
    command.env("QUERY_STRING", head.uri.query().unwrap_or_default()).env("REMOTE_USER", "me");
    command.env("CONTENT_TYPE", field(header::CONTENT_TYPE)).env("CONTENT_LENGTH", body.len().to_string());
    command.env("HTTP_CONTENT_ENCODING", field(header::CONTENT_ENCODING));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (_, output) = tokio::join!(
        async move { stdin.write_all(&body).await.and(stdin.shutdown().await) },
        child.wait_with_output()
    );
    parsed(&output.unwrap().stdout)
}

/// The answer of a CGI program.
fn parsed(out: &[u8]) -> Response<axum::body::Body> {
    let end = out.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let mut response = Response::builder();
    for line in std::str::from_utf8(&out[..end]).unwrap().lines() {
        let (name, value) = line.split_once(": ").unwrap();
        response = match name {
            "Status" => response.status(&value[..3]),
            _ => response.header(name, value),
        };
    }
    response.body(Bytes::copy_from_slice(&out[end + 4..]).into()).unwrap()
}

/// A vault whose machines share a repository on that server.
struct Vault {
    folder: Folder,
    port: u16,
}

impl Vault {
    async fn new() -> Self {
        let folder = Folder::new(&[]);
        assert!(bare(folder.dir(), &[]).ends_with("voice.git"));
        let root = Arc::new(folder.dir().to_owned());
        let router = Router::new().fallback(move |request: Request| answer(Arc::clone(&root), request));
        let (certificate, key) = (include_bytes!("tls/cert.pem"), include_bytes!("tls/key.pem"));
        let (address, _) = tls::serve_as(router, certificate, key).await;
        // A program that asks for passwords, and would be asked for one.
        let text = format!("#!/bin/sh\ntouch {}/asked\necho secret\n", folder.dir().display());
        write_program(folder.dir().join("asks"), &text);
        Self { folder, port: address.port() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.dir().join(name)
    }

    /// Runs `machines join` with this `remote` and with these settings of the user's git.
    async fn join(&self, scheme: &str, git_settings: &str) -> (Output, String) {
        let remote = format!("{scheme}://127.0.0.1:{}/voice.git", self.port);
        let text = format!("timezone = \"UTC\"\n[machines]\nengine = \"git\"\nremote = \"{remote}\"\n");
        self.folder.write("vault-agent.toml", text);
        std::fs::write(self.path("gitconfig"), git_settings).unwrap();
        let mut command = Command::from(program(&self.folder, &["machines", "join"]));
        command.env("VAULT_AGENT_VAULT", self.folder.root()).env("VAULT_AGENT_MACHINE", "laptop");
        command.env("GIT_CONFIG_GLOBAL", self.path("gitconfig")).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_ASKPASS", self.path("asks")).env("SSH_ASKPASS", self.path("asks"));
        let output = command.env("DISPLAY", ":9").env("HOME", self.folder.dir()).output().await.unwrap();
        let said = String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned();
        (output, said)
    }
}

/// The user's settings: which certificate is trusted, and which password a helper knows.
fn settings(password: Option<&str>) -> String {
    let trusted = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/tls/cert.pem");
    let helper = password.map(|password| {
        format!("[credential]\n\thelper = \"!f() {{ echo username=me; echo password={password}; }}; f\"\n")
    });
    format!("[http]\n\tsslCAInfo = {}\n{}", trusted.display(), helper.unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_asks_for_a_password_is_told_in_a_sentence_and_nobody_is_prompted() {
    if !are_here(&["git", "sh"]) {
        return;
    }
    let vault = Vault::new().await;
    for password in [None, Some("mistaken")] {
        let (output, said) = vault.join("https", &settings(password)).await;
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("it asks for a password: store one with git's credential helper"), "{said}");
        assert!(!said.contains("secret") && !said.contains("mistaken"), "{said}");
    }
    let (_, said) = vault.join("https", "").await;
    assert!(said.contains("its certificate is not trusted"), "{said}");
    let (output, said) = vault.join("http", &settings(Some("secret"))).await;
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`machines.remote` is no address: write `https://`"), "{said}");
    assert!(!vault.path("asked").exists(), "a program of the desktop's was asked for the password");
    let refs = || git(&vault.path("voice.git"), &["for-each-ref"]);
    assert_eq!(refs(), "");

    // With the right one in a helper the machine joins.
    let (output, said) = vault.join("https", &settings(Some("secret"))).await;
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(refs().contains("refs/heads/vault-agent"), "{}", refs());
}
