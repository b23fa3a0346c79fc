//! Finds the vault and the directories of its state and cache, and checks whether a program can be run.

use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use super::{ConfigError, FILE_NAME, json_file};

/// Overrides the directory of one vault's state.
pub const STATE_VARIABLE: &str = "VAULT_AGENT_STATE_DIR";
/// Overrides the directory of one vault's cache.
pub const CACHE_VARIABLE: &str = "VAULT_AGENT_CACHE_DIR";

/// The two directories outside the vault; each holds one vault's files directly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    /// The delivery journal, the edit journal, the history, the lock.
    pub state: PathBuf,
    /// The cache, which can be deleted at any time.
    pub cache: PathBuf,
}

/// The file of the state directory that says whose state it is.
const OWNER: &str = "vault";

/// The vault that a state directory belongs to.
#[derive(Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct StateOwner {
    /// The vault's folder, links resolved.
    path: PathBuf,
    /// The folder's number on its file system, by which a vault that was renamed is known.
    folder: (u64, u64),
}

impl StateOwner {
    fn of(root: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let path = root.canonicalize().ok()?;
        let meta = std::fs::metadata(&path).ok()?;
        Some(Self { path, folder: (meta.dev(), meta.ino()) })
    }
}

impl Dirs {
    /// The directories of the vault at `root`, from the environment or the platform's conventions.
    ///
    /// # Errors
    /// The vault's path can't be resolved, the environment names no home directory or a relative one, or a pipe is in the
    /// place of a state file.
    pub fn for_vault(root: &Path) -> Result<Self, ConfigError> {
        let from_env = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        for name in [STATE_VARIABLE, CACHE_VARIABLE] {
            if let Some(dir) = from_env(name).filter(|dir| dir.is_relative()) {
                let problem = format!("`{name}` is `{}`, another directory in each folder", dir.display());
                return Err(ConfigError::new(problem).suggest("give it an absolute path"));
            }
        }
        let dirs = match (from_env(STATE_VARIABLE), from_env(CACHE_VARIABLE)) {
            (Some(state), Some(cache)) => Self { state, cache },
            (state, cache) => Self::or_default(root, state, cache)?,
        };
        no_pipes(&dirs.state)?;
        no_pipes(&dirs.state.join("edits"))?;
        Ok(dirs)
    }

    fn or_default(root: &Path, state: Option<PathBuf>, cache: Option<PathBuf>) -> Result<Self, ConfigError> {
        // A home that depends on the current folder would be another one for each command.
        let base = etcetera::choose_base_strategy().ok().filter(|base| base.home_dir().is_absolute());
        let base = base.ok_or_else(|| {
            ConfigError::new("no home directory is known")
                .suggest(format!("set `HOME`, or `{STATE_VARIABLE}` and `{CACHE_VARIABLE}`"))
        })?;
        let name = vault_name(root)?;
        let default_state =
            base.state_dir().unwrap_or_else(|| base.data_dir()).join("vault-agent").join(&name);
        if state.is_none() {
            close_to_others(&default_state);
        }
        Ok(Self {
            state: state.unwrap_or(default_state),
            cache: cache.unwrap_or_else(|| base.cache_dir().join("vault-agent").join(&name)),
        })
    }

    /// Creates both directories, readable by their owner alone. A cache that can't be created is no error: the parts of
    /// the program that need it report that.
    ///
    /// # Errors
    /// The state directory can't be created.
    pub fn create(&self) -> Result<(), ConfigError> {
        if let Err(error) = create_private(&self.cache) {
            tracing::debug!(%error, path = %self.cache.display(), "no cache directory");
        }
        create_private(&self.state).map_err(|error| {
            ConfigError::new(format!("can't create `{}`: {error}", self.state.display()))
                .suggest(format!("free the path, or set `{STATE_VARIABLE}` and `{CACHE_VARIABLE}`"))
        })
    }

    /// The first of the two directories whose disk is full, in a sentence.
    pub fn full_disk(&self) -> Option<String> {
        let is_full = |dir: &&PathBuf| {
            fail::fail_point!("config::full-disk", |_| true);
            crate::sqlite::lacks_room(dir)
        };
        let dir = [&self.state, &self.cache].into_iter().find(is_full)?.display();
        Some(format!(
            "less than 1 MB is free on the disk of `{dir}`, so nothing new can be kept there: free some space"
        ))
    }

