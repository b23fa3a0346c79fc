//! Embeds by a model behind an endpoint: Google, anything that speaks OpenAI's embeddings API, Ollama.
//!
//! One call embeds a batch; the response is checked first (JSON, count, dimension, finite numbers).
//! [`crate::embed::retry`] decides about retries. Keys come from the environment or a file outside the vault and are
//! never logged.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use crate::config;
use crate::embed::{EmbedError, EmbedPurpose, Provider, check, cut};

/// Longest wait for one answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Endpoints cut long texts or refuse them; ours are blocks of notes, so the beginning tells enough.
const MOST_BYTES: usize = 8000;
/// The longest answer.
const MOST_ANSWER: usize = 64 << 20;

/// Which API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndpointApi {
    Google,
    OpenAi,
    Ollama,
}

/// A model behind an endpoint.
#[derive(Debug)]
pub struct EndpointModel {
    api: EndpointApi,
    name: String,
    model: String,
    url: String,
    key: Option<SecretString>,
    client: reqwest::Client,
}

impl EndpointModel {
    /// From the settings; nothing is sent yet.
    ///
    /// # Errors
    /// The provider needs a key or an endpoint that isn't there.
    pub fn open(settings: &config::EmbedSettings, root: &Path) -> Result<Self, EmbedError> {
        let (api, model, url, variable) = match settings.provider.as_str() {
            "google" => (
                EndpointApi::Google,
                "gemini-embedding-001",
                "https://generativelanguage.googleapis.com/v1beta",
                "GOOGLE_API_KEY",
            ),
            "openai" => {
                (EndpointApi::OpenAi, "text-embedding-3-small", "https://api.openai.com/v1", "OPENAI_API_KEY")
            }
            _ => (EndpointApi::Ollama, "nomic-embed-text", "http://127.0.0.1:11434", "OLLAMA_API_KEY"),
        };
        let wrong = |error: config::ConfigError| EmbedError::Settings(error.to_string());
        let key = config::secret(variable, settings.key_file.as_deref(), root).map_err(wrong)?;
        // An endpoint of one's own often wants no key; the public ones always do.
        if key.is_none() && api != EndpointApi::Ollama && settings.url.is_none() {
            return Err(EmbedError::Settings(format!(
                "`embed.provider` is `{}`, but there is no key: set `{variable}`, or `embed.key_file` to a file that only you can read",
                settings.provider
            )));
        }
        let model = settings.model.clone().unwrap_or_else(|| model.to_owned());
        let url = settings.url.clone().unwrap_or_else(|| url.to_owned());
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .connect_timeout(Duration::from_secs(5))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| EmbedError::Settings(format!("no HTTP client: {error}")))?;
        let name = format!("{}:{model}", settings.provider);
        Ok(Self { api, name, model, url: url.trim_end_matches('/').to_owned(), key, client })
    }

    fn request(&self, texts: &[&str], purpose: EmbedPurpose) -> reqwest::RequestBuilder {
        let (url, body) = match self.api {
            EndpointApi::Google => {
                let task = match purpose {
                    EmbedPurpose::Document => "RETRIEVAL_DOCUMENT",
                    EmbedPurpose::Query => "RETRIEVAL_QUERY",
                };
                let model = format!("models/{}", self.model);
                let one = |text: &&str| json!({"model": model, "taskType": task, "content": {"parts": [{"text": text}]}});
                let requests: Vec<Value> = texts.iter().map(one).collect();
                (format!("{}/{model}:batchEmbedContents", self.url), json!({ "requests": requests }))
            }
            EndpointApi::OpenAi => (
                format!("{}/embeddings", self.url),
                json!({"model": self.model, "input": texts, "encoding_format": "float"}),
            ),
            EndpointApi::Ollama => (
                format!("{}/api/embed", self.url),
                json!({"model": self.model, "input": texts, "truncate": true}),
            ),
        };
        let request = self.client.post(url).json(&body);
        match (&self.key, self.api) {
            (Some(key), EndpointApi::Google) => request.header("x-goog-api-key", key.expose_secret()),
            (Some(key), _) => request.bearer_auth(key.expose_secret()),
            (None, _) => request,
        }
    }

    fn bad(&self, reason: String) -> EmbedError {
        EmbedError::BadAnswer { provider: self.name.clone(), reason }
    }

    /// The vectors in an answer, in the order of the texts.
    fn vectors(&self, answer: &Value) -> Result<Vec<Vec<f32>>, EmbedError> {
        let list = |key: &str| answer.get(key).and_then(Value::as_array);
        let found: Option<Vec<&Value>> = match self.api {
            EndpointApi::Google => {
                list("embeddings").map(|all| all.iter().map(|one| &one["values"]).collect())
            }
            EndpointApi::Ollama => list("embeddings").map(|all| all.iter().collect()),
            EndpointApi::OpenAi => list("data").map(|all| {
                let mut all: Vec<&Value> = all.iter().collect();
                all.sort_by_key(|one| one["index"].as_u64());
                all.into_iter().map(|one| &one["embedding"]).collect()
            }),
        };
        let found = found.ok_or_else(|| self.bad(format!("no vectors in {}", shown(&answer.to_string()))))?;
        found
            .into_iter()
            .map(|vector| {
                let numbers =
                    vector.as_array().ok_or_else(|| self.bad("a vector that is no list".to_owned()))?;
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "vectors are kept as f32; what overflows is found by `check`"
                )]
                let number = |x: &Value| {
                    x.as_f64()
                        .map(|x| x as f32)
                        .ok_or_else(|| self.bad(format!("{} in a vector", shown(&x.to_string()))))
                };
                numbers.iter().map(number).collect()
            })
            .collect()
    }
}

