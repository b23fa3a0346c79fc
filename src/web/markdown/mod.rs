//! Renders a note's Markdown as HTML that is safe to show.
//!
//! The text is untrusted. Raw HTML is shown as text. Links lead only to the web, mail, Obsidian or the page's own
//! addresses; pictures are those of the vault. A sanitizer checks the whole result again.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use ammonia::Builder;
use maud::{Markup, PreEscaped};
use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html,
};

use super::visit::{encoded, note_address};

/// The extensions that Obsidian supports.
const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_WIKILINKS)
    .union(Options::ENABLE_YAML_STYLE_METADATA_BLOCKS);

/// A tag inside of more tags than this is left out, and its text stays: the sanitizer's time grows with the square of
/// the depth.
const DEEPEST: usize = 100;

/// The HTML of a note's text. `folder` is the note's, for relative links; empty for the vault's root.
pub fn render(text: &str, folder: &str) -> Markup {
    render_part(text, 0..text.len(), folder)
}

/// As [`render`], of the blocks and lines that have a byte of `part` alone: a long note is shown in pages. A list, a
/// table and a block of code are cut between their lines, a paragraph is not.
pub fn render_part(text: &str, part: Range<usize>, folder: &str) -> Markup {
    let comments = comments(text);
    let part = without(&comments, part.start)..without(&comments, part.end);
    let text = &*removed(text, &comments);
    let is_whole = part.len() == text.len();
    let is_shown = |range: &Range<usize>| is_whole || (range.start < part.end && range.end > part.start);
    let mut events: Vec<(Event<'_>, Range<usize>)> =
        Parser::new_ext(text, OPTIONS).into_offset_iter().collect();
    if !is_whole {
        count_on(&mut events, &is_shown);
    }
    let (mut embeds, mut is_code) = (Vec::new(), false);
    let events = events.into_iter().map(|(event, range)| match event {
        Event::Start(Tag::CodeBlock(_)) | Event::End(TagEnd::CodeBlock) => {
            is_code = matches!(event, Event::Start(_));
            (event, range)
        }
        Event::Text(lines) if is_code && range.len() == lines.len() => {
            let from = part.start.clamp(range.start, range.end) - range.start;
            let to = part.end.clamp(range.start, range.end) - range.start;
            (Event::Text(lines.get(from..to).unwrap_or_default().to_owned().into()), range)
        }
        event => (event, range),
    });
    let mut depth = 0;
    let shown = events.filter(|(event, range)| is_shown(range) && is_shallow(event, &mut depth));
    let mut shown: Vec<Event<'_>> = shown.map(|(event, _)| embedded(event, &mut embeds)).collect();
    name_headings(&mut shown);
    let mut out = String::with_capacity(part.len() * 3 / 2);
    html::push_html(&mut out, shown.into_iter().map(|event| safe(event, folder)));
    PreEscaped(sanitizer().clean(&out).to_string())
}

/// Whether an event is no deeper than [`DEEPEST`]. `depth` is how many tags are open.
fn is_shallow(event: &Event<'_>, depth: &mut usize) -> bool {
    match event {
        Event::Start(_) => {
            *depth += 1;
            *depth <= DEEPEST
        }
        Event::End(_) => {
            *depth -= 1;
            *depth < DEEPEST
        }
        _ => true,
    }
}

/// Gives each heading the id that links to it name; of several with the same words the first.
fn name_headings(events: &mut [Event<'_>]) {
    let mut known = HashSet::new();
    for at in 0..events.len() {
        let Event::Start(Tag::Heading { .. }) = &events[at] else { continue };
        let words = events[at..].iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
        let words = words.filter_map(|event| match event {
            Event::Text(words) | Event::Code(words) => Some(&**words),
            _ => None,
        });
        let name = anchor(&words.collect::<String>());
        if let Event::Start(Tag::Heading { id, .. }) = &mut events[at]
            && known.insert(name.clone())
        {
            *id = Some(name.into());
        }
    }
}

/// The id of a heading, or of a footnote: none that is the page's own.
fn anchor(words: &str) -> String {
    let words = words.to_lowercase();
    let words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    format!("note-{}", words.collect::<Vec<_>>().join("-"))
}

/// Lets numbered lists that begin before what is shown go on with their numbers.
fn count_on(events: &mut [(Event<'_>, Range<usize>)], is_shown: &impl Fn(&Range<usize>) -> bool) {
    // The lists that are open: where each began, and how many of its items are not shown.
    let mut open: Vec<(usize, u64)> = Vec::new();
    for at in 0..events.len() {
        match &events[at] {
            (Event::Start(Tag::List(_)), _) => open.push((at, 0)),
            (Event::Start(Tag::Item), range) => {
                let is_before = !is_shown(range);
                open.last_mut().filter(|_| is_before).into_iter().for_each(|(_, passed)| *passed += 1);
                if !is_before && let Some((begin, passed)) = open.last_mut() {
                    let by = std::mem::take(passed);
                    if let (Event::Start(Tag::List(Some(first))), _) = &mut events[*begin] {
                        *first += by;
                    }
                }
            }
            (Event::End(TagEnd::List(_)), _) => drop(open.pop()),
            _ => {}
        }
    }
}

/// An embed `![[…]]` is shown if it is a picture, and linked if it is a note. `open` has the embeds that are open, and
/// whether each became a link.
fn embedded<'a>(event: Event<'a>, open: &mut Vec<bool>) -> Event<'a> {
    match event {
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let is_note = matches!(link_type, LinkType::WikiLink { .. }) && !is_picture(&dest_url);
            open.push(is_note);
            Event::Start(if is_note {
                Tag::Link { link_type, dest_url, title, id }
            } else {
                Tag::Image { link_type, dest_url, title, id }
            })
        }
        Event::End(TagEnd::Image) if open.pop() == Some(true) => Event::End(TagEnd::Link),
        event => event,
    }
}

fn is_picture(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    ["png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "bmp"].contains(&ending.as_str())
}

/// An event as it is shown: raw HTML as text, links and pictures led to the page.
fn safe<'a>(event: Event<'a>, folder: &str) -> Event<'a> {
    match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        // A box that can't be ticked here is a sign, which a screen reader says.
        Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ " } else { "☐ " }.into()),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::MetadataBlock(_)) => Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)),
        Event::End(TagEnd::MetadataBlock(_)) => Event::End(TagEnd::CodeBlock),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: link(&dest_url, link_type, folder), title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Image { link_type, dest_url: picture(&dest_url, folder), title, id })
        }
        Event::Start(Tag::Heading { level, id, classes, attrs }) => {
            Event::Start(Tag::Heading { level: lower(level), id, classes, attrs })
        }
        Event::FootnoteReference(name) => Event::FootnoteReference(anchor(&name).into()),
        Event::Start(Tag::FootnoteDefinition(name)) => {
            Event::Start(Tag::FootnoteDefinition(anchor(&name).into()))
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        event => event,
    }
}

