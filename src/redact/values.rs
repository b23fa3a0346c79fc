//! Classifies a value: a random text, a password, or a placeholder.

/// Words that stand where a secret will stand.
const STAND_INS: &str = "\
    true false null none nil undefined required optional string hidden masked redacted changeme \
    change_me change-me placeholder example password passwd secret token prompt stdin empty unset \
    default";
/// Names with digits that are no passwords.
const NAMES_WITH_DIGITS: [&str; 12] = [
    "sha1", "sha256", "sha512", "sha-256", "md5", "base64", "base32", "utf8", "utf-8", "oauth2", "argon2",
    "pbkdf2",
];

/// Whether a value is a placeholder for another value: `$TOKEN`, `<your key>`, `xxxx`, `[masked: …]`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let bytes = value.as_bytes();
    let Some(&first) = bytes.first() else { return true };
    let lower = value.to_ascii_lowercase();
    let is_reference = match first {
        b'$' => {
            bytes.get(1).is_some_and(|next| matches!(next, b'{' | b'(' | b'_') || next.is_ascii_uppercase())
                && bytes
                    .iter()
                    .skip(1)
                    .all(|byte| byte.is_ascii_uppercase() || b"_{}()".contains(byte) || byte.is_ascii_digit())
                || value.starts_with("${")
                || value.starts_with("$(")
        }
        b'{' | b'<' | b'[' | b'(' | b'%' => true,
        _ => false,
    };
    is_reference
        || bytes.iter().all(|byte| *byte == first)
        || value.contains("...")
        || value.contains('…')
        || value.contains("***")
        || lower.starts_with("your")
        || lower.contains("xxxx")
        || STAND_INS.split(' ').any(|word| word == lower)
        || bytes.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_') && value.contains('_')
}

/// The mean length of runs of small letters, capitals and digits. Random text has short ones, words have long ones.
pub(super) fn mean_run(value: &str) -> f64 {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let (mut runs, mut counted, mut last) = (0u32, 0u32, 0);
    for byte in value.bytes() {
        let now = class(byte);
        if now != 0 {
            counted += 1;
            runs += u32::from(now != last);
        }
        last = now;
    }
    f64::from(counted) / f64::from(runs.max(1))
}

/// Whether a value of at least ten characters looks random: letters and digits alternate often.
pub(super) fn is_random(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let of_a_key = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+/=.~%:".contains(&byte);
    value.len() >= 10
        && digits >= 2
        && letters >= 3
        && value.bytes().all(of_a_key)
        && !is_placeholder(value)
        && !is_number_like(value)
        && mean_run(value) <= if value.len() >= 24 { 3.4 } else { 2.9 }
}

/// Dates, versions, times and addresses: long runs of digits with signs between and hardly a letter.
fn is_number_like(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    letters * 6 < digits || (letters <= 3 && value.contains(['-', '.', ':']))
}

/// Whether small letters, capitals and digits all stand in it.
pub(super) fn is_mixed(value: &str) -> bool {
    let has = |of: fn(&u8) -> bool| value.as_bytes().iter().any(of);
    has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit)
}

/// Whether a value is of 8-4-4-4-12 hexadecimal digits.
pub(super) fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| {
            if matches!(at, 8 | 13 | 18 | 23) { byte == b'-' } else { byte.is_ascii_hexdigit() }
        })
}

/// Whether a value after a password's name is a password and no word, type or expression: it has a digit or a character
/// that names don't have.
pub(super) fn is_password(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let signs = value.bytes().filter(|byte| b"!#%^*+~$@?&=".contains(byte)).count();
    let is_code = value.contains("::")
        || value.contains("()")
        || value.contains("->")
        || value.starts_with(['&', '*', '@', '/', '.', '|']);
    let is_name = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        && (digits < 2 && value.len() < 12 || value.contains('_') && mean_run(value) > 3.4);
    value.len() >= 5
        && !is_placeholder(value)
        && !is_code
        && !NAMES_WITH_DIGITS.iter().any(|name| lower.starts_with(name))
        && if letters == 0 { digits >= 6 && digits + signs == value.len() } else { digits + signs > 0 }
        && (!is_name || signs > 0)
}

/// Whether a value is one word of letters with a digit, and no name of a method.
pub(super) fn is_word_with_digit(value: &str) -> bool {
    let has = |of: fn(&u8) -> bool| value.as_bytes().iter().any(of);
    let lower = value.to_ascii_lowercase();
    value.len() >= 5
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !is_placeholder(value)
        && !NAMES_WITH_DIGITS.iter().any(|name| lower.starts_with(name))
}

/// Whether a word of plain speech is a password: letters and digits, and more than a name with a number.
pub(super) fn is_password_like(value: &str) -> bool {
    let has_sign = value.bytes().any(|byte| b"!#%^*~$@?+=".contains(&byte));
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() >= 6
        && digits > 0
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && is_password(value)
        && !is_uuid(value)
        && !is_number_like(value)
        && (has_sign || is_mixed(value) || digits >= 2 && !value.contains(['-', '.', ':', '/']))
}
