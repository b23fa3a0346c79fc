//! Sends requests to the endpoints of one cluster. If an endpoint doesn't answer, the request goes to the next
//! endpoint. A change that an endpoint may have made is not sent again.

use std::time::Duration;

use reqwest::{Certificate, Client, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::super::{EngineError, Result};
use super::{Denied, denied};

/// How long one endpoint may take; a cluster elects a new leader in one to two seconds.
const ANSWER: Duration = Duration::from_secs(5);
const CONNECT: Duration = Duration::from_secs(2);
/// The longest answer that is read, in bytes.
const MAX_ANSWER: usize = 8 << 20;

/// The endpoints, with the credentials for them.
#[derive(Debug)]
pub struct Endpoints {
    client: Client,
    all: Vec<String>,
    user: Option<(String, SecretString)>,
    /// The one that answered last.
    current: usize,
    token: Option<SecretString>,
}

impl Endpoints {
    /// The endpoints, which the settings have checked. `authority` holds certificates in PEM that are trusted besides
    /// the public ones.
    ///
    /// # Errors
    /// `authority` holds no certificate.
    pub fn new(
        all: Vec<String>,
        user: Option<(String, SecretString)>,
        authority: Option<&[u8]>,
    ) -> Result<Self> {
        let mut builder =
            Client::builder().connect_timeout(CONNECT).redirect(reqwest::redirect::Policy::none()).no_proxy();
        if let Some(pem) = authority {
            let wrong =
                |_| EngineError::Refused("`machines.ca_file` holds no certificate in PEM form".to_owned());
            for certificate in Certificate::from_pem_bundle(pem).map_err(wrong)? {
                builder = builder.add_root_certificate(certificate);
            }
        }
        let client = builder
            .build()
            .map_err(|error| EngineError::Refused(format!("there is no HTTP client: {error}")))?;
        Ok(Self { client, all, user, current: 0, token: None })
    }

    /// Asks the endpoints one after another until one answers. A change (`is_change`) that may have been made isn't
    /// tried again.
    ///
    /// # Errors
    /// None answered, or one refused.
    pub async fn ask(&mut self, path: &str, body: &Value, is_change: bool) -> Result<Value> {
        let mut why = String::new();
        let mut has_new_token = false;
        let mut at = 0;
        while at < self.all.len() {
            let response = match self.send(path, body, Some(ANSWER)).await? {
                Ok(response) => response,
                Err(error) => {
                    why = self.unanswered(&error);
                    if is_untrusted(&error) {
                        return Err(EngineError::Refused(why));
                    }
                    self.current += 1;
                    at += 1;
                    if is_change && !error.is_connect() {
                        return Err(EngineError::Unknown(why));
                    }
                    continue;
                }
            };
            let status = response.status();
            let read = read(response).await;
            if status.is_success()
                && let Some(answer) = &read
            {
                return Ok(answer.clone());
            }
            match denied(status.as_u16(), &read.unwrap_or_default()) {
                Denied::Token if !has_new_token && self.user.is_some() => {
                    (self.token, has_new_token) = (None, true);
                    continue;
                }
                Denied::Token => {
                    return Err(EngineError::Refused("etcd: it refuses the user's token".to_owned()));
                }
                Denied::Refused(why) => return Err(EngineError::Refused(why)),
                Denied::Unsure(words) if is_change => {
                    self.current += 1;
                    return Err(EngineError::Unknown(words));
                }
                Denied::Elsewhere(words) | Denied::Unsure(words) => why = words,
            }
            self.current += 1;
            at += 1;
        }
        Err(EngineError::Unreachable(why))
    }

    /// Opens a stream of answers at the endpoint that answered last.
    ///
    /// # Errors
    /// It didn't answer.
    pub async fn stream(&mut self, path: &str, body: &Value) -> Result<Response> {
        let sent = self.send(path, body, None).await?;
        match sent {
            Ok(response) if response.status().is_success() => Ok(response),
            Ok(response) => {
                self.current += 1;
                // A token that is too old is renewed by the next read.
                Err(EngineError::Unreachable(format!(
                    "etcd: a watch was answered with {}",
                    response.status()
                )))
            }
            Err(error) => {
                let why = self.unanswered(&error);
                self.current += 1;
                Err(EngineError::Unreachable(why))
            }
        }
    }

    async fn send(
        &mut self,
        path: &str,
        body: &Value,
        within: Option<Duration>,
    ) -> Result<Result<Response, reqwest::Error>> {
        if let Some((name, password)) = self.user.clone()
            && self.token.is_none()
            && let Err(error) = self.log_in(&name, &password).await?
        {
            return Ok(Err(error));
        }
        let mut request = self.client.post(self.url(path)).json(body);
        if let Some(within) = within {
            request = request.timeout(within);
        }
        if let Some(token) = &self.token {
            request = request.header("Authorization", token.expose_secret());
        }
        Ok(request.send().await)
    }

    /// Fetches a token; that an endpoint isn't reached is no refusal.
    async fn log_in(&mut self, name: &str, password: &SecretString) -> Result<Result<(), reqwest::Error>> {
        let body = json!({ "name": name, "password": password.expose_secret() });
        let sent = self.client.post(self.url("auth/authenticate")).json(&body).timeout(ANSWER).send().await;
        let response = match sent {
            Ok(response) => response,
            Err(error) => return Ok(Err(error)),
        };
        let status = response.status();
        let answer = read(response).await.unwrap_or_default();
        match answer.get("token").and_then(Value::as_str) {
            Some(token) if status.is_success() => self.token = Some(SecretString::from(token)),
            _ if status.is_server_error() => {
                return Err(EngineError::Unreachable(
                    "etcd: most of its servers are not there, so no client can log in".to_owned(),
                ));
            }
            _ => {
                return Err(EngineError::Refused(format!(
                    "etcd refuses the user `{name}`: look at the password in `machines.password_file`"
                )));
            }
        }
        Ok(Ok(()))
    }

    fn url(&self, path: &str) -> String {
        format!("{}/v3/{path}", self.endpoint().trim_end_matches('/'))
    }

    fn endpoint(&self) -> &str {
        &self.all[self.current % self.all.len()]
    }

    fn unanswered(&self, error: &reqwest::Error) -> String {
        let what = match error {
            error if is_untrusted(error) => {
                "has a certificate that is not trusted: its authority must be named"
            }
            error if error.is_timeout() => "doesn't answer",
            error if error.is_connect() => "is not reached",
            _ => "broke the connection",
        };
        format!("etcd: {} {what}", self.endpoint())
    }
}

/// Whether a server was reached whose certificate isn't trusted.
fn is_untrusted(error: &reqwest::Error) -> bool {
    let mut causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    error.is_connect() && causes.any(|cause| cause.to_string().contains("certificate"))
}

/// An answer of at most [`MAX_ANSWER`] bytes as JSON.
async fn read(mut response: Response) -> Option<Value> {
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        if bytes.len() + piece.len() > MAX_ANSWER {
            return None;
        }
        bytes.extend_from_slice(&piece);
    }
    serde_json::from_slice(&bytes).ok()
}
