//! Finds private keys, also those that were cut, and hashes of passwords.

use super::rule::SecretRule;
use super::{FoundSecret, run};

pub(super) const RULES: &[SecretRule] = &[
    // The private part of a key file of PuTTY.
    SecretRule::new(
        "private key",
        &["private-lines"],
        r"Private-Lines: *\d+(?:\r?\n|\\n)((?:[A-Za-z0-9+/=]+(?:\r?\n|\\n|$))+)",
    )
    .over_lines(),
    // The output of `crypt` and similar functions: `$6$SALT$HASH`.
    SecretRule::new(
        "password hash",
        &[
            "$1$", "$2$", "$2a$", "$2b$", "$2x$", "$2y$", "$5$", "$6$", "$7$", "$y$", "$apr1$", "$argon2",
            "$scrypt$", "$pbkdf2",
        ],
        r#"(\$(?:1|2[abxy]?|5|6|7|y|apr1|argon2(?:id|i|d)|scrypt|pbkdf2[\w-]*)\$[^\s:"'`<>\\]{20,})"#,
    ),
];

/// How a block begins.
pub(super) const BEGIN: &str = "-----BEGIN ";

/// Adds the private keys of a text, of which these are the places of `-----BEGIN `.
pub(super) fn private_keys(text: &str, begins: &[usize], found: &mut Vec<FoundSecret>) {
    let mut done = 0;
    for &at in begins {
        if at < done {
            continue;
        }
        let from = at + BEGIN.len();
        let Some(title) = text[from..].find("-----").map(|end| &text[from..from + end]) else { return };
        if !title.contains("PRIVATE KEY") || title.len() > 60 {
            continue;
        }
        let body = from + title.len() + 5;
        // A code block's fence ends a key that was cut.
        let end = text[body..]
            .find("-----END ")
            .map(|end| body + end)
            .filter(|end| !text[body..*end].contains("```"));
        let of_a_block = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\' | b' ' | b'"' | b',')
        };
        done = match end {
            Some(end) => text[end + 9..].find("-----").map_or(text.len(), |close| end + 9 + close + 5),
            None => body + run(text, body, of_a_block).len(),
        };
        found.push(FoundSecret { range: at..done, kind: "private key" });
    }
}
