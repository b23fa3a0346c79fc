//! A long conversation: the daemon summarises it in the background, a question is told of it, and the request is made
//! again from the notes.

use std::fmt::Write as _;

use super::rig::*;
use super::turns_remade::remade;
use crate::models::Reply;
use crate::support::contains_all;

/// A log of the last hours with 130 messages of some 250 tokens; one says what colour the mast gets.
fn log() -> String {
    let mut text = format!("---\nsurface: discord-channel\ncontext_id: \"{CHANNEL}\"\n---\n");
    let begin = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(12);
    for at in 0..130 {
        let (kind, who) = if at % 2 == 0 { ("user", "Alice") } else { ("agent", "Vault") };
        let said = if at == 10 { "The mast is painted turquoise on Friday." } else { "This is small talk." };
        let filler = "It goes on and on for a while, as talk does. ".repeat(22);
        let when = begin + jiff::SignedDuration::from_mins(at);
        let id = ulid::Ulid::from_parts(u64::try_from(when.as_millisecond()).unwrap(), 77);
        let _ = write!(text, "\n> [!{kind}] {when} {who}\n> {said} {filler}\n\n^{id}\n");
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_about_what_was_summarised_is_told_of_it_and_made_again() {
    let rig = Rig::new().await;
    rig.set(&rig.brains(&[("one", "messages")]));
    let name = format!("discord-channel/{CHANNEL}/20260101T000000Z_0001");
    rig.write(&format!("logs/{name}.md"), log());
    rig.server.respond(|asked| {
        if asked.system().starts_with("You summarise a piece") {
            return Reply::text("They agreed on a colour.\n\nExpand for details about: the mast.");
        }
        Reply::text("Turquoise.")
    });
    let daemon = Daemon::start(&rig);
    rig.fake.connected().await;
    let note = format!("summaries/{name}/d0-0001.md");
    rig.wait("a summary", || rig.vault().join(&note).exists()).await;
    let summary = rig.read(&note);
    assert!(summary.contains("\nbrain: one\n") && summary.contains("They agreed on a colour."), "{summary}");
    let id = rig.ask("Which colour is the mast painted?");
    rig.wait("its answer", || rig.is_over(id)).await;
    drop(daemon);
    let requests = rig.server.requests();
    let asked = requests.iter().rev().find(|asked| asked.last_user().contains("Which colour")).unwrap();
    let messages: Vec<String> = asked.messages().iter().map(ToString::to_string).collect();
    contains_all(&messages[0], &["[Summary sum_", "They agreed on a colour"]);
    let last = messages.last().unwrap();
    contains_all(last, &["Said earlier in this conversation", "painted turquoise"]);
    assert!(!messages[1].contains("small talk") || messages.len() > 64, "the tail is told whole");
    let told = asked.messages().len();
    assert!((66..131).contains(&told), "{told} messages: what is summarised isn't told whole");
    // The request is made again: with state, without, and from history once the summary says something else.
    let block = rig.turn_journal().turn(id).unwrap().unwrap().name();
    assert_eq!(remade(&rig, &block, true)["equal"], true);
    assert_eq!(remade(&rig, &block, false)["equal"], true);
    rig.write(&note, summary.replace("a colour", "nothing"));
    assert_eq!(remade(&rig, &block, false)["equal"], false);
    assert_eq!(remade(&rig, &block, true)["equal"], true, "from history");
    // What it took is counted, and nobody is asked twice.
    assert!(std::fs::read_dir(rig.vault().join("logs/summaries/summaries")).unwrap().count() == 1);
    let summarised =
        rig.server.requests().iter().filter(|asked| asked.system().starts_with("You summarise")).count();
    assert_eq!(summarised, 1);
}
