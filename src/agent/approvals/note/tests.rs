//! Tests the rules of the note of approvals: the decision that a line expresses, reusable approvals, and the removal of
//! old lines.

use super::*;

fn asked() -> Approval {
    let line = b"- [ ] ap_K5V4M2J7Q2ZP until=2026-12-01T09:30Z brain=claude run=\"ls\" turn=1/0";
    match approval::parse_line(line) {
        approval::ParsedBox::Line(asked) => *asked,
        other => panic!("{other:?}"),
    }
}

fn found(note: &str, now: &str) -> Option<ApprovalState> {
    found_by(note, now, false)
}

fn found_by(note: &str, now: &str, reusable: bool) -> Option<ApprovalState> {
    judge(note.as_bytes(), &asked(), reusable, now.parse().unwrap()).0
}

#[test]
fn a_note_says_what_a_person_said() {
    let (before, after) = ("2026-12-01T09:29:59Z", "2026-12-01T09:30:00Z");
    let line = asked().to_line();
    let other = "- [x] ap_AAAAAAAAAAAA until=2026-12-01T09:30Z brain=claude run=\"ls\" turn=1/0";
    for (note, in_time, late) in [
        (line.clone(), None, ApprovalState::Expired),
        (line.replace("[ ]", "[x]"), Some(ApprovalState::Used), ApprovalState::Expired),
        (line.replace("[ ]", "[X]"), Some(ApprovalState::Used), ApprovalState::Expired),
        (line.replace("[ ]", "[x]") + " ✅ 2026-12-01", Some(ApprovalState::Used), ApprovalState::Expired),
        (line.replace("[ ]", "[-]"), Some(ApprovalState::Declined), ApprovalState::Declined),
        (line.replace("[ ]", "[/]"), None, ApprovalState::Expired),
        (
            line.replace("[ ]", "[x]").replace("\"ls\"", "\"rm\""),
            Some(ApprovalState::Changed),
            ApprovalState::Expired,
        ),
        (
            line.replace("[ ]", "[x]").replace("09:30Z", "10:30Z"),
            Some(ApprovalState::Changed),
            ApprovalState::Expired,
        ),
        (line.replace("[ ]", "[x]").replace("\"ls\"", "ls"), None, ApprovalState::Expired),
        (line.replace("\"ls\"", "\"rm\""), None, ApprovalState::Expired),
        (format!("{line} state=expired"), Some(ApprovalState::Expired), ApprovalState::Expired),
        (line.replace("[ ]", "[x]") + " state=used", Some(ApprovalState::Changed), ApprovalState::Changed),
        (line.replace("[ ]", "[x]") + " state=stopped", Some(ApprovalState::Stopped), ApprovalState::Stopped),
        (other.to_owned(), Some(ApprovalState::Declined), ApprovalState::Declined),
        (format!("```\n{}\n```", line.replace("[ ]", "[x]")), None, ApprovalState::Expired),
        (String::new(), None, ApprovalState::Expired),
        ("# Approvals\n".to_owned(), Some(ApprovalState::Declined), ApprovalState::Declined),
    ] {
        assert_eq!(found(&note, before), in_time, "{note}");
        assert_eq!(found(&note, after), Some(late), "{note}");
    }
}

#[test]
fn a_word_that_lasts_is_found_by_whoever_asks_the_same() {
    let (line, now) = (asked().to_line(), "2026-12-01T09:45:00Z");
    let yes = line.replace("[ ]", "[x]") + " state=used";
    let no = line.replace("[ ]", "[-]") + " state=declined";
    assert_eq!(found_by(&yes, now, true), Some(ApprovalState::Used));
    assert_eq!(found_by(&yes.replace("\"ls\"", "\"rm\""), now, true), Some(ApprovalState::Changed));
    assert_eq!(found_by(&no, now, true), Some(ApprovalState::Declined));
    assert_eq!(found_by(&(line.clone() + " state=expired"), now, true), Some(ApprovalState::Expired));
    let new = Approval { id: "ap_AAAAAAAAAAAA".into(), brain: "other".into(), ..asked() };
    let stands =
        |note: &str, reusable| matching_line(note.as_bytes(), &new, reusable).map(|known| known.state);
    for (over, state) in [(&yes, ApprovalState::Used), (&no, ApprovalState::Declined)] {
        assert_eq!(stands(over, true), Some(Some(state)));
        assert_eq!(stands(over, false), None, "it is used up");
        assert_eq!(stands(&format!("{line}\n{over}\n"), true), Some(Some(state)));
        assert_eq!(stands(&format!("{line}\n{over}\n"), false), Some(None));
    }
    assert_eq!(stands(&(line.clone() + " state=expired"), true), None, "that is no word");
    assert_eq!(stands(&yes.replace("\"ls\"", "\"rm\""), true), None);
}

#[test]
fn lines_that_are_over_go_after_a_day() {
    let line = asked().to_line();
    let used = format!("{} state=used", line.replace("[ ]", "[x]").replace("K5V4", "AAAA"));
    let note = format!("{line}\n{used}\n- [ ] milk\n");
    let tidied = |now: &str, except: Option<&str>| {
        let operations = expire_questions(note.as_bytes(), now.parse().unwrap(), except);
        String::from_utf8(crate::vault::plan::apply(&operations, note.as_bytes()).0).unwrap()
    };
    assert_eq!(tidied("2026-12-01T09:00:00Z", None), note);
    assert_eq!(tidied("2026-12-01T09:30:00Z", None), format!("{line} state=expired\n{used}\n- [ ] milk\n"));
    assert_eq!(tidied("2026-12-02T09:30:00Z", None), "- [ ] milk\n");
    assert_eq!(tidied("2026-12-02T09:30:00Z", Some("ap_K5V4M2J7Q2ZP")), format!("{line}\n- [ ] milk\n"));
}

#[test]
fn a_time_is_a_whole_minute() {
    for (at, minute) in [
        ("2026-12-01T09:00:00Z", "2026-12-01T09:00:00Z"),
        ("2026-12-01T09:00:00.5Z", "2026-12-01T09:01:00Z"),
        ("2026-12-01T09:00:59Z", "2026-12-01T09:01:00Z"),
    ] {
        assert_eq!(whole_minute(at.parse().unwrap()), minute.parse().unwrap());
    }
}
