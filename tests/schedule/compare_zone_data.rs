//! The comparison with the other zone database, of which the present one is known to be older.

use vault_agent::schedule::{Difference, compare_zone_data, other_database_version};

use crate::schedule::{instant, zone};

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
