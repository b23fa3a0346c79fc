//! Finds secrets by their own form: tokens by their prefix and length or by a pattern, private keys (truncated ones,
//! too), and hashes of passwords.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use Class::{Base64, Dashed, Dotted, Hex, Letters, Plain, Small, Upper};

use super::rule::SecretRule;
use super::values::mean_run;
use super::{FoundSecret, run};
use crate::words::words;

words! {
    /// The characters that may follow a prefix.
    #[derive(Clone, Copy, PartialEq)]
    enum Class, name {
        /// Letters and digits.
        Plain = "plain",
        /// The same, where most tokens of the kind have no digit.
        Letters = "letters",
        /// Small letters and digits.
        Small = "small",
        /// Capital letters and digits.
        Upper = "upper",
        /// Hexadecimal digits in small letters, and `-`.
        Hex = "hex",
        /// Letters, digits, `_` and `-`.
        Dashed = "dashed",
        /// The same, and `.`.
        Dotted = "dotted",
        /// The signs of Base64, and `_` and `-`.
        Base64 = "base64",
    }
}

impl Class {
    fn has(self, byte: u8) -> bool {
        match self {
            Plain | Letters => byte.is_ascii_alphanumeric(),
            Small => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'),
            Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'='),
        }
    }
}

/// Tokens of one kind.
pub(super) struct TokenShape {
    kind: &'static str,
    pub(super) prefixes: Vec<&'static str>,
    /// The lengths that what follows a prefix may have.
    lengths: RangeInclusive<usize>,
    class: Class,
}

/// No greatest length.
const ANY: usize = 4096;

