//! Finds this machine's time zone, for a new vault's settings.

use crate::schedule::Zone;

/// This machine's zone (`TZ`, else `/etc/localtime`), where it has a name that we know.
pub(super) fn zone_here() -> Option<Zone> {
    Zone::get(jiff::tz::TimeZone::system().iana_name()?).ok()
}
