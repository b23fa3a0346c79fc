//! Calls a reranker behind an HTTP endpoint of the common `/rerank` form: Cohere, Jina, vLLM, llama.cpp, Text
//! Embeddings Inference.
//!
//! One call scores all texts. Text Embeddings Inference takes the texts as `texts`, and fewer at a time; if an endpoint
//! reports that `texts` is missing, it is called again in that form. The response is bounded, and must have one finite
//! score for each text. The key comes from the environment or from a file outside the vault. The key is sent only to
//! the address in the settings (no redirect is followed), and never logged.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::Reranker;
use crate::config;
use crate::embed::http::{Endpoint, shown, wait};
use crate::embed::{ModelError, cut};

/// The most bytes of a question that are sent.
const MOST_QUESTION: usize = 2_000;
/// The most bytes of a text that are sent: a reranker reads some hundred tokens.
const MOST_TEXT: usize = 4_000;
/// An answer holds two numbers a text; some endpoints send the texts back.
const MOST_ANSWER: usize = 4 << 20;
/// The default limit of Text Embeddings Inference for one request.
const BATCH: usize = 32;

/// A reranker behind an endpoint.
#[derive(Debug)]
pub struct EndpointReranker {
    model: Option<String>,
    url: String,
    endpoint: Endpoint,
}

impl EndpointReranker {
    /// From the settings; nothing is sent yet.
    ///
    /// # Errors
    /// There is no address, or its key can't be read.
    pub fn open(settings: &config::RerankSettings, root: &Path) -> Result<Self, ModelError> {
        let wrong = ModelError::Settings;
        let url = settings.url.as_deref().ok_or_else(|| wrong("`rerank.url` is missing".to_owned()))?;
        let url = url.trim_end_matches('/');
        let url = if url.ends_with("/rerank") { url.to_owned() } else { format!("{url}/rerank") };
        let parsed = reqwest::Url::parse(&url).map_err(|error| wrong(format!("`rerank.url`: {error}")))?;
        let key = config::secret(config::RERANK_KEY_VARIABLE, settings.key_file.as_deref(), root);
        let key = key.map_err(|error| wrong(error.to_string()))?;
        let model = settings.model.clone();
        // Without a model's name the host says who it is; never the whole address, which may carry a key.
        let name = model.clone().or_else(|| parsed.host_str().map(str::to_owned)).unwrap_or_default();
        let endpoint = Endpoint::new(format!("endpoint:{name}"), "scores", key, None)?;
        Ok(Self { model, url, endpoint })
    }

    async fn all(&self, question: &str, texts: &[&str]) -> Result<Vec<f64>, ModelError> {
        let mut body = json!({"query": question, "documents": texts, "top_n": texts.len()});
        if let Some(model) = &self.model {
            body["model"] = json!(model);
        }
        match self.call(&body, texts.len()).await {
            Err(ModelError::Refused { reason, .. }) if reason.contains("`texts`") => {}
            answer => return answer,
        }
        let mut scores = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let body = json!({"query": question, "texts": batch, "truncate": true});
            scores.extend(self.call(&body, batch.len()).await?);
        }
        Ok(scores)
    }

    /// One call for `count` texts.
    async fn call(&self, body: &Value, count: usize) -> Result<Vec<f64>, ModelError> {
        let answer = self.endpoint.call(&self.url, body, MOST_ANSWER, None).await?;
        scores(&answer, count).map_err(|reason| self.endpoint.bad(reason))
    }
}

impl Reranker for EndpointReranker {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn scores(&self, question: &str, texts: &[String], patience: Duration) -> Result<Vec<f64>, ModelError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let question = cut(question, MOST_QUESTION);
        // An endpoint refuses an empty text.
        let texts = texts.iter().map(|text| if text.trim().is_empty() { "-" } else { cut(text, MOST_TEXT) });
        let texts: Vec<&str> = texts.collect();
        wait(patience, self.all(question, &texts), |reason| self.endpoint.unreachable(reason))
    }
}

/// The scores in an answer, in the order of the texts: `{"results": [{"index", "relevance_score"}]}`, or a bare list
/// of `{"index", "score"}`.
fn scores(answer: &Value, count: usize) -> Result<Vec<f64>, String> {
    let list =
        answer.as_array().or_else(|| answer["results"].as_array()).or_else(|| answer["data"].as_array());
    let list = list.ok_or_else(|| format!("no results in {}", shown(&answer.to_string())))?;
    let mut scores = vec![None; count];
    for one in list {
        let index = one["index"].as_u64().and_then(|index| usize::try_from(index).ok());
        let place = index.and_then(|index| scores.get_mut(index));
        let place = place.ok_or_else(|| format!("index {} of {count} texts", one["index"]))?;
        let number = one.get("relevance_score").or_else(|| one.get("score")).unwrap_or(&Value::Null);
        let score = number.as_f64().filter(|score| score.is_finite());
        let score = score.ok_or_else(|| format!("{} as a score", shown(&number.to_string())))?;
        if place.replace(score).is_some() {
            return Err(format!("index {} twice", one["index"]));
        }
    }
    let found = scores.iter().flatten().count();
    scores
        .into_iter()
        .collect::<Option<Vec<f64>>>()
        .ok_or_else(|| format!("{found} scores for {count} texts"))
}