#[async_trait]
impl Provider for EndpointModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn batch(&self) -> usize {
        match self.api {
            EndpointApi::Google => 100,
            EndpointApi::OpenAi => 128,
            EndpointApi::Ollama => 32,
        }
    }

    async fn embed(&self, texts: &[String], purpose: EmbedPurpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let texts: Vec<&str> = texts.iter().map(|text| cut(text, MOST_BYTES)).collect();
        // An endpoint refuses an empty text; a space is embedded as nothing in particular.
        let sent: Vec<&str> =
            texts.iter().map(|text| if text.trim().is_empty() { "-" } else { *text }).collect();
        let answer = call(self.request(&sent, purpose), MOST_ANSWER).await.map_err(|error| match error {
            CallError::Unreachable { reason, after } => {
                EmbedError::Unreachable { provider: self.name.clone(), reason, after }
            }
            CallError::Refused(reason) => EmbedError::Refused { provider: self.name.clone(), reason },
            CallError::BadAnswer(reason) => self.bad(reason),
        })?;
        let vectors = self.vectors(&answer)?;
        check(&self.name, &vectors, texts.len())?;
        Ok(vectors)
    }
}

/// Why a call of an endpoint gave no JSON.
pub(crate) enum CallError {
    /// A connection that failed or broke, a time-out, 429, 5xx; and how long the endpoint asks to wait.
    Unreachable { reason: String, after: Option<Duration> },
    /// It understood and said no.
    Refused(String),
    /// Something else than JSON, or too much of it.
    BadAnswer(String),
}

/// Sends a request; the JSON that answers it, in at most so many bytes.
pub(crate) async fn call(request: reqwest::RequestBuilder, most: usize) -> Result<Value, CallError> {
    let broken = |error: reqwest::Error| CallError::Unreachable { reason: plain(&error), after: None };
    let mut answer = request.send().await.map_err(broken)?;
    let (status, after) = (answer.status(), answer.headers().get(reqwest::header::RETRY_AFTER));
    let after = after.and_then(|value| value.to_str().ok()?.trim().parse().ok()).map(Duration::from_secs);
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(broken)? {
        if body.len() + piece.len() > most {
            return Err(CallError::BadAnswer(format!("more than {} MiB", most >> 20)));
        }
        body.extend_from_slice(&piece);
    }
    let body = String::from_utf8_lossy(&body);
    if status.as_u16() == 429 || status.is_server_error() {
        return Err(CallError::Unreachable { reason: format!("status {status}"), after });
    }
    if !status.is_success() {
        return Err(CallError::Refused(format!("status {status}: {}", shown(&body))));
    }
    serde_json::from_str(&body).map_err(|_| CallError::BadAnswer(shown(&body)))
}

/// The result of a call, within `patience`. The caller may be inside a runtime, which must not wait within itself.
pub(crate) fn wait<T: Send, E: Send>(
    patience: Duration,
    call: impl Future<Output = Result<T, E>> + Send,
    unreachable: impl Fn(&str) -> E + Sync,
) -> Result<T, E> {
    let ask = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unreachable(&error.to_string()))?;
        let answer = runtime.block_on(async { tokio::time::timeout(patience, call).await });
        answer.unwrap_or_else(|_| Err(unreachable("no answer in time")))
    };
    let answer = std::thread::scope(|scope| scope.spawn(ask).join());
    answer.unwrap_or_else(|_| Err(unreachable("it failed")))
}

/// An error's cause without the URL, which may carry a key.
fn plain(error: &reqwest::Error) -> String {
    let kind = if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the connection broke"
    };
    let source = std::error::Error::source(error).map_or_else(String::new, |source| format!(" ({source})"));
    format!("{kind}{source}")
}

/// The beginning of an answer, on one line.
pub(crate) fn shown(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = text.trim();
    let beginning = cut(text, 120);
    if beginning.len() < text.len() { format!("`{beginning}…`") } else { format!("`{text}`") }
}
