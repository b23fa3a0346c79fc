//! Computes the new bytes of the inbox's note when questions are added, moved up, kept or declined. Pure.
//!
//! Questions stand in a list. Their records stand below it, in one Obsidian comment that this program maintains. A
//! speaker's words are escaped, so that they stay plain text. A person may change the list at will; if the comment is
//! gone, the next change begins a new one.

use crate::format::candidate::{self, Candidate, CheckboxMark};
use crate::format::harmless::without_comments;
use crate::format::{invisible, lines};
use crate::memory::wording;
use crate::vault::{self, Operation};

/// The text above the note's lines.
const HEADER: &str = "# Inbox

Facts proposed for memory, each with the quote that it comes from. Tick a line to keep it in your memory; delete it, or put `-` into its box, to decline. You may change the text before the quote first. Nothing is proposed twice.
";
/// The line that begins the comment of records.
const OPENS: &str = "%% asked before: a line that stands here and not above is not asked again";
/// The line that ends it.
const CLOSES: &str = "%%";

/// Adds these questions to the note, with a record of each. A question that has a record already is not added.
pub fn with_questions(bytes: &[u8], candidates: &[Candidate]) -> Vec<u8> {
    let known = candidate::parse(bytes);
    let is_known = |id: &str| known.records.iter().chain(&known.lines).any(|line| line.candidate.id == id);
    let new: Vec<&Candidate> = candidates.iter().filter(|one| !is_known(&one.id)).collect();
    if new.is_empty() {
        return bytes.to_vec();
    }
    let terminator = lines::terminator_of(bytes);
    let text =
        |lines: Vec<String>| lines.iter().map(|line| format!("{line}{terminator}")).collect::<String>();
    let questions = new.iter().map(|one| Candidate { record: None, ..(*one).clone() }.to_line()).collect();
    let records =
        new.iter().map(|one| Candidate { mark: CheckboxMark::Open, ..(*one).clone() }.to_line()).collect();
    let (questions, records) = (text(questions), text(records));
    let mut out = bytes.to_vec();
    if out.iter().all(u8::is_ascii_whitespace) {
        out = HEADER.replace('\n', terminator).into_bytes();
    } else if !out.ends_with(b"\n") {
        out.extend(terminator.bytes());
    }
    let comment = comment(&out);
    let list = comment.map_or(out.len(), |(start, _)| start);
    match comment {
        Some((_, end)) => insert(&mut out, end, &records),
        None => {
            let block =
                text(vec![String::new(), OPENS.to_owned()]) + &records + &text(vec![CLOSES.to_owned()]);
            out.extend(block.into_bytes());
        }
    }
    // After the last line of the list, or of the text above the comment.
    let last = lines::lines(&out[..list]).filter(|line| !line.text.trim_ascii().is_empty()).last();
    let at = last.as_ref().map_or(list, lines::Line::end);
    let gap = last.is_some_and(|line| !line.text.starts_with(b"- "));
    insert(&mut out, at, &if gap { format!("{terminator}{questions}") } else { questions });
    out
}

/// The offsets of the records' comment and of the line that ends it.
fn comment(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut all = lines::lines(bytes);
    let start = all.find(|line| line.text.trim_ascii_end() == OPENS.as_bytes())?.start;
    let end = all.find(|line| line.text.trim_ascii_end() == CLOSES.as_bytes())?.start;
    Some((start, end))
}

fn insert(out: &mut Vec<u8>, at: usize, text: &str) {
    out.splice(at..at, text.bytes());
}

/// The note without the answered lines, which are found by their bytes: a person may have copied or reworded the
/// question. With `kept`, its record says so.
pub fn without_line(bytes: &[u8], answered: &[u8], kept: Option<&Candidate>) -> Vec<u8> {
    let mut out = vault::apply(&[Operation::DeleteLine { line: answered.to_vec() }], bytes).0;
    let Some(kept) = kept else { return out };
    let record = candidate::parse(&out).records.into_iter().find(|line| line.candidate.id == kept.id);
    let place = record.and_then(|record| lines::lines(&out).find(|line| line.number == record.line));
    if let Some(place) = place.map(|line| line.start..line.start + line.text.len()) {
        out.splice(place, kept.to_line().bytes());
    }
    out
}

/// The note with these questions above the other open ones, in their present order. A question with a person's lines
/// indented below it stays in its place.
pub fn with_moved_up(bytes: &[u8], ids: &[String]) -> Vec<u8> {
    let all: Vec<lines::Line<'_>> = lines::lines(bytes).collect();
    let has_own = |number: usize| {
        let next = all.iter().find(|line| line.number == number + 1);
        next.is_some_and(|line| line.text.starts_with(b" ") || line.text.starts_with(b"\t"))
    };
    let file = candidate::parse(bytes);
    let open: Vec<_> = file.lines.iter().filter(|line| line.candidate.mark == CheckboxMark::Open).collect();
    let up = open.iter().filter(|line| ids.contains(&line.candidate.id) && !has_own(line.line));
    let up: Vec<usize> = up.map(|line| line.line).collect();
    let Some(first) = open.first().map(|line| line.line).filter(|_| !up.is_empty()) else {
        return bytes.to_vec();
    };
    let moved = all.iter().filter(|line| up.contains(&line.number));
    let moved: Vec<u8> =
        moved.flat_map(|line| [line.text, lines::terminator_of(bytes).as_bytes()].concat()).collect();
    let mut out = bytes[..lines::bom_len(bytes)].to_vec();
    for line in &all {
        if line.number == first {
            out.extend_from_slice(&moved);
        }
        if !up.contains(&line.number) {
            out.extend_from_slice(line.text);
            out.extend_from_slice(line.terminator);
        }
    }
    out
}

