//! Reads the tables of search and memory: `[index]`, `[embed]`, `[rerank]`, `[recall]`, `[memory]`, `[summary]`,
//! `[capture]`, `[inbox]` and `[follow]`.

use std::collections::BTreeMap;

use super::{Validation, ensure, in_range, is_web, wrong};
use crate::format::candidate::Category;

settings! {
    /// Indexed files.
    pub struct IndexSettings {
        /// Glob patterns of further files to index, beside notes, canvases and bases.
        pub include: Vec<String>,
        /// Glob patterns of files to leave out.
        pub exclude: Vec<String>,
        /// Larger files are left out and listed.
        pub max_file_bytes: u64 = 16 << 20,
    }

    /// The source of vectors.
    pub struct EmbedSettings {
        /// `builtin`, `none`, `local:<dir>`, `google`, `openai` or `ollama`.
        pub provider: String = "builtin".to_owned(),
        /// The provider's model, where it has several.
        pub model: Option<String>,
        /// The endpoint, where it isn't the provider's own.
        pub url: Option<String>,
        /// A file with the provider's key, instead of its environment variable.
        pub key_file: Option<String>,
        /// A folder with a static model (model2vec's form) in the place of the one in the binary.
        pub table: Option<String>,
    }

    /// The reranker of a deep search's first hits.
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

    /// The bounds of recall.
    pub struct RecallSettings {
        /// The estimated tokens of an injection, at 4 characters each.
        pub budget_tokens: usize = 1000,
        /// The estimated tokens of one memory in it.
        pub memory_tokens: usize = 250,
        /// The brain that chooses among the recalled memories for a question of the assistant's; none: all are given.
        pub brain: Option<String>,
    }

    /// The memory of the person.
    pub struct MemorySettings {
        /// Turns on the shared identity and working memory; without it both are inert.
        pub user_namespace: Option<String>,
        /// How many days working memory stays valid, 1 to 365.
        pub working_memory_ttl_days: u32 = 14,
        /// The estimated tokens of working memory, 100 to 4000.
        pub working_memory_max_tokens: u32 = 1000,
        /// Whether the assistant is asked to mention what was last worked on.
        pub proactive_session_greeting: bool,
    }

    /// Summaries of logs.
    pub struct SummarySettings {
        /// Whether the daemon writes any.
        pub enabled: bool = true,
        /// The brain that writes them; none: those that would answer, in their order. Without any brain they are
        /// extracts.
        pub brain: Option<String>,
    }

    /// Learning from conversations.
    pub struct CaptureSettings {
        /// Whether the logs are searched for candidates; `false` turns it off.
        pub enabled: Option<bool>,
        /// The brain that finds candidates; rules, if none is named.
        pub brain: Option<String>,
        /// The categories whose candidates are kept at once, without a tick.
        pub auto: Vec<Category>,
    }

    /// The limits of questions to a person; the best candidates are asked about first, the others not at all.
    pub struct InboxSettings {
        /// The most questions on one day, 0 to 1000.
        pub per_day: usize = 5,
        /// The most unanswered questions, 0 to 10,000.
        pub open: usize = 20,
    }
}

impl EmbedSettings {
    pub(in crate::config) fn validate(&self) -> Validation {
        let provider = self.provider.as_str();
        let is_known = matches!(provider, "builtin" | "none" | "google" | "openai" | "ollama");
        ensure(
            is_known || is_local(provider),
            "embed.provider",
            format!("`embed.provider` is `{provider}`"),
            "give `builtin`, `none`, `local:<dir>`, `google`, `openai` or `ollama`",
        )
    }
}

/// Whether a provider is a model's folder: `local:<dir>`.
fn is_local(provider: &str) -> bool {
    provider.strip_prefix("local:").is_some_and(|dir| !dir.is_empty())
}

impl RerankSettings {
    pub(in crate::config) fn validate(&self) -> Validation {
        let provider = self.provider.as_str();
        ensure(
            is_local(provider) || matches!(provider, "none" | "endpoint"),
            "rerank.provider",
            format!("`rerank.provider` is `{provider}`"),
            "give `none`, `endpoint` or `local:<dir>`",
        )?;
        ensure(
            provider != "endpoint" || self.url.is_some(),
            "rerank.provider",
            "`rerank.provider` is `endpoint`, and no `rerank.url` says where it is",
            "add `url`, as in `url = \"http://127.0.0.1:8080\"`",
        )?;
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

/// Checks the folders of other programs that the daemon copies notes from.
pub(in crate::config) fn validate_follow(folders: &BTreeMap<String, String>) -> Validation {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    for (name, folder) in folders {
        let why = match folder {
            _ if name.is_empty() || !name.chars().all(plain) => {
                "its name may have letters, digits, `-` and `_`"
            }
            _ if name == "claude" => "`claude` is Claude Code's own: `vault-agent hook install --memories`",
            folder if !folder.starts_with('/') && !folder.starts_with("~/") => {
                "it has to begin with `/` or `~/`"
            }
            _ => continue,
        };
        let key = format!("follow.{name}");
        let message = format!("`{key}` can't be followed: {why}");
        return wrong(key, message, "write it as in `codex = \"~/.codex/memories\"`");
    }
    Ok(())
}
