//! Prints each notification to the console at once, on one line; a routine's text keeps its line breaks.
//!
//! Lines are coloured on a terminal; with JSON each line is one object. A console can't be asked for earlier messages,
//! so a notification may be printed twice after a crash. Control characters of a note never reach the terminal.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use anstyle::{AnsiColor, Style};

use crate::deliver::pass::DeliveredItem;
use crate::deliver::prelude::*;
use crate::deliver::words::{NoteLinks, compose, link};

const TIME: Style = AnsiColor::Cyan.on_default();
const TEXT: Style = Style::new().bold();
const REMARK: Style = AnsiColor::Yellow.on_default();

/// Whether standard output is a terminal that may get links. A terminal without links shows the words alone, save a few
/// old ones, which are left out. `FORCE_HYPERLINK` overrides this.
pub fn takes_links() -> bool {
    if let Some(forced) = std::env::var_os("FORCE_HYPERLINK") {
        return forced != "0" && !forced.is_empty();
    }
    let old = |term: &str| term.is_empty() || term == "dumb" || term == "linux" || term.starts_with("vt");
    std::io::stdout().is_terminal() && std::env::var("TERM").is_ok_and(|term| !old(&term))
}

/// Writes notifications as lines.
pub struct Console {
    out: Mutex<Box<dyn Write + Send>>,
    json: bool,
    tz: TimeZone,
    links: Option<NoteLinks>,
}

impl Console {
    /// Lines on standard output; `json` makes them JSON objects. Instants are shown in `tz`.
    pub fn stdout(json: bool, tz: TimeZone) -> Self {
        Self::new(Box::new(anstream::stdout()), json, tz)
    }

    /// Lines for people on standard error, where standard output holds a document.
    pub fn stderr(tz: TimeZone) -> Self {
        Self::new(Box::new(anstream::stderr()), false, tz)
    }

    /// Lines into any writer, colour codes included.
    pub fn new(out: Box<dyn Write + Send>, json: bool, tz: TimeZone) -> Self {
        Self { out: Mutex::new(out), json, tz, links: None }
    }

    /// With links that open the notes; for a terminal that takes them ([`takes_links`]).
    #[must_use]
    pub fn with_links(mut self, links: NoteLinks) -> Self {
        self.links = Some(links);
        self
    }

    fn lines(&self, message: &OutgoingMessage) -> Vec<String> {
        if message.facts.is_empty() {
            let text = match message.kind {
                MessageKind::Routine => message.text.lines().map(one_line).collect::<Vec<_>>().join("\n"),
                _ => one_line(&message.text),
            };
            let json = serde_json::json!({"kind": message.kind, "text": message.text});
            return vec![if self.json { json.to_string() } else { text }];
        }
        message
            .facts
            .iter()
            .map(|fact| {
                let phrase = compose::phrase_of(message.kind, &message.text);
                if self.json {
                    return self.json_line(fact, phrase);
                }
                let url = self.links.as_ref().and_then(|links| links.of(message));
                plain_line(fact, phrase, url.as_deref())
            })
            .collect()
    }

    fn json_line(&self, fact: &NotifiedItem, phrase: Option<&str>) -> String {
        let mut line = serde_json::json!(DeliveredItem::of(fact, &self.tz));
        if let Some(phrase) = phrase {
            line["phrase"] = phrase.into();
        }
        line.to_string()
    }
}

/// `2026-12-01 09:30 Call "Mum" (due 09:30, 3 h late)`; with the words that a brain found, these. They open `url`.
fn plain_line(fact: &NotifiedItem, phrase: Option<&str>, url: Option<&str>) -> String {
    let when = fact.local.strftime("%Y-%m-%d %H:%M");
    let today = fact.local.saturating_add(SignedDuration::from_secs(fact.late_seconds)).date();
    let text = one_line(phrase.unwrap_or(&fact.msg));
    let mark = if fact.kind == MessageKind::Commitment && phrase.is_none() { "follow-up: " } else { "" };
    let remark = compose::remark(fact, today);
    let words = format!("{TEXT}{mark}{text}{TEXT:#}");
    let words = match url {
        Some(url) => link::on_terminal(&words, url),
        None => words,
    };
    let line = format!("{TIME}{when}{TIME:#} {words}");
    if remark.is_empty() { line } else { format!("{line} {REMARK}({remark}){REMARK:#}") }
}

