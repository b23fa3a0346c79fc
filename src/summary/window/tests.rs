//! Tests summaries of random logs: no event is lost, whatever is logged or deleted.

use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::SummaryNote;
use crate::format::log::{self, EventKind, LogEvent};
use crate::format::summary::{self, Summary, SummaryKind};
use crate::summary::plan::{LEAF_EVENTS, TAIL};
use crate::summary::{DueScope, Window};

/// A log as it is put together for a test.
#[derive(Debug, Clone)]
struct Log {
    bytes: Vec<u8>,
    notes: Vec<SummaryNote>,
}

impl Log {
    fn window(&self) -> Window {
        let blocks = log::parse(&self.bytes).blocks;
        Window::new("s/c/w", "logs/s/c/w", Some(self.bytes.clone()), blocks, self.notes.clone())
    }

    /// Makes all due summaries without a brain; returns how many were made.
    fn settle(&mut self, scope: DueScope, at: &str) -> usize {
        let (mut made, at) = (0, at.parse().unwrap());
        loop {
            let window = self.window();
            let due = window.due(scope, &TimeZone::UTC);
            if due.is_empty() {
                return made;
            }
            assert!(made < 10_000, "it never ends");
            for due in due {
                made += 1;
                let text = format!("about {}", due.texts.len());
                let (brain, by) = (summary::EXTRACT.into(), "process:vault-agent".into());
                let summary = Summary { tokens: 2, brain, by, at, text, ..due.summary };
                let (read, findings) = summary::parse(summary::render(&summary).as_bytes());
                assert_eq!((read.as_ref(), findings.len()), (Some(&summary), 0));
                let replaced = due.replaces.map(|note| note.path);
                self.notes.retain(|note| Some(&note.path) != replaced.as_ref());
                let path = replaced.unwrap_or_else(|| format!("d{}-{}", summary.depth, summary.id));
                self.notes.push(SummaryNote { path, line: 1, is_edited: false, summary });
            }
        }
    }

    /// Every leaf's covered bytes stand in the log, the leaves are side by side from the first event on, and what they
    /// cover are whole events outside the tail.
    fn assert_lossless(&self) {
        let window = self.window();
        assert_eq!(window.verify(), []);
        let mut end = 0;
        for note in window.notes() {
            let id = &note.summary.id;
            let events = window.events(id).unwrap();
            let given: Vec<u8> = window.messages(id).iter().flat_map(|(_, bytes)| *bytes).copied().collect();
            let blocks = &window.blocks()[events.clone()];
            let covered = &self.bytes[blocks[0].range.start..blocks[blocks.len() - 1].range.end];
            assert_eq!(given, covered, "byte for byte, in order");
            for (block, (given, bytes)) in blocks.iter().zip(window.messages(id)) {
                assert!(bytes.starts_with(&self.bytes[block.range.clone()]) && given.line == block.line);
            }
            if note.summary.kind == SummaryKind::Leaf {
                assert_eq!(events.start, end, "no event is in two leaves or in none");
                assert!(events.len() >= LEAF_EVENTS && events.end <= window.blocks().len() - TAIL);
                end = events.end;
            }
        }
    }
}

const IDS: &str = "ABCDEFGHJKMNPQRSTVWXYZ";

fn id(at: usize) -> String {
    let letter = |at: usize| char::from(IDS.as_bytes()[at % IDS.len()]);
    format!("01{}{}{}{at:05}", letter(at / 7), letter(at / 3), letter(at))
}

/// An event of a log, by a draw: who speaks, how long, and about which earlier message.
fn event(at: usize, (kind, text, length, about): &(u8, String, usize, usize)) -> LogEvent {
    let long = "twelve metres of mast, ".repeat(*length);
    let (kind, content) = match kind {
        0..=3 => (EventKind::User, format!("{text}{long}")),
        4..=6 => (EventKind::Agent, format!("{long}{text}\n%% brain=b in=1 cached=0 out=1 ms=1 %%")),
        7 => (EventKind::Tool, format!("{{}}\n\n{text}{long}")),
        8 => (EventKind::Recall, text.clone()),
        9 => (EventKind::System, format!("edited [[logs/s/c/w#^{}]]:\n{text}", id(about % (at + 1)))),
        10 => (EventKind::System, format!("deleted [[logs/s/c/w#^{}]]", id(about % (at + 1)))),
        _ => (EventKind::System, "This window ended here: `/new`.".into()),
    };
    let at_time = jiff::Timestamp::from_second(1_790_000_000 + i64::try_from(at).unwrap()).unwrap();
    LogEvent { kind, at: at_time, author: "Ann ❦".into(), content, id: Some(id(at)) }
}

