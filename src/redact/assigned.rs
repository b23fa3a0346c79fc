//! Finds values that stand after the name of a secret: `DB_PASSWORD=…`, `"token": "…"`, `<password>…`, `--api-key …`.
//! Also classifies the names in settings files, code and headers by the kind of secret that they name.

use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::values::{is_mixed, is_password, is_placeholder, is_random, is_uuid, is_word_with_digit};
use super::{FoundSecret, run};

/// Parts of names after which a secret may stand, in lower case.
pub(super) const WORDS: &str = "\
    pass pwd psk secret token key auth cred sessionid kennwort contraseña wachtwoord senha hasło heslo \
    lösenord şifre пароль Пароль 密码 密碼 パスワード 비밀번호 pw";
/// The text between a name and its value, with the quote that opens the value.
static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
    let signs = [
        r#"\\{0,7}["'`]?\]?(?:\*\*)?[ \t]{0,12}(?:=>|:=|={1,2}|[:：])(?:\*\*)?[ \t]{0,12}(?:base64:|\*\*)?"#,
        // `name: DB_PASSWORD` and below it `value: …`, in JSON, YAML and HTML.
        r#"\\{0,7}["']?,?[ \t]*(?:\r?\n[ \t]*)?\\{0,7}["']?[Vv]alue\\{0,7}["']?[ \t]*[:=][ \t]*"#,
        r#"\\{0,7}["'],[ \t]*"#,
        // The next cell of a table.
        r"[ \t]*(?: \| |\t)[ \t]*",
        r"(?:[ \t][^<>\n]{0,60})?>",
    ]
    .join("|");
    Regex::new(&format!(r#"^(?P<sign>{signs})(?P<quote>\\{{0,7}}["'`])?"#)).expect("a constant pattern")
});
/// The text between a flag and its value, as in `--password VALUE`.
static AFTER_FLAG: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^[ =]+(?P<quote>["'])?"#).expect("a constant pattern"));
/// The next field of a query or a form; any other `&` is a sign of the value.
static NEXT_FIELD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"&[\w.-]+=").expect("a constant pattern"));
/// A name before, in words.
const IN_WORDS: &str = "mot de passe";
/// A password of four groups of four letters, as mail services make them.
static FOUR_WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^[a-z]{4}(?: [a-z]{4}){3}(?:["'\s]|$)"#).expect("a constant pattern"));
/// The longest name, in bytes.
const LONGEST: usize = 60;
/// The bytes of a value that decide whether it is a secret.
const LOOKED_AT: usize = 1024;

/// The syntax of a value.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// `NAME=value` of a shell or an environment file: all of the word is the value.
    Shell,
    Quoted,
    Bare,
    /// A value of a query or of a connection string.
    Listed,
}

/// The kind of secret in the value of a JSON member with this name, if it is a secret.
pub(super) fn of_member(name: &str, text: &str) -> Option<&'static str> {
    let (kind, strength) = kind_of(name)?;
    let is_value =
        holds(strength, name, text, Style::Quoted) || is_assigned(strength, text) && is_capital(name);
    (!text.contains(char::is_whitespace) && is_value).then_some(kind)
}

