//! Summarises a conversation by extraction, for working memory, and finds its topic for the day's note. Pure.
//!
//! The summary lists work done, decisions, preferences, open threads and files. No model is asked. Text is copied, not
//! reworded: lines over 240 characters are cut, and lines that look like a secret are left out.

use std::path::Path;

use super::WORDS;
use super::recall_gate::{RecallDecision, gate};
use crate::capture::offers::offers;
use crate::capture::sentences::{in_order, is_question, looks_secret, normalize_words, one_line, sentences};
use crate::hooks::host::{Transcript, TranscriptTurn};

const MAX_PROMPTS: usize = 6;
const MAX_FILES: usize = 12;
const MAX_OTHERS: usize = 6;
const MAX_LINE_CHARS: usize = 240;

/// Tools that change files, whatever their arguments' names.
const WRITERS: &[&str] = &["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// A text for working memory, of at most `most` characters; empty if nothing is left to continue.
pub fn working(transcript: &Transcript, cwd: Option<&Path>, most: usize) -> String {
    let turns: Vec<&TranscriptTurn> =
        transcript.turns.iter().filter(|turn| is_about_something(&turn.prompt)).collect();
    let mut out = TextBudget { text: String::new(), left: most };
    let recent = turns.iter().rev().take(MAX_PROMPTS).rev();
    let mut work: Vec<String> =
        transcript.title.iter().map(|title| one_line(title, MAX_LINE_CHARS)).collect();
    work.extend(recent.map(|turn| one_line(&turn.prompt, MAX_LINE_CHARS)));
    out.section("Worked on", work);
    out.section("Open threads", open(&turns));
    out.section("Decisions", said(&turns, &WORDS["decisions"]));
    let wishes = turns.iter().rev().flat_map(|turn| offers(&turn.prompt)).collect();
    out.section("Preferences and facts", unique(wishes, MAX_OTHERS));
    out.section("Files", files(&turns, cwd));
    out.text.trim_end().to_owned()
}

/// A session's topic in a few words: its title, or else its first prompt with content.
pub fn topic(head: &Transcript, tail: &Transcript, most: usize) -> Option<String> {
    let title = tail.title.as_ref().or(head.title.as_ref()).map(String::as_str);
    let prompts = head.turns.iter().chain(&tail.turns).map(|turn| turn.prompt.as_str());
    let said =
        title.into_iter().chain(prompts).find(|text| is_about_something(text) && !looks_secret(text))?;
    // A link or a tag in a prompt would become one in the note.
    let plain: String =
        one_line(said, most).chars().filter(|c| !matches!(c, '[' | ']' | '#' | '`' | '^' | '%')).collect();
    (!plain.trim().is_empty()).then(|| plain.trim().to_owned())
}

fn is_about_something(prompt: &str) -> bool {
    gate(prompt) == RecallDecision::Open
}

/// Open questions: asked and not answered, asked back by the assistant, or called open by either.
fn open(turns: &[&TranscriptTurn]) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(last) = turns.last() {
        if last.replies.is_empty() {
            found.push(format!("Not answered yet: {}", one_line(&last.prompt, MAX_LINE_CHARS)));
        }
        let back = last.replies.last().map(|text| sentences(text)).unwrap_or_default();
        let asked = back.iter().rev().take(2).filter(|sentence| is_question(sentence));
        found.extend(asked.map(|sentence| one_line(sentence, MAX_LINE_CHARS)));
    }
    found.extend(said(turns, &WORDS["open"]));
    unique(found, MAX_OTHERS)
}

/// Sentences with one of the phrases, the newest first.
fn said(turns: &[&TranscriptTurn], phrases: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for turn in turns.iter().rev() {
        let words = turn.words();
        for sentence in sentences(&words).into_iter().rev().chain(sentences(&turn.prompt)) {
            let plain = normalize_words(&sentence.to_lowercase());
            if !is_question(&sentence) && phrases.iter().any(|phrase| in_order(&plain, phrase)) {
                found.push(one_line(&sentence, MAX_LINE_CHARS));
            }
        }
    }
    unique(found, MAX_OTHERS)
}

