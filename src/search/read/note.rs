//! Parses a file that is no log into a [`ParsedNote`]. Also defines [`Options`], the settings that decide which files
//! are indexed.
//!
//! Pure: bytes, path and settings go in; blocks, title, date and findings come out. The file's name decides the format,
//! and its path decides properties such as kind and day. The text of a bullet of `MEMORY.md` is prefixed with its
//! section, the text of a day's bullet with its date. Of a canvas, the cards and the words on its lines are read.
//! Formats other than Markdown and canvas are read as plain text.

use unicode_normalization::UnicodeNormalization;

use crate::config::PathPatterns;
use crate::format::lines::with_lf;
use crate::format::pinned::{LinkTarget, split_target};
use crate::format::tags::{code_spans, tags};
use crate::format::{log, memory};
use crate::memory::Scope;
use crate::search::read::block::{self, ParsedNote};
use crate::search::read::{Block, Kind, Lines, decode, frontmatter, markdown};

/// The version of everything that an index's content depends on: blocks, terms, tables. Another version
/// is rebuilt without a question.
pub const SCHEMA: &str = concat!("vault-agent index 34, ", env!("CARGO_PKG_VERSION"));

/// The settings that decide which files are indexed, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// The memory file.
    pub memory: String,
    /// The file of pins.
    pub pinned: String,
    /// The files of reminders and follow-ups.
    pub agenda: [String; 2],
    /// The folder of the days' notes.
    pub daily: String,
    /// The folder of transcripts.
    pub logs: String,
    /// The folder of summaries of transcripts, which say nothing that those don't: they aren't indexed.
    pub summaries: String,
    /// Further files to index, beside notes, canvases and bases.
    pub include: PathPatterns,
    /// Files to leave out.
    pub exclude: PathPatterns,
    /// Larger files are left out, in bytes.
    pub max_file_bytes: u64,
    /// The zone of dates without an offset.
    pub zone: jiff::tz::TimeZone,
}

impl Default for Options {
    fn default() -> Self {
        Self::from_settings(&crate::config::Settings::default(), jiff::tz::TimeZone::UTC)
    }
}

impl Options {
    /// From the vault's settings.
    pub fn from_settings(settings: &crate::config::Settings, zone: jiff::tz::TimeZone) -> Self {
        let folder = |path: &str| path.trim_end_matches('/').to_owned();
        Self {
            memory: settings.paths.memory.clone(),
            pinned: settings.paths.pinned.clone(),
            agenda: [settings.paths.reminders.clone(), settings.paths.commitments.clone()],
            daily: folder(&settings.paths.daily),
            logs: folder(&settings.paths.logs),
            summaries: folder(&settings.paths.summaries),
            include: PathPatterns::of(&settings.index.include),
            exclude: PathPatterns::of(&settings.index.exclude),
            max_file_bytes: settings.index.max_file_bytes,
            zone,
        }
    }

    /// The inputs of the index beside the notes, as text: another text here means a rebuild.
    pub fn fingerprint(&self) -> String {
        format!("{SCHEMA} {self:?}")
    }

    /// Whether a file of that path is indexed; if the settings leave it out, the reason.
    pub fn takes(&self, path: &str) -> Result<bool, &'static str> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let known = ["md", "markdown", "canvas", "base"].iter().any(|e| extension.eq_ignore_ascii_case(e));
        let is_named = self.include.matches(path);
        if (!known || is_below(path, &self.summaries)) && !is_named {
            return Ok(false);
        }
        if self.exclude.matches(path) {
            return Err("left out by `[index] exclude`");
        }
        Ok(true)
    }

    /// The notes that the agent itself writes, the one of the day of `now` among them.
    pub fn own_notes(&self, now: jiff::Timestamp) -> Vec<String> {
        let today = now.to_zoned(self.zone.clone()).date();
        let mut own = vec![self.memory.clone(), self.pinned.clone(), format!("{}/{today}.md", self.daily)];
        own.extend_from_slice(&self.agenda);
        own
    }

    /// Whether this is the path, or the beginning of the paths, of what the agent itself writes.
    pub fn is_own(&self, path: &str) -> bool {
        let folder = path.strip_suffix('/').unwrap_or(path);
        let conversations = ["channel", "thread"].map(|kind| format!("{}/discord-{kind}", self.logs));
        self.has_lines_of_its_own(path)
            || folder == self.daily
            || folder == self.logs
            || path == self.sessions()
            || conversations.iter().any(|folder| is_below(path, folder))
    }

    /// Whether it is the file of memories, of pins, of reminders or of follow-ups.
    fn has_lines_of_its_own(&self, path: &str) -> bool {
        [&self.memory, &self.pinned, &self.agenda[0], &self.agenda[1]].into_iter().any(|own| own == path)
    }

    /// The folder of coding agents' sessions, with `/` at its end.
    pub fn sessions(&self) -> String {
        format!("{}/{}/", self.logs, log::SESSIONS)
    }

    /// Whether the blocks of a file are facts of their own: memories, pins, reminders, bullets of a day.
    pub fn is_list(&self, path: &str) -> bool {
        self.has_lines_of_its_own(path) || is_below(path, &self.daily)
    }

    /// Whether the file is a transcript.
    pub fn is_log(&self, path: &str) -> bool {
        is_below(path, &self.logs)
    }
}

