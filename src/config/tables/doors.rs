//! Reads `[discord]`, `[hooks]` and `[web]`: the tables of the bot, of the hooks of coding agents, and of the page.

use std::net::SocketAddr;

use regex_lite::Regex;
use serde::Deserialize;
use serde::de::{self, Deserializer, Unexpected};

use super::{Validation, ensure, in_range, wrong};
use crate::redact::Redactor;

settings! {
    /// The Discord bot or webhook.
    #[derive(serde::Serialize)]
    pub struct DiscordSettings {
        /// A file with the webhook's URL, instead of `VAULT_AGENT_DISCORD_WEBHOOK`.
        pub webhook_url_file: Option<String>,
        /// A file with the bot's token, instead of `DISCORD_TOKEN`.
        pub token_file: Option<String>,
        /// The bot's application.
        #[serde(deserialize_with = "one_id")]
        pub application_id: Option<u64>,
        /// The server whose commands are registered at once.
        #[serde(deserialize_with = "one_id")]
        pub guild_id: Option<u64>,
        /// The channel that is bound: notifications go there and its messages are logged.
        #[serde(deserialize_with = "one_id")]
        pub channel_id: Option<u64>,
        /// The people who may command and are answered.
        #[serde(deserialize_with = "several_ids")]
        pub owner_ids: Vec<u64>,
        /// The REST base, for a test server on this machine.
        pub api_base: Option<String>,
        /// Whether messages of people who are no owners are logged too.
        pub log_others: bool = true,
        /// A thread is no longer bound after so many days without a message.
        pub thread_idle_days: u32 = 7,
        /// A message in a bound thread that doesn't address the bot is answered if it is at most so many minutes old;
        /// an older one, from before an absence, is only logged. A message that addresses the bot is always answered.
        pub act_within_minutes: u32 = 15,
        /// The handling of files on messages.
        pub keep_attachments: KeepAttachments = KeepAttachments::Links,
        /// Larger files stay links.
        pub max_attachment_bytes: u64 = 10 << 20,
    }

    /// The text that hooks add to a conversation, and the sessions that they archive.
    pub struct HookSettings {
        /// The most characters that one hook adds to a conversation, up to 10,000.
        pub max_chars: usize = 8000,
        /// Whether sessions are kept as logs: prompts, answers, tool calls and results.
        pub archive: bool,
        /// Whether secrets are masked before text is kept: in sessions' logs, in those of turns, in the inbox.
        pub mask_keys: bool = true,
        /// Regular expressions; what they match is masked, too.
        pub mask: Vec<String>,
    }

    /// The local web page.
    pub struct WebSettings {
        /// Whether the daemon listens from its start; else only when `vault-agent web` asks it to.
        pub enabled: bool,
        /// The address; port 0 takes a free one.
        pub listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8790)),
        /// Names that a proxy in front of the page is called by, with a port where it isn't the scheme's own.
        pub trusted_hosts: Vec<String>,
    }
}

/// The handling of files on messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeepAttachments {
    /// The log has Discord's link, which expires.
    #[default]
    Links,
    /// The file is kept beside the log.
    Files,
}

/// An id of Discord, which may be left out: a number, with or without quotes, since Discord itself writes ids as text.
fn one_id<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    DiscordId::deserialize(from).map(|id| Some(id.0))
}

/// A list of ids.
fn several_ids<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    Vec::<DiscordId>::deserialize(from).map(|ids| ids.into_iter().map(|id| id.0).collect())
}

struct DiscordId(u64);

impl<'de> Deserialize<'de> for DiscordId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        const FORM: &str = "an id, the number that Discord copies in developer mode";
        let written = toml::Value::deserialize(from)?;
        let id = match &written {
            toml::Value::Integer(id) => u64::try_from(*id).map_err(|_| Unexpected::Signed(*id)),
            toml::Value::String(text) => text.trim().parse().map_err(|_| Unexpected::Str(text)),
            other => return Err(de::Error::invalid_type(Unexpected::Other(other.type_str()), &FORM)),
        };
        id.map(DiscordId).map_err(|found| de::Error::invalid_value(found, &FORM))
    }
}

