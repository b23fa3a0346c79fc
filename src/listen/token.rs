//! Loads the bearer token of the MCP server over HTTP, and checks a request's `Authorization` header for it. The token
//! comes from the environment, or from a file that only its owner can read; a missing file is created with a random
//! token.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};

use super::secret;
use crate::config::{self, ConfigError};

/// Holds the token, where it isn't in a file.
pub const TOKEN_VARIABLE: &str = "VAULT_AGENT_MCP_TOKEN";
/// The file in the state directory.
const FILE: &str = "mcp-token";
/// Shorter tokens can be guessed.
const SHORTEST: usize = 16;

/// A token that a request must bring.
#[derive(Debug, Clone)]
pub struct BearerToken {
    secret: SecretString,
    /// Its file; `None` if it came from the environment.
    pub file: Option<PathBuf>,
}

impl BearerToken {
    /// The token of the environment, else of the file in `state`, which is made if it is missing.
    ///
    /// # Errors
    /// The file can be read by others, can't be read or made, or the token is too short.
    pub fn load(state: &Path, root: &Path) -> Result<Self, ConfigError> {
        if let Some(secret) = config::secret(TOKEN_VARIABLE, None, root)? {
            return Self { secret, file: None }.checked();
        }
        let file = state.join(FILE);
        make(&file).map_err(|error| {
            ConfigError::new(format!("can't make the token file `{}`: {error}", file.display()))
                .suggest(format!("set `{TOKEN_VARIABLE}`"))
        })?;
        let shown = file.to_string_lossy();
        // A name that is never set: the environment was asked above.
        let secret = config::secret("VAULT_AGENT_MCP_TOKEN_FILE_ONLY", Some(&shown), root)?
            .ok_or_else(|| ConfigError::new(format!("the token file `{shown}` is empty")))?;
        Self { secret, file: Some(file) }.checked()
    }

    fn checked(self) -> Result<Self, ConfigError> {
        if self.secret.expose_secret().len() < SHORTEST {
            return Err(ConfigError::new(format!("the MCP token is shorter than {SHORTEST} characters"))
                .suggest("take a longer one, such as `openssl rand -hex 32` prints"));
        }
        Ok(self)
    }

    /// Whether an `Authorization` header brings it. Takes as long for a near miss as for a far one.
    pub fn is_in(&self, header: Option<&str>) -> bool {
        let given = header.and_then(|header| {
            let (scheme, token) = header.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        given.is_some_and(|given| secret::is_same(given, self.secret.expose_secret()))
    }
}

/// Makes the file with a random token, unless it is there.
fn make(file: &Path) -> std::io::Result<()> {
    let made = secret::random::<32>()?;
    match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(mut out) => writeln!(out, "{made}").and_then(|()| out.sync_all()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_for_its_owner_alone() {
        let temp = tempfile::tempdir().unwrap();
        let token = BearerToken::load(temp.path(), Path::new("/nowhere")).unwrap();
        let file = token.file.clone().unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.trim().len(), 64);
        let again = BearerToken::load(temp.path(), Path::new("/nowhere")).unwrap();
        assert!(again.is_in(Some(&format!("Bearer {}", text.trim()))));
        assert!(again.is_in(Some(&format!("bearer  {}", text.trim()))));
        for wrong in [None, Some(""), Some(text.trim()), Some("Bearer "), Some("Bearer x"), Some("Basic abc")]
        {
            assert!(!again.is_in(wrong), "{wrong:?}");
        }
        assert!(!format!("{again:?}").contains(text.trim()));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(BearerToken::load(temp.path(), Path::new("/nowhere")).is_err());
    }
}
