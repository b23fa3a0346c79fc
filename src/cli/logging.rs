//! Writes the log to standard error: as log lines for services, as sentences for commands that a person calls.

use std::fmt::{Debug, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The variable with the log filter: `debug`, `vault_agent::search=debug`, …
const VARIABLE: &str = "VAULT_AGENT_LOG";

/// Sends the log to standard error: standard output belongs to results and to MCP. A command that ends (`is_service` is
/// false) and wasn't asked for a log (`verbose` is 0) says its warnings as sentences.
pub(super) fn to_stderr(verbose: u8, is_service: bool) {
    let default = match verbose {
        0 => "vault_agent=warn",
        1 => "vault_agent=info",
        _ => "vault_agent=debug",
    };
    let asked = EnvFilter::try_from_env(VARIABLE).ok();
    let is_plain = !is_service && verbose == 0 && asked.is_none();
    let filter = asked.unwrap_or_else(|| EnvFilter::new(default));
    let colours = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    // By default a closed standard error is a panic.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).log_internal_errors(false);
    let log = log.with_writer(std::io::stderr);
    let _ = if is_plain { log.event_format(Sentence).try_init() } else { log.try_init() };
}

/// One event as one sentence.
struct Sentence;

impl<S, N> FormatEvent<S, N> for Sentence
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let mut parts = Parts::default();
        event.record(&mut parts);
        let kind = if *event.metadata().level() == Level::ERROR { "error" } else { "warning" };
        writeln!(writer, "{kind}: {}", crate::terminal::printable(&parts.sentence()))
    }
}

/// The fields of an event.
#[derive(Debug, Default)]
struct Parts {
    message: String,
    reason: String,
    about: Vec<String>,
}

impl Parts {
    /// The message, what it is about, and the reason.
    fn sentence(&self) -> String {
        let mut out = self.message.clone();
        if !self.about.is_empty() {
            let _ = write!(out, " ({})", self.about.join(", "));
        }
        if !self.reason.is_empty() {
            let _ = write!(out, ": {}", self.reason);
        }
        out
    }
}

impl Visit for Parts {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            "error" | "reason" | "why" => self.reason = format!("{value:?}"),
            name => self.about.push(format!("{name} {value:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_what_it_is_about_and_the_reason() {
        let parts = Parts {
            message: "an interrupted edit can't be finished now".to_owned(),
            reason: "permission denied".to_owned(),
            about: vec!["note Reminders.md".to_owned()],
        };
        assert_eq!(
            parts.sentence(),
            "an interrupted edit can't be finished now (note Reminders.md): permission denied"
        );
        assert_eq!(Parts { message: "a".to_owned(), ..Parts::default() }.sentence(), "a");
    }
}
