//! Finds a folder's project: the repository's remote, else the folder itself.
//!
//! Names of folders repeat (`clientA/website`, `clientB/website`), so a project's id is a readable name and six digits of
//! a hash: of the remote's address, which is the same for every clone, or of the folder's path.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The project of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Project {
    /// Its id, as in `website-3f9a2c`.
    pub id: String,
    /// Its name before ids distinguished projects of one name: the folder's name.
    pub folder: String,
}

impl Project {
    /// The project of the repository around `cwd`; of a git worktree, of the repository that it belongs to.
    pub fn of_repository(cwd: &Path) -> Option<Self> {
        let marks = [".git", ".jj", ".hg"];
        let root = cwd.ancestors().find(|dir| marks.iter().any(|mark| dir.join(mark).exists()))?;
        let root = main_worktree(root).unwrap_or_else(|| root.to_owned());
        let Some(remote) = remote(&root) else { return Self::of_folder(&root) };
        let name = remote.rsplit('/').next().unwrap_or_default();
        Some(Self { id: id(name, &remote), folder: name_of(&root)? })
    }

    /// The project that a folder is by itself.
    pub fn of_folder(folder: &Path) -> Option<Self> {
        let name = name_of(folder)?;
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        Some(Self { id: id(&name, &real.to_string_lossy()), folder: name })
    }
}

fn name_of(folder: &Path) -> Option<String> {
    Some(folder.file_name()?.to_string_lossy().into_owned())
}

fn id(name: &str, of: &str) -> String {
    // An id has its bounds; the digits must not be cut off.
    let name: String = name.chars().take(60).collect();
    format!("{name}-{}", &blake3::hash(of.as_bytes()).to_hex()[..6])
}

/// The main worktree of the git worktree at `root`, whose `.git` is a file: `gitdir: /main/.git/worktrees/name`.
fn main_worktree(root: &Path) -> Option<PathBuf> {
    let git_dir = linked(root)?;
    let worktrees = git_dir.parent()?;
    let git = worktrees.parent().filter(|_| worktrees.file_name().is_some_and(|name| name == "worktrees"))?;
    git.parent().filter(|_| git.file_name().is_some_and(|name| name == ".git")).map(Path::to_owned)
}

/// The target of a `.git` that is a file.
fn linked(root: &Path) -> Option<PathBuf> {
    let file = root.join(".git");
    let text = file.is_file().then(|| read_to_string(file).ok()).flatten()?;
    Some(root.join(text.strip_prefix("gitdir:")?.trim()))
}

/// The repository's remote, in a form that doesn't depend on how it is reached: `github.com/anna/website`.
fn remote(root: &Path) -> Option<String> {
    let git = linked(root).unwrap_or_else(|| root.join(".git"));
    // A worktree of a bare repository has its settings elsewhere.
    let common = read_to_string(git.join("commondir")).map(|dir| git.join(dir.trim())).unwrap_or(git);
    let settings = [common.join("config"), root.join(".jj/repo/store/git/config"), root.join(".hg/hgrc")];
    let url = settings.iter().find_map(|file| url(&read_to_string(file).ok()?))?;
    normal(&url, root)
}

/// The address of `origin` in git's settings (or of `default` in Mercurial's), else of the first remote.
fn url(settings: &str) -> Option<String> {
    let (mut section, mut first) = (String::new(), None);
    for line in settings.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
            section = name.trim().to_owned();
        } else if let Some((key, value)) = line.split_once('=') {
            let value = value.trim().trim_matches('"').to_owned();
            let is_remote =
                section.to_lowercase().starts_with("remote ") && key.trim().eq_ignore_ascii_case("url");
            if is_remote && section.ends_with("\"origin\"") || section == "paths" && key.trim() == "default" {
                return Some(value);
            }
            if is_remote && first.is_none() {
                first = Some(value);
            }
        }
    }
    first
}

/// An address without scheme, user, port and `.git`; of a repository on this machine, its path.
fn normal(url: &str, root: &Path) -> Option<String> {
    let bare = |path: &str| {
        let path = path.trim_end_matches('/');
        path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/').to_owned()
    };
    let is_host = |text: &str| !text.is_empty() && !text.contains('/') && text.len() > 1;
    let (host, path) = match url.split_once("://") {
        Some((scheme, rest)) if !scheme.eq_ignore_ascii_case("file") => rest.split_once('/')?,
        None if url.split_once(':').is_some_and(|(host, _)| is_host(host)) => url.split_once(':')?,
        local => {
            let path = root.join(local.map_or(url, |(_, path)| path));
            let path = bare(&path.canonicalize().unwrap_or(path).to_string_lossy());
            return (!path.is_empty()).then_some(path);
        }
    };
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.split(':').next().unwrap_or(host);
    let path = bare(path.trim_start_matches('/'));
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_one_address() {
        let root = Path::new("/work/site");
        for url in [
            "https://github.com/Anna/Website.git",
            "https://token:x@github.com/anna/website",
            "git@github.com:anna/website.git",
            "ssh://git@github.com:22/anna/website.git/",
            "git://github.com/anna/website",
        ] {
            assert_eq!(normal(url, root).as_deref(), Some("github.com/anna/website"), "{url}");
        }
        assert_eq!(normal("/srv/git/site.git", root).as_deref(), Some("/srv/git/site"));
        assert_eq!(normal("file:///srv/git/site.git", root).as_deref(), Some("/srv/git/site"));
        assert_eq!(normal("https://", root), None);
    }

    #[test]
    fn origin_comes_first() {
        let settings = "[core]\n\turl = no\n[remote \"fork\"]\n\turl = a:b\n[remote \"origin\"]\n\tfetch = x\n\turl = c:d\n";
        assert_eq!(url(settings).as_deref(), Some("c:d"));
        assert_eq!(url("[remote \"fork\"]\nurl = \"a:b\"\n").as_deref(), Some("a:b"));
        assert_eq!(url("[paths]\ndefault = https://x/y\n").as_deref(), Some("https://x/y"));
        assert_eq!(url("[core]\nbare = false\n"), None);
    }
}
