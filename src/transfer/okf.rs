//! Writes the Open Knowledge Format 0.2: a folder with one Markdown file for each concept.
//!
//! Each fact of `MEMORY.md`, each day and each list of planned items is a concept. Its file names its `type`. A fact
//! that the inbox records as kept also has `sources` and `generated` (its generator). If a person kept it, it has
//! `verified`, with the vault's name in place of the person's. All other facts have none of these. `index.md` lists all
//! concepts. Pure; the caller writes the folder.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::PathBuf;

use jiff::Timestamp;

use super::VaultContents;
use super::contents::is_document;
use crate::format::candidate::{Candidate, CandidateRecord, InboxFile};
use crate::format::memory::{self, Bullet};
use crate::format::{one_line, shortened, struck};
use crate::memory::{keep_fact::without_decoration, normal};
use crate::reminders::rfc3339;

/// The index's frontmatter.
const HEAD: &str = "---\nokf_version: \"0.2\"\n---\n";
/// The longest part of a file's name that comes from words, in characters.
const MAX_SLUG_CHARS: usize = 48;

/// The files of an earlier export, as its index lists them; none where the index is no export's.
pub fn listed_in(index: &str) -> Option<HashSet<PathBuf>> {
    let body = index.strip_prefix(HEAD).filter(|body| is_document(body))?;
    let lines = body.lines().filter_map(|line| line.strip_prefix("- [")?.strip_suffix(')'));
    let paths = lines.filter_map(|line| Some(line.rsplit_once("](")?.1));
    Some(paths.chain(["index.md"]).map(PathBuf::from).collect())
}

/// One file of the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OkfFile {
    /// Its path in the folder, with `/` between parts.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// The files of an export, as of `now`; `inbox` says where facts come from.
pub fn bundle(contents: &VaultContents, inbox: &InboxFile, now: Timestamp) -> Vec<OkfFile> {
    let mut book = OkfFiles::default();
    let kept = kept_sources(inbox);
    for bullet in &contents.memory.1.bullets {
        fact(&mut book, contents, &kept, bullet);
    }
    for day in contents.days_with_content() {
        let title = day.date.to_string();
        book.add("daily", &title, Head::new("journal", &title), &day.list());
    }
    planned(&mut book, contents);
    let mut index = format!("{HEAD}{}", contents.head(now));
    for (folder, listed) in book.listed {
        let _ = write!(index, "\n## {folder}\n\n{listed}");
    }
    book.files.push(OkfFile { path: "index.md".to_owned(), text: index });
    book.files
}

