//! Embeds texts with a model behind an HTTP endpoint: Google, Ollama, or any server with OpenAI's embeddings API.
//!
//! One call embeds a batch; the response is checked for its count, its dimension and finite numbers.
//! [`crate::embed::retry`] decides about retries. Keys come from the environment or from a file outside the vault, and
//! are never logged. [`Endpoint`] makes the HTTP calls, also those of [`crate::rerank`].

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::{EmbedPurpose, ModelError, Provider, check, cut};
use crate::config;

/// Longest wait for one answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Endpoints cut long texts or refuse them; ours are blocks of notes, so the beginning tells enough.
const MOST_BYTES: usize = 8000;
/// The longest answer.
const MOST_ANSWER: usize = 64 << 20;

/// The API of an endpoint.
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
    model: String,
    url: String,
    endpoint: Endpoint,
}

impl EndpointModel {
    /// From the settings; nothing is sent yet.
    ///
    /// # Errors
    /// The provider needs a key or an endpoint that isn't there.
    pub fn open(settings: &config::EmbedSettings, root: &Path) -> Result<Self, ModelError> {
        let (api, model, url, variable) = match settings.provider.as_str() {
            "google" => (
                EndpointApi::Google,
                "gemini-embedding-001",
                "https://generativelanguage.googleapis.com/v1beta",
                config::GOOGLE_KEY_VARIABLE,
            ),
            "openai" => (
                EndpointApi::OpenAi,
                "text-embedding-3-small",
                "https://api.openai.com/v1",
                config::OPENAI_KEY_VARIABLE,
            ),
            _ => (EndpointApi::Ollama, "nomic-embed-text", config::OLLAMA_URL, config::OLLAMA_KEY_VARIABLE),
        };
        let wrong = |error: config::ConfigError| ModelError::Settings(error.to_string());
        let key = config::secret(variable, settings.key_file.as_deref(), root).map_err(wrong)?;
        // An endpoint of one's own often wants no key; the public ones always do.
        if key.is_none() && api != EndpointApi::Ollama && settings.url.is_none() {
            return Err(ModelError::Settings(format!(
                "`embed.provider` is `{}`, but there is no key: set `{variable}`, or `embed.key_file` to a file that only you can read",
                settings.provider
            )));
        }
        let model = settings.model.clone().unwrap_or_else(|| model.to_owned());
        let url = settings.url.clone().unwrap_or_else(|| url.to_owned());
        let key_header = (api == EndpointApi::Google).then_some("x-goog-api-key");
        let name = format!("{}:{model}", settings.provider);
        let endpoint = Endpoint::new(name, "vectors", key, key_header)?;
        Ok(Self { api, model, url: url.trim_end_matches('/').to_owned(), endpoint })
    }

    /// The address of a call, and what is sent.
    fn request(&self, texts: &[&str], purpose: EmbedPurpose) -> (String, Value) {
        match self.api {
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
        }
    }

    /// The vectors in an answer, in the order of the texts.
    fn vectors(&self, answer: &Value) -> Result<Vec<Vec<f32>>, ModelError> {
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
        let bad = |reason: String| self.endpoint.bad(reason);
        let found = found.ok_or_else(|| bad(format!("no vectors in {}", shown(&answer.to_string()))))?;
        found
            .into_iter()
            .map(|vector| {
                let numbers = vector.as_array().ok_or_else(|| bad("a vector that is no list".to_owned()))?;
                // Kept as f32: what overflows is found by `check`.
                let number = |x: &Value| {
                    let number = x.as_f64().map(|x| x as f32);
                    number.ok_or_else(|| bad(format!("{} in a vector", shown(&x.to_string()))))
                };
                numbers.iter().map(number).collect()
            })
            .collect()
    }
}

#[async_trait]
impl Provider for EndpointModel {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn batch(&self) -> usize {
        match self.api {
            EndpointApi::Google => 100,
            EndpointApi::OpenAi => 128,
            EndpointApi::Ollama => 32,
        }
    }

