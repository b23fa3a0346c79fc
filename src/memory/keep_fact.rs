//! Keeps a learned fact with a link to its source, and replaces or extends a known fact.
//!
//! Each call is one edit of `MEMORY.md`; repeating a call changes nothing.
//! - A new fact is a new bullet.
//! - A replacement is a new bullet. The old bullet is struck through, followed by the date and the link to the new
//!   fact's source; the old bullet is never deleted.
//! - An extension adds words to a known fact.

use jiff::Timestamp;

use super::save::{SavedMemory, addition, saved};
use crate::format::candidate::FactChange;
use crate::format::struck;
use crate::memory::item::{self, MemoryItem, is_section};
use crate::memory::wording;
use crate::memory::{MemoryError, MemoryNotes, Result};
use crate::vault::{self, ChangeReason, EditPlan};

/// A fact to keep.
#[derive(Debug, Clone)]
pub struct KeptFact<'a> {
    /// The text to be remembered.
    pub text: &'a str,
    /// The section of `MEMORY.md`.
    pub section: &'a str,
    /// The link to its source: `[[logs/…#^id]]`.
    pub link: &'a str,
    /// The change of a known fact. It is skipped if the fact isn't there any more.
    pub change: Option<&'a FactChange>,
}

/// A fact's own words: without fields, block id, and links and tags at its end.
pub fn without_decoration(text: &str) -> String {
    let plain = crate::format::memory::plain(text);
    plain[..struck::tail_start(&plain)].trim().to_owned()
}

impl MemoryNotes<'_> {
    /// Keeps a fact; the memory as it stands in the note afterwards.
    ///
    /// # Errors
    /// The text or the section can't be kept, or the note can't be written.
    pub fn keep(&self, fact: &KeptFact<'_>, now: Timestamp, why: &ChangeReason) -> Result<SavedMemory> {
        let text = wording::checked(fact.text)?;
        let section = wording::section(fact.section)?;
        let path = self.long_path();
        let local = self.zone.tz().to_datetime(now);
        let stamp = local.strftime("%Y-%m-%d %H:%M");
        let bullet = wording::bullet(&format!("[{stamp}] "), &text, fact.link);
        let says = wording::normal(&without_decoration(&text));
        let stands = |item: &MemoryItem| {
            struck::parse(&item.text).is_none() && item.text.contains(fact.link) && says_fact(item, &says)
        };
        let existing = self.editor.try_edit_with(&path, why, |bytes| -> Result<_> {
            let items = item::parse(bytes, false);
            if items.iter().any(stands) {
                return Ok((EditPlan::NOTHING, true));
            }
            let known =
                fact.change.and_then(|change| Some((change, known_fact(&items, change.words(), &section)?)));
            let after = match known {
                Some((FactChange::Joins(_), old)) => with(bytes, old, &joined(&old.text, &text, fact.link)),
                Some((FactChange::Replaces(_), old)) => {
                    let struck = struck::strike(&old.text, local.date(), fact.link);
                    add(&with(bytes, old, &struck), &section, &bullet)
                }
                None => add(bytes, &section, &bullet),
            };
            let readable = item::parse(&after, false).iter().any(stands);
            let unreadable = || MemoryError::unreadable(&path);
            readable.then_some((EditPlan::Bytes(after), false)).ok_or_else(unreadable)
        })?;
        fail::fail_point!("memory::keep::written");
        let bytes = self.bytes(&path)?;
        let items = item::parse(&bytes, false);
        let kept = items.iter().find(|item| stands(item));
        Ok(saved(&path, kept.ok_or_else(|| MemoryError::vanished(&path))?, &bytes, existing))
    }

    /// Whether this fact is in the note with this link and isn't struck through.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn is_kept(&self, text: &str, link: &str) -> Result<bool> {
        let bytes = self.bytes(&self.long_path())?;
        // Of many lines that wait none is kept, as a rule: nothing is parsed for them.
        if memchr::memmem::find(&bytes, link.as_bytes()).is_none() {
            return Ok(false);
        }
        let says = wording::normal(&without_decoration(text));
        let items = item::parse(&bytes, false);
        Ok(items.iter().any(|item| item.text.contains(link) && says_fact(item, &says)))
    }
}

