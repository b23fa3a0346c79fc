//! Shows a question for approval in the channel: the full call, and buttons for the decision.
//!
//! The buttons are Once, Always (where the call can be allowed for good) and No. The decision is kept only in the note
//! of approvals: a press writes it there, and the waiting call reads it from there. A button's id holds the line's id
//! and digest, so that the button works after any restart, and never for a changed line. The questions are not part of
//! the conversation: the log never holds them.

use serde_json::json;
use serenity::http::{LightMethod, Route};

use crate::agent::approvals::digest_of;
use crate::deliver::delivery_journal::approval_key;
use crate::deliver::{AnswerOutcome, MessageKind, MessageScope, OutgoingMessage};
use crate::discord::api::message::{self, IncomingMessage};
use crate::discord::buttons::{self, Press};
use crate::discord::shared::{BotState, END_TIME, LONGEST_PAUSE};
use crate::format::approval::{self, Approval};
use crate::turn::TurnRow;

/// Whether a message of ours is such a question, or a part of one.
pub(in crate::discord) fn is_question(shared: &BotState, message: &IncomingMessage) -> bool {
    message.custom_ids.iter().any(|id| matches!(buttons::parse(id), Some(Press::Approval { .. })))
        || shared
            .answers
            .journal
            .is_approval(&message.id.to_string(), message.nonce.as_deref())
            .unwrap_or_default()
}

/// Passes the question to `deliver` until it is shown.
pub(in crate::discord) async fn show(shared: &BotState, turn: &TurnRow, request: &Approval) {
    let (key, scope) = place(shared, turn, request);
    loop {
        match shared.answers.send_question(&key, scope, &text(request)).await {
            Ok(AnswerOutcome::Sent) => return,
            Ok(AnswerOutcome::Refused(why)) => {
                return tracing::error!("a question could not be shown: {why}");
            }
            Ok(AnswerOutcome::Later(at)) => shared.wait_until(at).await,
            Err(error) => {
                tracing::error!("a question could not be shown yet: {error}");
                tokio::time::sleep(LONGEST_PAUSE).await;
            }
        }
    }
}

/// Shows below the question how it ended, and disables the buttons.
pub(super) async fn show_end(shared: &BotState, turn: &TurnRow, request: &Approval, words: &str) {
    let (key, scope) = place(shared, turn, request);
    // A crash may have come between the message and its id.
    if shared.answers.is_begun(&key).unwrap_or_default() {
        let _ =
            tokio::time::timeout(END_TIME, shared.answers.send_question(&key, scope, &text(request))).await;
    }
    let chunks = shared.answers.sent(&key).unwrap_or_default();
    let Some(last) = chunks.last() else { return };
    let Some(id) = last.message_id.as_deref().and_then(|id| id.parse::<u64>().ok()) else { return };
    let outgoing = OutgoingMessage {
        nonce: last.nonce.clone(),
        ..OutgoingMessage::whole(MessageKind::Approval, key, "")
    };
    let mut rows = buttons::rows(&outgoing);
    buttons::disable(&mut rows);
    let content = format!("{}\n**{words}**", last.text);
    let body = json!({ "content": content, "components": rows, "allowed_mentions": { "parse": [] } });
    let route = Route::ChannelMessage { channel_id: turn.question.channel.into(), message_id: id.into() };
    let sent = tokio::time::timeout(END_TIME, shared.api.send(LightMethod::Patch, route, &body));
    match sent.await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!(%error, words, "the end of a question could not be shown"),
        Err(_) => tracing::debug!(words, "the end of a question could not be shown in time"),
    }
}

/// The key and place of the question. One line is one question: if an earlier message already asked it (each message
/// may ask about a day's budget), it stays there.
fn place(shared: &BotState, turn: &TurnRow, request: &Approval) -> (String, MessageScope) {
    let asked = &turn.question;
    let replied = asked.reply.then_some(asked.message);
    let (id, digest) = (&request.id, digest_of(request));
    let first = shared.answers.journal.approval_key_of(id, &digest).unwrap_or_default();
    let key = first.unwrap_or_else(|| approval_key(replied, id, &digest, request.always.is_some()));
    (key, scope(turn))
}

/// The place of a turn's question.
pub(super) fn scope(turn: &TurnRow) -> MessageScope {
    let (channel, is_thread) = (turn.question.channel, turn.question.thread);
    if is_thread { MessageScope::Thread(channel) } else { MessageScope::Channel(channel) }
}

/// The question's words.
fn text(request: &Approval) -> String {
    let why = request.why.as_deref().filter(|why| !why.is_empty());
    let why = why.map(|why| format!(" ({})", plain(why))).unwrap_or_default();
    let files = request.hash.as_ref().map(|hash| format!(" Hash of its files: {hash}.")).unwrap_or_default();
    let always = request
        .always
        .as_ref()
        .map(|pattern| format!("Always would allow from now on:\n{}\n", block(pattern)));
    format!(
        "**May this run?**{why} {} asks.{files}\n{}\n{}-# Until <t:{}:t>, by a button or in the vault's note of approvals.",
        plain(&request.brain),
        block(&request.run),
        always.unwrap_or_default(),
        request.until.as_second(),
    )
}

/// Text in a code block, whatever it holds: three backticks would end it, so they are spelled out.
fn block(text: &str) -> String {
    let mut out = String::new();
    let mut rest = approval::shown(text);
    while let Some(at) = rest.find("```") {
        let ticks = rest[at..].bytes().take_while(|b| *b == b'`').count();
        out.push_str(&rest[..at]);
        out.push_str(&"\\u{60}".repeat(ticks));
        rest = rest.split_off(at + ticks);
    }
    format!("```\n{out}{rest}\n```")
}

/// Untrusted words within a sentence, without markup and mentions.
fn plain(text: &str) -> String {
    message::escaped(&approval::shown(&text.replace('\n', " ")), "-.,()'/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deliver::split;
    use crate::format::approval::CheckboxMark;

    fn request(run: &str) -> Approval {
        Approval {
            mark: CheckboxMark::Open,
            id: "ap_K5V4M2J7Q2ZP".into(),
            run: run.into(),
            hash: None,
            why: Some("network <@42> **now**".into()),
            brain: "claude".into(),
            always: Some("bash:curl *".into()),
            until: "2026-12-01T09:30:00Z".parse().unwrap(),
            turn: None,
            state: None,
            block_id: None,
        }
    }

    #[test]
    fn a_command_is_shown_in_full_and_can_hide_nothing() {
        insta::assert_snapshot!(text(&request("echo 'x'\n```\n||rm -rf ~|| @everyone\u{202e}\t\u{1b}[2K")), @r"
        **May this run?** (network \<\@42\> \*\*now\*\*) claude asks.
        ```
        echo 'x'
        \u{60}\u{60}\u{60}
        ||rm -rf ~|| @everyone\u{202e}\t\u{1b}[2K
        ```
        Always would allow from now on:
        ```
        bash:curl *
        ```
        -# Until <t:1796117400:t>, by a button or in the vault's note of approvals.
        ");
        let long = text(&request(&"word ".repeat(1500)));
        let shown: usize = split::split(&long, 1900).iter().map(|chunk| chunk.matches("word").count()).sum();
        assert_eq!(shown, 1500);
    }
}
