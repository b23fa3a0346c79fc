//! Applies the rules of notifications: quiet hours and tags. Pure.
//!
//! Items that are due in quiet hours wait until the hours end, and are then sent as late items. Items with the urgent
//! tag don't wait. If the settings name recipients for a tag, items with that tag go to these recipients and not to the
//! usual ones. A tag is written in a reminder's or follow-up's words as in Obsidian: `#work`, also `#work/office`.

use jiff::civil::Time;

use crate::deliver::prelude::*;
use crate::schedule::{self, Zone};

/// The recipients of notifications, by the names of the notifiers, and the quiet hours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotifyRules {
    /// The recipients of untagged items, the one that counts first; an empty list means the primary notifier alone.
    pub kinds: Vec<&'static str>,
    /// From the first of these minutes until the second, only urgent items are sent.
    pub quiet: Option<(Time, Time)>,
    /// The tag of urgent items, without `#`, in lower case; empty for none.
    pub urgent: String,
    /// The recipients of tagged items.
    pub tags: BTreeMap<String, Vec<&'static str>>,
}

impl NotifyRules {
    /// The recipients of this text, the one that counts first. Several tags with recipients add up.
    pub fn kinds(&self, text: &str) -> Vec<&'static str> {
        let mut kinds = Vec::new();
        for tag in tags(text) {
            let named =
                self.tags.iter().filter(|(name, _)| is_within(&tag, name)).flat_map(|(_, kinds)| kinds);
            for kind in named {
                if !kinds.contains(kind) {
                    kinds.push(*kind);
                }
            }
        }
        if kinds.is_empty() { self.kinds.clone() } else { kinds }
    }

    /// Whether one of these is marked urgent.
    pub fn is_urgent(&self, facts: &[NotifiedItem]) -> bool {
        facts.iter().any(|fact| self.has_urgent_tag(&fact.msg))
    }

    /// Whether a text is marked urgent.
    pub fn has_urgent_tag(&self, text: &str) -> bool {
        !self.urgent.is_empty() && tags(text).any(|tag| is_within(&tag, &self.urgent))
    }

    /// The end of the quiet hours that `now` lies in, if it does.
    pub fn quiet_until(&self, zone: &Zone, now: Timestamp) -> Option<Timestamp> {
        let (from, to) = self.quiet?;
        let local = zone.tz().to_datetime(now);
        let (date, time) = (local.date(), local.time());
        let is_quiet = if from < to { from <= time && time < to } else { from <= time || time < to };
        if !is_quiet {
            return None;
        }
        let day = if time < to { date } else { date.tomorrow().ok()? };
        let end = day.to_datetime(to);
        let first = schedule::resolve(zone, end);
        // Of an end that comes twice, the first may be behind us.
        if first > now { Some(first) } else { zone.tz().to_ambiguous_timestamp(end).later().ok() }
    }
}

/// The tags of a text, without `#`, in lower case.
fn tags(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '\''));
    words.filter_map(|word| {
        let rest = word.strip_prefix('#')?;
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '/')));
        let tag = &rest[..end.unwrap_or(rest.len())];
        tag.chars().any(|c| !c.is_numeric()).then(|| tag.to_lowercase())
    })
}

/// Whether a tag is `name`, or one beneath it.
fn is_within(tag: &str, name: &str) -> bool {
    tag.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn telling(from: i8, to: i8) -> NotifyRules {
        let hour = |hour| jiff::civil::time(hour, 0, 0, 0);
        NotifyRules {
            kinds: vec!["discord", "desktop"],
            quiet: Some((hour(from), hour(to))),
            urgent: "urgent".to_owned(),
            tags: BTreeMap::from([
                ("work".to_owned(), vec!["email"]),
                ("home".to_owned(), vec!["ntfy", "email"]),
            ]),
        }
    }

    #[test]
    fn a_tag_names_who_is_told() {
        let telling = telling(22, 7);
        for (text, kinds) in [
            ("Call Mum", vec!["discord", "desktop"]),
            ("Call #work", vec!["email"]),
            ("(#Work/Office) call", vec!["email"]),
            ("#work, then #home.", vec!["email", "ntfy"]),
            ("a#work #workshop #1 # #", vec!["discord", "desktop"]),
        ] {
            assert_eq!(telling.kinds(text), kinds, "{text}");
        }
        assert!(telling.has_urgent_tag("Call! #urgent"));
        assert!(!telling.has_urgent_tag("Call #urgently"));
        assert!(!NotifyRules::default().has_urgent_tag("#urgent #"));
    }

    #[test]
    fn quiet_hours_end_at_their_local_time() {
        let berlin = Zone::get("Europe/Berlin").unwrap();
        let until = |telling: &NotifyRules, now: &str| {
            telling.quiet_until(&berlin, now.parse().unwrap()).map(|at| at.to_string())
        };
        let night = telling(22, 7);
        assert_eq!(until(&night, "2026-12-01T20:59:00Z"), None);
        assert_eq!(until(&night, "2026-12-01T21:00:00Z").as_deref(), Some("2026-12-02T06:00:00Z"));
        assert_eq!(until(&night, "2026-12-02T05:59:59Z").as_deref(), Some("2026-12-02T06:00:00Z"));
        assert_eq!(until(&night, "2026-12-02T06:00:00Z"), None);
        // Over the change to summer time, an hour shorter.
        assert_eq!(until(&night, "2026-03-28T21:00:00Z").as_deref(), Some("2026-03-29T05:00:00Z"));
        let half_past_two = jiff::civil::time(2, 30, 0, 0);
        let short =
            NotifyRules { quiet: night.quiet.map(|(from, _)| (from, half_past_two)), ..telling(22, 7) };
        // An end that comes twice is each time ahead, and one that is skipped comes with the end of the gap.
        assert_eq!(until(&short, "2026-10-25T00:10:00Z").as_deref(), Some("2026-10-25T00:30:00Z"));
        assert_eq!(until(&short, "2026-10-25T01:10:00Z").as_deref(), Some("2026-10-25T01:30:00Z"));
        assert_eq!(until(&short, "2026-03-28T23:00:00Z").as_deref(), Some("2026-03-29T01:00:00Z"));
        let noon = telling(12, 14);
        assert_eq!(until(&noon, "2026-12-01T12:30:00Z").as_deref(), Some("2026-12-01T13:00:00Z"));
        assert_eq!(until(&noon, "2026-12-01T13:00:00Z"), None);
    }
}