impl HookSettings {
    /// The masker of secrets in text that is kept.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(self.mask_keys, &self.mask)
    }

    pub(in crate::config) fn validate(&self) -> Validation {
        in_range("hooks.max_chars", self.max_chars, 200, 10_000)?;
        for pattern in &self.mask {
            let reason = match Regex::new(pattern) {
                Err(error) => format!("which is no regular expression: {error}"),
                Ok(found) if found.is_match("") => "which matches where there is nothing".to_owned(),
                Ok(_) => continue,
            };
            let hint = "write a pattern of what is to be hidden, such as `acme_[a-z0-9]{20,}`";
            return wrong("hooks.mask", format!("`hooks.mask` has `{pattern}`, {reason}"), hint);
        }
        Ok(())
    }
}

impl WebSettings {
    pub(in crate::config) fn validate(&self) -> Validation {
        let listen = self.listen;
        ensure(
            listen.ip().is_loopback() || !self.trusted_hosts.is_empty(),
            "web.listen",
            format!(
                "`web.listen` is `{listen}`, which other machines can reach, and `web.trusted_hosts` names no host"
            ),
            "leave it at `127.0.0.1:8790`, or name the host in `trusted_hosts`; TLS is the work of a proxy, see docs/web.md",
        )?;
        let Some(host) = self.trusted_hosts.iter().find(|host| !is_host(host)) else { return Ok(()) };
        let message = format!("`web.trusted_hosts` holds `{host}`, which is no host's name");
        let hint =
            "write the name alone, such as `vault.tail1234.ts.net`, with `:PORT` where the address has one";
        wrong("web.trusted_hosts", message, hint)
    }
}

/// Whether a text is a host's name or address, with or without a port.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, Some(port)),
        _ => (text, None),
    };
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-:".contains(c))
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use crate::config::Settings;

    #[test]
    fn a_mask_is_a_pattern_that_matches_something() {
        let with = |list: &str| Settings::parse(&format!("[hooks]\nmask = {list}"));
        assert_eq!(with("[\"acme_[a-z]+\"]").unwrap().hooks.mask, ["acme_[a-z]+"]);
        for wrong in ["[\"(\"]", "[\"x*\"]"] {
            assert!(with(wrong).unwrap_err().to_string().contains("`hooks.mask` has `"), "{wrong}");
        }
        assert!(!Settings::parse("").unwrap().hooks.archive);
    }

    #[test]
    fn an_address_that_others_reach_needs_a_trusted_host() {
        let web = |text: &str| Settings::parse(&format!("[web]\n{text}\n"));
        assert!(!web("").unwrap().web.enabled);
        assert!(web("listen = \"[::1]:0\"").is_ok());
        for listen in ["localhost:8790", "127.0.0.1"] {
            let hint = web(&format!("listen = \"{listen}\"")).unwrap_err().suggestion.unwrap_or_default();
            assert!(hint.contains("as in `127.0.0.1:8790`"), "{listen}: {hint}");
        }
        let error = web("listen = \"0.0.0.0:8790\"").unwrap_err();
        assert!(error.to_string().contains("`web.listen` is `0.0.0.0:8790`"), "{error}");
        assert!(web("listen = \"0.0.0.0:8790\"\ntrusted_hosts = [\"vault.tail1234.ts.net\"]").is_ok());
        for host in ["https://a.example", "a b", "*", "", "a:x", "a/b"] {
            let error = web(&format!("trusted_hosts = [\"{host}\"]")).unwrap_err();
            assert!(error.to_string().contains("no host's name"), "{host}: {error}");
        }
        assert!(web("trusted_hosts = [\"a.example:8443\", \"[fd7a::1]:80\", \"100.64.0.1\"]").is_ok());
    }
}