/// A fact of the memory note.
fn fact(book: &mut OkfFiles, contents: &VaultContents, kept: &[KeptSource<'_>], bullet: &Bullet) {
    let past = struck::parse(&bullet.text);
    let words = past.as_ref().map_or(bullet.text.as_str(), |past| past.words);
    let says = without_decoration(words);
    let section = bullet.section.as_deref().unwrap_or("Memory");
    let known = source_of(kept, words, &says);
    let mut head = Head::new(known.map_or("fact", |one| one.category.name()), &short(&says));
    head.text("about", section);
    if let Some(stamp) = &bullet.timestamp {
        head.text("timestamp", stamp);
    }
    if let Some(past) = &past {
        head.text("status", "superseded");
        if let Some(until) = past.until {
            head.text("valid_until", &until.to_string());
        }
    }
    if let Some(one) = known {
        let _ = writeln!(head.0, "sources:\n  - resource: {}", quoted(&one.source()));
        if let Some(CandidateRecord { asked, by, kept, on }) = &one.record {
            let at = |at: Timestamp| quoted(&rfc3339(at, contents.zone.tz()));
            let by = quoted(&format!("vault-agent:{by}"));
            let _ = writeln!(head.0, "generated:\n  by: {by}\n  at: {}", at(*asked));
            // A memory that the settings kept without a tick was checked by no person.
            if let Some(kept) = kept.filter(|_| on.as_deref() != Some(crate::format::candidate::AUTO)) {
                let by = quoted(&format!("human:{}", contents.name));
                let _ = writeln!(head.0, "verified:\n  - by: {by}\n    at: {}", at(kept));
            }
        }
    }
    book.add("memory", &format!("{section} {says}"), head, &format!("{words}\n"));
}

/// Reminders, follow-ups and pins: a file each.
fn planned(book: &mut OkfFiles, contents: &VaultContents) {
    let reminders = contents.reminders.1.reminders.iter().map(|line| {
        let one = &line.reminder;
        let text = format!("{} {} ({}): {}", one.date, one.time.strftime("%H:%M"), one.recur, one.msg);
        memory::render_bullet(None, &text)
    });
    let followups = contents.commitments.1.blocks.iter().map(|block| {
        let one = &block.commitment;
        memory::render_bullet(None, &format!("{} ({}): {}", contents.due(one), one.status, one.text))
    });
    let pins = contents.pins.1.iter().map(|pin| memory::render_bullet(None, &pin.text));
    for (kind, title, text) in [
        ("reminders", "Reminders", reminders.collect::<String>()),
        ("follow-ups", "Follow-ups", followups.collect()),
        ("pins", "Pinned", pins.collect()),
    ] {
        if !text.is_empty() {
            book.add("planned", title, Head::new(kind, title), &text);
        }
    }
}

/// A candidate that was kept from the inbox, behind the link to its source.
type KeptSource<'a> = (String, &'a Candidate);

fn kept_sources(inbox: &InboxFile) -> Vec<KeptSource<'_>> {
    let records = inbox.records.iter().map(|line| &line.candidate);
    let kept = records.filter(|one| one.record.as_ref().is_some_and(|record| record.kept.is_some()));
    kept.map(|one| (format!("[[{}]]", one.source()), one)).collect()
}

/// The candidate that became this fact: it has the fact's link, and says it.
fn source_of<'a>(kept: &[KeptSource<'a>], text: &str, says: &str) -> Option<&'a Candidate> {
    let mut linked = kept.iter().filter(|(link, _)| text.contains(link.as_str())).map(|(_, one)| *one);
    let parts: Vec<String> = says.split("; ").map(normal).chain([normal(says)]).collect();
    linked.find(|one| parts.contains(&normal(&without_decoration(&one.text))))
}

/// The frontmatter of a concept. Values are JSON strings, which are YAML, too.
struct Head(String);

impl Head {
    fn new(kind: &str, title: &str) -> Self {
        let mut head = Self(String::from("---\n"));
        head.text("type", kind);
        head.text("title", title);
        head
    }

    fn text(&mut self, key: &str, value: &str) {
        let _ = writeln!(self.0, "{key}: {}", quoted(value));
    }
}

/// The files that are made, each under a name of its own.
#[derive(Default)]
struct OkfFiles {
    files: Vec<OkfFile>,
    /// The lines of the index, by folder.
    listed: BTreeMap<String, String>,
    taken: HashSet<String>,
}

impl OkfFiles {
    fn add(&mut self, folder: &str, words: &str, head: Head, body: &str) {
        let stem = name(words);
        let mut path = format!("{folder}/{stem}.md");
        let mut count = 1;
        while !self.taken.insert(path.clone()) {
            count += 1;
            path = format!("{folder}/{stem}-{count}.md");
        }
        let title = short(words).replace(['[', ']', '\\'], " ");
        let _ = writeln!(self.listed.entry(folder.to_owned()).or_default(), "- [{title}]({path})");
        let Head(head) = head;
        self.files.push(OkfFile { path, text: format!("{head}---\n\n{body}") });
    }
}

