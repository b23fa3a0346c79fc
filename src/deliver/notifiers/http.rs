//! Makes the HTTP client of a notifier, sends its requests, and classifies the outcome of each.
//!
//! A 2xx answer means that a message arrived ([`perform`] must also be able to read its body). A connection that was
//! never made, a 429, and any other 3xx or 4xx mean that it didn't arrive, except 408 and 425. After 408, 425, 5xx or a
//! broken connection the message may have arrived.
//!
//! No redirect is followed, because it would carry the secret elsewhere. The address may be a secret itself: errors of
//! the client carry no address. An error of the server shows the first 160 characters of its page, without the parts of
//! the address that the page repeats.

use reqwest::{Certificate, Client, Response, StatusCode, Url, header};

use crate::config::ConfigError;
use crate::deliver::prelude::*;

/// The longest that a server may take to answer, connecting included.
const ANSWER: Duration = Duration::from_secs(15);
const CONNECT: Duration = Duration::from_secs(5);
/// The most bytes that are read of an answer.
const MAX_ANSWER_BYTES: usize = 4 << 20;
/// The most characters that are shown of an error.
const SHOWN: usize = 160;
/// Shorter parts of an address are no secrets, in bytes.
const SHORTEST_SECRET: usize = 8;

/// The client; with `authority`, certificates in PEM that are trusted besides the public ones.
pub(super) fn client(authority: Option<&[u8]>) -> Result<Client, ConfigError> {
    let mut builder = Client::builder()
        .timeout(ANSWER)
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none());
    if let Some(pem) = authority {
        for certificate in Certificate::from_pem_bundle(pem).map_err(unusable_authority)? {
            builder = builder.add_root_certificate(certificate);
        }
    }
    builder.build().map_err(|error| ConfigError::new(format!("there is no HTTP client: {error}")))
}

/// The error for a `ca_file` that is none.
pub(super) fn unusable_authority(error: impl std::fmt::Display) -> ConfigError {
    ConfigError::new(format!("`[notify] ca_file` holds no certificate: {error}"))
        .suggest("name a file with certificates in PEM form")
}

/// Sends a request: the body of a 2xx answer, else the outcome of the attempt. `who` names the place in an error.
pub(super) async fn perform(who: &str, request: reqwest::RequestBuilder) -> Result<Vec<u8>, SendOutcome> {
    read(accepted(who, request).await?).await.map_err(|error| broken(who, error))
}

/// Sends a request: the 2xx answer with its body unread, else the outcome of the attempt.
pub(super) async fn accepted(who: &str, request: reqwest::RequestBuilder) -> Result<Response, SendOutcome> {
    let response = request.send().await.map_err(|error| broken(who, error))?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let (url, after) = (response.url().clone(), retry_after(response.headers()));
    let body = read(response).await.unwrap_or_default();
    Err(refused(who, status, after, &shown(&without_address(&String::from_utf8_lossy(&body), &url))))
}

/// The beginning of a body; the rest is left unread.
async fn read(mut response: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        body.extend_from_slice(&piece[..piece.len().min(MAX_ANSWER_BYTES - body.len())]);
        if body.len() >= MAX_ANSWER_BYTES {
            break;
        }
    }
    Ok(body)
}

/// The longest pause that a server may ask for: a wrong number must not silence it for ever.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// The pause that an answer asks for: seconds, or an instant, from the answer's own `Date` on.
fn retry_after(headers: &header::HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let instant = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|at| at.timestamp());
    let value = text(header::RETRY_AFTER)?;
    let pause = match value.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let pause = instant(value)?.duration_since(instant(text(header::DATE)?)?);
            Duration::try_from(pause).unwrap_or(Duration::ZERO)
        }
    };
    Some(pause.min(LONGEST_PAUSE))
}

/// A connection that was never made carried nothing; any other one may have.
fn broken(who: &str, error: reqwest::Error) -> SendOutcome {
    let never_left = error.is_connect() || error.is_builder();
    let mut cause: &dyn std::error::Error = &error.without_url();
    while let Some(source) = cause.source() {
        cause = source;
    }
    if never_left {
        return SendOutcome::Retry { after: None, reason: format!("{who} can't be reached: {cause}") };
    }
    SendOutcome::Unknown { reason: format!("{who} didn't answer: {cause}") }
}

fn refused(who: &str, status: StatusCode, after: Option<Duration>, said: &str) -> SendOutcome {
    let reason = format!("{who} answers {}{said}", status.as_u16());
    match status.as_u16() {
        429 => SendOutcome::Retry { after, reason: format!("{who} asks to wait (rate limit)") },
        408 | 425 | 500.. => SendOutcome::Unknown { reason },
        _ => SendOutcome::Refused { reason },
    }
}

/// A server's words without the parts of the request's address that they repeat, since these may be secrets.
fn without_address(body: &str, url: &Url) -> String {
    let parts = url.path().split('/').chain(url.query().unwrap_or_default().split(['&', '=']));
    let secrets = parts.filter(|part| part.len() >= SHORTEST_SECRET);
    secrets.fold(body.to_owned(), |body, secret| body.replace(secret, "…"))
}

/// The beginning of an error's words, on one line.
fn shown(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
