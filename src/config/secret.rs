//! Loads secrets from the environment, or from a file outside the vault that only its owner can read. Also lists the
//! environment variables that hold this program's own keys.

use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::ConfigError;

/// Holds the Discord bot token.
pub const DISCORD_TOKEN_VARIABLE: &str = "DISCORD_TOKEN";
/// Holds the URL of a Discord webhook.
pub const WEBHOOK_VARIABLE: &str = "VAULT_AGENT_DISCORD_WEBHOOK";
/// Holds the access token of an ntfy server.
pub const NTFY_TOKEN_VARIABLE: &str = "VAULT_AGENT_NTFY_TOKEN";
/// Holds the password for the mail server.
pub const EMAIL_PASSWORD_VARIABLE: &str = "VAULT_AGENT_EMAIL_PASSWORD";
/// Holds the address that signed JSON is sent to.
pub const SIGNED_URL_VARIABLE: &str = "VAULT_AGENT_WEBHOOK_URL";
/// Holds the secret that signs it.
pub const SIGNED_SECRET_VARIABLE: &str = "VAULT_AGENT_WEBHOOK_SECRET";
/// Holds the password of the user at the etcd cluster that machines share.
pub const ETCD_PASSWORD_VARIABLE: &str = "VAULT_AGENT_ETCD_PASSWORD";
/// Holds the key of Anthropic's models.
pub const ANTHROPIC_KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";
/// Holds the key of OpenAI's models.
pub const OPENAI_KEY_VARIABLE: &str = "OPENAI_API_KEY";
/// Holds the key of Google's models.
pub const GOOGLE_KEY_VARIABLE: &str = "GOOGLE_API_KEY";
/// Holds the key of an Ollama server.
pub const OLLAMA_KEY_VARIABLE: &str = "OLLAMA_API_KEY";
/// Holds the key of a reranker.
pub const RERANK_KEY_VARIABLE: &str = "RERANK_API_KEY";
/// Holds Claude Code's login.
pub const CLAUDE_CODE_TOKEN_VARIABLE: &str = "CLAUDE_CODE_OAUTH_TOKEN";
/// All variables with keys of this program that no setting names and that don't begin with `VAULT_AGENT_`.
pub(super) const OWN_KEYS: [&str; 8] = [
    DISCORD_TOKEN_VARIABLE,
    ANTHROPIC_KEY_VARIABLE,
    OPENAI_KEY_VARIABLE,
    GOOGLE_KEY_VARIABLE,
    OLLAMA_KEY_VARIABLE,
    RERANK_KEY_VARIABLE,
    CLAUDE_CODE_TOKEN_VARIABLE,
    "GEMINI_API_KEY",
];

/// The secret in the environment variable `variable`, else the first line of `file`, else none. An empty name is no
/// variable.
///
/// `file` may begin with `~/`; a relative path counts from the vault's `root`, and a file inside the
/// vault is refused, because sync tools would carry it away.
///
/// # Errors
/// The file can't be read, is empty, lies in the vault, or can be read by others than its owner.
pub fn secret(variable: &str, file: Option<&str>, root: &Path) -> Result<Option<SecretString>, ConfigError> {
    if let Ok(value) = std::env::var(variable) {
        let value = value.trim();
        if !value.is_empty() {
            return Ok(Some(SecretString::from(value)));
        }
    }
    file.map(|file| read(&expand(file, root), variable, root)).transpose()
}

