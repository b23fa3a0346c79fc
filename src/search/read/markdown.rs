//! Splits Markdown into blocks, each with its bytes and lines and the headings above it. A long block is cut into
//! pieces with estimated places.
//!
//! The blocks are headings, paragraphs, list items, table rows, code blocks, callouts and comments, from
//! pulldown-cmark's events. A block's text is the visible text: emphasis marks are removed, and link targets are in
//! [`Block::extra`]. Nested items are blocks of their own, and so are comments. A callout named recall, context,
//! injected or system is left out, unless it is inside another callout: recall would otherwise find its own results.

use std::ops::Range;
use std::sync::Arc;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Parser, Tag, TagEnd};

use crate::embed::cut;
use crate::format::memory::split_block_id;
use crate::search::read::block::{self, tags};
use crate::search::read::markup::{self, callout_text, strip_html};
use crate::search::read::{Block, Kind, Lines, pieces};

/// A longer block is cut into several, at sentence ends, in bytes.
pub const MOST: usize = 1500;
/// The most bytes of a heading in the sections of the blocks below it. Each of them has it, so a long one would cost its
/// square.
const MOST_HEADING: usize = 500;
/// The most bytes in which a callout's name is looked for. Each block quote is looked at, also one of 100,000 in others.
const MOST_CALLOUT: usize = 500;
/// Callouts with these names hold injected context.
const INJECTED: [&str; 4] = ["recall", "context", "injected", "system"];

/// The blocks of `text[body_start..]`, placed in `text`; `lines` belongs to the whole of `text`.
pub fn blocks(text: &str, body_start: usize, lines: &Lines, blocks: &mut Vec<Block>) {
    let hidden = markup::find(text, body_start);
    let seen = markup::mark_colons(markup::blank(text, &hidden), body_start);
    let first = blocks.len();
    walk(&seen, body_start, lines, blocks);
    if !hidden.is_empty() {
        comments(text, &hidden, lines, first, blocks);
    }
}

/// Puts comments among the blocks from `first` on, each under the heading that it stands below.
fn comments(text: &str, hidden: &[Range<usize>], lines: &Lines, first: usize, blocks: &mut Vec<Block>) {
    blocks[first..].sort_by_key(|block| block.start);
    let shown = blocks.len();
    for range in hidden {
        let above = blocks[first..shown].partition_point(|block| (block.start as usize) < range.start);
        let section = blocks[first..first + above].last().and_then(|block| block.section.clone());
        let words = markup::words(text, range);
        let tags = block::tags_of_pieces(tags(&text[words.clone()], &[]));
        for mut block in lines.cut(Kind::Comment, text, words, MOST) {
            block.section.clone_from(&section);
            block.tags = tags(&block.text);
            blocks.push(block);
        }
    }
    blocks[first..].sort_by_key(|block| block.start);
}

fn walk(text: &str, body_start: usize, lines: &Lines, blocks: &mut Vec<Block>) {
    let blocks_before = blocks.len();
    let mut walk = Walk {
        text,
        lines,
        blocks,
        headings: Vec::new(),
        section: None,
        leaves: Vec::new(),
        callout: None,
        cells: 0,
        cells_end: 0,
        html: Vec::new(),
        depth: 0,
        elements: [blocks_before; 2],
    };
    for (event, range) in Parser::new_ext(&text[body_start..], markup::options()).into_offset_iter() {
        walk.event(event, range.start + body_start..range.end + body_start);
    }
}

struct Leaf {
    kind: Kind,
    start: usize,
    text: String,
    extra: String,
    links: Vec<String>,
    code: Vec<Range<usize>>,
    /// Where each stretch of `text` begins, there and in the note.
    places: Vec<(usize, usize)>,
}

impl Leaf {
    fn new(kind: Kind, start: usize) -> Self {
        let (text, extra, links, code, places) = Default::default();
        Self { kind, start, text, extra, links, code, places }
    }

    /// Where the byte at `at` of its text stands in the note.
    fn place(&self, at: usize) -> usize {
        let before = self.places.partition_point(|(start, _)| *start <= at);
        self.places[..before].last().map_or(self.start, |(start, place)| place + at - start)
    }
}

struct Walk<'a> {
    text: &'a str,
    lines: &'a Lines,
    blocks: &'a mut Vec<Block>,
    headings: Vec<(HeadingLevel, String)>,
    section: Option<Arc<str>>,
    leaves: Vec<Leaf>,
    /// How deep in block quotes the open callout is, and whether it is left out.
    callout: Option<(usize, bool)>,
    cells: usize,
    cells_end: usize,
    /// HTML that isn't read yet, line by line with each line's place: a tag may go over several lines.
    html: Vec<(usize, String)>,
    /// How many elements are open.
    depth: usize,
    /// The first block of the last outermost element but one, and of the last one.
    elements: [usize; 2],
}