fn render(draws: &[(u8, String, usize, usize)], crlf: bool) -> Vec<u8> {
    let mut text = String::from("---\nsurface: s\ncontext_id: c\n---\n");
    for (at, draw) in draws.iter().enumerate() {
        text.push_str(&log::render_event(&event(at, draw)));
    }
    if crlf { text.replace('\n', "\r\n").into_bytes() } else { text.into_bytes() }
}

fn draws(most: usize) -> impl Strategy<Value = Vec<(u8, String, usize, usize)>> {
    let text = prop_oneof!["[a-z \n]{0,20}", "(?s)[^\r]{0,12}", "(> |```|---|\\^01A|%%|\n){0,6}"];
    proptest::collection::vec((0u8..12, text, 0usize..220, any::<usize>()), TAIL..most)
}

const LATE: &str = "2027-01-01T00:00:00Z";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_a_log_holds_its_summaries_give_every_byte_back(
        draws in draws(260), crlf in any::<bool>(), pressed in any::<bool>(),
    ) {
        let mut log = Log { bytes: render(&draws, crlf), notes: vec![] };
        log.settle(if pressed { DueScope::Pressed } else { DueScope::New }, LATE);
        log.assert_lossless();
        prop_assert_eq!(log.settle(DueScope::All, LATE), 0, "nothing is due twice");
    }

    #[test]
    fn a_log_that_grows_has_the_leaves_that_it_would_have_had_at_once(
        draws in draws(260), cut in TAIL..260usize,
    ) {
        let whole = render(&draws, false);
        let mut grown = Log { bytes: render(&draws[..cut.min(draws.len())], false), notes: vec![] };
        grown.settle(DueScope::New, LATE);
        grown.bytes.clone_from(&whole);
        grown.settle(DueScope::New, LATE);
        let mut once = Log { bytes: whole, notes: vec![] };
        once.settle(DueScope::New, LATE);
        grown.assert_lossless();
        let ids = |log: &Log| log.notes.iter().map(|note| note.summary.id.clone()).collect::<std::collections::BTreeSet<_>>();
        prop_assert_eq!(ids(&grown), ids(&once));
    }

    #[test]
    fn whatever_is_deleted_comes_back_with_its_id_or_is_shown_as_missing(
        draws in draws(330), gone in proptest::collection::vec(any::<prop::sample::Index>(), 1..4), pressed in any::<bool>(),
    ) {
        let mut log = Log { bytes: render(&draws, false), notes: vec![] };
        log.settle(if pressed { DueScope::Pressed } else { DueScope::New }, LATE);
        let all: Vec<String> = log.notes.iter().map(|note| note.summary.id.clone()).collect();
        prop_assume!(all.len() > 2);
        let last = log.window().notes().filter(|note| note.summary.kind == SummaryKind::Leaf).last().unwrap().summary.id.clone();
        for at in gone {
            let at = at.index(log.notes.len());
            // A last leaf leaves no trace: there, other events may be grouped otherwise.
            if log.notes.len() > 1 && log.notes[at].summary.id != last {
                log.notes.remove(at);
            }
        }
        let lost: Vec<&String> = all.iter().filter(|id| log.window().note(id).is_none()).collect();
        let shown = log.window().verify();
        for id in &lost {
            let is_named = log.notes.iter().any(|note| note.summary.sources.contains(id));
            prop_assert!(!is_named || shown.iter().any(|bad| bad.id == **id), "{} in {:?}", id, shown);
        }
        log.settle(DueScope::All, LATE);
        log.assert_lossless();
        let named = |id: &&&String| log.notes.iter().any(|note| note.summary.sources.contains(**id));
        for id in lost.iter().filter(named) {
            prop_assert!(log.window().note(id).is_some(), "{} came back", id);
        }
    }

    #[test]
    fn what_somebody_edits_by_hand_is_seen_and_made_again(draws in draws(260), place in any::<prop::sample::Index>()) {
        let mut log = Log { bytes: render(&draws, false), notes: vec![] };
        log.settle(DueScope::Pressed, LATE);
        prop_assume!(!log.notes.is_empty());
        let covered = log.window().messages(&log.notes[0].summary.id).iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        let first = log.window().blocks()[0].range.start;
        let at = first + place.index(covered);
        log.bytes[at] = if log.bytes[at] == b'#' { b'+' } else { b'#' };
        prop_assert!(!log.window().verify().is_empty());
        log.settle(DueScope::All, "2027-02-01T00:00:00Z");
        // Summaries proved before and now hold; a note whose first or last event is gone stays a finding.
        let window = log.window();
        for bad in window.verify() {
            // One that is made of what is gone waits for a person.
            let is_leaf = window.note(&bad.id).is_some_and(|note| note.summary.kind == SummaryKind::Leaf);
            prop_assert!(!is_leaf || bad.why.contains("doesn't hold") || bad.why.contains("more than once"), "{:?}", bad);
        }
    }
}

