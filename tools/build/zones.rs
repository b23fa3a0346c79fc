//! Writes chrono-tz's offsets of all zones from 2024 to 2040 as a text; `src/schedule/zone.rs` reads it.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, NaiveDateTime, Offset as _, TimeZone as _};

/// 2024-01-01 and 2041-01-01, in seconds since 1970.
const SPAN: [i64; 2] = [1_704_067_200, 2_240_611_200];
/// No zone has changed its clocks and changed them back within a week.
const WEEK: i64 = 7 * 24 * 3600;

fn utc(second: i64) -> NaiveDateTime {
    DateTime::from_timestamp(second, 0).expect("a time of this century").naive_utc()
}

/// The offsets of a zone, in seconds, each after the second from which on it counts: `1704067200:3600 1711846800:7200`.
fn offsets(zone: chrono_tz::Tz) -> String {
    let offset = |second: i64| zone.offset_from_utc_datetime(&utc(second)).fix().local_minus_utc();
    let [first, last] = SPAN;
    let mut out = format!("{first}:{}", offset(first));
    let mut at = first;
    while at < last {
        let (mut low, mut high) = (at, (at + WEEK).min(last));
        let before = offset(low);
        at = high;
        if offset(high) == before {
            continue;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if offset(middle) == before { low = middle } else { high = middle }
        }
        out += &format!(" {high}:{}", offset(high));
        at = high;
    }
    out
}

/// Writes `zone_data.txt` into Cargo's folder.
pub fn write_table(folder: &Path) {
    let mut zones: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for zone in chrono_tz::TZ_VARIANTS {
        zones.entry(offsets(zone)).or_default().push(zone.name());
    }
    let lines = zones.into_iter().map(|(offsets, names)| format!("{offsets}\t{}\n", names.join(" ")));
    let [first, last] = SPAN;
    let table = format!("{} {first} {last}\n{}", chrono_tz::IANA_TZDB_VERSION, lines.collect::<String>());
    std::fs::write(folder.join("zone_data.txt"), table).expect("the folder can be written");
}