/// The ranges of Obsidian's comments (`%% … %%`), which don't show where a note is read; in code they are text.
fn comments(text: &str) -> Vec<Range<usize>> {
    if !text.contains("%%") {
        return Vec::new();
    }
    let code = Parser::new_ext(text, OPTIONS).into_offset_iter().filter_map(|(event, range)| {
        matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))).then_some(range)
    });
    let code: Vec<Range<usize>> = code.collect();
    let is_code = |at: usize| {
        let next = code.partition_point(|range| range.end <= at);
        code.get(next).is_some_and(|range| range.contains(&at))
    };
    let mut marks = text.match_indices("%%").map(|(at, _)| at).filter(|at| !is_code(*at));
    let mut out = Vec::new();
    while let Some(start) = marks.next() {
        out.push(start..marks.next().map_or(text.len(), |end| end + 2));
    }
    out
}

/// A text without some ranges, which stand in their order.
fn removed<'a>(text: &'a str, ranges: &[Range<usize>]) -> Cow<'a, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for range in ranges {
        out.push_str(&text[from..range.start]);
        from = range.end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// The position of a place of a text once some ranges are removed.
fn without(ranges: &[Range<usize>], at: usize) -> usize {
    let before = ranges.iter().take_while(|range| range.start < at);
    at - before.map(|range| range.end.min(at) - range.start).sum::<usize>()
}

