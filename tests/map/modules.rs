//! The modules of `src/`, and which of them uses which: read from the text, so that it takes no build of them.
//!
//! Comments, strings, `#[cfg(test)]` items and files of tests (`tests.rs`) are left out. A path through a `pub use` counts for the file that defines
//! the name, so a folder's face makes no circle. What a `mod.rs` re-exports from below itself is structure, and no use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A module's path in the crate: `["vault", "edit", "editor"]`.
pub type Module = Vec<String>;

/// All modules, and the uses among them.
pub struct Modules {
    /// Each module with its file, from the package's root.
    pub files: BTreeMap<Module, String>,
    /// Which module uses which, each pair once.
    pub uses: BTreeSet<(Module, Module)>,
}

/// One file, taken apart.
#[derive(Default)]
struct Source {
    /// What it declares itself.
    declared: BTreeSet<String>,
    /// What it brings into scope: the name, and the path.
    imported: Vec<(String, Module)>,
    /// The paths that it uses.
    paths: Vec<Module>,
}

impl Modules {
    /// Those of this package, read once.
    pub fn all() -> &'static Self {
        static ALL: OnceLock<Modules> = OnceLock::new();
        ALL.get_or_init(|| Self::read(Path::new(env!("CARGO_MANIFEST_DIR"))))
    }

    /// Reads `src/` of the package at `root`.
    fn read(root: &Path) -> Self {
        let mut files = BTreeMap::new();
        list(&root.join("src"), &[], &mut files);
        files.remove(&vec!["main".to_owned()]);
        let known: BTreeSet<Module> = files.keys().cloned().collect();
        let source = |module: &Module, file: &String| {
            let text = fs::read_to_string(root.join(file)).expect("a source file");
            let mut tokens = Vec::new();
            add_tokens(text.parse().expect("source code"), &mut tokens);
            Source::read(&tokens, module, &known)
        };
        let sources: BTreeMap<&Module, Source> =
            files.iter().map(|(module, file)| (module, source(module, file))).collect();
        let mut uses = BTreeSet::new();
        let is_test = |module: &Module| module.last().is_some_and(|name| name == "tests");
        for (module, source) in sources.iter().filter(|(module, _)| !is_test(module)) {
            for path in &source.paths {
                let used = resolve(path, &sources, 0);
                if used != **module {
                    uses.insert(((*module).clone(), used));
                }
            }
        }
        Self { files, uses }
    }

    /// The uses among what stands directly in the folder `of`, each file and folder as one.
    pub fn among_children(&self, of: &[String]) -> BTreeSet<(String, String)> {
        let child = |module: &Module| module.strip_prefix(of)?.first().cloned();
        let pairs = self.uses.iter().filter_map(|(from, to)| Some((child(from)?, child(to)?)));
        pairs.filter(|(from, to)| from != to).collect()
    }

    /// Every folder that has modules in it.
    pub fn folders(&self) -> BTreeSet<Module> {
        self.files.keys().filter_map(|module| Some(module.split_last()?.1.to_vec())).collect()
    }
}

/// Those that use themselves by way of others.
pub fn in_a_circle(uses: &BTreeSet<(String, String)>) -> Vec<&String> {
    let uses_itself = |from: &&String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![*from]);
        while let Some(at) = next.pop() {
            let used = uses.iter().filter(|(by, _)| by == at).map(|(_, used)| used);
            next.extend(used.filter(|used| seen.insert(*used)));
        }
        seen.contains(from)
    };
    let all: BTreeSet<&String> = uses.iter().map(|(from, _)| from).collect();
    all.into_iter().filter(uses_itself).collect()
}

fn list(folder: &Path, at: &[String], files: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).expect("a folder of src").flatten() {
        let name = entry.file_name().into_string().expect("a name");
        let with = |last: &str| at.iter().cloned().chain([last.to_owned()]).collect::<Module>();
        if entry.path().is_dir() {
            list(&entry.path(), &with(&name), files);
        } else if let Some(stem) = name.strip_suffix(".rs") {
            let module = if matches!(stem, "mod" | "lib") { at.to_vec() } else { with(stem) };
            let inside = at.iter().fold(String::new(), |path, part| path + part + "/");
            files.insert(module, format!("src/{inside}{name}"));
        }
    }
}

/// The module that defines what `path` names.
fn resolve(path: &[String], sources: &BTreeMap<&Module, Source>, depth: usize) -> Module {
    let end =
        (0..=path.len()).rev().find(|end| sources.contains_key(&path[..*end].to_vec())).unwrap_or_default();
    let (module, rest) = (path[..end].to_vec(), &path[end..]);
    let (Some(source), Some(name)) = (sources.get(&module), rest.first()) else { return module };
    if source.declared.contains(name) || depth > 8 {
        return module;
    }
    match source.imported.iter().find(|(known, target)| known == name && target != path) {
        Some((_, target)) => {
            let through: Module = target.iter().chain(&rest[1..]).cloned().collect();
            resolve(&through, sources, depth + 1)
        }
        None => module,
    }
}