    /// Binds the state directory to the vault at `root`: two vaults that shared one would answer for each other.
    ///
    /// # Errors
    /// It belongs to another vault.
    pub fn bind(&self, root: &Path) -> Result<(), ConfigError> {
        let file = self.state.join(OWNER);
        // A folder that can't be read now is reported by its reader.
        let Some(own) = StateOwner::of(root) else { return Ok(()) };
        match json_file::load::<StateOwner>(&file) {
            Some(known) if known == own => return Ok(()),
            Some(known) if known.path != own.path => {
                let there = StateOwner::of(&known.path);
                if there.as_ref().is_some_and(|there| there.folder == own.folder) {
                    return Ok(());
                }
                if there.is_some() || known.folder != own.folder {
                    return Err(another(&self.state, &known.path, &own.path, &file));
                }
            }
            _ => {}
        }
        // State that can't be written is reported by its writer.
        let _ = json_file::save(&file, &own);
        Ok(())
    }

    /// The state directory, beside this one, of a vault that is gone and was perhaps this one before it was moved: it had
    /// the same folder, or a folder of the same name. Returns a sentence, and how to go on with that state.
    pub fn left_behind(&self, root: &Path) -> Option<(String, String)> {
        let own = StateOwner::of(root)?;
        let others = std::fs::read_dir(self.state.parent()?).ok()?.flatten().map(|entry| entry.path());
        let (other, vault) = others.filter(|other| *other != self.state).find_map(|other| {
            let known: StateOwner = json_file::load(&other.join(OWNER))?;
            let is_alike = known.folder == own.folder || known.path.file_name() == own.path.file_name();
            (is_alike && !known.path.exists()).then_some((other, known.path))
        })?;
        let (own, other) = (self.state.display(), other.display());
        let found = format!("`{other}` is the state of a vault that is no more at `{}`", vault.display());
        let fix = format!(
            "if that vault was moved here: stop the daemon, remove `{own}`, rename `{other}` to it and remove `vault` in \
             it; its history, `undo` and what was told are there"
        );
        Some((found, fix))
    }
}

fn another(state: &Path, known: &Path, own: &Path, file: &Path) -> ConfigError {
    ConfigError::new(format!(
        "the state directory `{}` belongs to the vault `{}`, not to `{}`",
        state.display(),
        known.display(),
        own.display()
    ))
    .suggest(format!(
        "give each vault its own (`{STATE_VARIABLE}`, or leave it unset); if this is the same vault, moved here, remove `{}`",
        file.display()
    ))
}

/// Refuses a pipe in the place of a state file: who opens it waits for ever.
fn no_pipes(dir: &Path) -> Result<(), ConfigError> {
    let is_pipe = |file: &std::fs::DirEntry| file.file_type().is_ok_and(|kind| kind.is_fifo());
    match std::fs::read_dir(dir).into_iter().flatten().flatten().find(is_pipe) {
        Some(pipe) => {
            let words = format!("`{}` is a pipe, where a file should be", pipe.path().display());
            Err(ConfigError::new(words).suggest("move it out of the way"))
        }
        None => Ok(()),
    }
}

/// Takes the rights of the group and of others from a folder that an earlier version made with the umask's: the files
/// in it have these rights, too.
fn close_to_others(dir: &Path) {
    if std::fs::metadata(dir).is_ok_and(|dir| dir.permissions().mode() & 0o077 != 0) {
        let _ = std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700));
    }
}

/// Makes a folder that only its owner can read, and those above it.
pub(crate) fn create_private(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// A readable name plus a hash of the canonical path, so that two vaults of one name stay apart.
fn vault_name(root: &Path) -> Result<String, ConfigError> {
    let canonical = resolved(root)
        .map_err(|error| ConfigError::new(format!("can't open the vault `{}`: {error}", root.display())))?;
    let readable: String = canonical
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .take(40)
        .collect();
    let hash = blake3::hash(canonical.as_os_str().as_encoded_bytes());
    Ok(format!("{}-{}", if readable.is_empty() { "vault" } else { &readable }, &hash.to_hex()[..10]))
}

/// The absolute path of a folder, links resolved as far as it is there.
///
/// # Errors
/// A folder above it can't be read.
pub fn resolved(dir: &Path) -> std::io::Result<PathBuf> {
    match (dir.canonicalize(), dir.parent(), dir.file_name()) {
        (Err(error), Some(above), Some(name)) if error.kind() == std::io::ErrorKind::NotFound => {
            let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
            Ok(resolved(above)?.join(name))
        }
        (path, ..) => path,
    }
}

/// Whether `dir` is a vault: it holds `vault-agent.toml` or `.obsidian`.
pub fn is_vault(dir: &Path) -> bool {
    dir.join(FILE_NAME).is_file() || dir.join(".obsidian").is_dir()
}

/// The nearest directory from `start` upwards that holds `vault-agent.toml` or `.obsidian`.
pub fn find_vault(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|dir| is_vault(dir)).map(Path::to_owned)
}

