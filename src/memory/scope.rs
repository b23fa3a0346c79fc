//! Defines the scope of a memory: global, a project, an agent, a person or a named group. Also finds a folder's project
//! by its repository's remote, or by the folder if there is no remote.
//!
//! A scope is visible in the Markdown, as a nested tag at the bullet's end: `#project/vault-agent`, `#agent/reviewer`,
//! `#user/anna`, `#custom/garden`. A bullet without such a tag is `global`. Obsidian finds such tags by itself, and a
//! person may write, change or delete them like any other.
//!
//! An id can hold the characters of an Obsidian tag: letters, digits, `-`, `_` and `/`. Any run of other characters
//! becomes one `-`. Case is kept as written and ignored in comparisons.
//!
//! Names of folders repeat (`clientA/website`, `clientB/website`). So a project's id is a readable name and six digits
//! of a hash. The hash is of the remote's address, which is the same for every clone, or of the folder's path.

use std::fmt;
use std::fs::read_to_string;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::format::tags;

/// The variable that sets the scope, as in `project:garden`, whatever folder a program runs in.
pub const SCOPE_VARIABLE: &str = "VAULT_AGENT_SCOPE";
/// The variable that sets the project's name, if it isn't the folder's name.
pub const PROJECT_VARIABLE: &str = "VAULT_AGENT_PROJECT";
/// The longest id, in characters.
const MAX_ID_CHARS: usize = 100;

/// The scope of a memory. (A follow-up's place of delivery is another matter: `channel:ID` and the like.)
#[derive(Debug, Clone, Default)]
pub enum Scope {
    /// Of every owner: no mark.
    #[default]
    Global,
    /// A project's, mostly a repository.
    Project(String),
    /// One agent's own.
    Agent(String),
    /// A person's.
    User(String),
    /// Any other group.
    Custom(String),
}

/// A word before the colon, and what it makes of its id.
type ScopeKind = (&'static str, fn(String) -> Scope);

const KINDS: [ScopeKind; 4] =
    [("project", Scope::Project), ("agent", Scope::Agent), ("user", Scope::User), ("custom", Scope::Custom)];

/// Text that names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// The word before the colon is none that is known.
    #[error("{0} is no scope: write `global`, `project:ID`, `agent:ID`, `user:ID` or `custom:NAME`")]
    Unknown(String),
    /// There is no letter or digit behind the colon.
    #[error("the scope {0} lacks its id: write it as in `project:vault-agent`")]
    NoId(String),
    /// The id is longer than a tag can reasonably be.
    #[error("the id of the scope is {0} characters long; at most {MAX_ID_CHARS} are allowed")]
    TooLong(usize),
}

impl Scope {
    /// The word before the colon, and the id as a tag can hold it; none for `global`.
    fn parts(&self) -> Option<(&'static str, String)> {
        let (kind, id) = match self {
            Self::Global => return None,
            Self::Project(id) => ("project", id),
            Self::Agent(id) => ("agent", id),
            Self::User(id) => ("user", id),
            Self::Custom(id) => ("custom", id),
        };
        Some((kind, slug(id)))
    }

    /// [`Self::parts`] for comparisons.
    fn folded(&self) -> Option<(&'static str, String)> {
        self.parts().map(|(kind, id)| (kind, id.to_lowercase()))
    }

    fn of_parts(kind: &str, id: &str) -> Option<Self> {
        let (_, make) = KINDS.iter().find(|(known, _)| kind.eq_ignore_ascii_case(known))?;
        Some(slug(id)).filter(|id| !id.is_empty()).map(make)
    }

    /// A text in which tags of other scopes are escaped with `\`, so that they don't give it another scope.
    pub fn escape_other_scopes(&self, text: &str) -> String {
        let code = tags::code_spans(text);
        let mut out = String::with_capacity(text.len() + 4);
        let mut from = 0;
        for (at, _) in text.match_indices('#') {
            let end = text[at + 1..].find(|c| !tags::is_tag_char(c)).map_or(text.len(), |len| at + 1 + len);
            let tag = &text[at..end];
            let counts = Self::of_tag(tag).is_some_and(|scope| !scope.is_within(self));
            if counts && !code.iter().any(|range| range.contains(&at)) && !text[..at].ends_with('\\') {
                out.push_str(&text[from..at]);
                out.push('\\');
                from = at;
            }
        }
        out + &text[from..]
    }

    /// Whether it is `other` or nested in it.
    fn is_within(&self, other: &Self) -> bool {
        let (Some((kind, id)), Some((other_kind, other_id))) = (self.folded(), other.folded()) else {
            return self == other;
        };
        let rest = id.strip_prefix(&other_id).filter(|_| kind == other_kind);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The tag as it stands at a bullet's end: `#project/vault-agent`; none for `global`.
    pub fn tag(&self) -> Option<String> {
        self.parts().map(|(kind, id)| format!("#{kind}/{id}"))
    }

    /// The scope that a tag marks, with or without its `#`; none for any other tag.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let (kind, id) = tag.strip_prefix('#').unwrap_or(tag).split_once('/')?;
        Self::of_parts(kind, id)
    }

