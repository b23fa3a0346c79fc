//! Parses and formats `paused_until`: the time until which nothing runs by itself.

use jiff::civil;
use serde::Deserialize;

/// The key of the settings that pauses.
pub const PAUSED_UNTIL: &str = "paused_until";
/// The key of the settings that lets a pause hold for reminders too.
pub const PAUSE_REMINDERS: &str = "pause_reminders";

/// The word in the place of a time: the pause ends when a person ends it.
const RESUMED: &str = "resumed";

/// The end of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum PausedUntil {
    /// `vault-agent resume`, or the key's removal.
    Resumed,
    /// A local time in the vault's zone.
    At(civil::DateTime),
}

impl TryFrom<String> for PausedUntil {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = text.trim();
        if text == RESUMED {
            return Ok(Self::Resumed);
        }
        let is_local = text.bytes().all(|byte| byte.is_ascii_digit() || b"-: T".contains(&byte));
        match text.parse() {
            Ok(at) if is_local => Ok(Self::At(at)),
            _ => Err(format!(
                "`{PAUSED_UNTIL}` is `{text}`: write a local time, as in `2026-12-24 18:00`, or `{RESUMED}`"
            )),
        }
    }
}

impl std::fmt::Display for PausedUntil {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Resumed => formatter.write_str(RESUMED),
            Self::At(at) => write!(formatter, "{}", at.strftime("%Y-%m-%d %H:%M")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_local_time_or_until_it_is_resumed() {
        let read = |text: &str| PausedUntil::try_from(text.to_owned());
        assert_eq!(read("resumed").unwrap(), PausedUntil::Resumed);
        for text in ["2026-12-24 18:00", "2026-12-24T18:00:00"] {
            assert_eq!(read(text).unwrap().to_string(), "2026-12-24 18:00");
        }
        for text in ["", "soon", "2026-02-30 10:00", "2026-12-24T18:00Z", "2026-12-24 18:00+01:00"] {
            assert!(read(text).unwrap_err().contains("2026-12-24 18:00"), "{text}");
        }
    }
}
