//! Takes keys out of what is kept of a session, before it is written.
//!
//! A conversation about code is full of hashes, ids and long names, and a log is worth what it keeps: so only what
//! says that it is a key goes (a known beginning and the length of a real one, a JSON web token, a private key's
//! block, a password in an address, a long random value after a name such as `token`), and what the user's own
//! patterns match. Pure. Errors of providers, where a word too much does no harm, have a stricter scrubber
//! (`brain::scrub`).

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use regex_lite::Regex;

use crate::config::Hooks;

/// Stands where a key stood.
pub const MASKED: &str = "[masked]";

/// A key by its beginning: the least length of what follows, and what that is made of.
struct Shape(&'static str, usize, Class);

#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// Letters and digits.
    Plain,
    /// Upper-case letters and digits.
    Upper,
    /// Letters, digits, `_` and `-`, a digit among them.
    Dashed,
    /// The same, and dots.
    Dotted,
}
use Class::{Dashed, Dotted, Plain, Upper};

#[rustfmt::skip]
const SHAPES: &[Shape] = &[
    Shape("sk-", 16, Dashed), Shape("sk_live_", 10, Plain), Shape("sk_test_", 10, Plain),
    Shape("rk_live_", 10, Plain), Shape("rk_test_", 10, Plain), Shape("whsec_", 16, Plain),
    Shape("ghp_", 16, Plain), Shape("gho_", 16, Plain), Shape("ghu_", 16, Plain), Shape("ghs_", 16, Plain),
    Shape("ghr_", 16, Plain), Shape("github_pat_", 20, Dashed), Shape("glpat-", 16, Dashed),
    Shape("AKIA", 16, Upper), Shape("ASIA", 16, Upper), Shape("AIza", 30, Dashed), Shape("ya29.", 20, Dashed),
    Shape("xoxb-", 10, Dashed), Shape("xoxp-", 10, Dashed), Shape("xoxa-", 10, Dashed),
    Shape("xoxr-", 10, Dashed), Shape("xoxs-", 10, Dashed), Shape("xoxe-", 10, Dashed),
    Shape("xoxe.", 10, Dashed), Shape("xapp-", 10, Dashed), Shape("hf_", 20, Plain), Shape("gsk_", 20, Plain),
    Shape("xai-", 20, Dashed), Shape("nvapi-", 20, Dashed), Shape("r8_", 20, Plain), Shape("pplx-", 20, Plain),
    Shape("npm_", 30, Plain), Shape("pypi-", 30, Dashed), Shape("dop_v1_", 30, Plain), Shape("SG.", 30, Dotted),
    Shape("shpat_", 20, Plain), Shape("lin_api_", 20, Plain), Shape("AGE-SECRET-KEY-1", 30, Upper),
];

/// Names after which a long random value is a secret.
const NAMES: [&str; 7] = ["key", "token", "secret", "password", "passwd", "bearer", "basic"];
/// The least length of such a value, and of its digits.
const VALUE: (usize, usize) = (16, 3);

/// What is masked.
#[derive(Debug, Default)]
pub struct Mask {
    keys: bool,
    own: Vec<Regex>,
}

impl Mask {
    /// As the settings want it.
    pub fn new(settings: &Hooks) -> Self {
        // The settings are validated; a pattern that is none after all hides nothing.
        let own = settings.mask.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect();
        Self { keys: settings.mask_keys, own }
    }

    /// The text without secrets.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut found: Vec<Range<usize>> =
            self.own.iter().flat_map(|own| own.find_iter(text)).map(|m| m.range()).collect();
        if self.keys {
            shapes(text, &mut found);
            web_tokens(text, &mut found);
            private_keys(text, &mut found);
            in_addresses(text, &mut found);
            assigned(text, &mut found);
        }
        found.retain(|range| !range.is_empty());
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_by_key(|range| (range.start, range.end));
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for range in found {
            if range.start >= at {
                out.push_str(&text[at..range.start]);
                out.push_str(MASKED);
            }
            at = at.max(range.end);
        }
        out.push_str(&text[at..]);
        Cow::Owned(out)
    }

    /// The same for every text in a value.
    pub fn apply_to(&self, value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) => {
                if let Cow::Owned(masked) = self.apply(text) {
                    *text = masked;
                }
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(|item| self.apply_to(item)),
            serde_json::Value::Object(members) => {
                for (name, member) in members.iter_mut() {
                    if self.keys && is_name(name) && member.as_str().is_some_and(is_random) {
                        *member = MASKED.into();
                    }
                    self.apply_to(member);
                }
            }
            _ => {}
        }
    }
}

