//! Merges bullets into the sections of the memory note, of a day's note, or of the note of pins.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{MergedNote, WantedBullet};
use crate::format::lines::{self, Line, Lines, lines};
use crate::format::memory::{self, MemoryFile};
use crate::format::with_line_feeds;
use crate::memory::wording;

/// The longest name of a section.
const MAX_SECTION_CHARS: usize = 200;

/// Merges bullets into a note; `title` is the beginning of a new note.
pub(super) fn merge(before: &[u8], title: &str, wanted: &[WantedBullet]) -> MergedNote {
    let mut refused: HashMap<usize, String> = HashMap::new();
    // Once with all of them; where the result doesn't read back, once more without those.
    for _ in 0..2 {
        let (merged, missing) = attempt(before, title, wanted, &mut refused);
        if missing.is_empty() {
            return merged;
        }
        let reason = "the note ends, or the section does, inside a comment or a code block";
        refused.extend(missing.into_iter().map(|at| (at, reason.to_owned())));
    }
    let reason = "the note would not read back with it";
    let refused = wanted.iter().map(|wanted| (wanted.item, reason.to_owned())).collect();
    MergedNote { after: before.to_vec(), refused, ..MergedNote::default() }
}

/// The bullets of one section (none: above the first), each with its index among the wanted ones.
type SectionBullets = (Option<String>, Vec<(usize, NewBullet)>);

/// One bullet as it will read back.
struct NewBullet {
    timestamp: Option<String>,
    text: String,
    rendered: String,
}

/// By a bullet's section and text: its timestamps, each with whether a wanted bullet was the same.
type KnownStamps = HashMap<(Option<String>, String), Vec<(Option<String>, bool)>>;

/// The merged note, and the places in `wanted` of what doesn't read back from it.
fn attempt(
    before: &[u8],
    title: &str,
    wanted: &[WantedBullet],
    refused: &mut HashMap<usize, String>,
) -> (MergedNote, Vec<usize>) {
    let file = memory::parse(before);
    // By the texts as an import would write them: a person may have written what an import makes harmless, or closes.
    let mut known = KnownStamps::new();
    for bullet in &file.bullets {
        let written = render(bullet.timestamp.as_deref(), &bullet.text);
        let text = written.map_or_else(|_| bullet.text.clone(), |written| written.text);
        known.entry((bullet.section.clone(), text)).or_default().push((bullet.timestamp.clone(), false));
    }
    let mut names: Vec<String> = file.sections.iter().map(|section| section.name.clone()).collect();
    let mut groups: Vec<SectionBullets> = Vec::new();
    let mut merged = MergedNote::default();
    for (at, one) in wanted.iter().enumerate().filter(|(at, _)| !refused.contains_key(at)).collect::<Vec<_>>()
    {
        let (section, bullet) = match prepare(one, &mut names) {
            Ok(prepared) => prepared,
            Err(reason) => {
                refused.insert(at, reason);
                continue;
            }
        };
        // The same words of another time are new; a bullet without a time is the same as one with, which is there
        // already. Of equal ones as many are wanted as come.
        let stamp = &bullet.timestamp;
        if let Some(stamps) = known.get_mut(&(section.clone(), bullet.text.clone())) {
            let same = stamps.iter().position(|(known, is_met)| known == stamp && !is_met);
            same.into_iter().for_each(|at| stamps[at].1 = true);
            if same.is_some() || stamps.iter().any(|(known, _)| known.is_none() != stamp.is_none()) {
                merged.duplicates += 1;
                continue;
            }
        }
        match groups.iter_mut().find(|(name, _)| *name == section) {
            Some((_, bullets)) => bullets.push((at, bullet)),
            None => groups.push((section, vec![(at, bullet)])),
        }
    }
    merged.after = insert(before, title, &file, &groups);
    let read = memory::parse(&merged.after);
    let there: HashSet<_> = read
        .bullets
        .iter()
        .map(|read| (read.section.as_deref(), read.timestamp.as_deref(), read.text.as_str()))
        .collect();
    let stands = |section: &Option<String>, bullet: &NewBullet| {
        there.contains(&(section.as_deref(), bullet.timestamp.as_deref(), bullet.text.as_str()))
    };
    let all =
        groups.iter().flat_map(|(section, bullets)| bullets.iter().map(move |(at, b)| (section, at, b)));
    let missing: Vec<usize> =
        all.filter(|(section, _, b)| !stands(section, b)).map(|(_, at, _)| *at).collect();
    for (section, bullets) in &groups {
        merged.added.extend(section.iter().map(|name| format!("## {name}")));
        merged.added.extend(bullets.iter().map(|(_, bullet)| bullet.rendered.trim_end().to_owned()));
        merged.count += bullets.len();
    }
    merged.refused = refused.iter().map(|(at, reason)| (wanted[*at].item, reason.clone())).collect();
    merged.refused.sort();
    (merged, missing)
}

