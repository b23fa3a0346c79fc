//! What must hold for any bytes, one function a format: run by the fuzz targets for hours, and by
//! `tests/format/fuzz.rs` for a moment.

use vault_agent::format::{
    ReminderId, commitment, daily, lines, log, memory, pinned,
    reminder::{self, ParsedLine},
    routine, skill, working_memory,
};

/// Lines join up to the file, live ones are lines of it.
pub fn file_lines(bytes: &[u8]) {
    let mut joined = bytes[..lines::bom_len(bytes)].to_vec();
    let all: Vec<_> = lines(bytes).collect();
    for line in &all {
        assert_eq!(line.start, joined.len());
        joined.extend_from_slice(line.text);
        joined.extend_from_slice(line.terminator);
    }
    assert_eq!(joined, bytes);
    assert!(vault_agent::format::lines::LiveLines::new(bytes).all(|line| all[line.number - 1] == line));
    if let Some(closer) = lines::closing_line(bytes) {
        // A blank line between them would end a block quote.
        let end: &[u8] = if bytes.ends_with(b"\n") { b"" } else { b"\n" };
        let closed = [bytes, end, closer.as_bytes()].concat();
        assert_eq!(lines::closing_line(&closed), None);
    }
}

/// A near miss is explained; an edit changes what it means and leaves a valid line.
pub fn reminders(bytes: &[u8]) {
    let file = reminder::parse(bytes);
    for finding in &file.near_misses {
        assert!(!finding.reason.contains("isn't a valid reminder"), "{finding:?}");
    }
    for line in &file.reminders {
        let read = &line.reminder;
        assert_eq!(reminder::parse_line(read.to_line().as_bytes()), ParsedLine::Reminder(read.clone()));
        let id = ReminderId::from_random([7; 8]);
        let ParsedLine::Reminder(with_id) = reminder::parse_line(&reminder::with_id(&line.text, &id)) else {
            panic!("an id made {line:?} invalid");
        };
        assert_eq!(with_id.id, read.id.or(Some(id)));
        let moved = reminder::with_schedule(&line.text, read.date, Some(read.time), read.day);
        assert_eq!(moved, line.text);
        for day in [None, Some(31)] {
            let moved = reminder::with_schedule(&line.text, read.date, None, day);
            let expected = reminder::Reminder { day, ..read.clone() };
            assert_eq!(reminder::parse_line(&moved), ParsedLine::Reminder(expected));
        }
    }
}

/// A status goes there and back; what is read is written as one block again.
pub fn commitments(bytes: &[u8]) {
    let file = commitment::parse(bytes);
    for block in &file.blocks {
        let (id, status) = (&block.commitment.id, block.commitment.status);
        for to in commitment::CommitmentStatus::ALL {
            match commitment::set_status(bytes, id, status, to) {
                Some(after) => {
                    assert_eq!(commitment::set_status(&after, id, to, status).as_deref(), Some(bytes));
                }
                None => assert!(file.find(id).is_none()),
            }
        }
        let written = block.commitment.to_block();
        let read = commitment::parse(written.as_bytes());
        assert_eq!(read.blocks.len(), 1, "{written}");
        assert_eq!(read.blocks[0].commitment.to_block(), written);
    }
}

/// Bullets lie in the file, in order and apart, and are written as one bullet again.
pub fn memories(bytes: &[u8]) {
    let mut end = 0;
    for bullet in memory::parse(bytes).bullets {
        assert!(end <= bullet.range.start && bullet.range.end <= bytes.len());
        assert!(bullet.line <= bullet.end_line);
        end = bullet.range.end;
        let written = memory::render_bullet(bullet.timestamp.as_deref(), &bullet.text) + "- next\n";
        assert_eq!(memory::parse(written.as_bytes()).bullets.len(), 2, "{written}");
    }
    let _ = (daily::parse(bytes), pinned::parse(bytes), routine::parse(bytes));
    if let Some(read) = working_memory::read(bytes) {
        // It is written with line feeds, whatever ended its lines.
        let text = read.text.replace("\r\n", "\n").replace('\r', "\n");
        let read = working_memory::WorkingMemory { text, ..read };
        assert_eq!(working_memory::read(working_memory::render(&read).as_bytes()), Some(read));
    }
}

/// Content comes back byte for byte; a log read in two parts is the log read whole.
pub fn logs(bytes: &[u8]) {
    let whole = log::parse(bytes);
    for block in &whole.blocks {
        let written = log::render_event(&block.event) + "\n";
        let read = log::parse(written.as_bytes());
        if block.event.id.is_some() {
            assert_eq!(read.blocks[0].event.content, block.event.content);
        }
    }
    let half = log::parse(&bytes[..bytes.len() / 2]);
    let rest = log::parse_from(bytes, half.end);
    let _ = (half, rest);
    if let Ok(content) = std::str::from_utf8(bytes) {
        let event = log::LogEvent {
            kind: log::EventKind::User,
            at: jiff::Timestamp::UNIX_EPOCH,
            author: content.chars().take(40).collect(),
            content: content.to_owned(),
            id: Some("01KG7KVKVR0000000000000007".to_owned()),
        };
        let text = log::render_event(&event);
        let read = log::parse(text.as_bytes());
        assert_eq!(read.blocks.len(), 1);
        assert_eq!(read.blocks[0].event.content, content);
    }
}

/// A skill without findings has what makes it one.
pub fn skills(bytes: &[u8]) {
    let (skill, findings) = skill::parse(bytes, "web");
    assert!(findings.iter().all(|finding| finding.line <= lines(bytes).count().max(1)), "{findings:?}");
    if findings.is_empty() {
        assert!(skill.name == "web" && !skill.description.is_empty() && skill.secrets.len() <= 8);
        assert!(skill.description.chars().count() <= 1024);
    }
}