impl Source {
    fn read(tokens: &[String], module: &Module, known: &BTreeSet<Module>) -> Self {
        let mut source = Self::default();
        let (mut at, mut depth, mut is_public) = (0, 0_usize, false);
        while at < tokens.len() {
            let token = tokens[at].as_str();
            if tokens[at..].starts_with(&["#", "[", "cfg", "(", "test", ")", "]"].map(str::to_owned)) {
                at = after_item(tokens, at + 7);
                continue;
            }
            match token {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                "pub" => is_public = true,
                // `+ use<'a>` is a bound.
                "use" if tokens.get(at + 1).is_none_or(|next| next != "<") => {
                    let mut leaves = Vec::new();
                    at = tree(tokens, at + 1, &[], &mut leaves);
                    for (path, name) in leaves {
                        let Some(target) = absolute(&path, module, known) else { continue };
                        if depth == 0 && name != "*" {
                            source.imported.push((name, target.clone()));
                        }
                        if !(is_public && target.starts_with(module)) {
                            source.paths.push(target);
                        }
                    }
                }
                "crate" | "super" | "self" if tokens.get(at + 1).is_some_and(|next| next == "::") => {
                    let (path, end) = path(tokens, at);
                    source.paths.extend(absolute(&path, module, known));
                    at = end;
                    continue;
                }
                "fn" | "struct" | "enum" | "trait" | "const" | "static" | "type" | "union" if depth == 0 => {
                    source.declared.extend(tokens.get(at + 1).cloned());
                }
                _ => {}
            }
            if matches!(token, ";" | "}" | "{") || token == "use" {
                is_public = false;
            }
            at += 1;
        }
        source
    }
}

/// A path as it stands in `module`, from the crate's root; none where it leads out of the crate.
fn absolute(path: &[String], module: &Module, known: &BTreeSet<Module>) -> Option<Module> {
    let mut base = module.clone();
    let rest = match path.first()?.as_str() {
        "crate" => {
            base.clear();
            &path[1..]
        }
        "self" => &path[1..],
        "super" => {
            let ups = path.iter().take_while(|part| *part == "super").count();
            base.truncate(base.len().saturating_sub(ups));
            &path[ups..]
        }
        first => {
            let child: Module = base.iter().cloned().chain([first.to_owned()]).collect();
            known.contains(&child).then_some(path)?
        }
    };
    base.extend(rest.iter().filter(|part| *part != "*").cloned());
    Some(base)
}

/// The leaves of a `use` tree: each path, and the name that it brings; and where the tree ends.
fn tree(tokens: &[String], mut at: usize, before: &[String], leaves: &mut Vec<(Module, String)>) -> usize {
    let mut path = before.to_vec();
    while at < tokens.len() {
        match tokens[at].as_str() {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens[at] != "}" {
                    at = tree(tokens, at, &path, leaves);
                    if tokens[at] == "," {
                        at += 1;
                    }
                }
                return at + 1;
            }
            "," | ";" | "}" => break,
            "as" => {
                leaves.push((path, tokens[at + 1].clone()));
                return at + 2;
            }
            // `self` at the end of a group names the group itself.
            "self" if !path.is_empty() => at += 1,
            part => {
                path.push(part.to_owned());
                at += 1;
            }
        }
    }
    let name = path.last().cloned().unwrap_or_default();
    leaves.push((path, name));
    at
}

fn path(tokens: &[String], mut at: usize) -> (Module, usize) {
    let mut path = vec![tokens[at].clone()];
    while tokens.get(at + 1).is_some_and(|token| token == "::")
        && tokens.get(at + 2).is_some_and(|token| token.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    {
        path.push(tokens[at + 2].clone());
        at += 2;
    }
    (path, at + 1)
}

/// Where the item that begins at `at` has ended, with its attributes.
fn after_item(tokens: &[String], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" if depth <= 1 => return at + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Adds the words and signs of a file, without its comments.
fn add_tokens(trees: TokenStream, tokens: &mut Vec<String>) {
    let mut trees = trees.into_iter();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    _ => ("(", ")"),
                };
                tokens.push(open.to_owned());
                add_tokens(group.stream(), tokens);
                tokens.push(close.to_owned());
            }
            TokenTree::Punct(sign) if sign.as_char() == ':' && sign.spacing() == Spacing::Joint => {
                tokens.push("::".to_owned());
                trees.next();
            }
            other => tokens.push(other.to_string()),
        }
    }
}
