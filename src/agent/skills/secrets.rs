//! Decides which variables hold keys of this program's own, which no skill is given. Also removes secrets from texts
//! that are shown or kept ([`HiddenSecrets`]).

use secrecy::{ExposeSecret, SecretString};

use crate::brain::scrub::HIDDEN;
use crate::config::{DISCORD_TOKEN_VARIABLE, Settings, WEBHOOK_VARIABLE};
use crate::deliver::link;
use crate::format::invisible;

/// Shorter secrets are no secrets, and hiding them would hide words.
const SHORTEST: usize = 6;
/// Keys of this program that no setting has to name.
const USUAL: [&str; 7] = [
    DISCORD_TOKEN_VARIABLE,
    WEBHOOK_VARIABLE,
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
];

/// Whether a variable holds a key of this program's own: a brain's, a bot's. No skill is given one.
pub(super) fn is_own(settings: &Settings, variable: &str) -> bool {
    let brains = settings.brains.iter();
    let mut named = brains.flat_map(|brain| brain.key_env.iter().chain(&brain.key_envs));
    USUAL.contains(&variable) || named.any(|own| own == variable)
}

/// Secrets in all the forms in which they are hidden: as they are, in Base64 at any offset, in hexadecimal digits, and
/// as URLs write them.
#[derive(Default)]
pub struct HiddenSecrets {
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
        let mut forms: Vec<String> = secrets.flat_map(|secret| forms(secret.expose_secret())).collect();
        // A longer form may hold a shorter one.
        forms.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        forms.dedup();
        Self { forms }
    }

    /// Whether a text holds one of them.
    pub fn is_in(&self, text: &str) -> bool {
        self.forms.iter().any(|form| text.contains(form.as_str()))
    }

    /// The text without them, also where invisible characters stand in one.
    pub fn hide(&self, text: &str) -> String {
        let bare = invisible::strip(text);
        if !self.is_in(&bare) {
            return text.to_owned();
        }
        self.forms.iter().fold(bare.into_owned(), |text, form| text.replace(form.as_str(), HIDDEN))
    }
}

fn forms(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    if bytes.len() < SHORTEST {
        return Vec::new();
    }
    let hex = data_encoding::HEXLOWER.encode(bytes);
    let mut all = vec![secret.to_owned(), hex.to_uppercase(), hex, url(bytes)];
    all.push(secret.chars().rev().collect());
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
        }
    }

    #[test]
    fn what_is_too_short_hides_nothing() {
        let hidden = HiddenSecrets::new([SecretString::from("abc")].iter());
        assert_eq!(hidden.hide("abc abcd"), "abc abcd");
        assert_eq!(format!("{hidden:?}"), "Hidden { forms: 0 }");
    }
}