/// Whether a fact says this, alone or among joined facts; the text may hold a semicolon itself.
fn says_fact(item: &MemoryItem, says: &str) -> bool {
    let own = without_decoration(&item.text);
    let parts: Vec<&str> = own.split("; ").collect();
    let count = says.matches("; ").count() + 1;
    wording::normal(&own) == says || parts.windows(count).any(|run| wording::normal(&run.join("; ")) == says)
}

/// The known fact with these words, if it holds: that of this section, if there are several.
fn known_fact<'i>(items: &'i [MemoryItem], words: &str, section: &str) -> Option<&'i MemoryItem> {
    let says = wording::normal(&without_decoration(words));
    let says_it = items.iter().filter(|item| {
        struck::parse(&item.text).is_none() && wording::normal(&without_decoration(&item.text)) == says
    });
    says_it.min_by_key(|item| item.section.as_deref().is_none_or(|own| !is_section(own, section)))
}

/// The words of both, and behind them the links and fields of the old one and the new link.
fn joined(old: &str, new: &str, link: &str) -> String {
    let (body, id) = crate::format::memory::split_block_id(old);
    let (words, tail) = body.split_at(struck::tail_start(body));
    let tail = tail.trim();
    let tail = if tail.is_empty() { String::new() } else { format!(" {tail}") };
    let id = id.map(|id| format!(" ^{id}")).unwrap_or_default();
    format!("{}; {}{tail} {link}{id}", words.trim_end().trim_end_matches(['.', ';']), new.trim())
}

/// The bytes with another text in a bullet; marker, box and time before it stay.
fn with(bytes: &[u8], item: &MemoryItem, text: &str) -> Vec<u8> {
    let stamp = item.stamp.as_ref().map(|stamp| format!("[{stamp}] ")).unwrap_or_default();
    let rendered = crate::format::memory::render_item(&format!("{stamp}{text}"));
    item::with_bullet(bytes, item, &item::with_marker_of(&item.shown(bytes), &rendered))
}

/// The bytes with a bullet more in a section.
fn add(bytes: &[u8], section: &str, bullet: &str) -> Vec<u8> {
    let operation = addition(bytes, Some(section), bullet);
    vault::apply(std::slice::from_ref(&operation), bytes).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_put_to_a_known_fact_before_its_links() {
        assert_eq!(
            joined("likes tea. [[logs/a#^X]] [tier:: core] ^m", "with honey", "[[logs/b#^Y]]"),
            "likes tea; with honey [[logs/a#^X]] [tier:: core] [[logs/b#^Y]] ^m"
        );
        assert_eq!(without_decoration("likes tea [[logs/a#^X]] [tier:: core] ^m"), "likes tea");
    }

    #[test]
    fn words_with_a_semicolon_are_found_among_what_was_put_together() {
        let bytes = "## Anna\n- likes walks; likes tea; and Coffee; with honey [[logs/a#^X]]\n";
        let items = item::parse(bytes.as_bytes(), false);
        let says = |text: &str| says_fact(&items[0], &wording::normal(&without_decoration(text)));
        assert!(says("likes tea; and coffee") && says("likes walks") && says("with honey."));
        assert!(!says("likes walks; and coffee") && !says("tea"));
    }

    #[test]
    fn a_fact_is_found_by_its_words_unless_it_is_struck() {
        let bytes =
            b"## Anna\n- ~~lives in Graz~~ until 2026-01-01\n- [2026-02-01] lives in Graz [[logs/a#^X]]\n";
        let items = item::parse(bytes, false);
        let found = known_fact(&items, "Lives in Graz", "Bob").unwrap();
        assert_eq!(found.line, 3);
        let text = struck::strike(&found.text, "2026-05-01".parse().unwrap(), "[[logs/b#^Y]]");
        let after = String::from_utf8(with(bytes, found, &text)).unwrap();
        let last = "- [2026-02-01] ~~lives in Graz [[logs/a#^X]]~~ until 2026-05-01 [[logs/b#^Y]]\n";
        assert!(after.ends_with(last), "{after}");
        assert!(known_fact(&items, "lives in Wien", "Anna").is_none());
        let two = b"## Anna\n- lives in Graz\n## Bob\n- lives in Graz\n";
        assert_eq!(known_fact(&item::parse(two, false), "lives in Graz", "bob").unwrap().line, 4);
    }
}