/// A note's first heading stands below the page's own.
fn lower(level: HeadingLevel) -> HeadingLevel {
    HeadingLevel::try_from(level as usize + 1).unwrap_or(HeadingLevel::H6)
}

fn sanitizer() -> &'static Builder<'static> {
    static SANITIZER: OnceLock<Builder<'static>> = OnceLock::new();
    SANITIZER.get_or_init(|| {
        let mut builder = Builder::default();
        builder
            .url_schemes(HashSet::from(["http", "https", "mailto", "obsidian"]))
            .add_generic_attributes(["id"])
            // A list that begins from right to left has its signs on the right.
            .set_tag_attribute_value("ul", "dir", "auto")
            .set_tag_attribute_value("ol", "dir", "auto")
            .link_rel(Some("noopener noreferrer"));
        builder
    })
}

/// The address on the page that a link of a note leads to.
fn link<'a>(to: &str, kind: LinkType, folder: &str) -> CowStr<'a> {
    // A browser passes over line breaks and tabs in an address: what they part may be a scheme.
    if to.contains(char::is_control) {
        return "".into();
    }
    if has_scheme(to) {
        return to.to_owned().into();
    }
    let is_wiki = matches!(kind, LinkType::WikiLink { .. });
    let (path, part) = to.split_once('#').unwrap_or((to, ""));
    let path = path.split_once('?').filter(|_| !is_wiki).map_or(path, |(path, _)| path);
    let [path, part] =
        [path, part].map(|text| percent_encoding::percent_decode_str(text).decode_utf8_lossy());
    // Of `#A#B` the innermost heading counts; `#^id` names a block.
    let heading = part.rsplit('#').next().filter(|heading| !heading.is_empty() && !heading.starts_with('^'));
    let heading = heading.map_or_else(String::new, |heading| format!("#{}", anchor(heading)));
    let address = if path.is_empty() && to.starts_with('#') {
        String::new()
    } else {
        let has_ending = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
        let path = if has_ending { path } else { format!("{path}.md").into() };
        // A wiki link counts from the root, unless it says that it is relative.
        let is_rooted = is_wiki && !path.starts_with('.');
        let address = note_address(&if is_rooted { path.to_string() } else { beside(folder, &path) });
        // Without a note in this one's folder the path counts from the root, or is a name, as in a wiki link.
        let may_be_name = !is_wiki && !folder.is_empty() && !path.starts_with(['/', '.']);
        if may_be_name { format!("{address}?link={}", encoded(&path)) } else { address }
    };
    match part.strip_prefix('^') {
        Some(block) => {
            let sign = if address.contains('?') { '&' } else { '?' };
            format!("{address}{sign}block={}", encoded(block)).into()
        }
        None => format!("{address}{heading}").into(),
    }
}

/// The address of a picture of the vault; pictures from elsewhere aren't fetched.
fn picture<'a>(to: &str, folder: &str) -> CowStr<'a> {
    if has_scheme(to) || to.starts_with("//") {
        return "".into();
    }
    let path = percent_encoding::percent_decode_str(to).decode_utf8_lossy();
    format!("/files/{}", encoded(&beside(folder, &path))).into()
}

fn has_scheme(to: &str) -> bool {
    to.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':'))
}

/// A relative path as one from the vault's root, above which it doesn't lead: a browser would take `..` as a way out of
/// `/notes`.
fn beside(folder: &str, path: &str) -> String {
    if let Some(rooted) = path.strip_prefix('/') {
        return rooted.to_owned();
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests;
