//! Finds passwords by their position in a text.
//!
//! Positions are known on command lines, in netrc and pgpass files, in SQL, in arguments of functions, and in sentences
//! such as "the password is …".

use regex_lite::Captures;

use super::FoundSecret;
use super::rule::SecretRule;
use super::values::{is_password, is_password_like, is_placeholder};

#[rustfmt::skip]
pub(super) const RULES: &[SecretRule] = &[
    line(&["mysql", "mycli", "mariadb"], r#"(?m)(?:^|[^\w-])(?:mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mycli|mariadb|mariadb-dump|mariadb-admin){ON}-p{WORD}"#),
    line(&["mysqladmin"], r#"(?m)(?:^|[^\w-])mysqladmin{ON}password\s+{WORD}"#),
    line(&["docker ", "podman ", "nerdctl ", "helm ", "oras ", "skopeo ", "buildah ", "crane ", "az ", "oc "], r#"(?m)(?:^|[^\w-])(?:docker|podman|nerdctl|helm|oras|skopeo|buildah|crane|az|oc)\s[^\n|]*?\blogin{ON}(?:-p|--password)[ =]{WORD}"#),
    line(&["sshpass"], r#"(?m)(?:^|[^\w-])sshpass\s+(?:-\w\s+)*-p\s*{WORD}"#),
    line(&["redis-cli"], r#"(?m)(?:^|[^\w-])redis-cli{ON}-a\s+{WORD}"#),
    line(&["ldap"], r#"(?m)(?:^|[^\w-])ldap(?:search|modify|add|whoami|passwd|delete){ON}-w\s*{WORD}"#),
    line(&["keytool", "jarsigner"], r#"(?m)(?:^|[^\w-])(?:keytool|jarsigner){ON}-(?:store|key|deststore|srcstore)pass\s+{WORD}"#),
    line(&["htpasswd"], r#"(?m)(?:^|[^\w-])htpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+{WORD}"#),
    line(&["htpasswd"], r#"(?m)(?:^|[^\w-])htpasswd\s+-\w*n\w*b\w*\s+\S+\s+{WORD}"#),
    line(&["mongo"], r#"(?m)(?:^|[^\w-])(?:mongosh|mongo|mongodump|mongorestore|mongoexport|mongoimport){ON}-p\s+{WORD}"#),
    line(&["sqlcmd", "bcp ", "osql"], r#"(?m)(?:^|[^\w-])(?:sqlcmd|bcp|osql){ON}-P\s*{WORD}"#),
    line(&["7z", "rar ", "unrar "], r#"(?m)(?:^|[^\w-])(?:7z|7za|7zz|rar|unrar)\s+\w+\s[^\n|]*?-p{WORD}"#),
    line(&["zip ", "unzip "], r#"(?m)(?:^|[^\w-])(?:zip|unzip){ON}-P\s*{WORD}"#),
    line(&["net use"], r#"(?m)(?:^|[^\w-])net\s+use\s[^\n]*?/user:\S+\s+{WORD}"#),
    line(&["net user"], r#"(?m)(?:^|[^\w-])net\s+user\s+\w\S*\s+([^\s/"'|;&<>()`]+)"#).filter(is_password),
    line(&["setx "], r#"(?m)(?:^|[^\w-])setx\s+\w*(?:KEY|TOKEN|SECRET|PASS)\w*\s+{WORD}"#),
    line(&["gh secret"], r#"(?m)(?:^|[^\w-])gh\s+secret\s+set{ON}(?:-b|--body)[ =]{WORD}"#),
    line(&["sudo "], r#"(?m)(?:^|[^\w-])sudo\s[^\n|]*?-S\b[^\n|]*?<<<\s*{WORD}"#),
    line(&["xfreerdp", "wlfreerdp"], r#"(?m)(?:^|[^\w-])(?:xfreerdp|wlfreerdp){ON}/p:{WORD}"#),
    line(&["rclone"], r#"(?m)(?:^|[^\w-])rclone\s+obscure\s+{WORD}"#),
    line(&["vault login"], r#"(?m)(?:^|[^\w-])vault\s+login\s+(?:-\S+\s+)*{WORD}"#),
    line(&["nmcli"], r#"(?m)(?:^|[^\w-])nmcli{ON}(?:password|wifi-sec\.psk)\s+{WORD}"#),
    line(&["wpa_passphrase"], r#"(?m)(?:^|[^\w-])wpa_passphrase\s+\S+\s+{WORD}"#),
    line(&["ssh-keygen"], r#"(?m)(?:^|[^\w-])ssh-keygen{ON}-N\s+{WORD}"#),
    line(&["aws configure"], r#"(?m)(?:^|[^\w-])aws\s+configure\s+set\s+\S*(?:secret|token)\S*\s+{WORD}"#),
    line(&["lftp"], r#"(?m)(?:^|[^\w-])lftp{ON}-u\s+[^\s,]+,{WORD}"#),
    line(&["requirepass", "masterauth"], r#"(?m)(?:^|[^\w-])(?:requirepass|masterauth)\s+{WORD}"#),
    line(&["curl"], r##"(?m)(?:^|[^\w-])curl{ON}(?:-\w*u|--user|--proxy-user|-U)[ =]?\s*\\?["']?[^\s:"'$<]+:([^\s"'|<>`]+)"##),
    line(&["http ", "https ", "xh ", "xhs "], r##"(?m)(?:^|[^\w-])(?:https?|xh|xhs|http)\s+[^\n|]*?(?:-a|--auth)[ =]\s*["']?[^\s:"'$<]+:([^\s"'|<>`]+)"##),
    line(&["smbclient", "rpcclient", "smbmap"], r##"(?m)(?:^|[^\w-])(?:smbclient|rpcclient|smbmap){ON}-U\s*["']?[^\s%"']+%([^\s"'|<>`]+)"##),
    line(&["openssl"], r##"(?m)(?:^|[^\w-])openssl{ON}-pass(?:in|out)?\s+["']?pass:([^\s"'|<>`]+)"##),
    line(&["openssl"], r#"(?m)(?:^|[^\w-])openssl\s+enc{ON}-k\s+{WORD}"#),
    line(&["echo"], r#"\becho\s+(?:-n\s+)?{WORD}\s*\|\s*(?:sudo\s+(?:-\w+\s+)*-S|\S+(?:\s+\S+)*?\s+--password-stdin|gh\s+auth\s+login\s+--with-token|passwd\s+--stdin)"#),
    line(&["echo"], r#"\becho\s+(?:-e\s+)?\\?["']?[\w.-]+:([^\s"'|\\]+)\\?["']?\s*\|\s*(?:sudo\s+)?chpasswd"#),
    other(&["login"], r#"\blogin\s+\S+\s+password\s+{WORD}"#).near(64, 256).multi_line(),
    other(&["password"], r#"\bpassword\s+{WORD}\s+login\s"#).near(64, 256).multi_line(),
    other(&["identified", "password '"], r#"(?i)\b(?:identified\s+(?:with\s+\S+\s+)?by|with\s+(?:encrypted\s+)?password|login\s+password)\s+'([^'\n]+)'"#).near(64, 256).multi_line(),
    other(&["auth=", "auth ="], r#"(?i)\bauth\s*=\s*(?:\w+\.?\w*)?\(\s*["'][^"'\n]+["']\s*,\s*["']([^"'\n]+)["']"#),
    other(&["pscredential"], r#"(?i)\bPSCredential\b.*?-AsPlainText\s+["']?([^\s"']+)"#),
    other(&["convertto-securestring"], r#"(?i)\bConvertTo-SecureString\s+(?:-String\s+)?["']([^"'\n]+)["']"#),
    // Prose: `the password is …`.
    SecretRule::new("password",
        &["password", "passwort", "kennwort", "passphrase", "passcode", "contraseña", "mot de passe", "wachtwoord",
            "senha", "passwd", "pw"],
        r#"(?i)\b(?:password|passwort|kennwort|passphrase|passcode|contraseña|mot de passe|wachtwoord|senha|passwd|pw)\b[^\n.:=;]{0,30}?\s(?:is|ist|lautet|est|es|was|war)(?:\s+now|\s+jetzt)?:?\s+["'`]?([^\s"'`]+)"#)
        .near(2, 200).with_finder(prose_password),
];

/// A command that is named first; the last group is the secret.
const fn line(names: &'static [&'static str], pattern: &'static str) -> SecretRule {
    other(names, pattern).at_word_start()
}

const fn other(keywords: &'static [&'static str], pattern: &'static str) -> SecretRule {
    SecretRule::new("password", keywords, pattern).filter(is_given)
}

fn prose_password(_: &str, groups: &Captures<'_>, found: &mut Vec<FoundSecret>) {
    let Some(value) = groups.get(1) else { return };
    let said = value.as_str().trim_end_matches(['.', ',', ';', ')', '!', '?']);
    if is_password_like(said) {
        found.push(FoundSecret { range: value.start()..value.start() + said.len(), kind: "password" });
    }
}

/// Adds the passwords of lines of a pgpass file: `host:port:database:user:password`.
pub(super) fn of_pgpass(text: &str, found: &mut Vec<FoundSecret>) {
    let mut start = 0;
    for line in text.split('\n') {
        let parts: Vec<&str> = line.trim_end_matches('\r').splitn(5, ':').collect();
        if let [host, port, database, user, password] = parts[..]
            && is_name(host, ".*-")
            && (port == "*"
                || (2..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit()))
            && is_name(database, "*-")
            && is_name(user, "*.-")
            && !(database.as_bytes()[0].is_ascii_digit() || user.as_bytes()[0].is_ascii_digit())
            && password.len() >= 6
            && !password.contains(char::is_whitespace)
            && is_password(password)
        {
            let at = start + line.len() - password.len() - usize::from(line.ends_with('\r'));
            found.push(FoundSecret { range: at..at + password.len(), kind: "password" });
        }
        start += line.len() + 1;
    }
}

fn is_name(word: &str, signs: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_' || signs.contains(c))
}

/// Whether an argument is a value, and no other option and no stand-in.
fn is_given(value: &str) -> bool {
    value.len() >= 4
        && !is_placeholder(value)
        && !value.starts_with('-')
        && !value.starts_with("env:")
        && !value.starts_with("file:")
}
