//! Splits Markdown into blocks: headings, paragraphs, list items, table rows, code blocks and callouts, each with its
//! exact bytes and lines and the headings above it.
//!
//! Built on pulldown-cmark's events. A block's text is the visible text: emphasis marks are removed, and link targets
//! are in [`Block::extra`]. Nested items are blocks of their own, and so are comments. A folded callout of injected
//! memories is left out, because recall would otherwise find its own results.

use std::collections::HashSet;
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
/// The pieces of a long block have all its tags, unless it has more than these; then each has its own.
const MOST_TAGS: usize = 50;
/// Callouts with these names hold injected context.
const INJECTED: [&str; 4] = ["recall", "context", "injected", "system"];

/// The blocks of `text[body_start..]`, placed in `text`; `lines` belongs to the whole of `text`.
pub fn blocks(text: &str, body_start: usize, lines: &Lines, blocks: &mut Vec<Block>) {
    let hidden = markup::find(text, body_start);
    let seen = markup::blank(text, &hidden);
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
        for mut block in lines.cut(Kind::Comment, text, words, MOST) {
            block.section.clone_from(&section);
            block.tags = tags(&block.text, &[]);
            blocks.push(block);
        }
    }
    blocks[first..].sort_by_key(|block| block.start);
}

fn walk(text: &str, body_start: usize, lines: &Lines, blocks: &mut Vec<Block>) {
    let mut walk = Walk {
        text,
        lines,
        first: blocks.len(),
        blocks,
        headings: Vec::new(),
        section: None,
        leaves: Vec::new(),
        callout: None,
        cells: 0,
        html: false,
    };
    let mut end = body_start;
    for (event, range) in Parser::new_ext(&text[body_start..], markup::options()).into_offset_iter() {
        let range = range.start + body_start..range.end + body_start;
        walk.definitions(end..range.start);
        end = end.max(range.end);
        walk.event(event, range);
    }
    walk.definitions(end..text.len());
}

struct Leaf {
    kind: Kind,
    start: usize,
    end: usize,
    text: String,
    extra: String,
    links: Vec<String>,
    code: Vec<Range<usize>>,
}

impl Leaf {
    fn new(kind: Kind, start: usize) -> Self {
        let (text, extra, links, code) = Default::default();
        Self { kind, start, end: start, text, extra, links, code }
    }
}

struct Walk<'a> {
    text: &'a str,
    lines: &'a Lines,
    blocks: &'a mut Vec<Block>,
    first: usize,
    headings: Vec<(HeadingLevel, String)>,
    section: Option<Arc<str>>,
    leaves: Vec<Leaf>,
    /// How deep in block quotes the open callout is, and whether it is left out.
    callout: Option<(usize, bool)>,
    cells: usize,
    html: bool,
}

impl Walk<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
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
            Event::Html(html) => {
                if let Some(leaf) = self.leaves.last_mut() {
                    strip_html(&html, &mut self.html, &mut leaf.text);
                }
            }
            Event::InlineHtml(html) => {
                if html.starts_with("<br") {
                    self.push("\n");
                }
            }
            Event::FootnoteReference(_) | Event::Rule | Event::TaskListMarker(_) => {}
            Event::InlineMath(text) | Event::DisplayMath(text) => self.push(&text),
        }
    }

    /// The text between two events: definitions of links. One such as `[anna]: yes`, whose target is no path and no
    /// address, is a block.
    fn definitions(&mut self, between: Range<usize>) {
        let mut start = between.start;
        for line in self.text.get(between).unwrap_or_default().split_inclusive('\n') {
            let end = start + line.len();
            if line.split_once("]:").is_some_and(|(_, target)| !markup::is_target(target.trim())) {
                self.close(Leaf { text: line.to_owned(), ..Leaf::new(Kind::Paragraph, start) }, end);
            }
            start = end;
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::BlockQuote(_) => self.quote(&range),
            Tag::Link { link_type, dest_url, .. } => self.link(link_type, &dest_url),
            Tag::Image { dest_url, link_type, .. } => {
                self.link(
                    if matches!(link_type, LinkType::WikiLink { .. }) { link_type } else { LinkType::Inline },
                    &dest_url,
                );
            }
            _ if self.callout.is_some() => self.newline(),
            Tag::Heading { .. } => self.open(Kind::Heading, range),
            Tag::Paragraph | Tag::HtmlBlock => {
                self.html = false;
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
                        if let Some(mut leaf) = self.leaves.pop().filter(|_| !skip) {
                            leaf.text = callout_text(&leaf.text);
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
                } else if let Some(leaf) = self.leaves.last_mut() {
                    leaf.end = leaf.end.max(range.end);
                }
            }
            TagEnd::Item | TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::TableHead | TagEnd::TableRow => {
                if tag == TagEnd::HtmlBlock
                    && self.leaves.last().is_some_and(|leaf| leaf.kind != Kind::Paragraph)
                {
                    return;
                }
                if let Some(leaf) = self.leaves.pop() {
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
            leaf.end = leaf.end.max(leaf.start);
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

    fn link(&mut self, kind: LinkType, target: &str) {
        let Some(leaf) = self.leaves.last_mut() else { return };
        let wiki = matches!(kind, LinkType::WikiLink { .. });
        if matches!(kind, LinkType::WikiLink { has_pothole: true } | LinkType::Inline | LinkType::Reference)
            && !target.is_empty()
        {
            if !leaf.extra.is_empty() {
                leaf.extra.push(' ');
            }
            leaf.extra.push_str(target);
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
        let tags = if leaf.kind == Kind::Code { Vec::new() } else { tags(&leaf.text, &leaf.code) };
        let (text, block_id) = split_block_id(&leaf.text);
        let (text, block_id) = (text.trim(), block_id.map(str::to_owned));
        if text.is_empty() {
            // A block id on a line of its own belongs to what stands before it.
            let open = block_id.is_some() && self.blocks.len() > self.first;
            if let Some(last) = self.blocks.last_mut().filter(|last| open && last.block_id.is_none()) {
                last.block_id = block_id;
            } else if !leaf.extra.is_empty() && leaf.kind != Kind::Code {
                self.emit(leaf.start..end, "", &leaf, tags, None);
            }
            return;
        }
        if text.len() <= MOST {
            self.emit(leaf.start..end, text, &leaf, tags, block_id);
            return;
        }
        // The pieces' places: exact where the text stands in the note as it is, and near, else in proportion.
        let source = &self.text[leaf.start..end];
        let known: HashSet<&String> = tags.iter().collect();
        let mut from = 0;
        for (n, piece) in pieces(text, MOST).into_iter().enumerate() {
            let part = text[piece].trim();
            if part.is_empty() {
                continue;
            }
            let head: String = part.chars().take_while(|c| *c != '\n').take(24).collect();
            let near = &source[from..source.floor_char_boundary(from + 40 * MOST)];
            let at = near.find(head.as_str()).map_or(from, |found| from + found);
            let stop = source.ceil_char_boundary(at + part.len());
            let range = leaf.start + at..leaf.start + stop.max(at);
            from = stop;
            let mut of_piece = if tags.len() > MOST_TAGS { block::tags(part, &[]) } else { tags.clone() };
            of_piece.retain(|tag| known.contains(tag));
            self.emit(range, part, &leaf, of_piece, block_id.clone().filter(|_| n == 0));
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