/// A file's name from words: small letters, digits and `-`, and neither of the format's own names.
fn name(words: &str) -> String {
    let mut out = String::new();
    for c in words.to_lowercase().chars() {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.chars().count() >= MAX_SLUG_CHARS {
            break;
        }
    }
    let out = out.trim_matches('-');
    if out.is_empty() || ["index", "log"].contains(&out) {
        format!("note-{out}").trim_end_matches('-').to_owned()
    } else {
        out.to_owned()
    }
}

/// One line of a title.
fn short(text: &str) -> String {
    shortened(&one_line(text), 80).into_owned()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{candidate, commitment, reminder};
    use crate::vault::NotePath;

    fn contents(memory_note: &str) -> VaultContents {
        let path = |path: &str| NotePath::new(path).unwrap();
        VaultContents {
            name: "Anna".into(),
            zone: crate::schedule::Zone::get("Europe/London").unwrap(),
            memory: (path("MEMORY.md"), memory::parse(memory_note.as_bytes())),
            days: Vec::new(),
            reminders: (
                path("Reminders.md"),
                reminder::parse(b"- [ ] date=2026-12-01 time=09:30 recur=none msg=\"Call\"\n"),
            ),
            commitments: (path("COMMITMENTS.md"), commitment::parse(b"")),
            pins: (path("Pinned.md"), Vec::new()),
            unread: Vec::new(),
        }
    }

    #[test]
    fn what_was_learned_says_where_it_comes_from_and_what_was_written_by_hand_does_not() {
        let note = "## Anna\n- [2026-11-22 11:00] likes green tea [[logs/a#^X]]\n- my own line\n- ~~lives in Graz~~ until 2026-05-01 [[logs/b#^Y]]\n";
        let record = "- [x] [preferences] Anna: likes green tea · \"I only drink green tea\" [[logs/a#^X]] cap_K5V4M2J7Q2ZP asked=2026-11-22T10:00:00Z by=claude kept=2026-11-22T11:00:00Z on=human";
        let inbox = candidate::parse(format!("%%\n{record}\n%%\n").as_bytes());
        let files = bundle(&contents(note), &inbox, "2026-11-23T00:00:00Z".parse().unwrap());
        let text =
            |path: &str| files.iter().find(|file| file.path == path).map(|file| file.text.as_str()).unwrap();
        assert_eq!(
            text("memory/anna-likes-green-tea.md"),
            "---\ntype: \"preferences\"\ntitle: \"likes green tea\"\nabout: \"Anna\"\ntimestamp: \"2026-11-22 11:00\"\nsources:\n  \
             - resource: \"logs/a#^X\"\ngenerated:\n  by: \"vault-agent:claude\"\n  at: \"2026-11-22T10:00:00+00:00\"\nverified:\n  \
             - by: \"human:Anna\"\n    at: \"2026-11-22T11:00:00+00:00\"\n---\n\nlikes green tea [[logs/a#^X]]\n"
        );
        let own = "---\ntype: \"fact\"\ntitle: \"my own line\"\nabout: \"Anna\"\n---\n\nmy own line\n";
        assert_eq!(text("memory/anna-my-own-line.md"), own);
        let past = text("memory/anna-lives-in-graz.md");
        assert!(past.contains("status: \"superseded\"\nvalid_until: \"2026-05-01\"\n---"), "{past}");
        assert!(
            text("index.md")
                .contains("\n## memory\n\n- [Anna likes green tea](memory/anna-likes-green-tea.md)\n")
        );
    }

    #[test]
    fn names_are_files_names_and_unlike() {
        assert_eq!(name("Anna: likes green tea!"), "anna-likes-green-tea");
        assert_eq!(
            (name("Index"), name("log"), name("../..")),
            ("note-index".into(), "note-log".into(), "note".into())
        );
        let files =
            bundle(&contents("- a\n- A!\n"), &InboxFile::default(), "2026-11-23T00:00:00Z".parse().unwrap());
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["memory/memory-a.md", "memory/memory-a-2.md", "planned/reminders.md", "index.md"]);
    }
}