/// Whether a program can be run: by its path, or by its name along `PATH`.
pub fn is_executable(program: &str) -> bool {
    let runs = |path: &Path| {
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return runs(Path::new(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| runs(&folder.join(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vaults_of_one_name_have_different_directories() {
        let temp = tempfile::tempdir().unwrap();
        let (a, b) = (temp.path().join("a/Notes"), temp.path().join("b/Notes"));
        std::fs::create_dir_all(&a).unwrap();
        std::fs::create_dir_all(&b).unwrap();
        let (a, b) = (vault_name(&a).unwrap(), vault_name(&b).unwrap());
        assert!(a.starts_with("Notes-") && b.starts_with("Notes-"));
        assert_ne!(a, b);
    }

    #[test]
    fn state_belongs_to_one_vault_under_whatever_name() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let (a, b) = (root.join("a"), root.join("b"));
        std::fs::create_dir(&a).unwrap();
        std::fs::create_dir(&b).unwrap();
        let dirs = Dirs { state: root.join("state"), cache: root.join("cache") };
        dirs.create().unwrap();
        dirs.bind(&a).unwrap();
        dirs.bind(&a).unwrap();
        let refused = dirs.bind(&b).unwrap_err().to_string();
        assert!(refused.contains("/a`") && refused.contains("/b`"), "{refused}");
        // By another path, and renamed, it is the same; a link to it, too.
        std::os::unix::fs::symlink(&a, root.join("link")).unwrap();
        dirs.bind(&root.join("link")).unwrap();
        std::fs::rename(&a, root.join("c")).unwrap();
        assert!(dirs.bind(&b).is_err());
        dirs.bind(&root.join("c")).unwrap();
        // Brought back from a backup under its name.
        std::fs::rename(root.join("c"), root.join("aside")).unwrap();
        std::fs::create_dir(root.join("c")).unwrap();
        dirs.bind(&root.join("c")).unwrap();
        assert!(dirs.bind(&root.join("aside")).is_err());
        std::fs::write(root.join("state/vault"), "torn").unwrap();
        dirs.bind(&root.join("aside")).unwrap();
    }

    #[test]
    fn the_state_of_a_vault_that_was_moved_is_found() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let state = |name: &str| Dirs { state: root.join("state").join(name), cache: root.join("cache") };
        let (old, new) = (root.join("old"), root.join("new"));
        for vault in [&old, &root.join("another")] {
            std::fs::create_dir(vault).unwrap();
            let dirs = state(vault.file_name().unwrap().to_str().unwrap());
            dirs.create().unwrap();
            dirs.bind(vault).unwrap();
        }
        assert_eq!(state("another").left_behind(&root.join("another")), None);
        std::fs::rename(&old, &new).unwrap();
        let (found, fix) = state("new").left_behind(&new).unwrap();
        assert!(
            found.contains("state/old`") && found.contains("/old`") && fix.contains("state/new`"),
            "{found}"
        );
        // It is gone on with: the state is where the program looks, and is this vault's.
        std::fs::rename(root.join("state/old"), root.join("state/new")).unwrap();
        state("new").bind(&new).unwrap();
        assert_eq!(state("new").left_behind(&new), None);
    }

    #[test]
    fn a_state_directory_that_all_could_read_is_its_owners_again() {
        let temp = tempfile::tempdir().unwrap();
        let mode = || std::fs::metadata(temp.path()).unwrap().permissions().mode() & 0o777;
        for (before, after) in [(0o755, 0o700), (0o750, 0o700), (0o500, 0o500)] {
            std::fs::set_permissions(temp.path(), std::fs::Permissions::from_mode(before)).unwrap();
            close_to_others(temp.path());
            assert_eq!(mode(), after);
        }
    }

    #[test]
    fn the_nearest_vault_wins() {
        let temp = tempfile::tempdir().unwrap();
        let inner = temp.path().join("outer/inner");
        std::fs::create_dir_all(inner.join("deep")).unwrap();
        std::fs::create_dir_all(temp.path().join("outer/.obsidian")).unwrap();
        assert_eq!(find_vault(&inner.join("deep")), Some(temp.path().join("outer")));
        std::fs::write(inner.join(FILE_NAME), "").unwrap();
        assert_eq!(find_vault(&inner.join("deep")), Some(inner));
    }
}