#[test]
fn a_note_deep_in_the_middle_comes_back_though_one_further_up_is_about_the_same() {
    let draws: Vec<_> = (0..500).map(|at| (0u8, format!("m{at} "), 200, 0)).collect();
    let mut log = Log { bytes: render(&draws, false), notes: vec![] };
    log.settle(DueScope::New, LATE);
    let whole = log.notes.clone();
    assert!(whole.iter().any(|note| note.summary.depth == 2));
    let ids = |log: &Log| -> std::collections::BTreeSet<String> {
        log.notes.iter().map(|note| note.summary.id.clone()).collect()
    };
    let before = ids(&log);
    let named = |gone: &SummaryNote| whole.iter().any(|note| note.summary.sources.contains(&gone.summary.id));
    for gone in whole.iter().filter(|note| named(note)) {
        // With it, what it is made of: as when a person deletes a folder.
        let below: Vec<&String> = gone.summary.sources.iter().take(1).collect();
        for also in [vec![], below] {
            let stays = |note: &&SummaryNote| note.path != gone.path && !also.contains(&&note.summary.id);
            log.notes = whole.iter().filter(stays).cloned().collect();
            log.settle(DueScope::All, LATE);
            log.assert_lossless();
            assert_eq!(ids(&log), before, "without {} and {also:?}", gone.path);
        }
    }
}

/// A log of ninety long messages with its summary, made at `made`.
fn one_leaf(made: &str) -> Log {
    let draws: Vec<_> = (0..90).map(|at| (0u8, format!("m{at} "), 200, 0)).collect();
    let mut log = Log { bytes: render(&draws, false), notes: vec![] };
    log.settle(DueScope::New, made);
    log
}

/// The event of the deletion of the fourth message.
fn deletion(at: &str) -> Vec<u8> {
    let deletion = LogEvent { at: at.parse().unwrap(), ..event(90, &(10, String::new(), 0, 3)) };
    log::render_event(&deletion).into_bytes()
}

#[test]
fn a_message_that_is_deleted_later_is_told_no_more_whatever_the_clocks_say() {
    let made = "2026-11-01T00:00:00Z";
    for said in ["2026-11-02T00:00:00Z", "2026-10-31T23:59:30Z", "2027-11-02T00:00:00Z"] {
        let mut log = one_leaf(made);
        let leaf = log.notes[0].summary.id.clone();
        assert_eq!(log.window().past_summaries().len(), 1);
        log.bytes.extend(deletion(said));
        assert_eq!(log.window().past_summaries(), [], "until it is made again");
        assert_eq!(log.window().verify(), [], "its bytes are as they were");
        let due = log.window().due(DueScope::New, &TimeZone::UTC);
        assert!(
            due.len() == 1
                && due[0].summary.id == leaf
                && !due[0].texts.iter().any(|said| said.text.starts_with("m3 "))
        );
        // A person's words are never made again, and no request has them.
        log.notes[0].is_edited = true;
        assert_eq!((log.settle(DueScope::All, made), log.window().past_summaries().len()), (0, 0), "{said}");
        assert!(log.window().verify()[0].why.contains("delete `d0-"), "{:?}", log.window().verify());
        log.notes[0].is_edited = false;
        assert_eq!(log.settle(DueScope::New, made), 1, "{said}");
        assert_eq!(log.window().past_summaries()[0].id, leaf);
    }
}