/// The section's name as it reads back, and the bullet.
fn prepare(wanted: &WantedBullet, names: &mut Vec<String>) -> Result<(Option<String>, NewBullet), String> {
    let bullet = render(wanted.timestamp.as_deref(), &wanted.text)?;
    let section = wanted.section.as_deref().and_then(|name| canonical(name, names));
    Ok((section, bullet))
}

/// The bullet as it would be written, and read back.
fn render(timestamp: Option<&str>, text: &str) -> Result<NewBullet, String> {
    let text = wording::checked(&with_line_feeds(text)).map_err(|error| error.to_string())?;
    let rendered = memory::render_bullet(timestamp, &text);
    let mut read = memory::parse(rendered.as_bytes()).bullets.into_iter();
    match (read.next(), read.next()) {
        (Some(bullet), None) => Ok(NewBullet { timestamp: bullet.timestamp, text: bullet.text, rendered }),
        _ => Err("it would not read back as one bullet".to_owned()),
    }
}

/// The name of a section as a heading reads it back, in the letter case of the one of `names` that is there; a blank
/// one is none, and a new one is added to them.
fn canonical(name: &str, names: &mut Vec<String>) -> Option<String> {
    // A heading must not open a comment, which would hide what comes below it.
    let name = name.replace("%%", "%").replace("<!--", "<--");
    let line: String =
        name.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_SECTION_CHARS).collect();
    let (_, name) = memory::heading(format!("## {}", line.trim()).as_bytes())?;
    if name.is_empty() {
        return None;
    }
    let same = names.iter().find(|known| **known == name);
    let alike = || names.iter().find(|known| known.to_lowercase() == name.to_lowercase());
    if let Some(known) = same.or_else(alike) {
        return Some(known.clone());
    }
    names.push(name.clone());
    Some(name)
}

/// The bytes with the groups of bullets in their sections.
fn insert(before: &[u8], title: &str, file: &MemoryFile, groups: &[SectionBullets]) -> Vec<u8> {
    let mut splices: Vec<(usize, String)> = Vec::new();
    let mut new_sections = String::new();
    for (section, bullets) in groups {
        let text: String = bullets.iter().map(|(_, bullet)| bullet.rendered.as_str()).collect();
        let range = match section {
            None => {
                let end = file.sections.first().map_or(before.len(), |section| section.range.start);
                Some((lines::bom_len(before)..end, true))
            }
            Some(name) => {
                let found = file.sections.iter().find(|section| section.name == *name);
                found.map(|section| (section.range.clone(), false))
            }
        };
        match range {
            Some((range, apart)) => splices.push(splice(before, file, range, &text, apart)),
            None => {
                new_sections.push_str(&format!("\n## {}\n{text}", section.as_deref().unwrap_or_default()));
            }
        }
    }
    splices.sort_by_key(|(at, _)| *at);
    let mut after = Vec::with_capacity(before.len() + 1024);
    let mut from = 0;
    if before.is_empty() && !groups.is_empty() {
        after.extend_from_slice(title.as_bytes());
    }
    for (at, text) in &splices {
        after.extend_from_slice(&before[from..*at]);
        from = *at;
        push(&mut after, before, text);
    }
    after.extend_from_slice(&before[from..]);
    if !new_sections.is_empty() {
        let blank = lines(&after).last().is_none_or(|line| line.text.trim_ascii().is_empty());
        let text = if blank { new_sections.trim_start_matches('\n') } else { &new_sections };
        push(&mut after, before, text);
    }
    after
}

/// The position of a group in a range of lines: behind its last line that isn't blank. `apart` sets it off
/// from what isn't a bullet.
fn splice(before: &[u8], file: &MemoryFile, range: Range<usize>, text: &str, apart: bool) -> (usize, String) {
    let is_blank = |line: &Line<'_>| line.text.trim_ascii().is_empty();
    let inside = Lines::from_offset(before, range.start, 0).take_while(|line| line.start < range.end);
    let at = inside.filter(|line| !is_blank(line)).last().map_or(range.start, |line| line.end());
    let after_bullet = file.bullets.binary_search_by_key(&at, |bullet| bullet.range.end).is_ok();
    let at_top = at == lines::bom_len(before) && !before.is_empty();
    let lead = if apart && !after_bullet && !at_top { "\n" } else { "" };
    // A heading must not follow at once.
    let next = Lines::from_offset(before, at, 0).next();
    let tail = if next.is_none_or(|line| is_blank(&line)) { "" } else { "\n" };
    (at, format!("{lead}{text}{tail}"))
}

/// Adds text to bytes that end in a whole line afterwards, with the line ends of `like`.
fn push(bytes: &mut Vec<u8>, like: &[u8], text: &str) {
    let newline = lines::terminator_of(like);
    if !bytes.is_empty() && !bytes.ends_with(b"\n") && bytes.len() > lines::bom_len(bytes) {
        bytes.extend_from_slice(newline.as_bytes());
    }
    bytes.extend_from_slice(text.replace('\n', newline).as_bytes());
}
