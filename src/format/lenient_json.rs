//! Parses JSON in which another program has cut a character in half: bytes that are no UTF-8, or a lone surrogate such
//! as `\uD83D` (`JSON.stringify("😀".slice(0, 1))`), become U+FFFD. Pure.

use serde::de::DeserializeOwned;

/// The value in one JSON text.
///
/// # Errors
/// It isn't JSON beside halves of characters, or not of this type.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes).or_else(|error| {
        let mended = mend(&String::from_utf8_lossy(bytes));
        if mended.as_bytes() == bytes { Err(error) } else { serde_json::from_str(&mended) }
    })
}

/// The text with `\ufffd` in place of each escape that is half of a character.
fn mend(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match (unit(rest), unit(rest.get(6..).unwrap_or_default())) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // The escaped character may be a backslash itself.
            _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out + rest
}

/// The UTF-16 unit of the `\uXXXX` with which a text begins.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_are_replaced_and_nothing_else() {
        for (json, wanted) in [
            (&br#""a \ud83d""#[..], Some("a \u{fffd}")),
            (br#""\ude00\ud83d\ud83d\ude00 \\ud83d \n""#, Some("\u{fffd}\u{fffd}😀 \\ud83d \n")),
            (b"\"a \xf0\x9f\"", Some("a \u{fffd}")),
            (br#""\ud83d\u0041""#, Some("\u{fffd}A")),
            (br#""\ud83d"#, None),
            (br#""\ud8"#, None),
            (b"\"\\", None),
            (br#""\x \ud83d""#, None),
        ] {
            assert_eq!(from_slice::<String>(json).ok().as_deref(), wanted, "{}", json.escape_ascii());
        }
    }
}
