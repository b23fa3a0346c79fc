//! Removes secrets from texts ([`HiddenSecrets`]): the output of commands that got the secrets in their environment,
//! and of MCP servers.
//!
//! A secret is found as it is, in Base64, in hexadecimal digits, reversed, as URLs and JSON escape it, and also if
//! white space divides it. A secret of fewer than six bytes is not removed, because ordinary words would match. Pure.

use secrecy::{ExposeSecret, SecretString};

use crate::brain::scrub::HIDDEN;
use crate::deliver::link;
use crate::format::invisible;

/// Shorter secrets are no secrets, and hiding them would hide words.
const SHORTEST: usize = 6;

/// Secrets in all the forms in which they are hidden: as they are, in Base64 at any offset, in hexadecimal digits, and
/// as URLs and JSON write them. Blanks and line ends don't count: programs break long lines.
#[derive(Default)]
pub struct HiddenSecrets {
    /// Without blanks.
    forms: Vec<String>,
}

impl std::fmt::Debug for HiddenSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hidden").field("forms", &self.forms.len()).finish()
    }
}

impl HiddenSecrets {
    /// These secrets.
    pub fn new<'a>(secrets: impl Iterator<Item = &'a SecretString>) -> Self {
        let forms = secrets.flat_map(|secret| forms(secret.expose_secret())).map(|form| dense(&form));
        let mut forms: Vec<String> = forms.filter(|form| !form.is_empty()).collect();
        // A longer form may hold a shorter one.
        forms.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        forms.dedup();
        Self { forms }
    }

    /// Whether a text holds one of them.
    pub fn is_in(&self, text: &str) -> bool {
        let text = dense(text);
        self.forms.iter().any(|form| text.contains(form.as_str()))
    }

    /// The text without them, also where invisible characters stand in one.
    pub fn hide(&self, text: &str) -> String {
        let bare = invisible::strip(text);
        if !self.is_in(&bare) {
            return text.to_owned();
        }
        self.forms.iter().fold(bare.into_owned(), |text, form| without(&text, form))
    }
}

/// A text without blanks and line ends.
fn dense(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The text without a form, also where blanks and line ends stand in it.
fn without(text: &str, form: &str) -> String {
    let mut kept = text.char_indices().filter(|(_, c)| !c.is_whitespace());
    let (mut passed, mut last) = (0, 0..0);
    // The place in the text of the character that has this byte of the dense text; each is behind the one before.
    let mut place_of = |byte: usize| {
        while passed <= byte
            && let Some((at, c)) = kept.next()
        {
            passed += c.len_utf8();
            last = at..at + c.len_utf8();
        }
        last.clone()
    };
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in dense(text).match_indices(form) {
        out.push_str(&text[from..place_of(at).start]);
        out.push_str(HIDDEN);
        from = place_of(at + form.len() - 1).end;
    }
    out + &text[from..]
}

fn forms(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    if bytes.len() < SHORTEST {
        return Vec::new();
    }
    let hex = data_encoding::HEXLOWER.encode(bytes);
    let mut all = vec![secret.to_owned(), hex.to_uppercase(), hex, url(bytes)];
    all.push(secret.chars().rev().collect());
    all.push(serde_json::Value::from(secret).to_string().trim_matches('"').to_owned());
    for offset in 0..3 {
        let mut shifted = vec![0; offset];
        shifted.extend_from_slice(bytes);
        for text in [data_encoding::BASE64.encode(&shifted), data_encoding::BASE64URL.encode(&shifted)] {
            // A character that the secret shares with its neighbours is left out at either end.
            let from = [0, 2, 3][offset];
            let inner = text.trim_end_matches('=');
            let to = if shifted.len() % 3 == 0 { inner.len() } else { inner.len() - 1 };
            all.push(inner[from..to].to_owned());
        }
    }
    all
}

/// Percent-encoded but for letters, digits and `-._~`.
fn url(bytes: &[u8]) -> String {
    percent_encoding::percent_encode(bytes, link::PLAIN).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_form_of_a_secret_is_left(
            secret in "[!-~]{6,40}",
            before in "[a-z ]{0,9}",
            after in "[a-z ]{0,9}",
        ) {
            let hidden = HiddenSecrets::new([SecretString::from(secret.as_str())].iter());
            let joined = format!("{before}{secret}{after}");
            let base64 = data_encoding::BASE64.encode(joined.as_bytes());
            let hex = data_encoding::HEXLOWER.encode(joined.as_bytes());
            prop_assert!(!hidden.hide(&joined).contains(&secret));
            let split = format!("{}\u{200b}{}\u{ad}", &joined[..joined.len() / 2], &joined[joined.len() / 2..]);
            prop_assert!(!invisible::strip(&hidden.hide(&split)).contains(&secret));
            prop_assert!(hidden.is_in(&base64), "{base64}");
            prop_assert!(hidden.is_in(&hex) && hidden.is_in(&hex.to_uppercase()));
            prop_assert!(hidden.is_in(&url(joined.as_bytes())));
            prop_assert!(hidden.is_in(&data_encoding::BASE64URL.encode(joined.as_bytes())));
            let json = serde_json::json!({ "a": &joined }).to_string();
            prop_assert!(!hidden.hide(&json).contains(&json[6 + before.len()..json.len() - 2 - after.len()]));
            for lines in [base64, hex] {
                let wrapped = lines.chars().flat_map(|c| ['\n', ' ', c]).collect::<String>();
                prop_assert!(hidden.hide(&wrapped).contains(HIDDEN), "{lines}");
            }
        }
    }

    #[test]
    fn a_secret_of_several_words_is_hidden_each_time() {
        let hidden = HiddenSecrets::new([SecretString::from("to be 1")].iter());
        assert_eq!(hidden.hide("é to be 1, ü to\nbe 1; tobe"), format!("é {HIDDEN}, ü {HIDDEN}; tobe"));
    }

    #[test]
    fn what_is_too_short_hides_nothing() {
        let hidden = HiddenSecrets::new([SecretString::from("abc")].iter());
        assert_eq!(hidden.hide("abc abcd"), "abc abcd");
        assert_eq!(format!("{hidden:?}"), "Hidden { forms: 0 }");
    }
}