/// Adds the values that stand after the names of secrets; `words` are the places of [`WORDS`], in order.
pub(super) fn find(text: &str, words: &[Range<usize>], found: &mut Vec<FoundSecret>) {
    let mut from = 0;
    for hit in words {
        if hit.start < from || text[hit.clone()].eq_ignore_ascii_case("pw") && !is_word(text, hit) {
            continue;
        }
        from = hit.end;
        let start = name_start(text, hit.start);
        let near = &text[..text.floor_char_boundary((hit.end + LONGEST + 1).min(text.len()))];
        let more = run(near, hit.end, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let end = hit.end + more.len();
        if end - start > LONGEST {
            continue;
        }
        let name = &text[start..end];
        let in_words = ends_with_ignoring_case(&text[..end], IN_WORDS);
        let in_words = in_words.then_some(("password", Strength::Password));
        let Some((kind, strength)) = in_words.or_else(|| kind_of(name)) else { continue };
        from = end;
        if let Some(range) = value(text, start, name, end, strength) {
            from = range.end;
            found.push(FoundSecret { range, kind });
        }
    }
}

fn is_word(text: &str, place: &Range<usize>) -> bool {
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = text.as_bytes();
    !bytes[..place.start].last().is_some_and(is_inner) && !bytes.get(place.end).is_some_and(is_inner)
}

fn ends_with_ignoring_case(text: &str, end: &str) -> bool {
    text.len() >= end.len() && text.as_bytes()[text.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
}

fn name_start(text: &str, at: usize) -> usize {
    let of_a_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(*byte, b'_' | b'-' | b'.' | b'$');
    let before = text.as_bytes()[..at].iter().rev().take(LONGEST).take_while(|byte| of_a_name(byte)).count();
    at - before
}

/// The range of a name's value, if it is a secret.
fn value(text: &str, start: usize, name: &str, end: usize, strength: Strength) -> Option<Range<usize>> {
    let rest = &text[end..];
    let before = text[..start].chars().next_back();
    let after_flag = || if name.starts_with("--") { AFTER_FLAG.captures(rest) } else { None };
    let groups = BETWEEN.captures(rest).or_else(after_flag)?;
    let quote = groups.name("quote").map(|quote| quote.as_str());
    let sign = groups.name("sign").map_or("=", |sign| sign.as_str());
    let is_other_tag = sign.ends_with('>') && !sign.ends_with("=>") && before != Some('<');
    let is_option = sign.contains('|') && name.starts_with('-');
    if is_other_tag || is_option || sign.contains(',') && quote.is_none() {
        return None;
    }
    let at = end + groups.get(0)?.end();
    if FOUR_WORDS.is_match(&text[at..]) && strength == Strength::Password {
        return Some(at..at + 19);
    }
    let style = match quote {
        _ if sign == "=" && is_capital(name) => Style::Shell,
        Some(_) => Style::Quoted,
        None if sign == "=" && matches!(before, Some(';' | '&' | '?' | ',')) => Style::Listed,
        None => Style::Bare,
    };
    let near = &text[..text.floor_char_boundary((at + LOOKED_AT).min(text.len()))];
    let word = word_at(near, at, quote, style, strength);
    let is_call =
        style == Style::Bare && matches!(text.as_bytes().get(at + word.len()), Some(b'(' | b'[' | b'{'));
    let is_literal = sign == "=" || quote.is_some() && sign.trim() == "=" || is_capital(name);
    let is_value = holds(strength, name, word, style) || is_literal && is_assigned(strength, word);
    (!is_call && is_value).then(|| at..at + word_at(text, at, quote, style, strength).len())
}

fn is_capital(name: &str) -> bool {
    name.bytes().all(|byte| !byte.is_ascii_lowercase())
}

/// Whether a word that is given to a password's name as it stands is one: letters with a digit, such as `hunter2`.
fn is_assigned(strength: Strength, value: &str) -> bool {
    strength == Strength::Password && is_word_with_digit(value)
}

/// The word of a value: up to its quote, or up to what ends it.
fn word_at<'t>(text: &'t str, at: usize, quote: Option<&str>, style: Style, strength: Strength) -> &'t str {
    if let Some(quote) = quote {
        let close = quote.as_bytes()[quote.len() - 1];
        return run(text, at, |byte| byte != close && !matches!(byte, b'\n' | b'\r' | b'\\'));
    }
    let is_ended = |byte: u8| match (style, strength) {
        (Style::Shell, _) => byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`'),
        (_, Strength::Password) => byte.is_ascii_whitespace() || b"\"'`<>;,)}|".contains(&byte),
        _ => !(byte.is_ascii_alphanumeric() || b"_-+/=.~%:$".contains(&byte)),
    };
    let word = run(text, at, |byte| !is_ended(byte) && byte != b'\\');
    let fields = word.find('&').filter(|_| style != Style::Shell);
    let next = fields.and_then(|from| NEXT_FIELD.find_at(word, from));
    word[..next.map_or(word.len(), |next| next.start())].trim_end_matches(['.', ',', ';', ':', '?', '&'])
}

fn holds(strength: Strength, name: &str, value: &str, style: Style) -> bool {
    let is_shell = style == Style::Shell;
    // The folder in which a shell stands.
    if is_placeholder(value)
        || value.starts_with("[masked")
        || (value.starts_with('/') && name.ends_with("PWD"))
    {
        return false;
    }
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    match strength {
        Strength::Password if is_shell => value.len() >= 4,
        Strength::Password if style == Style::Bare && value.contains('(') => false,
        Strength::Password => is_password(value) && !value.contains(char::is_whitespace),
        Strength::Secret if is_shell => value.len() >= 8,
        Strength::Secret => {
            is_random(value)
                || (value.len() >= 8
                    && has_digit
                    && has_letter
                    && style == Style::Quoted
                    && is_password(value))
        }
        Strength::Token if is_uuid(value) => !is_plain(name),
        Strength::Token => is_random(value) || (style != Style::Bare && is_long_word(value)),
        Strength::Key => value.len() >= 20 && is_random(value) && is_mixed(value),
        Strength::Auth => style != Style::Bare && value.len() >= 16 && is_random(value) && is_mixed(value),
    }
}

/// Whether a value is one word of at least 16 letters and digits, three digits among them.
fn is_long_word(value: &str) -> bool {
    value.len() >= 16
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().filter(u8::is_ascii_digit).count() >= 3
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether a name says no more than `token` or `key`; an id may stand there that is no secret.
fn is_plain(name: &str) -> bool {
    matches!(name.to_ascii_lowercase().as_str(), "token" | "key")
}

/// The evidence that a value needs to count as a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    /// A password: people choose them, so nearly anything is one.
    Password,
    /// A secret, made by a program or by a person.
    Secret,
    /// A token or key of a service: random.
    Token,
    /// A key of which nothing else is said; most are no secrets (`key` of a cache), so it has to look like one.
    Key,
    /// `auth` and its like: random, and in quotes.
    Auth,
}

