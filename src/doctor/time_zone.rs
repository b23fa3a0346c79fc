//! Checks the time zone of the vault's dates and times, and compares two versions of its rules.

use jiff::tz::TimeZone;

use super::Check;
use crate::config::FILE_NAME;
use crate::deliver::instants::format_instant;
use crate::schedule::{self, compare_zone_data};
use crate::workspace::Workspace;

/// How far ahead the two time zone databases are compared.
const YEARS_AHEAD: u32 = 2;

pub(super) fn check(workspace: &Workspace) -> Check {
    let (zone, now) = (&workspace.zone, workspace.clock.now());
    let (ours, other) = (schedule::database_version(), schedule::other_database_version());
    let versions = format!("{}, rules {ours} (compared with {other})", zone.name());
    let text = std::fs::read_to_string(workspace.vault.root().join(FILE_NAME)).unwrap_or_default();
    let is_set = text.lines().any(|line| line.trim_start().starts_with("timezone"));
    let here = TimeZone::system();
    let (detail, fix) = if let Some(first) = compare_zone_data(zone, now, YEARS_AHEAD).first() {
        let from = format_instant(first.from, now, zone.tz());
        let detail = format!("{versions}: the two differ from {from}; the first one counts");
        (detail, "if other programs on this machine show another hour then, their rules are old")
    } else if is_set || here.to_offset(now) == zone.tz().to_offset(now) {
        return Check::ok("time zone", versions);
    } else {
        let here = here.iana_name().unwrap_or("another one");
        let detail = format!("{versions}: the settings name none, and this machine is in {here}");
        (detail, "set `timezone` in `vault-agent.toml` to the zone of your dates and times")
    };
    Check::warn("time zone", detail, fix)
}