/// The text on one line, with nothing that a terminal would obey.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[async_trait]
impl Notifier for Console {
    fn name(&self) -> &'static str {
        "console"
    }

    fn limit(&self) -> usize {
        usize::MAX
    }

    async fn send(&self, message: &OutgoingMessage) -> SendOutcome {
        let mut text = self.lines(message).join("\n");
        text.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => SendOutcome::Sent { message_id: None },
            Err(error) => {
                SendOutcome::Retry { after: None, reason: format!("can't write to the console: {error}") }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn fact(msg: &str, late: i64) -> NotifiedItem {
        NotifiedItem {
            kind: MessageKind::Reminder,
            id: "rid_K5V4M2J9Q2ZP".to_owned(),
            local: "2026-12-01T09:30".parse().unwrap(),
            due: "2026-12-01T09:30:00Z".parse().unwrap(),
            late_seconds: late,
            missed: 0,
            msg: msg.to_owned(),
            recurring: true,
            next: Some("2026-12-08T09:30".parse().unwrap()),
            note: None,
        }
    }

    fn shown(json: bool, facts: Vec<NotifiedItem>, text: &str) -> String {
        let buffer = Buffer::default();
        let tz = TimeZone::get("Europe/Berlin").unwrap();
        let console = Console::new(Box::new(buffer.clone()), json, tz);
        let kind = if facts.is_empty() { MessageKind::Confirmation } else { MessageKind::Digest };
        let message = OutgoingMessage { facts, ..OutgoingMessage::whole(kind, "", text) };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(console.send(&message)), SendOutcome::Sent { message_id: None });
        String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn words_that_a_brain_found_stand_in_the_place_of_the_message() {
        let mut one = fact("Call Mum", 0);
        (one.recurring, one.next) = (false, None);
        let plain = plain_line(&one, compose::phrase_of(MessageKind::Reminder, "Time to call Mum!"), None);
        assert_eq!(anstream::adapter::strip_str(&plain).to_string(), "2026-12-01 09:30 Time to call Mum!");
        assert_eq!(compose::phrase_of(MessageKind::Reminder, "Reminder: Call Mum"), None);
        assert_eq!(compose::phrase_of(MessageKind::Digest, "5 were missed:"), None);
        let json = Console::new(Box::new(Buffer::default()), true, TimeZone::UTC).json_line(&one, Some("Hi"));
        assert!(json.contains("\"phrase\":\"Hi\"") && json.contains("\"text\":\"Call Mum\""), "{json}");
    }

    #[test]
    fn one_line_a_notification() {
        let plain = shown(false, vec![fact("Call", 0), fact("Evil \u{1b}[31m\nline", 7200)], "");
        insta::assert_snapshot!(anstream::adapter::strip_str(&plain), @r"
        2026-12-01 09:30 Call (next Tue 8 Dec 09:30)
        2026-12-01 09:30 Evil  [31m line (due 09:30, 2 h late; next Tue 8 Dec 09:30)
        ");
        assert_eq!(shown(false, Vec::new(), "added:\n```\n- [ ] x\n```"), "added: ``` - [ ] x ```\n");
    }

    #[test]
    fn json_is_one_object_a_line() {
        insta::assert_snapshot!(shown(true, vec![fact("Call", 60)], ""), @r#"{"due":"2026-12-01T10:30:00+01:00","id":"rid_K5V4M2J9Q2ZP","kind":"reminder","late_seconds":60,"missed":0,"next":"2026-12-08","text":"Call"}"#);
    }
}