/// A note's path without its extension, and the last part of that: its name.
pub(in crate::search) fn names_of_path(path: &str) -> (&str, &str) {
    let path = path.strip_suffix(".md").unwrap_or(path);
    (path, path.rsplit('/').next().unwrap_or(path))
}

/// Whether a file stands in a folder, or below it.
pub(in crate::search) fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Reads a file that is no log, whole.
///
/// # Errors
/// The reason why it can't be indexed, for a person.
pub(super) fn read(path: &str, bytes: &[u8], options: &Options) -> Result<ParsedNote, String> {
    let bytes = with_lf(bytes);
    let (text, encoding) = decode::decode(&bytes).ok_or("it is not text")?;
    let mut note = ParsedNote::default();
    if encoding != decode::Encoding::Utf8 {
        let name = if encoding == decode::Encoding::Utf16 { "UTF-16" } else { "Latin-1" };
        note.findings.push((
            1,
            format!("it is not in UTF-8 but {name}: save it as UTF-8; it was searched all the same"),
        ));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    stem.clone_into(&mut note.title);
    match extension.to_ascii_lowercase().as_str() {
        "md" | "markdown" => {
            read_markdown(&text, &options.zone, &mut note);
            if path == options.memory {
                bullets(&text, &mut note, Kind::Memory, |block| memory_bullet(block, &options.zone));
                note.title.clear();
            } else if path == options.pinned {
                bullets(&text, &mut note, Kind::Pin, |_| {});
                note.title.clear();
            } else if let Some(date) = day(path, stem, options) {
                note.time = frontmatter::seconds(date.at(0, 0, 0, 0), &options.zone);
                bullets(&text, &mut note, Kind::Daily, |block| daily_bullet(block, date, &options.zone));
            }
        }
        "canvas" => canvas(&text, &mut note),
        _ => plain(&text, &mut note),
    }
    let named = || frontmatter::seconds(block::first_date(stem)?.at(0, 0, 0, 0), &options.zone);
    note.time = note.time.or_else(named);
    for block in &mut note.blocks {
        block.time = block.time.or(note.time);
    }
    Ok(note)
}

fn read_markdown(text: &str, zone: &jiff::tz::TimeZone, note: &mut ParsedNote) {
    let lines = Lines::of(text);
    let body = frontmatter::split(text).map_or(0, |(yaml, body)| {
        frontmatter::read(&text[yaml.clone()], yaml.start, zone, note);
        body
    });
    for block in &mut note.blocks {
        lines.place(block);
    }
    markdown::blocks(text, body, &lines, &mut note.blocks);
}

/// Makes list items bullets of `kind`. A bullet's scopes are those of all its blocks (nested items, code, comments)
/// that bear none themselves. Of a pin's links to blocks, the one that it ends in is kept: others pin nothing.
fn bullets(text: &str, note: &mut ParsedNote, kind: Kind, each: impl Fn(&mut Block)) {
    let bullets = memory::parse(text.as_bytes()).bullets;
    for block in &mut note.blocks {
        let start = block.start as usize;
        let before = &bullets[..bullets.partition_point(|bullet| bullet.range.start <= start)];
        let Some(bullet) = before.last().filter(|bullet| bullet.range.contains(&start)) else { continue };
        if kind == Kind::Pin {
            let is_target = |link: &str| split_target(&bullet.text).1 == Some(LinkTarget::named(link));
            block.links.retain(|link| pin(link).is_none() || is_target(link));
        }
        if Scope::of_tags(block.tags.iter().map(String::as_str)).is_empty() {
            let tags = tags(&bullet.text, &code_spans(&bullet.text)).into_iter();
            block.tags.extend(tags.filter(|tag| Scope::of_tag(tag).is_some()));
        }
    }
    for block in note.blocks.iter_mut().filter(|block| block.kind == Kind::Item) {
        block.kind = kind;
        each(block);
    }
}

/// Headings of the file of memories that say nothing of the lines below them: its title, and where an assistant saves
/// what it names no section for.
const PLAIN_SECTIONS: [&str; 4] = ["Memory", "Memories", "Facts", crate::memory::DEFAULT_SECTION];

/// `[timestamp] text` under `## Section` is indexed as `Section: text`.
fn memory_bullet(block: &mut Block, zone: &jiff::tz::TimeZone) {
    if let Some((stamp, text)) = block.text.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && let Some(time) = frontmatter::stamped(stamp, zone)
    {
        block.time = Some(time);
        block.text = text.trim_start().to_owned();
    }
    if let Some(section) = block.section.as_deref().and_then(|path| path.rsplit(" > ").next())
        && !PLAIN_SECTIONS.contains(&section)
    {
        block.text = format!("{section}: {}", block.text);
    }
}

/// `14:02 text` in the note of a day is indexed as `2026-11-20 14:02 text`.
fn daily_bullet(block: &mut Block, date: jiff::civil::Date, zone: &jiff::tz::TimeZone) {
    let clock = block.text.split_whitespace().next().filter(|word| word.len() == 5);
    if let Some(time) = clock.and_then(|clock| clock.parse::<jiff::civil::Time>().ok()) {
        block.time = frontmatter::seconds(date.to_datetime(time), zone);
    }
    block.text = format!("{date} {}", block.text);
}

/// The date of a day's note.
fn day(path: &str, stem: &str, options: &Options) -> Option<jiff::civil::Date> {
    is_below(path, &options.daily).then(|| stem.parse().ok()).flatten()
}

/// The block that a link of the file of pins pins: path without extension, block id.
pub fn pin(link: &str) -> Option<(String, String)> {
    let (path, id) = link.split_once("#^")?;
    Some((path.strip_suffix(".md").unwrap_or(path).to_owned(), id.to_owned()))
}

/// Whether a link means the note at `path`, by its path or its name alone: in any case, and however its accents are
/// written, as in Obsidian.
pub fn is_link_to(link: &str, path: &str) -> bool {
    is_link_to_names(link, names_of_path(path))
}

/// The same for a note with these [names](names_of_path), where many links are compared.
pub(in crate::search) fn is_link_to_names(link: &str, (path, name): (&str, &str)) -> bool {
    let link = link.strip_suffix(".md").unwrap_or(link);
    [path, name].iter().any(|name| {
        link.eq_ignore_ascii_case(name)
            || !link.is_ascii() && !name.is_ascii() && folded(link).eq(folded(name))
    })
}

/// The letters by which links and names are compared.
pub(in crate::search) fn folded(text: &str) -> impl Iterator<Item = char> + '_ {
    text.nfc().flat_map(char::to_lowercase)
}

