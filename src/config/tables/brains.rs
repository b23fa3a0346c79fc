//! Reads `[[brain]]`: a brain (a language model that answers questions) with its kind, key, price and limits.

use crate::config::{ANTHROPIC_KEY_VARIABLE, OPENAI_KEY_VARIABLE};
use crate::words::words;
use serde::Deserialize;

/// The usual address of an Ollama on this machine.
pub const OLLAMA_URL: &str = "http://127.0.0.1:11434";

/// One brain: a model that can be asked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrainSettings {
    /// Its name in chains, routes, commands and logs.
    pub name: String,
    /// Its kind.
    pub kind: BrainKind,
    /// The provider's name of the model.
    pub model: String,
    /// The server, with or without `/v1`; without it the provider's own.
    pub url: Option<String>,
    /// The environment variable that holds its key.
    pub key_env: Option<String>,
    /// Several such variables: one key after another is tried where one is refused.
    #[serde(default)]
    pub key_envs: Vec<String>,
    /// A file with its key, outside the vault, that only its owner can read.
    pub key_file: Option<String>,
    /// How many tokens a request and its answer may have together.
    #[serde(default = "default_context")]
    pub context_tokens: u64,
    /// The most tokens of one answer.
    pub max_output_tokens: Option<u32>,
    /// Whether it takes pictures.
    #[serde(default)]
    pub vision: bool,
    /// Its price.
    pub price: Option<Price>,
    /// The program of a harness and its first arguments; without it the harness's own name.
    pub command: Option<Vec<String>>,
    /// Tools of its own that a harness may use; none, where none is named. Each use is asked about.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Whether its turns run one at a time; by default so for a harness, and not for a wire.
    pub serialize: Option<bool>,
    /// The most tokens of its calls of a day; none for no bound of its own.
    pub day_tokens: Option<u64>,
    /// The most that its calls of a day cost, in USD, where its price is set.
    pub day_usd: Option<f64>,
}

impl BrainSettings {
    /// The program of a harness and its first arguments; empty for a wire.
    pub fn command(&self) -> Vec<String> {
        let usual = || self.kind.program().map(str::to_owned).into_iter().collect();
        self.command.clone().unwrap_or_else(usual)
    }

    /// How many calls of it run at once.
    pub fn at_once(&self) -> usize {
        if self.serialize.unwrap_or(self.kind.is_harness()) { 1 } else { 4 }
    }
}

fn default_context() -> u64 {
    32_000
}

words! {
    /// The kind of a brain: a wire, or the protocol of a harness.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum BrainKind, as_str {
        /// Anthropic's Messages.
        Messages = "messages",
        /// OpenAI's Responses.
        Responses = "responses",
        /// Chat Completions, as every local server speaks it.
        Chat = "chat",
        /// Claude Code, as a program.
        ClaudeCode = "claude-code",
        /// Codex, as a program.
        Codex = "codex",
        /// Any agent of the Agent Client Protocol, as a program.
        Acp = "acp",
    }
}

impl BrainKind {
    /// Whether it is a program with a loop of its own.
    pub fn is_harness(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex | Self::Acp)
    }

    /// The program of a harness where the settings name none.
    pub fn program(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("claude"),
            Self::Codex => Some("codex"),
            Self::Messages | Self::Responses | Self::Chat | Self::Acp => None,
        }
    }

    /// The variable that holds its provider's key by custom.
    pub fn usual_key(self) -> Option<&'static str> {
        match self {
            Self::Messages | Self::ClaudeCode => Some(ANTHROPIC_KEY_VARIABLE),
            Self::Responses | Self::Chat | Self::Codex => Some(OPENAI_KEY_VARIABLE),
            Self::Acp => None,
        }
    }

    /// The server where the settings name none; a harness knows its own, and may be told another.
    pub fn default_url(self) -> &'static str {
        match self {
            Self::Messages | Self::ClaudeCode => "https://api.anthropic.com",
            Self::Responses | Self::Chat | Self::Codex => "https://api.openai.com",
            Self::Acp => "",
        }
    }
}

/// Prices in USD a million tokens. `Price::of` computes the cost of a call from them.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of tokens that the model reads.
    pub input: f64,
    /// Of tokens that it reads from its cache; without it, as `input`.
    pub cached: Option<f64>,
    /// Of tokens that it writes into its cache; without it, as `input`.
    pub cache_write: Option<f64>,
    /// Of tokens that it writes.
    pub output: f64,
}

/// The problem of a server's address. Never holds more of it than the server.
pub fn address_problem(url: &str) -> Option<String> {
    let is_secret_name = |name: &str| {
        ["key", "token", "secret", "password"].iter().any(|word| name.to_lowercase().contains(word))
    };
    match reqwest::Url::parse(url) {
        _ if !super::is_web(url) => {
            Some("its address is no web address: it begins with `http://` or `https://`".to_owned())
        }
        Err(error) => Some(format!("its address is no web address: {error}")),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            Some("its address holds a password, which every log would show".to_owned())
        }
        Ok(url) if url.fragment().is_some() => Some("its address has a part behind `#`".to_owned()),
        Ok(url) if url.query_pairs().any(|(name, _)| is_secret_name(&name)) => {
            Some("its address holds a key, which every log would show: name it with `key_env`".to_owned())
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::address_problem;

    #[test]
    fn addresses_are_sane_or_told() {
        let query = "https://host/openai/v1?api-version=preview";
        for url in ["https://api.openai.com", "http://127.0.0.1:8080/v1", "http://[::1]:11434", query] {
            assert_eq!(address_problem(url), None, "{url}");
        }
        for url in [
            "https://",
            "https://a b",
            "https://me:pw@host",
            "https://host/v1?api_key=pw",
            "https://host/v1#pw",
            "http://host:99999",
        ] {
            assert!(address_problem(url).is_some_and(|told| !told.contains("pw")), "{url}");
        }
    }
}