    /// The scopes that these tags mark, each once; none means global.
    pub fn of_tags<'t>(tags: impl IntoIterator<Item = &'t str>) -> Vec<Self> {
        each_once(tags.into_iter().filter_map(Self::of_tag))
    }

    /// The scopes that the tags of a text mark, its code left out.
    pub fn of_text(text: &str) -> Vec<Self> {
        Self::of_tags(tags::tags(text, &tags::code_spans(text)).iter().map(String::as_str))
    }

    /// Whether these are the same scopes, in any order.
    pub(super) fn are_same(one: &[Self], other: &[Self]) -> bool {
        one.len() == other.len() && one.iter().all(|scope| other.contains(scope))
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            None => f.pad("global"),
            Some((kind, id)) => f.pad(&format!("{kind}:{id}")),
        }
    }
}

impl FromStr for Scope {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("global") {
            return Ok(Self::Global);
        }
        let unknown = || ScopeError::Unknown(crate::format::quote(text));
        let (kind, id) = text.split_once(':').ok_or_else(unknown)?;
        if !KINDS.iter().any(|(known, _)| kind.eq_ignore_ascii_case(known)) {
            return Err(unknown());
        }
        match id.chars().count() {
            long if long > MAX_ID_CHARS => Err(ScopeError::TooLong(long)),
            _ => Self::of_parts(kind, id).ok_or_else(|| ScopeError::NoId(crate::format::quote(text))),
        }
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        self.folded() == other.folded()
    }
}

impl Eq for Scope {}

impl Hash for Scope {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded().hash(state);
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The scopes that a query in `current` may see unless it asks for more: global, the current one, and the agent's own.
pub fn accessible(current: &Scope, agent: Option<&str>) -> Vec<Scope> {
    let agent = agent.map(|agent| Scope::Agent(agent.to_owned()));
    each_once([Scope::Global, current.clone()].into_iter().chain(agent))
}

fn each_once(all: impl Iterator<Item = Scope>) -> Vec<Scope> {
    let mut scopes: Vec<Scope> = Vec::new();
    for scope in all {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    scopes
}

/// Whether a block with these tags (with or without `#`) belongs to one of the scopes. Without a scope's tag it is
/// global; with several it belongs to each. As with every nested tag, `#project/a/b` belongs to `project:a` too.
pub fn is_visible(tags: &[String], accessible: &[Scope]) -> bool {
    belongs(&Scope::of_tags(tags.iter().map(String::as_str)), accessible)
}

/// Whether a text with `marks` belongs to one of the scopes.
pub(super) fn belongs(marks: &[Scope], accessible: &[Scope]) -> bool {
    match marks {
        [] => accessible.contains(&Scope::Global),
        marks => marks.iter().any(|mark| accessible.iter().any(|scope| mark.is_within(scope))),
    }
}

/// The scope of a program that runs in the folder `cwd`, with this environment: the scope that [`SCOPE_VARIABLE`]
/// names, the project that [`PROJECT_VARIABLE`] names, the project of the repository's remote (for a git worktree, of
/// the repository that it belongs to), or that of the folder itself. In a vault, in the home folder and above it, and
/// in the temporary folder the scope is global, because these folders are no projects.
pub fn derive(cwd: &Path, env: impl Fn(&str) -> Option<String>) -> Scope {
    named(&env).or_else(|| Scope::of_parts("project", &project(cwd, env)?.id)).unwrap_or(Scope::Global)
}

/// The project's name in earlier versions of [`derive()`], before ids distinguished projects with the same name: the
/// folder's name alone. Memories with this name are still read there; no memory is written with it.
pub fn legacy_scope(cwd: &Path, env: impl Fn(&str) -> Option<String>) -> Option<Scope> {
    match named(&env) {
        Some(_) => None,
        None => Scope::of_parts("project", &project(cwd, env)?.folder),
    }
}

/// The scope that the environment names.
fn named(env: &impl Fn(&str) -> Option<String>) -> Option<Scope> {
    let scope = filled(env, SCOPE_VARIABLE).and_then(|value| value.parse().ok());
    scope.or_else(|| Scope::of_parts("project", &filled(env, PROJECT_VARIABLE)?))
}

fn filled(env: &impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    env(name).filter(|value| !value.trim().is_empty())
}

/// The project of a folder.
fn project(cwd: &Path, env: impl Fn(&str) -> Option<String>) -> Option<Project> {
    if let Some(project) = Project::of_repository(cwd) {
        return Some(project);
    }
    let is_place = filled(&env, "HOME").is_some_and(|home| Path::new(&home).starts_with(cwd))
        || cwd == std::env::temp_dir()
        || crate::config::find_vault(cwd).is_some();
    if is_place { None } else { Project::of_folder(cwd) }
}

/// An id as a tag can hold it: each run of other characters is one `-`, and none stands at an end.
fn slug(id: &str) -> String {
    let mut slug = String::with_capacity(id.len());
    for c in id.chars() {
        let c = if tags::is_tag_char(c) { c } else { '-' };
        let doubled = matches!(c, '-' | '/') && slug.ends_with(['-', '/']);
        if !(doubled && (c == '-' || slug.ends_with('/'))) {
            slug.push(c);
        }
    }
    slug.trim_matches(['-', '/']).to_owned()
}

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
    repository_address(&url, root)
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
fn repository_address(url: &str, root: &Path) -> Option<String> {
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
mod tests;