/// Files that tools were called with, those that were changed first, the newest first.
fn files(turns: &[&TranscriptTurn], cwd: Option<&Path>) -> Vec<String> {
    let calls = || turns.iter().rev().flat_map(|turn| turn.calls.iter().rev()).filter(|call| !call.failed);
    let path = |call: &crate::hooks::host::TranscriptCall| {
        let keys = ["file_path", "notebook_path", "path"];
        let path = keys.iter().find_map(|key| call.arguments[*key].as_str())?;
        let inside = cwd.and_then(|cwd| Path::new(path).strip_prefix(cwd).ok());
        Some(one_line(&inside.unwrap_or(Path::new(path)).to_string_lossy(), MAX_LINE_CHARS))
            .filter(|path| !path.is_empty())
    };
    let changed = calls().filter(|call| WRITERS.contains(&call.name.as_str())).filter_map(path);
    let read = calls().filter(|call| call.name == "Read").filter_map(path);
    unique(changed.chain(read).collect(), MAX_FILES)
}

fn unique(texts: Vec<String>, most: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for text in texts {
        if out.len() < most && !out.contains(&text) && !looks_secret(&text) {
            out.push(text);
        }
    }
    out
}

struct TextBudget {
    text: String,
    left: usize,
}

impl TextBudget {
    /// Adds a section, as many of its lines as there is room for.
    fn section(&mut self, name: &str, lines: Vec<String>) {
        let mut head = Some(format!("## {name}\n"));
        for line in lines.into_iter().filter(|line| !line.is_empty() && !looks_secret(line)) {
            let line = format!("- {line}\n");
            let cost = line.chars().count() + head.as_ref().map_or(0, |head| head.chars().count() + 1);
            if cost > self.left {
                break;
            }
            self.left -= cost;
            if let Some(head) = head.take() {
                if !self.text.is_empty() {
                    self.text.push('\n');
                }
                self.text.push_str(&head);
            }
            self.text.push_str(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::host::parse;
    use proptest::prelude::*;

    const LINES: &str = r#"{"type":"user","message":{"content":"hi"}}
{"type":"user","message":{"content":"Fix the scheduler's DST bug in src/schedule/zone.rs. I prefer small commits."}}
{"type":"assistant","message":{"content":[{"type":"text","text":"Looking. We decided to resolve civil dates anew."},{"type":"tool_use","id":"1","name":"Read","input":{"file_path":"/w/src/lib.rs"}},{"type":"tool_use","id":"2","name":"Edit","input":{"file_path":"/w/src/schedule/zone.rs"}}]}}
{"type":"user","message":{"content":"The password is hunter2, run the login test with it please"}}
{"type":"assistant","message":{"content":[{"type":"text","text":"It passes. The next step is the Apia case. Should I add it now?"}]}}
"#;

    #[test]
    fn working_memory_says_where_we_were() {
        let text = working(&parse(LINES.as_bytes()), Some(Path::new("/w")), 4000);
        insta::assert_snapshot!(text, @r"
        ## Worked on
        - Fix the scheduler's DST bug in src/schedule/zone.rs. I prefer small commits.

        ## Open threads
        - Should I add it now?
        - The next step is the Apia case.

        ## Decisions
        - We decided to resolve civil dates anew.

        ## Preferences and facts
        - I prefer small commits.

        ## Files
        - src/schedule/zone.rs
        - src/lib.rs
        ");
        assert_eq!(working(&parse(b""), None, 4000), "");
    }

    #[test]
    fn the_topic_is_a_title_or_the_first_prompt_that_says_something() {
        let transcript = parse(LINES.as_bytes());
        assert_eq!(topic(&transcript, &transcript, 40).unwrap(), "Fix the scheduler's DST bug in…");
        let titled = parse(br#"{"type":"summary","summary":"Mending [[time]] zones"}"#);
        assert_eq!(topic(&transcript, &titled, 80).unwrap(), "Mending time zones");
        assert_eq!(topic(&parse(b""), &parse(b""), 80), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_budget_is_kept(prompts in proptest::collection::vec("\\PC{0,400}", 0..12), most in 0_usize..1200) {
            let turns = prompts.into_iter().map(|prompt| TranscriptTurn { prompt, ..TranscriptTurn::default() }).collect();
            let transcript = Transcript { turns, title: Some("A title of some kind".to_owned()), ..Transcript::default() };
            prop_assert!(working(&transcript, None, most).chars().count() <= most);
        }
    }
}