/// The cards of a canvas, and the words on its lines.
fn canvas(text: &str, note: &mut ParsedNote) {
    let Ok(json) = serde_json::from_str::<serde_json::Value>(text) else {
        if !text.trim().is_empty() {
            note.findings.push((1, "the canvas is not valid JSON; it was searched as text".to_owned()));
        }
        plain(text, note);
        return;
    };
    let lines = Lines::of(text);
    let mut from = 0;
    for node in ["nodes", "edges"].iter().flat_map(|key| json[key].as_array()).flatten() {
        let words: Vec<&str> =
            ["text", "label", "url", "file"].iter().filter_map(|key| node[*key].as_str()).collect();
        let card = words.join("\n");
        if card.trim().is_empty() {
            continue;
        }
        // The card's place: its id stands in the file once.
        let at = node["id"].as_str().and_then(|id| text[from..].find(id)).map_or(from, |found| from + found);
        let mut block = Block::new(Kind::Canvas, at, at + 1, card);
        lines.place(&mut block);
        block.tags = block::tags(&block.text, &[]);
        block.links.extend(node["file"].as_str().map(str::to_owned));
        note.blocks.push(block);
        from = if text.is_char_boundary(at + 1) { at } else { from };
    }
}

/// Any other text: a block for each stretch between empty lines.
fn plain(text: &str, note: &mut ParsedNote) {
    let lines = Lines::of(text);
    let (mut start, mut stretch) = (0, 0..0);
    let mut flush = |stretch| note.blocks.extend(lines.cut(Kind::Text, text, stretch, markdown::MOST));
    for line in text.split_inclusive('\n') {
        start += line.len();
        if line.trim().is_empty() {
            flush(std::mem::replace(&mut stretch, start..start));
        } else {
            stretch.end = start;
        }
    }
    flush(stretch);
}
