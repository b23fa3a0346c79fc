//! Formats dates in the order of day, month and year that the browser's language implies, with English names. Pure.

use jiff::Zoned;
use jiff::civil::Date;

/// The order of day, month and year.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum DateOrder {
    /// `Tue 1 Dec 2026`.
    #[default]
    Day,
    /// `Tue, Dec 1, 2026`.
    Month,
    /// `2026 Dec 1, Tue`.
    Year,
}

/// Regions whose people write the month first, and languages whose people write the year first.
const MONTH_FIRST: [&str; 4] = ["us", "ph", "fm", "pw"];
const YEAR_FIRST: [&str; 7] = ["ja", "zh", "ko", "hu", "lt", "mn", "eu"];

impl DateOrder {
    /// The order of the language that an `Accept-Language` header names first.
    pub(super) fn of(accepted: &str) -> Self {
        let first = accepted.split([',', ';']).next().unwrap_or_default().trim().to_ascii_lowercase();
        let mut parts = first.split(['-', '_']);
        let language = parts.next().unwrap_or_default();
        if parts.any(|part| MONTH_FIRST.contains(&part)) {
            Self::Month
        } else if YEAR_FIRST.contains(&language) {
            Self::Year
        } else {
            Self::Day
        }
    }

    /// How an instant, a day with its year, and a day of a known week are written.
    fn forms(self) -> [&'static str; 3] {
        match self {
            Self::Day => ["%a %-d %b %Y, %H:%M", "%-d %B %Y", "%A %-d %B"],
            Self::Month => ["%a, %b %-d, %Y, %H:%M", "%B %-d, %Y", "%A, %B %-d"],
            Self::Year => ["%Y %b %-d, %a, %H:%M", "%Y %B %-d", "%A, %B %-d"],
        }
    }

    /// An instant in its zone, to the minute.
    pub(super) fn instant(self, at: &Zoned) -> String {
        at.strftime(self.forms()[0]).to_string()
    }

    /// A day with its year.
    pub(super) fn day(self, day: Date) -> String {
        day.strftime(self.forms()[1]).to_string()
    }

    /// A day of a week that is known.
    pub(super) fn weekday(self, day: Date) -> String {
        day.strftime(self.forms()[2]).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use jiff::tz::TimeZone;

    #[test]
    fn the_first_language_decides() {
        for (accepted, order) in [
            ("", DateOrder::Day),
            ("en-GB,en;q=0.9,en-US;q=0.8", DateOrder::Day),
            ("de-AT", DateOrder::Day),
            ("en-US,en;q=0.9", DateOrder::Month),
            ("es-us;q=0.9", DateOrder::Month),
            ("zh-Hant-TW,en-US", DateOrder::Year),
            ("ja", DateOrder::Year),
            ("*", DateOrder::Day),
        ] {
            assert_eq!(DateOrder::of(accepted), order, "{accepted}");
        }
    }

    #[test]
    fn a_date_is_written_in_its_order() {
        let day = date(2026, 12, 1);
        let at = day.at(9, 5, 0, 0).to_zoned(TimeZone::UTC).unwrap();
        let written = |order: DateOrder| [order.instant(&at), order.day(day), order.weekday(day)];
        assert_eq!(
            written(DateOrder::Day),
            ["Tue 1 Dec 2026, 09:05", "1 December 2026", "Tuesday 1 December"]
        );
        assert_eq!(
            written(DateOrder::Month),
            ["Tue, Dec 1, 2026, 09:05", "December 1, 2026", "Tuesday, December 1"]
        );
        assert_eq!(
            written(DateOrder::Year),
            ["2026 Dec 1, Tue, 09:05", "2026 December 1", "Tuesday, December 1"]
        );
    }
}
