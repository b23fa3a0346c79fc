//! Connects to the shared store of several machines that the settings name: a git branch or an etcd cluster.

use std::path::Path;
use std::sync::Arc;

use super::engine::git::{GitEngine, GitPlace};
use super::engine::{EngineError, StoreEngine};
use crate::clock::Clock;
use crate::config::{MachineSettings, MachinesEngine};

/// The engine of `settings`, for the vault at `root` whose state directory is `state`. Nothing is asked yet.
///
/// # Errors
/// An address, the password or a certificate can't be used, or this build has no such engine.
pub fn engine(
    settings: &MachineSettings,
    root: &Path,
    state: &Path,
    clock: &Arc<dyn Clock>,
) -> Result<Arc<dyn StoreEngine>, EngineError> {
    match settings.engine {
        MachinesEngine::Git => {
            let remote = settings.remote.as_deref().unwrap_or_default();
            let place = GitPlace::new(remote, state.to_owned())?;
            Ok(Arc::new(GitEngine::new(place, Arc::clone(clock))))
        }
        MachinesEngine::Etcd => etcd(settings, root, state),
    }
}

fn etcd(settings: &MachineSettings, root: &Path, state: &Path) -> Result<Arc<dyn StoreEngine>, EngineError> {
    use super::engine::etcd::{EtcdEngine, EtcdPlace};
    use crate::config::{ETCD_PASSWORD_VARIABLE, expand, secret};
    let user = match &settings.user {
        None => None,
        Some(user) => {
            let password = secret(ETCD_PASSWORD_VARIABLE, settings.password_file.as_deref(), root)
                .map_err(|error| EngineError::Refused(error.to_string()))?;
            let password = password.ok_or_else(|| {
                EngineError::Refused(format!(
                    "`machines.user` has no password: set `{ETCD_PASSWORD_VARIABLE}`, or `password_file` in `[machines]`"
                ))
            })?;
            Some((user.clone(), password))
        }
    };
    let authority = settings.ca_file.as_ref().map(|file| {
        let path = expand(file, root);
        std::fs::read(&path).map_err(|error| {
            EngineError::Refused(format!("can't read `machines.ca_file`, `{}`: {error}", path.display()))
        })
    });
    let place = EtcdPlace {
        endpoints: settings.endpoints.clone(),
        prefix: settings.prefix.clone(),
        user,
        authority: authority.transpose()?,
        state: state.to_owned(),
    };
    Ok(Arc::new(EtcdEngine::new(place)?))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::clock::SystemClock;
    use crate::config::Settings;

    #[test]
    fn a_password_comes_from_a_file_of_its_owner_outside_the_vault() {
        let temp = tempfile::tempdir().unwrap();
        let (vault, file) = (temp.path().join("vault"), temp.path().join("password"));
        std::fs::create_dir(&vault).unwrap();
        std::fs::write(&file, "s3cret\n").unwrap();
        let text = format!(
            "[machines]\nengine = \"etcd\"\nendpoints = [\"http://127.0.0.1:1\"]\nuser = \"me\"\npassword_file = \"{}\"\n",
            file.display()
        );
        let settings = Settings::parse(&text).unwrap().machines.unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let connect = || engine(&settings, &vault, temp.path(), &clock).map(drop);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = connect().unwrap_err().to_string();
        assert!(error.contains("can be read by other users") && !error.contains("s3cret"), "{error}");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(connect(), Ok(()));
    }
}