/// Last words of a name that is about a secret and doesn't hold it: `password_file`.
const ABOUT: &str = "\
    file path name field hint length len policy reset url uri id ids type command cmd env envs prompt \
    manager strength label min max required expires expiry changed count stdin arn ref version format \
    size dir endpoint limit budget at used usage index column variable digest";
/// Ends of words for a password.
const PASSWORDS: &str = "\
    password passwd passwort kennwort passphrase passcode pwd psk contraseña wachtwoord senha hasło heslo \
    lösenord şifre пароль 密码 密碼 パスワード 비밀번호";
/// Words that make a token one of paging or counting.
const OF_PAGES: &str = "page next continuation cursor sync max num count prev previous resume start";
/// Words that make a key a secret one.
const OF_KEYS: &str = "\
    api access secret private auth account encryption encrypt signing master shared license licence \
    preshared client service deploy session storage subscription admin app application hmac webhook \
    crypt";
/// Words that end with `pass` and are none.
const NO_PASS: [&str; 6] = ["bypass", "compass", "trespass", "surpass", "encompass", "overpass"];

/// The words of a name in small letters: `dbPassword`, `DB_PASSWORD` and `db.password` are two.
fn words(name: &str) -> Vec<String> {
    let (mut out, mut word, mut was_small) = (Vec::new(), String::new(), false);
    for c in name.chars() {
        let is_border = matches!(c, '_' | '-' | '.' | '$' | ':' | ' ');
        if (is_border || (c.is_ascii_uppercase() && was_small)) && !word.is_empty() {
            out.push(std::mem::take(&mut word));
        }
        if !is_border {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

/// The kind of secret that a name indicates, and how strongly. `None` if it indicates none.
pub(super) fn kind_of(name: &str) -> Option<(&'static str, Strength)> {
    let words = words(name);
    let last = words.last()?.as_str();
    if ABOUT.split(' ').any(|word| word == last) {
        return None;
    }
    let any = |of: fn(&str) -> bool| words.iter().any(|word| of(word));
    if any(|word| PASSWORDS.split(' ').any(|known| word.ends_with(known)))
        || last == "pw"
        || (last.ends_with("pass") && !NO_PASS.contains(&last))
    {
        return Some(("password", Strength::Password));
    }
    if any(|word| word.ends_with("secret")) {
        return Some(("secret", Strength::Secret));
    }
    if last.ends_with("token") && !words.iter().any(|word| OF_PAGES.split(' ').any(|of| of == word)) {
        return Some(("token", Strength::Token));
    }
    let qualified = |key: &str| OF_KEYS.split(' ').any(|of| key.ends_with(of));
    for (at, word) in words.iter().enumerate() {
        let Some(before) = word.strip_suffix("key") else { continue };
        let is_end = at + 1 == words.len()
            || words[at + 1..].iter().all(|word| word == "data" || word == "base" || word == "b64");
        if is_end && (qualified(before) || (before.is_empty() && at > 0 && qualified(&words[at - 1]))) {
            return Some(("key", Strength::Token));
        }
    }
    match last {
        "auth" | "authorization" | "credential" | "credentials" | "creds" | "sessionid" => {
            Some(("credentials", Strength::Auth))
        }
        _ if last.ends_with("key") => Some(("key", Strength::Key)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_its_value_is() {
        let strength = |name| kind_of(name).map(|(_, strength)| strength);
        for name in [
            "DB_PASSWORD",
            "dbPassword",
            "smtp_pass",
            "PGPASSWORD",
            "wifi-psk",
            "pw",
            "spring.datasource.password",
        ] {
            assert_eq!(strength(name), Some(Strength::Password), "{name}");
        }
        for name in ["SECRET_KEY_BASE", "clientSecret", "APP_SECRET"] {
            assert_eq!(strength(name), Some(Strength::Secret), "{name}");
        }
        for name in
            ["api_key", "apiKey", "X-Api-Key", "PrivateKey", "client-key-data", "AccountKey", "_authToken"]
        {
            assert_eq!(strength(name), Some(Strength::Token), "{name}");
        }
        for name in [
            "password_file",
            "passwordLength",
            "nextPageToken",
            "max_tokens",
            "bypass",
            "tokens",
            "keys",
            "secrets",
        ] {
            assert_eq!(strength(name), None, "{name}");
        }
        assert_eq!(
            (strength("key"), strength("cache_key"), strength("auth")),
            (Some(Strength::Key), Some(Strength::Key), Some(Strength::Auth))
        );
    }
}