fn is_dashed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn run(text: &str, from: usize, of: impl Fn(u8) -> bool) -> &str {
    let rest = &text.as_bytes()[from..];
    let end = rest.iter().position(|byte| !of(*byte)).unwrap_or(rest.len());
    &text[from..from + end]
}

/// Whether a word may begin here; the `n` of a written-out `\n` is no letter of it.
fn begins(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    match before {
        [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., last] => !(last.is_ascii_alphanumeric() || *last == b'_'),
        [] => true,
    }
}

fn shapes(text: &str, found: &mut Vec<Range<usize>>) {
    for Shape(prefix, least, class) in SHAPES {
        for at in memmem::find_iter(text.as_bytes(), prefix) {
            let tail = run(text, at + prefix.len(), |byte| match class {
                Plain => byte.is_ascii_alphanumeric(),
                Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
                Dashed => is_dashed(byte),
                Dotted => is_dashed(byte) || byte == b'.',
            });
            let has_digit = matches!(class, Upper) || tail.bytes().any(|byte| byte.is_ascii_digit());
            if tail.len() >= *least && has_digit && begins(text, at) {
                found.push(at..at + prefix.len() + tail.len());
            }
        }
    }
}

/// JSON web tokens, and bots' tokens of three parts.
fn web_tokens(text: &str, found: &mut Vec<Range<usize>>) {
    let mut until = 0;
    for dot in memchr::memchr_iter(b'.', text.as_bytes()) {
        if dot < until {
            continue;
        }
        let before =
            text.as_bytes()[..dot].iter().rev().take(4096).take_while(|byte| is_dashed(**byte)).count();
        let middle = run(text, dot + 1, is_dashed);
        let second = dot + 1 + middle.len();
        if text.as_bytes().get(second) != Some(&b'.') {
            continue;
        }
        let last = run(text, second + 1, is_dashed);
        let head = &text[dot - before..dot];
        // What stands before the token without a border belongs to something else: `nickname=eyJ…` has one.
        let head = head.find("eyJ").map_or(head, |at| &head[at..]);
        let is_web = head.starts_with("eyJ") && head.len() >= 10 && middle.len() >= 8;
        let is_bot = (23..=32).contains(&head.len())
            && (6..=7).contains(&middle.len())
            && last.len() >= 27
            && [head, last].iter().all(|part| part.bytes().any(|byte| byte.is_ascii_digit()));
        if is_web || is_bot {
            until = second + 1 + last.len();
            found.push(dot - head.len()..until);
        }
    }
}

/// The blocks of private keys, also those that were cut.
fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(at) = text[from..].find("-----BEGIN ").map(|at| from + at) {
        from = at + 11;
        let Some(title) = text[from..].find("-----").map(|end| &text[from..from + end]) else { return };
        if !title.contains("PRIVATE KEY") || title.len() > 60 {
            continue;
        }
        let body = from + title.len() + 5;
        let end = text[body..].find("-----END ").map(|end| body + end);
        let of_a_block = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\' | b' ' | b'"' | b',')
        };
        from = match end {
            Some(end) => text[end + 9..].find("-----").map_or(text.len(), |close| end + 9 + close + 5),
            None => body + run(text, body, of_a_block).len(),
        };
        found.push(at..from);
    }
}

/// Passwords in addresses: `scheme://user:password@host`.
fn in_addresses(text: &str, found: &mut Vec<Range<usize>>) {
    for at in memmem::find_iter(text.as_bytes(), "://") {
        let authority = run(text, at + 3, |byte| byte.is_ascii_graphic() && !b"/?#\"'`<>".contains(&byte));
        if let Some((account, _)) = authority.rsplit_once('@')
            && let Some((user, password)) = account.split_once(':')
            && !password.starts_with(['$', '{', '<', '*'])
        {
            let start = at + 3 + user.len() + 1;
            found.push(start..start + password.len());
        }
    }
}

fn is_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|known| name.ends_with(known))
}

fn is_random(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() >= VALUE.0
        && digits >= VALUE.1
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && value.bytes().all(|byte| is_dashed(byte) || matches!(byte, b'+' | b'/' | b'='))
}

