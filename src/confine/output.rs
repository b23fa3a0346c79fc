//! Keeps the head and the tail of a command's output, and removes escapes and invisible characters.

use std::collections::VecDeque;

use crate::format::invisible;

/// Takes a command's output as it comes and keeps its head and its tail.
#[derive(Debug)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    total: u64,
}

impl Output {
    /// Keeps `keep` bytes.
    pub(super) fn new(keep: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: keep.div_ceil(2), total: 0 }
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend(head);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// How many bytes came.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Every byte so far, if none was left out yet.
    pub(super) fn all(&self) -> Option<Vec<u8>> {
        (self.left_out() == 0).then(|| self.head.iter().chain(&self.tail).copied().collect())
    }

    /// How many bytes are not kept.
    pub(super) fn left_out(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// The kept text, safe to show.
    pub(super) fn text(&self) -> String {
        if let Some(all) = self.all() {
            return sanitize(&all);
        }
        // Cut at the start of a line, if one is near, and never within a character.
        let head = &self.head[..line_end(&self.head)];
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let tail = &tail[line_start(&tail)..];
        let left_out = self.total - (head.len() + tail.len()) as u64;
        let (head, tail) = (sanitize(head), sanitize(tail));
        let gap = if head.ends_with('\n') || head.is_empty() { "" } else { "\n" };
        format!("{head}{gap}[… {left_out} bytes left out …]\n{tail}")
    }
}

/// The most bytes by which a cut is moved to the edge of a line.
const NEAR: usize = 500;

fn line_end(head: &[u8]) -> usize {
    let from = head.len().saturating_sub(NEAR);
    match head[from..].iter().rposition(|byte| *byte == b'\n') {
        Some(at) => from + at + 1,
        None => head.len() - head.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len()),
    }
}

fn line_start(tail: &[u8]) -> usize {
    match tail.iter().take(NEAR).position(|byte| *byte == b'\n') {
        Some(at) if at + 1 < tail.len() => at + 1,
        _ => tail.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count(),
    }
}

/// Text that is safe for a terminal, a note or a model: escapes, control characters and invisible characters are gone,
/// invalid UTF-8 is `\u{fffd}`.
pub(super) fn sanitize(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' if chars.peek() != Some(&'\n') => out.push('\n'),
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control(&mut chars),
            '\u{2028}' | '\u{2029}' => out.push('\n'),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    invisible::strip(&out).into_owned()
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Skips an escape sequence, after its first character.
fn skip_escape(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_control(chars);
        }
        // Titles, links, clipboards and the like: up to the bell or `ESC \`, on one line.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                if c == '\u{7}' || c == '\u{9c}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        Some(' '..='/') => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
        }
        Some('0'..='~') => {
            chars.next();
        }
        _ => {}
    }
}

/// Skips what follows `ESC [`.
fn skip_control(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_and_control_characters_are_gone() {
        for (raw, shown) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[2J\u{1b}[Htop", "top"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;https://evil.example\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]52;c;ZXZpbA==\nnext", "\nnext"),
            ("\u{1b}(Bx\u{1b}=y\u{1b}cz", "xyz"),
            ("a\0b\u{8}c\u{7f}", "abc"),
            ("10%\r20%\r\n", "10%\n20%\n"),
            ("\u{9b}31mx", "x"),
            ("pay \u{202e}tneg\u{202c}", "pay tneg"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
        ] {
            assert_eq!(sanitize(raw.as_bytes()), shown, "{raw:?}");
        }
        assert_eq!(sanitize(b"a\xff\xfeb\xc3"), "a\u{fffd}\u{fffd}b\u{fffd}");
    }

    #[test]
    fn a_long_output_keeps_head_and_tail() {
        let mut output = Output::new(20);
        for n in 0..100 {
            output.push(format!("line {n}\n").as_bytes());
        }
        assert_eq!(output.text(), "line 0\n[… 775 bytes left out …]\nline 99\n");
        assert_eq!(output.all(), None);
    }

    #[test]
    fn a_cut_never_goes_through_a_character() {
        let mut output = Output::new(9);
        output.push("ééééééééééé".as_bytes());
        assert!(!output.text().contains('\u{fffd}'), "{}", output.text());
    }

    proptest! {
        #[test]
        fn what_is_kept_is_head_and_tail(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12), keep in 0usize..60) {
            let all = chunks.concat();
            let mut output = Output::new(keep);
            chunks.iter().for_each(|chunk| output.push(chunk));
            let half = keep.div_ceil(2);
            prop_assert_eq!(output.total(), all.len() as u64);
            prop_assert_eq!(&output.head[..], &all[..half.min(all.len())]);
            let rest = &all[output.head.len()..];
            let tail: Vec<u8> = output.tail.iter().copied().collect();
            prop_assert_eq!(&tail[..], &rest[rest.len().saturating_sub(half)..]);
            let text = output.text();
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{:?}", text);
        }
    }
}
