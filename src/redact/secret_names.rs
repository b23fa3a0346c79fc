//! Classifies names in settings files, code and headers by the kind of secret that their values are.

/// How much a value has to look like a secret.
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
const PASSWORDS: &str =
    "password passwd passwort kennwort passphrase passcode pwd psk contraseña wachtwoord senha";
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
