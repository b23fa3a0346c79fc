//! Defines the block, which is the unit of the index, and [`ParsedNote`], which holds the blocks of a file. Also finds
//! the date in a note's name, and cuts a long block at the end of a sentence, at the end of a line, or between words.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use bitcode::{Decode, Encode};

use crate::memory::Scope;
use crate::words::words;

pub use crate::format::tags::tags;

/// The pieces of a long text have all its tags, unless it has more than these.
const MOST_TAGS: usize = 50;

words! {
    /// The kind of a block in its note; `as_str` is its name in answers and in `kind:`.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
    pub enum Kind, as_str {
        /// One event of a log.
        Turn = "turn",
        /// A bullet of the memory file, its section folded in.
        Memory = "memory",
        /// A bullet of a day's note, its date folded in.
        Daily = "daily",
        /// A pinned memory.
        Pin = "pin",
        /// A heading.
        Heading = "heading",
        /// A paragraph.
        #[default]
        Paragraph = "paragraph",
        /// A list item, without the items nested in it.
        Item = "item",
        /// A row of a table.
        Row = "row",
        /// A code block.
        Code = "code",
        /// An Obsidian callout, whole.
        Callout = "callout",
        /// The frontmatter.
        Properties = "properties",
        /// A card of an Obsidian canvas.
        Canvas = "canvas",
        /// A part of an Obsidian base or of another text file.
        Text = "text",
        /// A comment, which a reader of the note doesn't see.
        Comment = "comment",
    }
}

words! {
    /// The speaker of a turn; `as_str` is its name in answers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
    pub enum Role, as_str {
        /// A person.
        User = "user",
        /// The agent.
        Agent = "agent",
        /// A tool that the agent called.
        Tool = "tool",
    }
}

/// One block of a note: the unit that is found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct Block {
    /// First line, from 1.
    pub line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// First byte in the decoded note; not stored.
    #[bitcode(skip)]
    pub start: u32,
    /// The byte behind the last; not stored.
    #[bitcode(skip)]
    pub end: u32,
    /// Its kind.
    pub kind: Kind,
    /// The headings above it, outermost first, joined by ` > `.
    pub section: Option<Arc<str>>,
    /// When it was said or is dated: seconds since 1970 (UTC).
    pub time: Option<i64>,
    /// Its speaker.
    pub role: Option<Role>,
    /// The speaker's name.
    pub author: Option<Arc<str>>,
    /// The conversation that it belongs to.
    pub context_id: Option<Arc<str>>,
    /// Its Obsidian block id, without the `^`.
    pub block_id: Option<String>,
    /// Its text: indexed, shown in answers, embedded.
    #[bitcode(skip)]
    pub text: String,
    /// Further indexed text that is not shown: link targets, embedded names.
    #[bitcode(skip)]
    pub extra: String,
    /// Its inline tags without `#`, as written.
    pub tags: Vec<String>,
    /// The notes that it links to or embeds, as written.
    pub links: Vec<String>,
}

impl Block {
    /// A block of `kind` over `start..end` with nothing else known yet; lines are set by [`Lines`].
    pub fn new(kind: Kind, start: usize, end: usize, text: String) -> Self {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: place(start), end: place(end), kind, text, ..Self::default() }
    }
}

/// A file's content as the index sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedNote {
    /// The frontmatter's title, else the file's name without its extension.
    pub title: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// Tags of the whole note.
    pub tags: Vec<String>,
    /// The note's date, seconds since 1970 (UTC).
    pub time: Option<i64>,
    /// Its blocks in the order of the file.
    pub blocks: Vec<Block>,
    /// Faults in the text: line and reason.
    pub findings: Vec<(u32, String)>,
}

impl ParsedNote {
    /// The words that stand above all of its blocks: title and aliases; none without a title.
    pub fn head(&self) -> String {
        if self.title.is_empty() {
            return String::new();
        }
        let names: Vec<&str> =
            std::iter::once(&self.title).chain(&self.aliases).map(String::as_str).collect();
        names.join("\n")
    }
}

/// The tags of each piece of a text with the tags `whole`: all of them; of many, those of scopes and the piece's own.
/// Without the former a piece would be global.
pub fn tags_of_pieces(whole: Vec<String>) -> impl Fn(&str) -> Vec<String> {
    let is_few = whole.len() <= MOST_TAGS;
    let is_shared = |tag: &String| is_few || Scope::of_tag(tag).is_some();
    let (mut shared, others): (Vec<_>, Vec<_>) = whole.into_iter().partition(is_shared);
    let more = shared.split_off(shared.len().min(MOST_TAGS));
    let others: HashSet<String> = others.into_iter().chain(more).collect();
    move |piece| {
        let mut all = shared.clone();
        // Mostly all are shared, and the piece needn't be read again.
        if !others.is_empty() {
            all.extend(tags(piece, &[]).into_iter().filter(|tag| others.contains(tag)));
        }
        all
    }
}

