//! Cuts another program's Markdown into pieces, each fit for a bullet.
//!
//! A list item, a paragraph and a code block are one piece each, with the headings above it. Frontmatter, rules and
//! comments are left out.

use crate::format::lines::{self, LiveLines};
use crate::format::memory;

/// One piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextChunk {
    /// Its first line, from 1.
    pub line: usize,
    /// The headings below the first level that it stands under, outermost first.
    pub headings: Vec<String>,
    /// Its text, without a list marker.
    pub text: String,
}

impl TextChunk {
    /// Its headings as the name of one section.
    pub fn section(&self) -> Option<String> {
        (!self.headings.is_empty()).then(|| self.headings.join(" / "))
    }
}

/// The pieces of `text` in order.
pub(super) fn chunks(text: &str) -> Vec<TextChunk> {
    let mut cutter = Cutter::default();
    let body = lines::frontmatter_end(text.as_bytes()).unwrap_or(0);
    for (line, live) in LiveLines::new(text.as_bytes()).with_liveness() {
        if line.start >= body {
            cutter.line(line.number, &String::from_utf8_lossy(line.text), live);
        }
    }
    cutter.flush();
    cutter.chunks
}

#[derive(Default)]
struct Cutter {
    chunks: Vec<TextChunk>,
    /// The headings above, with their levels.
    headings: Vec<(usize, String)>,
    open: Option<OpenChunk>,
}

/// The piece that the next lines may belong to.
struct OpenChunk {
    line: usize,
    is_item: bool,
    lines: Vec<String>,
    /// Blank lines since its last one.
    blanks: usize,
    /// Whether its last line is one of a code block or a comment.
    ends_dead: bool,
}

impl Cutter {
    fn line(&mut self, number: usize, line: &str, live: bool) {
        let indented = line.starts_with([' ', '\t']);
        if line.trim().is_empty() {
            match &mut self.open {
                Some(open) if open.is_item || !live => open.blanks += 1,
                _ => self.flush(),
            }
        } else if !live {
            self.add(number, line, live);
        } else if let Some((level, name)) = memory::heading(line.as_bytes()) {
            self.flush();
            self.headings.retain(|(above, _)| *above < level);
            self.headings.push((level, name));
        } else if is_rule(line) {
            self.flush();
        } else if let Some(text) = item(line) {
            self.flush();
            let lines = vec![text.to_owned()];
            self.open = Some(OpenChunk { line: number, is_item: true, lines, blanks: 0, ends_dead: false });
        } else {
            if !indented && self.open.as_ref().is_some_and(|open| open.blanks > 0 || open.ends_dead) {
                self.flush();
            }
            self.add(number, line, live);
        }
    }

    fn add(&mut self, line: usize, text: &str, live: bool) {
        let open = self.open.get_or_insert(OpenChunk {
            line,
            is_item: false,
            lines: Vec::new(),
            blanks: 0,
            ends_dead: false,
        });
        let text = if open.is_item { &text[memory::indent(text.as_bytes())..] } else { text };
        open.lines.extend(std::iter::repeat_n(String::new(), std::mem::take(&mut open.blanks)));
        open.lines.push(text.to_owned());
        open.ends_dead = !live;
    }

    fn flush(&mut self) {
        let Some(open) = self.open.take() else { return };
        let text = open.lines.join("\n");
        let text = text.trim();
        let comment = |from: &str, to: &str| text.starts_with(from) && text.ends_with(to);
        if text.is_empty() || comment("<!--", "-->") || comment("%%", "%%") {
            return;
        }
        let headings = self.headings.iter().filter(|(level, _)| *level > 1);
        let headings = headings.map(|(_, name)| name.clone()).filter(|name| !name.is_empty()).collect();
        self.chunks.push(TextChunk { line: open.line, headings, text: text.to_owned() });
    }
}

/// The text behind a list marker in the first column.
fn item(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = if (1..=9).contains(&digits) {
        line[digits..].strip_prefix(['.', ')'])?
    } else {
        line.strip_prefix(['-', '*', '+'])?
    };
    rest.strip_prefix([' ', '\t']).map(str::trim_start)
}

/// Whether a line is nothing but a rule.
fn is_rule(line: &str) -> bool {
    let marks: Vec<char> = line.chars().filter(|c| !c.is_whitespace()).collect();
    marks.len() >= 3 && matches!(marks[0], '-' | '*' | '_') && marks.iter().all(|c| *c == marks[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn items_paragraphs_and_code_are_pieces() {
        let text = "---\ntitle: x\n---\n# Title\nintro\nmore\n\n## A\n- one\n  two\n\n  - three\nlazy\n\ntext\n### B\n1. first\n2) second\n---\n\
                    ```sh\n# no heading\n\n- no item\n```\n<!-- a\n- comment -->\n## C\n* last";
        let found: Vec<_> =
            chunks(text).into_iter().map(|chunk| (chunk.line, chunk.section(), chunk.text)).collect();
        let of = |line, section: &str, text: &str| {
            (line, Some(section.to_owned()).filter(|name| !name.is_empty()), text.to_owned())
        };
        assert_eq!(
            found,
            [
                of(5, "", "intro\nmore"),
                of(9, "A", "one\ntwo\n\n- three\nlazy"),
                of(15, "A", "text"),
                of(17, "A / B", "first"),
                of(18, "A / B", "second"),
                of(20, "A / B", "```sh\n# no heading\n\n- no item\n```"),
                of(28, "C", "last"),
            ]
        );
    }

    proptest! {
        #[test]
        fn no_word_is_lost(words in proptest::collection::vec("(- |# |  |> |[0-9]\\. |)[a-z]{1,5}( [a-z]{1,5})?|", 0..20)) {
            let text = words.join("\n");
            let kept: Vec<String> = chunks(&text).into_iter().flat_map(|chunk| {
                chunk.text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
            }).collect();
            for word in words.iter().filter(|line| !line.starts_with('#')).flat_map(|line| line.split_whitespace()) {
                if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                    prop_assert!(kept.iter().any(|known| known == word), "{word} of {text:?}");
                }
            }
        }
    }
}
