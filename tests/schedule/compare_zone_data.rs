//! The comparison with the other zone database, of which the present one is known to be older.

use std::collections::BTreeMap;

use chrono::{DateTime, Offset as _, TimeZone as _};
use vault_agent::schedule::{Difference, compare_zone_data, other_database_version};

use crate::schedule::{instant, zone};

/// The table of the other database's offsets as chrono-tz makes it, from 2024 to 2040.
fn table() -> String {
    let [first, last] = ["2024-01-01T00:00:00Z", "2041-01-01T00:00:00Z"].map(|at| instant(at).as_second());
    let mut zones: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for zone in chrono_tz::TZ_VARIANTS {
        let offset = |second: i64| {
            let utc = DateTime::from_timestamp(second, 0).unwrap().naive_utc();
            zone.offset_from_utc_datetime(&utc).fix().local_minus_utc()
        };
        let mut offsets = format!("{first}:{}", offset(first));
        let mut at = first;
        while at < last {
            // No zone has changed its clocks and changed them back within a week.
            let (mut low, mut high) = (at, (at + 7 * 24 * 3600).min(last));
            let before = offset(low);
            at = high;
            if offset(high) == before {
                continue;
            }
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if offset(middle) == before { low = middle } else { high = middle }
            }
            offsets += &format!(" {high}:{}", offset(high));
            at = high;
        }
        zones.entry(offsets).or_default().push(zone.name());
    }
    let lines = zones.into_iter().map(|(offsets, names)| format!("{offsets}\t{}\n", names.join(" ")));
    format!("{} {first} {last}\n{}", chrono_tz::IANA_TZDB_VERSION, lines.collect::<String>())
}

#[test]
fn the_other_database_is_chrono_tz() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schedule/zone_data.txt");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(file, table()).unwrap();
    }
    assert!(
        std::fs::read_to_string(file).unwrap() == table(),
        "`UPDATE_DOCS=1 cargo test` writes {file} anew"
    );
}

fn differences(name: &str, from: &str, years: u32) -> Vec<Difference> {
    compare_zone_data(&zone(name), instant(from), years)
}

#[test]
fn where_the_databases_agree_there_is_nothing_to_say() {
    for name in ["Europe/London", "Australia/Lord_Howe", "Pacific/Apia", "UTC"] {
        assert_eq!(differences(name, "2026-11-21T00:00:00Z", 2), [], "{name}");
    }
}

#[test]
fn vancouver_keeps_summer_time_in_our_data_alone() {
    // British Columbia abolished the change of clocks in 2026; release 2025b doesn't know.
    assert_eq!(other_database_version(), "2025b");
    let found = differences("America/Vancouver", "2026-06-01T00:00:00Z", 1);
    let [winter] = found[..] else { panic!("{found:?}") };
    assert_eq!(winter.from, instant("2026-11-01T09:00:00Z"));
    assert_eq!(winter.until, Some(instant("2027-03-14T10:00:00Z")));
    assert_eq!(winter.ours.to_string(), "-07");
    assert_eq!(winter.theirs.unwrap().to_string(), "-08");
}

#[test]
fn a_span_that_reaches_over_the_ends_is_cut_there() {
    let found = differences("America/Vancouver", "2027-01-01T00:00:00Z", 1);
    assert_eq!(found[0].from, instant("2027-01-01T00:00:00Z"));
    assert_eq!(found.last().unwrap().until, None);
    assert_eq!(differences("America/Vancouver", "2027-01-01T00:00:00Z", 0), []);
}

#[test]
fn it_ends_with_time_itself() {
    assert_eq!(differences("UTC", "9999-12-01T00:00:00Z", 2), []);
}
