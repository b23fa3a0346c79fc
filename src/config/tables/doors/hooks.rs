//! Reads `[hooks]`: the most characters that a hook may inject, whether sessions are archived, and the masking of
//! secrets.

use regex_lite::Regex;
use serde::Deserialize;

use crate::config::tables::checks::{Validation, in_range, wrong};
use crate::defaults::defaults;
use crate::redact::Redactor;

defaults! {
    /// The section.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
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
}