    async fn embed(&self, texts: &[String], purpose: EmbedPurpose) -> Result<Vec<Vec<f32>>, ModelError> {
        let texts: Vec<&str> = texts.iter().map(|text| cut(text, MOST_BYTES)).collect();
        // An endpoint refuses an empty text; a space is embedded as nothing in particular.
        let sent: Vec<&str> =
            texts.iter().map(|text| if text.trim().is_empty() { "-" } else { *text }).collect();
        let (url, body) = self.request(&sent, purpose);
        let answer = self.endpoint.call(&url, &body, MOST_ANSWER, Some(TIMEOUT)).await?;
        let vectors = self.vectors(&answer)?;
        check(self.name(), &vectors, texts.len())?;
        Ok(vectors)
    }
}

/// A client of one endpoint.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// The model's name, for answers and errors.
    pub name: String,
    /// The name of the task (a verb phrase), for errors.
    wanted: &'static str,
    key: Option<SecretString>,
    /// The header of the key, where it isn't the usual one.
    key_header: Option<&'static str>,
    client: reqwest::Client,
}

impl Endpoint {
    /// Nothing is sent yet.
    ///
    /// # Errors
    /// The system gives no HTTP client.
    pub fn new(
        name: String,
        wanted: &'static str,
        key: Option<SecretString>,
        key_header: Option<&'static str>,
    ) -> Result<Self, ModelError> {
        let client = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(5))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| ModelError::Settings(format!("no HTTP client: {error}")))?;
        Ok(Self { name, wanted, key, key_header, client })
    }

    /// Sends a request and returns the JSON of the response, which is bounded in bytes and, if `patience` is given, in
    /// time.
    ///
    /// # Errors
    /// A connection that failed or broke, a time-out, 429, 5xx; the endpoint says no (as llama.cpp does by 500, of a text
    /// that is too long); something else than JSON, or too much of it.
    pub async fn call(
        &self,
        url: &str,
        body: &Value,
        most: usize,
        patience: Option<Duration>,
    ) -> Result<Value, ModelError> {
        let mut request = self.client.post(url).json(body);
        if let Some(patience) = patience {
            request = request.timeout(patience);
        }
        request = match (&self.key, self.key_header) {
            (Some(key), Some(header)) => request.header(header, key.expose_secret()),
            (Some(key), None) => request.bearer_auth(key.expose_secret()),
            (None, _) => request,
        };
        let broken = |error: reqwest::Error| self.unreachable(&plain(&error));
        let mut answer = request.send().await.map_err(broken)?;
        let (status, after) = (answer.status(), answer.headers().get(reqwest::header::RETRY_AFTER));
        let after = after.and_then(|value| value.to_str().ok()?.trim().parse().ok()).map(Duration::from_secs);
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(broken)? {
            if body.len() + piece.len() > most {
                return Err(self.bad(format!("more than {} MiB", most >> 20)));
            }
            body.extend_from_slice(&piece);
        }
        let (body, provider) = (String::from_utf8_lossy(&body), self.name.clone());
        if status.as_u16() == 429 || status.is_server_error() && status.as_u16() != 500 {
            return Err(ModelError::Unreachable { provider, reason: format!("status {status}"), after });
        }
        if !status.is_success() {
            let reason = format!("status {status}: {}", shown(&body));
            return Err(ModelError::Refused { provider, reason });
        }
        serde_json::from_str(&body).map_err(|_| self.bad(shown(&body)))
    }

    /// The error of an endpoint that can't be reached.
    pub fn unreachable(&self, reason: &str) -> ModelError {
        ModelError::Unreachable { provider: self.name.clone(), reason: reason.to_owned(), after: None }
    }

    /// The error of an answer that isn't what was asked for.
    pub fn bad(&self, reason: String) -> ModelError {
        ModelError::BadAnswer { provider: self.name.clone(), wanted: self.wanted, reason }
    }
}

/// Waits for the result of a call, at most for `patience`. The call runs on a thread of its own, because the caller may
/// be inside a runtime, where blocking isn't allowed.
pub(crate) fn wait<T: Send>(
    patience: Duration,
    call: impl Future<Output = Result<T, ModelError>> + Send,
    unreachable: impl Fn(&str) -> ModelError + Sync,
) -> Result<T, ModelError> {
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