/// Long random values after the name of a secret: `AWS_SECRET_ACCESS_KEY=…`, `"token": "…"`, `Bearer …`.
fn assigned(text: &str, found: &mut Vec<Range<usize>>) {
    let lower = text.to_ascii_lowercase();
    for name in NAMES {
        for at in memmem::find_iter(lower.as_bytes(), name) {
            let after = at + name.len();
            let gap = run(text, after, |byte| b" \t:='\"\\".contains(&byte));
            let is_scheme = matches!(name, "bearer" | "basic");
            if gap.is_empty() || gap.len() > 6 || !(is_scheme || gap.contains([':', '='])) {
                continue;
            }
            let start = after + gap.len();
            let value = run(text, start, |byte| is_dashed(byte) || matches!(byte, b'+' | b'/' | b'='));
            let next = text.as_bytes().get(start + value.len());
            if is_random(value) && !matches!(next, Some(b'(' | b'.')) {
                found.push(start..start + value.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masked(text: &str) -> String {
        Mask::new(&Hooks::default()).apply(text).into_owned()
    }

    #[test]
    fn what_says_that_it_is_a_key_goes() {
        for (text, expected) in [
            ("use sk-ant-api03-AbCdEf0123456789-_xyz now", "use [masked] now"),
            ("sk-proj-0123456789abcdefABCDEF", "[masked]"),
            ("(ghp_0123456789abcdefghijABCDEFGHIJ012345)", "([masked])"),
            ("AWS: AKIAIOSFODNN7EXAMPLE.", "AWS: [masked]."),
            ("xoxb-123456789012-abcdefGHIJ", "[masked]"),
            ("line\\nghp_0123456789abcdefghij", "line\\n[masked]"),
            ("jwt=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP-mB92K", "jwt=[masked]"),
            ("MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs-x1y2z3", "[masked]"),
            (
                "postgres://ann:hunter2@db/x and https://x.y/z",
                "postgres://ann:[masked]@db/x and https://x.y/z",
            ),
            (
                "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE12K",
                "aws_secret_access_key = [masked]",
            ),
            ("Authorization: Bearer 0123456789abcdef0123", "Authorization: Bearer [masked]"),
            ("{\"token\": \"abc0123456789def0\"}", "{\"token\": \"[masked]\"}"),
            (
                "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\nbnNz\n-----END OPENSSH PRIVATE KEY-----\nrest",
                "[masked]\nrest",
            ),
            ("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB", "a\n[masked]"),
        ] {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn work_stays() {
        for text in [
            "commit 24d41322f1c6e9a0b7d8c3e5f4a6b7c8d9e0f1a2 fixes it",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "import sk-learn-something-or-other as well",
            "let token = tokenizer.next_token_after2000();",
            "key: some_function_name_123(x)",
            "v1.2.3 of a-b-c and 0b9c9e5e-6f5e-4f52-8b8e-2f6b3c1d7a10",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "https://ann@example.org/x:y@z and ://",
            "the password is in the drawer",
            "toolu_01A09q90qw90lq917835lq9 and msg_01XFDUDYJgAACzvnptvVoYEL",
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn settings_add_patterns_and_turn_the_others_off() {
        let own = Hooks { mask: vec!["acme_[a-z]+".to_owned()], mask_keys: false, ..Hooks::default() };
        let text = "acme_secret and ghp_0123456789abcdefghij";
        assert_eq!(Mask::new(&own).apply(text), "[masked] and ghp_0123456789abcdefghij");
        let mut value = serde_json::json!({"env": {"API_KEY": "0123456789abcdefXY"}, "list": ["ghp_0123456789abcdefghij"]});
        Mask::new(&Hooks::default()).apply_to(&mut value);
        assert_eq!(value, serde_json::json!({"env": {"API_KEY": MASKED}, "list": [MASKED]}));
    }

    proptest! {
        #[test]
        fn a_key_never_comes_through(before in ".{0,40}[ \"'=(\n]", key in "sk-[a-zA-Z]{10,20}[0-9]{6,10}", after in "[ \"'.,)\n].{0,40}") {
            let text = format!("{before}{key}{after}");
            prop_assert!(!masked(&text).contains(&key), "{}", masked(&text));
        }

        #[test]
        fn any_text_is_masked(text in "(\\PC|[-.:/@=\n]|eyJ|://|token=|-----BEGIN |PRIVATE KEY-----|sk-){0,60}") {
            let _ = masked(&text);
        }
    }
}