#[test]
fn a_note_of_an_older_version_is_out_of_date_by_its_time_and_made_again_once() {
    let made = "2026-11-01T00:00:00Z";
    for (said, again) in
        [("2026-11-02T00:00:00Z", 1), ("2026-10-31T23:59:30Z", 0), ("2027-11-02T00:00:00Z", 1)]
    {
        let mut log = one_leaf(made);
        log.notes[0].summary.sources_sha256 = None;
        log.bytes.extend(deletion(said));
        assert_eq!(log.settle(DueScope::All, made), again, "{said}");
    }
}

#[test]
fn a_summary_of_a_machine_whose_clock_is_ahead_and_one_with_a_wrong_head_are_made_again_once() {
    let draws: Vec<_> = (0..260).map(|at| (0u8, format!("m{at} "), 200, 0)).collect();
    let mut log = Log { bytes: render(&draws, false), notes: vec![] };
    log.settle(DueScope::New, "2026-11-01T00:00:00Z");
    let whole = log.notes.clone();
    assert!(whole.iter().any(|note| note.summary.depth == 1));
    for at in 0..whole.len() {
        for old in [false, true] {
            log.notes.clone_from(&whole);
            for note in log.notes.iter_mut().filter(|_| old) {
                note.summary.sources_sha256 = None;
            }
            log.notes[at].summary.at = "2027-11-01T00:00:00Z".parse().unwrap();
            let most = usize::from(old && whole[at].summary.depth == 0);
            assert!(log.settle(DueScope::All, "2026-11-02T00:00:00Z") <= most, "{at} {old}");
        }
        for wrong in ["01XYZ", &whole[0].summary.covers.clone().unwrap().1, &id(200)] {
            log.notes.clone_from(&whole);
            let (first, _) = log.notes[at].summary.covers.clone().unwrap();
            log.notes[at].summary.covers = Some((first, wrong.to_owned()));
            let _ = log.settle(DueScope::All, "2026-11-02T00:00:00Z");
            assert!(log.notes.len() <= whole.len() + 3, "{at} {wrong}: {}", log.notes.len());
        }
    }
}

#[test]
fn a_deleted_log_is_reported() {
    let draws: Vec<_> = (0..90).map(|_| (0u8, String::new(), 200, 0)).collect();
    let mut log = Log { bytes: render(&draws, false), notes: vec![] };
    log.settle(DueScope::New, LATE);
    let window = Window::new("s/c/w", "logs/s/c/w", None, vec![], log.notes);
    let bad = window.verify();
    assert_eq!(bad.len(), 1);
    assert!(bad[0].why.starts_with("its log `logs/s/c/w.md` is gone"), "{bad:?}");
    assert_eq!(window.due(DueScope::All, &TimeZone::UTC), []);
}

#[test]
fn sources_that_somebody_wrote_are_not_gone_around_in() {
    let note = |id: char, sources: &[char]| {
        let named = |id: &char| format!("sum_{}", id.to_string().repeat(16));
        let summary = Summary {
            id: named(&id),
            kind: SummaryKind::Condensed,
            depth: 9,
            covers: None,
            sources: sources.iter().cycle().take(200).map(named).collect(),
            log: None,
            sha256: "0".repeat(64),
            sources_sha256: None,
            tokens: 1,
            brain: summary::EXTRACT.into(),
            by: "process:vault-agent".into(),
            at: LATE.parse().unwrap(),
            text: "x".into(),
        };
        SummaryNote { path: format!("d9-{id}"), line: 1, is_edited: false, summary }
    };
    let notes = vec![note('a', &['b', 'c']), note('b', &['a', 'c']), note('c', &['a', 'b', 'c'])];
    let window = Window::new("s/c/w", "logs/s/c/w", Some(vec![]), vec![], notes);
    let below: Vec<&str> =
        window.descend("sum_aaaaaaaaaaaaaaaa", u32::MAX).iter().map(|note| note.path.as_str()).collect();
    assert_eq!(below, ["d9-b", "d9-c"]);
}
