//! Reads `[rerank]`: the reranker of a deep search.

use serde::Deserialize;

use super::checks::{Validation, in_range, is_web, wrong};
use crate::defaults::defaults;

defaults! {
    /// The reranker of a deep search's first hits.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct RerankSettings {
        /// `none`, `endpoint` or `local:<dir>`.
        pub provider: String = "none".to_owned(),
        /// The endpoint: what stands before `/rerank`.
        pub url: Option<String>,
        /// The endpoint's model, where it has several.
        pub model: Option<String>,
        /// A file with the endpoint's key, instead of `RERANK_API_KEY`.
        pub key_file: Option<String>,
        /// The languages that it knows (ISO 639-1, `en`); empty: any.
        pub languages: Vec<String>,
        /// How long a deep search waits for it, 1 to 60 seconds.
        pub timeout_seconds: u32 = 10,
    }
}

impl RerankSettings {
    pub(in crate::config) fn validate(&self) -> Validation {
        let is_local = self.provider.strip_prefix("local:").is_some_and(|dir| !dir.is_empty());
        if !is_local && !matches!(self.provider.as_str(), "none" | "endpoint") {
            let message = format!("`rerank.provider` is `{}`", self.provider);
            return wrong("rerank.provider", message, "give `none`, `endpoint` or `local:<dir>`");
        }
        if self.provider == "endpoint" && self.url.is_none() {
            let message = "`rerank.provider` is `endpoint`, and no `rerank.url` says where it is";
            return wrong("rerank.provider", message, "add `url`, as in `url = \"http://127.0.0.1:8080\"`");
        }
        if let Some(url) = self.url.as_ref().filter(|url| !is_web(url)) {
            let message = format!("`rerank.url` is `{url}`, which is no web address");
            return wrong("rerank.url", message, "write it with `https://` or `http://`");
        }
        let is_code = |code: &&String| code.len() == 2 && code.bytes().all(|c| c.is_ascii_lowercase());
        if let Some(code) = self.languages.iter().find(|code| !is_code(code)) {
            let message = format!("`rerank.languages` holds `{code}`, which is no language's code");
            return wrong("rerank.languages", message, "give codes of two letters, as in `[\"en\", \"de\"]`");
        }
        in_range("rerank.timeout_seconds", self.timeout_seconds as usize, 1, 60)
    }
}
