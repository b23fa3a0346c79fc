//! Parses and writes `Pinned.md`: one bullet for each pin. A bullet ends in a link to the pinned text, or is itself
//! the pinned text. Deleting the bullet unpins the text.
//!
//! The bullets are those of [`super::memory`]; the link is Obsidian's, to a block
//! (`[[logs/discord-thread/123/20260130T142355Z_0001#^01J…]]`), a heading or a whole note. The grammar is
//! `grammar/pinned.abnf`.

use std::{fmt, ops::Range};

use super::memory;

/// The target of a link.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinkTarget {
    /// The note as the link has it: with or without `.md`.
    pub path: String,
    /// The block's id, without `#^`.
    pub block_id: Option<String>,
    /// The heading, without `#`; none where there is a block.
    pub heading: Option<String>,
}

impl LinkTarget {
    /// The target that is written as `note#^block`, `note#heading` or `note`, with or without brackets and an alias.
    pub fn named(text: &str) -> Self {
        let bare = text.trim().trim_start_matches("[[").trim_end_matches("]]");
        let bare = bare.split_once('|').map_or(bare, |(target, _)| target);
        let (path, place) = bare.split_once('#').map_or((bare, None), |(path, place)| (path, Some(place)));
        let owned = |text: &str| text.trim().to_owned();
        let block_id = place.and_then(|place| place.strip_prefix('^')).map(owned);
        let heading = place.filter(|_| block_id.is_none()).map(owned);
        Self { path: owned(path), block_id, heading }
    }

    /// The path of the note, with its `.md`.
    pub fn note_path(&self) -> String {
        if self.path.to_ascii_lowercase().ends_with(".md") {
            self.path.clone()
        } else {
            format!("{}.md", self.path)
        }
    }
}

impl fmt::Display for LinkTarget {
    /// The link, without an alias.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[[{}", self.path)?;
        match (&self.block_id, &self.heading) {
            (Some(id), _) => write!(f, "#^{id}")?,
            (None, Some(heading)) => write!(f, "#{heading}")?,
            (None, None) => {}
        }
        f.write_str("]]")
    }
}

/// A pinned memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedBullet {
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// Its bytes, with the newline of its last line.
    pub range: Range<usize>,
    /// Its text, without the marker and the link at its end.
    pub text: String,
    /// The target of the link at its end.
    pub target: Option<LinkTarget>,
}

/// The pins of a file, in order.
pub fn parse(bytes: &[u8]) -> Vec<PinnedBullet> {
    let bullets = memory::parse(bytes).bullets.into_iter().map(|bullet| {
        let (line, end_line, range) = (bullet.line, bullet.end_line, bullet.range.clone());
        let text = bullet.into_text();
        let (text, target) = split_target(&text);
        PinnedBullet { line, end_line, range, text: text.to_owned(), target }
    });
    bullets.collect()
}

/// A pin as it is written, ending in a newline.
pub fn render_bullet(text: &str, target: Option<&LinkTarget>) -> String {
    let text = text.trim();
    match target {
        Some(target) if text.is_empty() => memory::render_item(&target.to_string()),
        Some(target) => memory::render_item(&format!("{text} {target}")),
        None => memory::render_item(text),
    }
}

/// A bullet's text without a block id and the link at its end, and the link's target.
pub fn split_target(text: &str) -> (&str, Option<LinkTarget>) {
    let (body, _) = memory::split_block_id(text);
    split_link(body).map_or((body, None), |(before, target)| (before, Some(target)))
}

/// The text before the link that a text ends in, and the link's target.
fn split_link(text: &str) -> Option<(&str, LinkTarget)> {
    let trimmed = text.trim_end();
    let at = trimmed.rfind("[[")?;
    Some((trimmed[..at].trim_end_matches([' ', '!']), link(&trimmed[at..])?))
}

/// `[[path#^block|alias]]`, `[[path#heading]]`, `[[path]]`.
fn link(text: &str) -> Option<LinkTarget> {
    let inner = text.strip_prefix("[[")?.strip_suffix("]]")?;
    let target = LinkTarget::named(inner);
    let parts = [Some(&target.path), target.block_id.as_ref(), target.heading.as_ref()];
    let is_whole = parts.into_iter().flatten().all(|part| !part.is_empty());
    (is_whole && !inner.contains(['[', ']', '\n'])).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_at_the_end_are_targets() {
        let pins = parse(
            b"- Mum's birthday is 3 May [[logs/discord-thread/123/20260130T142355Z_0001#^01JGXYZ]]\n\
              - the house ![[Notes/House.md#Keys|keys]] ^pin1\n- [[Welcome]]\n- no [[link]] at the end\n- [[#x]]\n",
        );
        let found: Vec<_> = pins
            .iter()
            .map(|b| {
                (
                    b.text.as_str(),
                    b.target.as_ref().map(|t| (t.note_path(), t.block_id.clone(), t.heading.clone())),
                )
            })
            .collect();
        let log = "logs/discord-thread/123/20260130T142355Z_0001.md".to_owned();
        assert_eq!(
            found,
            [
                ("Mum's birthday is 3 May", Some((log, Some("01JGXYZ".to_owned()), None))),
                ("the house", Some(("Notes/House.md".to_owned(), None, Some("Keys".to_owned())))),
                ("", Some(("Welcome.md".to_owned(), None, None))),
                ("no [[link]] at the end", None),
                ("[[#x]]", None),
            ]
        );
    }

    #[test]
    fn a_pin_reads_back() {
        let target =
            LinkTarget { path: "logs/a/b".to_owned(), block_id: Some("01J".to_owned()), heading: None };
        for (text, target) in [("two\nlines", Some(target.clone())), ("", Some(target)), ("plain", None)] {
            let pins = parse(render_bullet(text, target.as_ref()).as_bytes());
            assert_eq!((pins[0].text.as_str(), &pins[0].target), (text, &target));
        }
    }
}