fn read(path: &Path, variable: &str, root: &Path) -> Result<SecretString, ConfigError> {
    let shown = path.display();
    let unusable = |why: &str| ConfigError::new(format!("the secret file `{shown}` {why}"));
    let unreadable =
        |error: std::io::Error| ConfigError::new(format!("can't read the secret file `{shown}`: {error}"));
    let canonical = path.canonicalize().map_err(|error| {
        let or_set = if variable.is_empty() { String::new() } else { format!(", or set `{variable}`") };
        unreadable(error).suggest(format!("create it with mode 600{or_set}"))
    })?;
    if root.canonicalize().is_ok_and(|root| canonical.starts_with(root)) {
        return Err(unusable("lies in the vault, which sync tools copy")
            .suggest("move it outside the vault, for example to `~/.config/vault-agent/`"));
    }
    // A pipe may have no writer, and reading it would wait for ever.
    if !canonical.is_file() {
        return Err(unusable("is no file").suggest("write the secret into a file with mode 600"));
    }
    if let Some(reason) = readable_by_others(&canonical) {
        return Err(unusable(reason).suggest(format!("run `chmod 600 {shown}` as its owner")));
    }
    let text = std::fs::read_to_string(&canonical).map_err(unreadable)?;
    let line = text.lines().next().map(str::trim).filter(|line| !line.is_empty());
    line.map(SecretString::from)
        .ok_or_else(|| unusable("is empty").suggest("write the secret into its first line"))
}

fn readable_by_others(path: &Path) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(path).ok()?;
    let me = rustix::process::geteuid().as_raw();
    if meta.mode() & 0o077 != 0 {
        return Some("can be read by other users");
    }
    (meta.uid() != me && me != 0).then_some("belongs to another user")
}

/// Takes from all but its owner the right to read a secret file; says whether that was needed. A file of another
/// user's, and one inside the vault, stays as it is.
///
/// # Errors
/// The file isn't there, or its rights can't be changed.
pub fn make_private(file: &str, root: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let path = expand(file, root).canonicalize()?;
    let meta = std::fs::metadata(&path)?;
    let is_ours = meta.uid() == rustix::process::geteuid().as_raw();
    let in_vault = root.canonicalize().is_ok_and(|root| path.starts_with(root));
    if !is_ours || in_vault || !meta.is_file() || meta.mode() & 0o077 == 0 {
        return Ok(false);
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(meta.mode() & 0o700))?;
    Ok(true)
}

/// The path that a setting means: `~/` is the home folder, and a relative one counts from the vault's `root`.
pub(crate) fn expand(file: &str, root: &Path) -> PathBuf {
    match file.strip_prefix("~/") {
        Some(rest) => etcetera::home_dir().unwrap_or_default().join(rest),
        None => root.join(file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;
    use std::os::unix::fs::PermissionsExt;

    fn set_up(mode: u32, text: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let vault = temp.path().join("vault");
        std::fs::create_dir(&vault).unwrap();
        let file = temp.path().join("token");
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        (temp, vault, file)
    }

    #[test]
    fn a_private_file_is_read_and_trimmed() {
        let (_temp, vault, file) = set_up(0o600, "  s3cret \nrest\n");
        let found = secret("VAULT_AGENT_TEST_UNSET", file.to_str(), &vault).unwrap().unwrap();
        assert_eq!(found.expose_secret(), "s3cret");
        assert!(!format!("{found:?}").contains("s3cret"));
    }

    #[test]
    fn a_file_for_everybody_is_refused() {
        let (_temp, vault, file) = set_up(0o644, "s3cret\n");
        let error = secret("VAULT_AGENT_TEST_UNSET", file.to_str(), &vault).unwrap_err();
        assert!(error.message.contains("can be read by other users"), "{error}");
        assert!(!error.to_string().contains("s3cret"));
    }

    #[test]
    fn a_file_in_the_vault_is_refused() {
        let (_temp, vault, _) = set_up(0o600, "");
        let inside = vault.join("token");
        std::fs::write(&inside, "s3cret").unwrap();
        std::fs::set_permissions(&inside, std::fs::Permissions::from_mode(0o600)).unwrap();
        let error = secret("VAULT_AGENT_TEST_UNSET", Some("token"), &vault).unwrap_err();
        assert!(error.message.contains("lies in the vault"), "{error}");
    }
}
