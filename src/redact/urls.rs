//! Finds secrets in URLs: passwords before the host, webhooks, signatures and tokens of queries.

use super::rule::SecretRule;
use super::values::{is_password, is_placeholder, is_random};
use super::{FoundSecret, run};

#[rustfmt::skip]
pub(super) const RULES: &[SecretRule] = &[
    // URLs whose path is the secret.
    SecretRule::new("discord webhook", &["/webhooks/"], r"(?i)\bdiscord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{15,21}/([\w-]{20,})"),
    SecretRule::new("slack webhook", &["hooks.slack.com/"], r"(?i)\bhooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,})"),
    SecretRule::new("teams webhook", &["webhook.office.com/"], r"(?i)\bwebhook\.office\.com/webhookb2/([\w@/-]{40,})"),
    SecretRule::new("zapier webhook", &["hooks.zapier.com/"], r"(?i)\bhooks\.zapier\.com/hooks/catch/(\d+/\w{5,})"),
    SecretRule::new("ifttt key", &["maker.ifttt.com/"], r"(?i)\bmaker\.ifttt\.com/\S*?/key/([\w-]{16,})"),
    SecretRule::new("make webhook", &[".make.com/"], r"(?i)\bhook\.[a-z]{2}\d?\.make\.com/(\w{20,})"),
    SecretRule::new("feishu webhook", &["/bot/v2/hook/"], r"(?i)\bopen\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/([\w-]{20,})"),
    SecretRule::new("mattermost webhook", &["/hooks/"], r"(?i)://[^/\s]+/hooks/([a-z0-9]{26})\b").near(256, 64),
    SecretRule::new("home assistant webhook", &["/api/webhook/"], r"(?i)/api/webhook/([\w-]{20,})"),
    // A signature or its like in a query; names that are no words of code.
    SecretRule::new("signature", &["sig=", "signature=", "-token=", "hmac="],
        r#"(?i)[?&;](?:sig|signature|x-amz-signature|x-goog-signature|x-oss-signature|x-amz-security-token|hmac)=([\w%~.+/=-]{16,})"#)
        .near(20, 512),
    // A key of a second factor.
    SecretRule::new("second factor", &["otpauth://"], r"(?i)otpauth://\S*?[?&]secret=([A-Z2-7]{16,})"),
    // The text of a code that holds a network's password.
    SecretRule::new("password", &["wifi:"], r"WIFI:[^\n]*?\bP:((?:\\.|[^;\\\n])+)").filter(|value| !is_placeholder(value)),
    // A value of a query after a name that every service uses for its secret.
    SecretRule::new("token in a URL", &["token=", "key=", "auth=", "secret=", "sid="],
        r#"(?i)[?&](?:token|access_token|auth_token|api_?key|apikey|key|auth|secret|client_secret|refresh_token|id_token|sid)=([\w%~.+/=-]{10,})"#)
        .near(16, 256).filter(is_random),
];

/// The longest authority of a URL at which is looked, in bytes.
const LONGEST: usize = 1024;

/// Adds the passwords before the host, `scheme://user:password@host`, of the URLs whose `://` stand at these places.
pub(super) fn userinfo(text: &str, schemes: &[usize], found: &mut Vec<FoundSecret>) {
    for &at in schemes {
        // No authority is that long, and a text of `://` alone is read once.
        let rest = &text[at + 3..];
        let near = &rest[..rest.floor_char_boundary(LONGEST)];
        let authority = run(near, 0, |byte| byte.is_ascii_graphic() && !b"/?\"'`<>()|".contains(&byte));
        let Some((account, _)) = authority.rsplit_once('@') else { continue };
        let start = at + 3;
        match account.split_once(':') {
            Some((user, password)) if !is_placeholder(password) && password.len() > 2 => {
                // `https://KEY:SECRET@host`: the key goes with its secret.
                let from = if is_random(user) { start } else { start + user.len() + 1 };
                found.push(FoundSecret { range: from..start + account.len(), kind: "password" });
            }
            None if is_random(account) && is_password(account) => {
                found.push(FoundSecret { range: start..start + account.len(), kind: "token in a URL" });
            }
            _ => {}
        }
    }
}
