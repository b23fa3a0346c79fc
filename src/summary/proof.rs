//! Verifies summaries against the bytes of their log, and lists the faults. Pure.

use super::window::{PlacedSummary, Window};
use crate::format::summary::SummaryKind;

/// A fault of a summary.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SummaryFault {
    /// Its id; the note's path if it has none.
    pub id: String,
    /// The reason, in words.
    pub why: String,
}

impl Window {
    /// All faults: of notes, of the log, and gaps between summaries.
    pub fn verify(&self) -> Vec<SummaryFault> {
        let problem = |id: &str, why: String| SummaryFault { id: id.to_owned(), why };
        let mut bad: Vec<SummaryFault> = Vec::new();
        for (id, path) in &self.doubled {
            let first = self.note(id).map_or("another note", |note| note.path.as_str());
            bad.push(problem(id, format!("`{first}` and `{path}` bear this id; delete one")));
        }
        for placed in &self.notes {
            if let Some(why) = self.fault_of(placed) {
                bad.push(problem(&placed.note.summary.id, why));
            }
        }
        if self.bytes.is_none() {
            return bad;
        }
        let mut missing: Vec<&str> = self.missing().into_iter().collect();
        missing.sort_unstable();
        bad.extend(missing.iter().map(|id| problem(id, "its note is missing; it is made again".to_owned())));
        let mut end: Option<usize> = None;
        for events in self.leaves().filter_map(|placed| placed.events.clone()) {
            let gap = end.unwrap_or(0)..events.start;
            if gap.clone().any(|at| self.size(&self.blocks[at]).is_linkable)
                && let Some(covers) = self.covered_ids(&gap)
            {
                let id = self.id_of(SummaryKind::Leaf, &covers, &[]);
                if !bad.iter().any(|known| known.id == id) {
                    let why =
                        format!("a leaf for ^{} to ^{} is missing; it is made again", covers.0, covers.1);
                    bad.push(SummaryFault { id, why });
                }
            }
            end = end.max(Some(events.end));
        }
        bad
    }

    /// The fault of the summary with this id; `None` if it is valid or not one of these.
    pub fn problem(&self, id: &str) -> Option<String> {
        self.fault_of(self.placed(id)?)
    }

    fn fault_of(&self, placed: &PlacedSummary) -> Option<String> {
        let (summary, log) = (&placed.note.summary, format!("`{}.md`", self.link));
        let by_hand =
            format!("its note was edited by hand: delete `{}`, and it is made again", placed.note.path);
        if self.bytes.is_none() {
            return Some(format!("its log {log} is gone; `vault-agent restore` brings it back"));
        }
        let Some(events) = &placed.events else { return Some(self.explain_lost(placed)) };
        if self.hash(events) != summary.sha256 {
            let how = "`vault-agent history` knows what it said, `vault-agent lcm update` summarises what it says now";
            let rest = if placed.note.is_edited { format!(", and {by_hand}") } else { format!(": {how}") };
            return Some(format!("{log} changed after it was summarised{rest}"));
        }
        if placed.note.is_edited && self.outdated_ids(&self.changed(), false).contains(summary.id.as_str()) {
            let why = "what it is made from has changed since, so no request has it";
            return Some(format!("{why}, and {by_hand}"));
        }
        if summary.kind == SummaryKind::Condensed {
            let parts: Vec<_> =
                self.children(&summary.id).iter().map(|c| self.events(&c.summary.id)).collect();
            let whole = parts.len() == summary.sources.len();
            let mut at = events.start;
            let is_row = parts
                .into_iter()
                .all(|part| part.is_some_and(|part| std::mem::replace(&mut at, part.end) == part.start));
            if whole && !(is_row && at == events.end) {
                return Some("its sources don't cover what it covers".to_owned());
            }
        }
        let covers = self.covered_ids(events)?;
        (self.id_of(summary.kind, &covers, &summary.sources) != summary.id)
            .then(|| "its id is not the one of what it covers: its head was changed".to_owned())
    }

    /// Explains why the events of a summary can't be found, and the remedy.
    fn explain_lost(&self, placed: &PlacedSummary) -> String {
        let (log, path) = (format!("`{}.md`", self.link), &placed.note.path);
        let advice =
            format!("bring the log back as it was, or delete `{path}` and run `vault-agent lcm update`");
        let Some((first, last)) = &placed.note.summary.covers else {
            return format!("the summaries that it is made from can't be found in {log}; {advice}");
        };
        let Some(lost) = [first, last].into_iter().find(|id| !self.places.contains_key(*id)) else {
            return format!("in {log} its first event ^{first} stands behind its last one ^{last}; {advice}");
        };
        let held = self.blocks.iter().filter(|block| block.event.id.as_ref() == Some(lost));
        match held.map(|block| block.line).collect::<Vec<_>>()[..] {
            [one, other, ..] => format!(
                "{log} holds the event ^{lost} more than once, at lines {one} and {other}; delete the copies"
            ),
            _ => format!("{log} doesn't hold the event ^{lost} any more; {advice}"),
        }
    }
}