/// Line numbers of byte offsets.
#[derive(Debug)]
pub struct Lines(Vec<u32>);

impl Lines {
    /// The line table of `text`.
    pub fn of(text: &str) -> Self {
        Self(
            memchr::memchr_iter(b'\n', text.as_bytes())
                .map(|at| u32::try_from(at).unwrap_or(u32::MAX))
                .collect(),
        )
    }

    /// The line, from 1, that the byte at `offset` stands in.
    pub fn line(&self, offset: u32) -> u32 {
        u32::try_from(self.0.partition_point(|newline| *newline < offset)).unwrap_or(u32::MAX - 1) + 1
    }

    /// The pieces of `text[range]` ([`pieces`]) as blocks of `kind`; blank ones are left out.
    pub fn cut(&self, kind: Kind, text: &str, range: Range<usize>, most: usize) -> Vec<Block> {
        let mut blocks = Vec::new();
        for piece in pieces(&text[range.clone()], most) {
            let (from, said) = (range.start + piece.start, text[range.clone()][piece].trim_end());
            if !said.trim().is_empty() {
                let mut block = Block::new(kind, from, from + said.len(), said.trim_start().to_owned());
                self.place(&mut block);
                blocks.push(block);
            }
        }
        blocks
    }

    /// Sets a block's lines from its bytes.
    pub fn place(&self, block: &mut Block) {
        block.line = self.line(block.start);
        block.end_line = self.line(block.end.saturating_sub(1).max(block.start));
    }
}

/// The first date `YYYY-MM-DD` in `text`.
pub fn first_date(text: &str) -> Option<jiff::civil::Date> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let date = |start: usize| {
        let is_part = start > 0 && is_digit(start - 1) || is_digit(start + 10);
        let is_one = !is_part && (start..start + 10).filter(|at| is_digit(*at)).count() == 8;
        text.get(start..start + 10).filter(|_| is_one)?.parse().ok()
    };
    (0..text.len()).find_map(date)
}

/// Cuts `text` into pieces of at most about `most` bytes: at sentence ends, else at line ends, else at
/// words. The pieces' ranges cover `text` without gaps.
pub fn pieces(text: &str, most: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while text.len() - start > most {
        let window = &text[start..text.floor_char_boundary(start + most)];
        let half = window.len() / 2;
        let cut = sentence_end(window)
            .filter(|at| *at > half)
            .or_else(|| window.rfind('\n').map(|at| at + 1).filter(|at| *at > half))
            .or_else(|| window.rfind(char::is_whitespace).map(|at| at + 1).filter(|at| *at > half))
            .unwrap_or(window.len())
            .max(1);
        let cut = text.ceil_char_boundary(start + cut);
        pieces.push(start..cut);
        start = cut;
    }
    if start < text.len() || pieces.is_empty() {
        pieces.push(start..text.len());
    }
    pieces
}

/// The byte behind the last sentence end in `window`.
fn sentence_end(window: &str) -> Option<usize> {
    let ascii = window
        .rmatch_indices(['.', '!', '?'])
        .map(|(at, _)| at + 1)
        .find(|at| window[*at..].starts_with(char::is_whitespace));
    let wide = window.rmatch_indices(['。', '！', '？']).next().map(|(at, mark)| at + mark.len());
    ascii.max(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_real_ones() {
        let found = first_date("2026-02-30, 12026-11-20, v2026-11-201, 20261120, 2026-W47, äx2025-01-02.");
        assert_eq!(found, Some(jiff::civil::date(2025, 1, 2)));
        assert_eq!(first_date("2026-11"), None);
    }

    #[test]
    fn long_text_is_cut_at_sentences_and_whole() {
        let text = "One sentence here. Another one there! ".repeat(40);
        let cut = pieces(&text, 200);
        assert!(cut.iter().all(|range| range.len() <= 200));
        assert!(
            cut[..cut.len() - 1].iter().all(|range| text[range.clone()].trim_end().ends_with(['.', '!']))
        );
        assert_eq!(cut.iter().map(|range| &text[range.clone()]).collect::<String>(), text);
        let wide = "字".repeat(500);
        assert_eq!(pieces(&wide, 100).iter().map(|r| &wide[r.clone()]).collect::<String>(), wide);
    }
}