/// The shapes of all tokens with a prefix.
pub(super) static SHAPES: LazyLock<Vec<TokenShape>> = LazyLock::new(|| {
    let lines =
        include_str!("data/tokens.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| TokenShape::read(line).expect("every line is a shape")).collect()
});

impl TokenShape {
    fn read(line: &'static str) -> Option<Self> {
        let [kind, least, most, class, prefixes] = line.split("; ").collect::<Vec<_>>()[..] else {
            return None;
        };
        let most = if most == "-" { ANY } else { most.parse().ok()? };
        let prefixes: Vec<_> = prefixes.split(", ").collect();
        let is_clean = prefixes.iter().all(|prefix| !prefix.is_empty() && prefix.trim() == *prefix);
        let (lengths, class) = (least.parse().ok()?..=most, Class::named(class)?);
        is_clean.then_some(Self { kind, lengths, class, prefixes })
    }
}

/// Tokens that are known by their form.
#[rustfmt::skip]
pub(super) const RULES: &[SecretRule] = &[
    form("json web token", &["eyj"], r"(eyJ[\w-]{7,}\.[\w-]{8,}\.[\w-]*)").near(2, 2048),
    form("telegram token", &[":a"], r"(?:\b|bot)(\d{6,12}:A[\w-]{33,35})\b").near(16, 40),
    form("terraform token", &["atlasv1"], r"\b([A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70})").near(16, 90),
    form("airtable token", &["pat"], r"\b(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})\b").near(2, 90),
    form("hubspot token", &["pat-"], r"\b(pat-(?:na|eu|ap)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b").near(2, 48),
    form("mailchimp key", &["-us"], r"\b([0-9a-f]{32}-us\d{1,2})\b").near(34, 8),
    form("resend key", &["re_"], r"\b(re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,28})\b").near(2, 44),
    form("voyage key", &["pa-"], r"\b(pa-[\w-]{43})(?:$|[^\w-])").near(2, 50),
    form("firebase key", &[":apa91b"], r"\b(AAAA[\w-]{7}:APA91b[\w-]{100,})").near(16, 256),
    form("azure client secret", &["q~"], r"(?:^|[^\w~.])([\w.-]{3}\dQ~[\w.~-]{31,34})").near(8, 40),
    form("1password key", &["a3-"], r"\b(A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})\b").near(2, 48),
    form("plaid token", &["access-"], r"\b(access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b").near(2, 72),
    form("clickup token", &["pk_"], r"\b(pk_\d{6,10}_[A-Z0-9]{32})\b").near(2, 56),
    form("asana token", &["1/", "2/"], r"\b([12]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32})\b").near(2, 80),
    form("maxmind key", &["_mmk"], r"\b([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)\b").near(38, 6),
    form("paypal token", &["access_token$"], r"(access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32})").near(2, 80),
    form("harness token", &["pat.", "sat."], r"\b([ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20})\b").near(2, 80),
    form("launchdarkly key", &["sdk-", "api-"], r"\b((?:sdk|api)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})\b").near(2, 48),
    form("pubnub key", &["sec-c-"], r"\b(sec-c-[A-Za-z0-9+/=-]{36,64})").near(2, 80),
    form("facebook secret", &["0|", "1|", "2|", "3|", "4|", "5|", "6|", "7|", "8|", "9|"], r"\b(\d{15,16}\|[\w-]{27,40})\b").near(17, 48),
    form("new relic key", &["nral"], r"\b([0-9a-f]{36,40}NRAL)\b").near(44, 6),
];

const fn form(kind: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> SecretRule {
    SecretRule::new(kind, keywords, pattern).filter(|secret| secret.bytes().any(|byte| byte.is_ascii_digit()))
}

/// A prefix in a text.
pub(super) struct TokenPrefix {
    pub(super) at: usize,
    pub(super) prefix: &'static str,
    pub(super) shape: &'static TokenShape,
}

impl TokenPrefix {
    /// Whether the prefix stands there as it is written, at the beginning of a word.
    pub(super) fn stands_in(&self, text: &str) -> bool {
        text.as_bytes()[self.at..].starts_with(self.prefix.as_bytes()) && begins(text, self.at)
    }
}

/// Adds the tokens that begin with these prefixes.
pub(super) fn with_prefix(text: &str, mut prefixes: Vec<TokenPrefix>, found: &mut Vec<FoundSecret>) {
    // Of two prefixes at one place the longer one holds.
    prefixes.sort_by_key(|one| (one.at, std::cmp::Reverse(one.prefix.len())));
    prefixes.dedup_by(|next, one| next.at == one.at && next.prefix.len() < one.prefix.len());
    let mut from = 0;
    // The last run of each class: prefixes in one run end with it, and a text of prefixes alone is read once.
    let mut runs = [(1, 0); Class::ALL.len()];
    for TokenPrefix { at, prefix, shape: TokenShape { kind, lengths, class, .. } } in prefixes {
        if at < from {
            continue;
        }
        let behind = at + prefix.len();
        let (start, end) = &mut runs[*class as usize];
        if !(*start..=*end).contains(&behind) {
            let tail = run(text, behind, |byte| class.has(byte)).trim_end_matches(['.', '-']);
            (*start, *end) = (behind, behind + tail.len());
        }
        let tail = &text[behind..*end];
        let is_token = lengths.contains(&tail.len())
            && match tail.bytes().any(|byte| byte.is_ascii_digit()) {
                true => is_mixed(*class, tail),
                false => matches!(class, Upper | Letters) || has_random_capitals(tail),
            };
        if is_token {
            from = behind + tail.len();
            found.push(FoundSecret { range: at..from, kind });
        }
    }
}

/// Adds the tokens of Discord's bots: an id, a time and a signature with dots between, of which no word is known.
pub(super) fn of_discord(text: &str, found: &mut Vec<FoundSecret>) {
    let bytes = text.as_bytes();
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    for dot in memchr::memchr_iter(b'.', bytes) {
        let time = bytes[dot + 1..].iter().take(8).take_while(|byte| is_sign(byte)).count();
        if !(6..=7).contains(&time) || bytes.get(dot + 1 + time) != Some(&b'.') {
            continue;
        }
        let id = bytes[..dot].iter().rev().take(64).take_while(|byte| is_sign(byte)).count();
        let signature = bytes[dot + time + 2..].iter().take(64).take_while(|byte| is_sign(byte)).count();
        let whole = &text[dot - id..dot + time + 2 + signature];
        if (23..=32).contains(&id)
            && (27..=42).contains(&signature)
            && whole.starts_with(['M', 'N', 'O'])
            && whole.bytes().any(|byte| byte.is_ascii_digit())
        {
            found.push(FoundSecret { range: dot - id..dot - id + whole.len(), kind: "discord token" });
        }
    }
}

/// Whether a tail is of more than words: `sk-learn-something-or-other-2` isn't.
fn is_mixed(class: Class, tail: &str) -> bool {
    match class {
        Dashed | Dotted | Base64 => tail.split(['-', '_', '.']).any(|word| {
            let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
            let has_letter = word.bytes().any(|byte| byte.is_ascii_alphabetic());
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            word.len() >= 16 || word.len() >= 6 && (has_digit && has_letter || is_number)
        }),
        Hex => tail.bytes().any(|byte| byte.is_ascii_alphabetic()),
        Plain | Letters | Small | Upper => true,
    }
}

/// Whether the capitals of a tail without a digit stand as in random text. In an identifier a capital begins a word, so
/// two of them seldom stand together, or round one small letter.
fn has_random_capitals(tail: &str) -> bool {
    let count = |is: fn(&u8) -> bool| tail.bytes().filter(is).count();
    let (letters, capitals) = (count(u8::is_ascii_alphabetic), count(u8::is_ascii_uppercase));
    let odd = tail.as_bytes().windows(3).filter(|three| {
        three[0].is_ascii_uppercase()
            && (three[1].is_ascii_uppercase()
                || three[1].is_ascii_lowercase() && three[2].is_ascii_uppercase())
    });
    letters >= 16
        && (letters..=3 * letters).contains(&(4 * capitals))
        && 8 * odd.count() >= letters
        && mean_run(tail) <= 3.3
}

/// Whether a word may begin here, also between Markdown's `_`.
fn begins(text: &str, at: usize) -> bool {
    !text[..at].trim_end_matches('_').ends_with(|last: char| last.is_ascii_alphanumeric())
}

pub(super) const KEYS_AND_HASHES: &[SecretRule] = &[
    // The private part of a key file of PuTTY.
    SecretRule::new(
        "private key",
        &["private-lines"],
        r"Private-Lines: *\d+(?:\r?\n|\\n)((?:[A-Za-z0-9+/=]+(?:\r?\n|\\n|$))+)",
    )
    .multi_line(),
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

/// The beginning of a block.
pub(super) const BEGIN: &str = "-----BEGIN ";

/// Adds the private keys of a text, of which these are the places of `-----BEGIN `.
pub(super) fn private_keys(text: &str, begins: &[usize], found: &mut Vec<FoundSecret>) {
    let mut done = 0;
    // The next place of a mark behind another place, where `known` is the place that was found last: each is sought once.
    let next = |known: &mut Option<usize>, mark: &str, from: usize| {
        if known.is_some_and(|at| at < from) {
            *known = text[from..].find(mark).map(|at| from + at);
        }
        *known
    };
    let (mut next_end, mut next_fence) = (Some(0), Some(0));
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
        let fence = next(&mut next_fence, "```", body);
        let end = next(&mut next_end, "-----END ", body).filter(|end| fence.is_none_or(|fence| fence > *end));
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
