//! Formats a hook's answer for the host.
//!
//! An answer is one line of JSON on standard output with exit code 0, or nothing at all. Claude Code cuts what hooks
//! add at 10,000 characters, so the whole line stays below that, counted as the host counts (UTF-16 units): a memory
//! that fits is given whole, and the host cuts nothing.

use serde_json::json;

use super::event::HostEvent;

/// The host's own limit for one hook's output.
pub const HOST_LIMIT: usize = 10_000;

/// A hook's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookAnswer {
    /// Text that is put before the model.
    pub context: Option<String>,
    /// Why the assistant may not stop yet.
    pub block: Option<String>,
    /// A word for the person at the screen.
    pub message: Option<String>,
}

impl HookAnswer {
    /// No word at all: the host goes on as if there were no hook.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Text for the model; blank text is nothing.
    pub fn context(text: String) -> Self {
        Self { context: (!text.trim().is_empty()).then_some(text), ..Self::default() }
    }

    /// The line for standard output, without its line break; empty where there is nothing to say, and
    /// where the line would be longer than the host takes.
    pub fn to_line(&self, event: HostEvent) -> String {
        if *self == Self::nothing() {
            return String::new();
        }
        let mut out = json!({});
        if let Some(reason) = &self.block {
            (out["decision"], out["reason"]) = ("block".into(), reason.as_str().into());
        }
        if let Some(message) = &self.message {
            out["systemMessage"] = message.as_str().into();
        }
        if let Some(context) = &self.context {
            out["hookSpecificOutput"] =
                json!({ "hookEventName": event.host_name(), "additionalContext": context });
        }
        let line = out.to_string();
        if units(&line) < HOST_LIMIT { line } else { String::new() }
    }
}

/// The length of a text as the host counts it.
pub fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_in_the_hosts_format() {
        assert_eq!(HookAnswer::nothing().to_line(HostEvent::Stop), "");
        assert_eq!(HookAnswer::context("  \n".into()), HookAnswer::nothing());
        insta::assert_snapshot!(
            HookAnswer::context("a \"b\"\n".into()).to_line(HostEvent::UserPromptSubmit),
            @r#"{"hookSpecificOutput":{"additionalContext":"a \"b\"\n","hookEventName":"UserPromptSubmit"}}"#
        );
        let stop = HookAnswer { block: Some("why".into()), message: Some("psst".into()), context: None };
        insta::assert_snapshot!(stop.to_line(HostEvent::Stop), @r#"{"decision":"block","reason":"why","systemMessage":"psst"}"#);
    }

    #[test]
    fn a_line_that_the_host_would_cut_is_not_given() {
        assert_eq!(HookAnswer::context("😀".repeat(5000)).to_line(HostEvent::SessionStart), "");
        assert!(!HookAnswer::context("😀".repeat(4900)).to_line(HostEvent::SessionStart).is_empty());
    }
}