impl Walk<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        if !matches!(event, Event::Html(_)) && !self.html.is_empty() {
            let html = std::mem::take(&mut self.html);
            if let Some(leaf) = self.leaves.last_mut() {
                strip_html(&html, &mut leaf.text, &mut leaf.places);
            }
        }
        if let Some(leaf) = self.leaves.last_mut().filter(|_| !matches!(event, Event::Html(_))) {
            leaf.places.push((leaf.text.len(), range.start));
        }
        match event {
            Event::Start(tag) => {
                if self.depth == 0 {
                    self.elements = [self.elements[1], self.blocks.len()];
                }
                self.depth += 1;
                self.start(tag, range);
            }
            Event::End(tag) => {
                self.end(tag, range);
                self.depth -= 1;
            }
            Event::Text(text) => {
                // An escaped `#` begins no tag.
                let is_escaped = text.starts_with('#') && self.text[..range.start].ends_with('\\');
                if let Some(leaf) = self.leaves.last_mut().filter(|_| is_escaped) {
                    leaf.code.push(leaf.text.len()..leaf.text.len() + 1);
                }
                self.push(&text);
            }
            Event::Code(text) => {
                if let Some(leaf) = self.leaves.last_mut() {
                    let from = leaf.text.len();
                    leaf.text.push_str(&text);
                    leaf.code.push(from..leaf.text.len());
                }
            }
            Event::SoftBreak | Event::HardBreak => self.push("\n"),
            Event::Html(html) => self.html.push((range.start, html.into_string())),
            Event::InlineHtml(html) => {
                if html.starts_with("<br") {
                    self.push("\n");
                }
            }
            Event::FootnoteReference(_) | Event::Rule | Event::TaskListMarker(_) => {}
            Event::InlineMath(text) | Event::DisplayMath(text) => self.push(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::BlockQuote(_) => self.quote(&range),
            Tag::Link { link_type, dest_url, title, .. } => self.link(link_type, &dest_url, &title),
            Tag::Image { dest_url, link_type, title, .. } => {
                let is_wiki = matches!(link_type, LinkType::WikiLink { .. });
                self.link(if is_wiki { link_type } else { LinkType::Inline }, &dest_url, &title);
            }
            _ if self.callout.is_some() => self.newline(),
            Tag::Heading { .. } => self.open(Kind::Heading, range),
            Tag::Paragraph | Tag::HtmlBlock => {
                if self.leaves.is_empty() {
                    self.open(Kind::Paragraph, range);
                } else {
                    self.newline();
                }
            }
            Tag::Item => self.open_within(Kind::Item, range),
            Tag::CodeBlock(kind) => {
                self.open_within(Kind::Code, range);
                if let (CodeBlockKind::Fenced(info), Some(leaf)) = (kind, self.leaves.last_mut()) {
                    leaf.extra.push_str(&info);
                }
            }
            Tag::TableHead | Tag::TableRow => {
                self.cells = 0;
                self.open_within(Kind::Row, range);
            }
            Tag::TableCell => {
                if self.cells > 0 {
                    self.push(" | ");
                }
                self.cells += 1;
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::BlockQuote(_) => {
                if let Some((depth, skip)) = self.callout.as_mut() {
                    *depth -= 1;
                    if *depth == 0 {
                        let skip = *skip;
                        self.callout = None;
                        if let Some(leaf) = self.leaves.pop().filter(|_| !skip) {
                            self.close(leaf, range.end);
                        }
                        self.go_on(range.end);
                    }
                }
            }
            _ if self.callout.is_some() => {}
            TagEnd::Heading(level) => {
                if let Some(leaf) = self.leaves.pop() {
                    self.heading(level, leaf, range.end);
                }
            }
            TagEnd::Paragraph => {
                if self.leaves.last().is_some_and(|leaf| leaf.kind == Kind::Paragraph)
                    && let Some(leaf) = self.leaves.pop()
                {
                    self.close(leaf, range.end);
                }
            }
            TagEnd::TableCell => self.cells_end = range.end,
            TagEnd::Item | TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::TableHead | TagEnd::TableRow => {
                if tag == TagEnd::HtmlBlock
                    && self.leaves.last().is_some_and(|leaf| leaf.kind != Kind::Paragraph)
                {
                    return;
                }
                if let Some(mut leaf) = self.leaves.pop() {
                    if tag == TagEnd::TableRow {
                        // Cells beyond the table's columns aren't shown, but stand in the note.
                        let beyond = &self.text[self.cells_end.clamp(range.start, range.end)..range.end];
                        let beyond = beyond.trim_matches(|c: char| c == '|' || c.is_whitespace());
                        leaf.text.extend([" | ", beyond].into_iter().filter(|_| !beyond.is_empty()));
                    }
                    let end = if leaf.text.is_empty() { range.start } else { range.end };
                    self.close(leaf, end);
                    self.go_on(range.end);
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, kind: Kind, range: Range<usize>) {
        self.leaves.push(Leaf::new(kind, range.start));
    }

    fn push(&mut self, text: &str) {
        if let Some(leaf) = self.leaves.last_mut() {
            leaf.text.push_str(text);
        }
    }

    fn newline(&mut self) {
        if let Some(leaf) = self.leaves.last_mut()
            && !leaf.text.is_empty()
            && !leaf.text.ends_with('\n')
        {
            leaf.text.push('\n');
        }
    }

    /// A block begins, perhaps inside an item: what the item said so far is a block of its own.
    fn open_within(&mut self, kind: Kind, range: Range<usize>) {
        let at = range.start;
        if let Some(leaf) = self.leaves.last_mut()
            && !leaf.text.trim().is_empty()
        {
            let rest = Leaf::new(leaf.kind, at);
            let said = std::mem::replace(leaf, rest);
            self.close(said, at);
        }
        self.open(kind, range);
    }

    /// A block inside an item has ended: what the item says further begins behind it.
    fn go_on(&mut self, end: usize) {
        if let Some(leaf) = self.leaves.last_mut().filter(|leaf| leaf.text.trim().is_empty()) {
            let behind = &self.text[end..];
            leaf.start = end + behind.len() - behind.trim_start().len();
        }
    }

    fn quote(&mut self, range: &Range<usize>) {
        if let Some((depth, _)) = self.callout.as_mut() {
            *depth += 1;
            self.newline();
            return;
        }
        let line = cut(&self.text[range.start..], MOST_CALLOUT).lines().next().unwrap_or_default();
        let first = line.trim_start_matches(['>', ' ', '\t']);
        if let Some((name, _)) = first.strip_prefix("[!").and_then(|rest| rest.split_once(']')) {
            let name = name.split('|').next().unwrap_or_default().trim().to_lowercase();
            self.callout = Some((1, INJECTED.contains(&name.as_str())));
            self.open_within(Kind::Callout, range.clone());
        }
    }

    fn link(&mut self, kind: LinkType, target: &str, title: &str) {
        let Some(leaf) = self.leaves.last_mut() else { return };
        let wiki = matches!(kind, LinkType::WikiLink { .. });
        if matches!(kind, LinkType::WikiLink { has_pothole: true } | LinkType::Inline | LinkType::Reference) {
            for part in [target, title].into_iter().filter(|part| !part.is_empty()) {
                leaf.extra.push_str(if leaf.extra.is_empty() { "" } else { " " });
                leaf.extra.push_str(part);
            }
        }
        if (wiki || !target.contains(':')) && !target.is_empty() {
            leaf.links.push(target.to_owned());
        }
    }

    fn heading(&mut self, level: HeadingLevel, leaf: Leaf, end: usize) {
        while self.headings.last().is_some_and(|(open, _)| *open >= level) {
            self.headings.pop();
        }
        let title = leaf.text.trim().replace('\n', " ");
        if !title.is_empty() {
            self.headings.push((level, cut(&title, MOST_HEADING).to_owned()));
        }
        let path: Vec<&str> = self.headings.iter().map(|(_, title)| title.as_str()).collect();
        self.section = (!path.is_empty()).then(|| Arc::from(path.join(" > ")));
        self.close(leaf, end);
    }

    /// Makes a leaf a block, or several where it is long.
    fn close(&mut self, mut leaf: Leaf, end: usize) {
        let end = leaf.start + self.text[leaf.start..end.max(leaf.start)].trim_end().len();
        if leaf.text.contains(markup::COLON) {
            leaf.text = leaf.text.replace(markup::COLON, ":");
        }
        let tags = if leaf.kind == Kind::Code { Vec::new() } else { tags(&leaf.text, &leaf.code) };
        let shown = if leaf.kind == Kind::Callout { callout_text(&leaf.text) } else { &leaf.text };
        let (text, block_id) = split_block_id(shown);
        let (text, block_id) = (text.trim(), block_id.map(str::to_owned));
        if text.is_empty() {
            // A block id on a line of its own belongs to all of the element before it, or, inside one, to what stands before.
            let last = if self.depth == 1 { 0 } else { self.blocks.len().saturating_sub(1) };
            let above =
                self.blocks[last.max(self.elements[0])..].iter_mut().filter(|block| block.block_id.is_none());
            if block_id.is_some() {
                above.for_each(|block| block.block_id.clone_from(&block_id));
            } else if !leaf.extra.is_empty() && leaf.kind != Kind::Code {
                self.emit(leaf.start..end, "", &leaf, tags, None);
            }
            return;
        }
        if text.len() <= MOST {
            self.emit(leaf.start..end, text, &leaf, tags, block_id);
            return;
        }
        let tags = block::tags_of_pieces(tags);
        for piece in pieces(text, MOST) {
            let part = text[piece].trim();
            if part.is_empty() {
                continue;
            }
            let from = part.as_ptr().addr() - leaf.text.as_ptr().addr();
            let range = leaf.place(from)..leaf.place(from + part.len() - 1) + 1;
            self.emit(range, part, &leaf, tags(part), block_id.clone());
            leaf.extra.clear();
            leaf.links.clear();
        }
    }

    fn emit(&mut self, at: Range<usize>, text: &str, leaf: &Leaf, tags: Vec<String>, id: Option<String>) {
        let mut block = Block::new(leaf.kind, at.start, at.end, text.to_owned());
        self.lines.place(&mut block);
        block.section.clone_from(&self.section);
        block.extra.clone_from(&leaf.extra);
        block.links.clone_from(&leaf.links);
        block.tags = tags;
        block.block_id = id;
        self.blocks.push(block);
    }
}

#[cfg(test)]
mod tests;