/// A line with an empty box.
pub fn cleared_line(line: &[u8]) -> Vec<u8> {
    let mut cleared = line.to_vec();
    cleared[3] = b' ';
    cleared
}

/// Beginnings of a line that make it a list item, a task, a heading or a quotation.
const BEGINNINGS: [&str; 11] =
    ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "> ", "# ", "## ", "### ", "#### ", "[ ] "];

/// The words of a text on one line: without marks at its beginning and invisible characters, and with comments, embeds,
/// code of plugins and a block id at its end written so that they are read as text.
pub(super) fn escape_markup(text: &str) -> String {
    let words: Vec<String> = invisible::strip(text).split_whitespace().map(str::to_owned).collect();
    let line = words.join(" ");
    let mut line = line.as_str();
    while let Some(rest) = BEGINNINGS.iter().find_map(|mark| line.strip_prefix(mark)) {
        line = rest.trim_start();
    }
    let mut out = without_comments(&line.replace("![[", "! [["));
    let last = out.rfind(' ').map_or(0, |blank| blank + 1);
    if out[last..].starts_with('^') {
        out.insert(last, '\\');
    }
    out
}

/// Whether a text and its section can be kept.
pub(in crate::capture) fn is_keepable(text: &str, section: &str) -> bool {
    wording::checked(&escape_markup(text)).is_ok() && wording::section(section).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::candidate::{CandidateRecord, CandidateState, Category, parse};

    fn one(id: &str) -> Candidate {
        let asked = "2026-11-22T10:00:00Z".parse().unwrap();
        Candidate {
            mark: CheckboxMark::Open,
            category: Category::Preferences,
            section: "Anna".into(),
            text: "likes green tea".into(),
            quote: "I only drink green tea".into(),
            path: "logs/a".into(),
            block: "X1".into(),
            change: None,
            id: id.into(),
            record: Some(CandidateRecord { asked, by: "rules".into(), kept: None, on: None }),
            block_id: None,
        }
    }

    fn states(bytes: &[u8]) -> Vec<CandidateState> {
        parse(bytes).all().into_iter().map(|(state, _)| state).collect()
    }

    #[test]
    fn a_note_is_made_and_grows() {
        let first = with_questions(b"", &[one("cap_AAAAAAAAAAAA")]);
        let second = with_questions(&first, &[one("cap_AAAAAAAAAAAA"), one("cap_BBBBBBBBBBBB")]);
        insta::assert_snapshot!(String::from_utf8(second.clone()).unwrap(), @r#"
        # Inbox

        Facts proposed for memory, each with the quote that it comes from. Tick a line to keep it in your memory; delete it, or put `-` into its box, to decline. You may change the text before the quote first. Nothing is proposed twice.

        - [ ] [preferences] Anna: likes green tea · "I only drink green tea" [[logs/a#^X1]] cap_AAAAAAAAAAAA
        - [ ] [preferences] Anna: likes green tea · "I only drink green tea" [[logs/a#^X1]] cap_BBBBBBBBBBBB

        %% asked before: a line that stands here and not above is not asked again
        - [ ] [preferences] Anna: likes green tea · "I only drink green tea" [[logs/a#^X1]] cap_AAAAAAAAAAAA asked=2026-11-22T10:00:00Z by=rules
        - [ ] [preferences] Anna: likes green tea · "I only drink green tea" [[logs/a#^X1]] cap_BBBBBBBBBBBB asked=2026-11-22T10:00:00Z by=rules
        %%
        "#);
        assert_eq!(with_questions(&second, &[one("cap_BBBBBBBBBBBB")]), second);
        assert_eq!(states(&second), [CandidateState::Open, CandidateState::Open]);
    }

    #[test]
    fn what_a_person_wrote_stays_byte_for_byte() {
        for mine in [&b"my own\xff words\r\nmore"[..], b"# Inbox\n- [ ] milk\n\n\n", b"\xef\xbb\xbftext\n"] {
            let note = with_questions(mine, &[one("cap_AAAAAAAAAAAA")]);
            let kept = mine.trim_ascii_end();
            assert_eq!(&note[..kept.len()], kept);
            assert_eq!(states(&note), [CandidateState::Open], "{}", String::from_utf8_lossy(&note));
            assert_eq!(states(&with_questions(&note, &[one("cap_BBBBBBBBBBBB")])), [CandidateState::Open; 2]);
        }
    }

    fn one_line(note: &[u8], id: &str) -> Vec<u8> {
        parse(note).lines.into_iter().find(|line| line.candidate.id == id).unwrap().text
    }

    #[test]
    fn a_settled_question_leaves_its_record() {
        let note = with_questions(b"", &[one("cap_AAAAAAAAAAAA"), one("cap_BBBBBBBBBBBB")]);
        let line = |id: &str| one_line(&note, id);
        let dropped = without_line(&note, &line("cap_AAAAAAAAAAAA"), None);
        assert_eq!(states(&dropped), [CandidateState::Dropped, CandidateState::Open]);
        let mut kept = one("cap_BBBBBBBBBBBB");
        kept.record.as_mut().unwrap().kept = Some("2026-11-22T11:00:00Z".parse().unwrap());
        assert_eq!(
            states(&without_line(&dropped, &line("cap_BBBBBBBBBBBB"), Some(&kept))),
            [CandidateState::Dropped, CandidateState::Kept]
        );
        assert_eq!(with_questions(&dropped, &[one("cap_AAAAAAAAAAAA")]), dropped, "a no is a no");
    }

    #[test]
    fn a_line_that_was_reworded_meanwhile_stays_and_is_a_question() {
        let note = with_questions(b"", &[one("cap_AAAAAAAAAAAA")]);
        let answered = one_line(&note, "cap_AAAAAAAAAAAA");
        let reworded = String::from_utf8(note).unwrap().replacen("likes green tea", "likes bees", 1);
        let mut kept = one("cap_AAAAAAAAAAAA");
        kept.record.as_mut().unwrap().kept = Some("2026-11-22T11:00:00Z".parse().unwrap());
        assert_eq!(without_line(reworded.as_bytes(), &answered, None), reworded.as_bytes());
        let after = without_line(reworded.as_bytes(), &answered, Some(&kept));
        assert_eq!(parse(&after).lines[0].candidate.text, "likes bees");
        assert_eq!(states(&after), [CandidateState::Open]);
    }

    #[test]
    fn what_was_said_again_moves_up() {
        let ids = ["cap_AAAAAAAAAAAA", "cap_BBBBBBBBBBBB", "cap_CCCCCCCCCCCC"];
        let note = with_questions("\u{feff}mine\n".as_bytes(), &ids.map(one));
        let order = |bytes: &[u8]| -> Vec<String> {
            parse(bytes).lines.into_iter().map(|line| line.candidate.id).collect()
        };
        let up = [ids[1].to_owned(), ids[2].to_owned()];
        let after = with_moved_up(&note, &up);
        assert_eq!(order(&after), [ids[1], ids[2], ids[0]]);
        assert_eq!(with_moved_up(&after, &up), after, "once");
        assert_eq!(after.len(), note.len());
        assert_eq!(with_moved_up(&note, &["cap_DDDDDDDDDDDD".to_owned()]), note);
        let own = String::from_utf8(note).unwrap().replacen(
            "cap_BBBBBBBBBBBB\n",
            "cap_BBBBBBBBBBBB\n  - ask her\n",
            1,
        );
        assert_eq!(
            with_moved_up(own.as_bytes(), &up[..1]),
            own.as_bytes(),
            "with what a person put below it"
        );
    }

    #[test]
    fn a_tick_is_taken_back() {
        let note = with_questions(b"", &[one("cap_AAAAAAAAAAAA")]);
        let ticked = String::from_utf8(note.clone()).unwrap().replacen("- [ ]", "- [x]", 1);
        let line = one_line(ticked.as_bytes(), "cap_AAAAAAAAAAAA");
        let cleared = Operation::ReplaceLine { line: line.clone(), with: cleared_line(&line) };
        assert_eq!(vault::apply(&[cleared], ticked.as_bytes()).0, note);
        assert_eq!(cleared_line(&line), one_line(&note, "cap_AAAAAAAAAAAA"));
    }

    #[test]
    fn markup_of_what_was_said_is_text() {
        for (said, kept) in [
            ("I like tea.", "I like tea."),
            ("- [ ] I like tea ^mine", "I like tea \\^mine"),
            ("# I like tea\n## and coffee", "I like tea ## and coffee"),
            ("![[Secrets]] is mine", "! [[Secrets]] is mine"),
            ("tea %%%hidden%% and <!-- more", "tea % % %hidden% % and <! -- more"),
            ("my `$= evil()` tea", "my `\\$= evil()` tea"),
            ("pay \u{202e}tneg\u{e0041}", "pay tneg"),
        ] {
            assert_eq!(escape_markup(said), kept, "{said:?}");
            assert_eq!(escape_markup(kept), kept, "once");
        }
    }

    #[test]
    fn what_can_not_be_kept_is_known() {
        assert!(is_keepable("I like tea", "Anna"));
        for (text, section) in [("\u{200b}", "Anna"), ("a\u{7}", "Anna"), ("I like tea", "a <!-- b")] {
            assert!(!is_keepable(text, section), "{text:?} {section}");
        }
    }
}
