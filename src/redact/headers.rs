//! Finds secrets in HTTP headers: cookies, and credentials after `Authorization`.

use regex_lite::{Captures, Match};

use super::rule::SecretRule;
use super::values::{is_placeholder, is_random};
use super::{FoundSecret, run};

pub(super) const RULES: &[SecretRule] = &[
    SecretRule::new(
        "cookie",
        &["cookie"],
        r#"(?i)\b(?:set-)?cookie\\?["']?[ \t]*[:=][ \t]*\\?["']?([^"'\n\r]+)"#,
    )
    .near(5, 4096)
    .with_finder(|_, groups, found| groups.get(1).into_iter().for_each(|jar| cookies(jar, found))),
    SecretRule::new(
        "authorization",
        &["authorization"],
        concat!(
            r#"(?i)\bauthorization\\?["']?\]?[ \t]*[:=,][ \t]*\\?["'`]?"#,
            "(?:(basic|bearer|token|apikey|api-key|digest|negotiate|aws4-hmac-sha256|bot|oauth|hawk|key)[ \t]+)?",
            r#"([^\s"'`\\]+)"#
        ),
    )
    .near(2, 2048)
    .with_finder(authorization),
    SecretRule::new(
        "bearer token",
        &["bearer", "basic"],
        r"(?i)\b(?:bearer|basic)[ \t:]+([\w.~+/=-]{12,})",
    )
    .near(2, 2048)
    .filter(is_random),
];

/// The parts of a cookie that say how it is kept.
const ATTRIBUTES: [&str; 9] =
    ["path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "priority", "partitioned"];

fn authorization(text: &str, groups: &Captures<'_>, found: &mut Vec<FoundSecret>) {
    let Some(value) = groups.get(2) else { return };
    let scheme = groups.get(1).map(|scheme| scheme.as_str().to_ascii_lowercase());
    let kind = match scheme.as_deref() {
        Some("basic") => "basic credentials",
        Some("bearer") => "bearer token",
        _ => "authorization",
    };
    // Of some schemes the parts have signs between; the rest of the line is the secret.
    if matches!(scheme.as_deref(), Some("digest" | "hawk" | "oauth" | "aws4-hmac-sha256")) {
        let line = run(text, value.start(), |byte| !matches!(byte, b'\n' | b'\r' | b'\''));
        if ["response=", "mac=", "ignature="].iter().any(|part| line.contains(part)) {
            found.push(FoundSecret { range: value.start()..value.start() + line.len(), kind });
        }
        return;
    }
    let said = value.as_str().trim_end_matches([',', ';', ')', '}', ']', '.']);
    if is_credential(said, scheme.is_some()) {
        found.push(FoundSecret { range: value.start()..value.start() + said.len(), kind });
    }
}

/// Whether what follows the header is one: `Bearer YOUR_TOKEN`, `header` and `&str` aren't.
fn is_credential(value: &str, has_scheme: bool) -> bool {
    let has = |of: fn(&u8) -> bool| value.as_bytes().iter().any(of);
    let is_written =
        value.bytes().all(|byte| byte.is_ascii_graphic()) && !value.contains(['(', '{', '<', '[']);
    let is_mixed = has(u8::is_ascii_lowercase) && (has(u8::is_ascii_digit) || has(u8::is_ascii_uppercase))
        || has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    value.len() >= 8
        && is_written
        && !is_placeholder(value)
        && if has_scheme { is_mixed } else { is_random(value) }
}

/// The values of a cookie, without what says how it is kept and without short ones (`lang=en`).
fn cookies(jar: Match<'_>, found: &mut Vec<FoundSecret>) {
    let mut at = jar.start();
    for part in jar.as_str().split(';') {
        if let Some((name, value)) = part.split_once('=') {
            let is_attribute = ATTRIBUTES.contains(&name.trim().to_ascii_lowercase().as_str());
            let secret = value.trim_end().split([' ', ',']).next().unwrap_or("");
            if !is_attribute
                && secret.len() >= 6
                && !is_placeholder(secret)
                && !name.contains(['(', '{', '.'])
            {
                let start = at + name.len() + 1;
                found.push(FoundSecret { range: start..start + secret.len(), kind: "cookie" });
            }
        }
        at += part.len() + 1;
    }
}
