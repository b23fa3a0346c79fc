//! Parses `skills/NAME/SKILL.md`: a skill of the assistant, in the form of agentskills.io.
//!
//! ```text
//! ---
//! name: brave-search
//! description: Searches the web. Use it for what the vault can't know.
//! metadata:
//!   secrets: BRAVE_API_KEY
//! ---
//! Instructions for the model that uses the skill.
//! ```
//!
//! `name` equals the name of the folder. A value is plain, quoted, or a block (`>`, `|`); a plain value may go on in
//! indented lines. `metadata.secrets` names environment variables; this key is an extension of this program. Other keys
//! are passed over. The grammar is `grammar/skill.abnf`. A skill with findings is shown, and never offered to a model.

use std::ops::Range;

use super::lines::{Line, frontmatter_end, lines};
use super::{Finding, invisible, quote, yaml};

/// The longest name, in characters.
const NAME: usize = 64;
/// The longest description.
const DESCRIPTION: usize = 1024;
/// The longest word on what it is compatible with.
const COMPATIBILITY: usize = 500;
/// How many secrets a skill may name.
const SECRETS: usize = 8;
/// Variables that steer programs, or that are this program's own: no skill is given them.
const OWN: &str = "\
    PATH HOME TMPDIR LANG TZ IFS ENV SHELL DISCORD_TOKEN PWD USER LOGNAME PYTHONPATH NODE_OPTIONS";
/// Beginnings of such names.
const OWN_BEGINNINGS: [&str; 5] = ["LD_", "DYLD_", "BASH_", "LC_", "VAULT_AGENT_"];

/// A skill as its note says it.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Skill {
    /// Its name; empty where the head has none.
    pub name: String,
    /// Its purpose and when to use it; empty where the head has none.
    pub description: String,
    /// Under which terms it may be used.
    pub license: Option<String>,
    /// Its requirements.
    pub compatibility: Option<String>,
    /// The names of the environment variables whose secrets its commands are given.
    pub secrets: Vec<String>,
    /// The tools that it means to use; this program gives none for it.
    pub allowed_tools: Option<String>,
    /// The text below the head.
    pub body: String,
}

/// A value with the line and the column of its first character.
struct Value {
    place: (usize, usize),
    text: String,
}

/// The skill in a `SKILL.md`, and what is wrong with it. `folder` is the name of the folder that holds it.
pub fn parse(bytes: &[u8], folder: &str) -> (Skill, Vec<Finding>) {
    let mut check = Check { findings: Vec::new() };
    let mut skill = Skill::default();
    let Some(head_end) = frontmatter_end(bytes) else {
        let reason = "a skill begins with a head between two lines `---`";
        check.wrong((1, 1), reason, "write `name` and `description` there");
        skill.body = String::from_utf8_lossy(bytes).trim().to_owned();
        return (skill, check.findings);
    };
    skill.body = String::from_utf8_lossy(&bytes[head_end..]).trim().to_owned();
    let head: Vec<Line<'_>> = lines(bytes).take_while(|line| line.start < head_end).collect();
    let mut seen: Vec<&str> = Vec::new();
    for (index, line) in head.iter().enumerate() {
        let Some(entry) = yaml::entry(line.text) else { continue };
        if seen.contains(&entry.key) {
            continue;
        }
        seen.push(entry.key);
        let below = nested(&head, index + 1);
        let value = value(line, &entry, &head[below.clone()]);
        match entry.key {
            "name" => skill.name = check.name(value, folder),
            "description" => skill.description = check.text(value, "description", DESCRIPTION),
            "license" => skill.license = Some(value.text),
            "compatibility" => {
                skill.compatibility = Some(check.text(value, "compatibility", COMPATIBILITY));
            }
            "allowed-tools" => skill.allowed_tools = Some(value.text),
            "metadata" => skill.secrets = check.secrets(&head[below]),
            _ => {}
        }
    }
    for (key, advice) in [
        ("name", format!("write `name: {folder}`")),
        ("description", "say in a line what the skill does and when to use it".to_owned()),
    ] {
        if !seen.contains(&key) {
            check.wrong((1, 1), format!("the head has no `{key}`"), advice);
        }
    }
    if let Some(at) = std::str::from_utf8(bytes).err().map(|error| error.valid_up_to()) {
        let line = memchr::memchr_iter(b'\n', &bytes[..at]).count() + 1;
        check.wrong((line, 1), "the note is not UTF-8 text", "save it as UTF-8");
    }
    check.findings.sort_by_key(|finding| (finding.line, finding.column));
    (skill, check.findings)
}

/// The lines from `from` on that belong to the entry above them: indented or blank ones.
fn nested(head: &[Line<'_>], from: usize) -> Range<usize> {
    let belongs = |line: &Line<'_>| {
        line.text.trim_ascii().is_empty() || line.text.starts_with(b" ") || line.text.starts_with(b"\t")
    };
    from..from + head[from..].iter().take_while(|line| belongs(line)).count()
}

/// An entry's value with what goes on below it.
fn value(line: &Line<'_>, entry: &yaml::YamlEntry<'_>, below: &[Line<'_>]) -> Value {
    let column = String::from_utf8_lossy(&line.text[..entry.place.start]).chars().count() + 1;
    let quoted = matches!(entry.place.start.checked_sub(1).map(|at| line.text[at]), Some(b'"' | b'\''));
    let below: Vec<String> =
        below.iter().map(|line| String::from_utf8_lossy(line.text).trim().to_owned()).collect();
    let is_block = !quoted && matches!(entry.value.as_str(), ">" | ">-" | ">+" | "|" | "|-" | "|+");
    let text = match (quoted, is_block) {
        (true, _) => entry.value.clone(),
        (_, true) => below.join(if entry.value.starts_with('|') { "\n" } else { " " }),
        _ => std::iter::once(&entry.value).chain(&below).map(String::as_str).collect::<Vec<_>>().join(" "),
    };
    Value { place: (line.number, column), text: text.trim().to_owned() }
}

struct Check {
    findings: Vec<Finding>,
}

impl Check {
    fn wrong(
        &mut self,
        (line, column): (usize, usize),
        reason: impl Into<String>,
        suggestion: impl Into<String>,
    ) {
        self.findings.push(Finding::new(line, column, reason, suggestion));
    }

    fn name(&mut self, value: Value, folder: &str) -> String {
        let name = value.text;
        let shown = quote(&name);
        if !is_name(&name) {
            let advice = "use up to 64 of a-z, 0-9 and single hyphens between them";
            self.wrong(value.place, format!("{shown} can't be a skill's name"), advice);
        } else if name != folder {
            let reason = format!("the name {shown} is not the folder's, {}", quote(folder));
            self.wrong(value.place, reason, "give both the same name");
        }
        name
    }

    /// A text with a bound, on one line.
    fn text(&mut self, value: Value, key: &str, most: usize) -> String {
        let length = value.text.chars().count();
        if length == 0 {
            let hint = match key {
                "description" => "say in a line what the skill does and when to use it",
                _ => "say it in a line, or leave it away",
            };
            self.wrong(value.place, format!("`{key}` is empty"), hint);
        } else if length > most {
            let reason = format!("`{key}` has {length} characters, {} too many", length - most);
            self.wrong(value.place, reason, format!("say it in at most {most}"));
        }
        if invisible::first(&value.text).is_some() {
            let reason = format!("`{key}` holds an invisible character");
            self.wrong(value.place, reason, "delete it, or don't trust this skill");
        }
        value.text
    }

    /// The names under `metadata.secrets`.
    fn secrets(&mut self, below: &[Line<'_>]) -> Vec<String> {
        let inner = |line: &Line<'_>| line.text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let at = below.iter().position(|line| {
            yaml::entry(&line.text[inner(line)..]).is_some_and(|entry| entry.key == "secrets")
        });
        let Some(at) = at else { return Vec::new() };
        let deep = inner(&below[at]);
        let mut secrets: Vec<String> = Vec::new();
        for (index, line) in below[at..].iter().enumerate() {
            let from = inner(line);
            let rest = &line.text[from..];
            let is_item = rest.starts_with(b"- ");
            if rest.trim_ascii().is_empty() {
                continue;
            }
            if index > 0 && !is_item && from <= deep {
                break;
            }
            let words = match yaml::entry(rest).filter(|_| index == 0) {
                Some(entry) => entry.value,
                None => String::from_utf8_lossy(rest).into_owned(),
            };
            let clean = |word: &str| word.trim_matches(['[', ']', '"', '\'']).to_owned();
            let words = words.split([' ', ',', '\t']).map(clean);
            for name in words.filter(|word| !word.is_empty() && word != "-") {
                let place = (line.number, from + 1);
                if !is_variable(&name) {
                    let advice = "name an environment variable in capitals that is neither a program's setting nor this program's own";
                    self.wrong(place, format!("{} can't be a skill's secret", quote(&name)), advice);
                } else if secrets.len() == SECRETS {
                    self.wrong(place, "a skill may name 8 secrets", "name fewer");
                    return secrets;
                } else if !secrets.contains(&name) {
                    secrets.push(name);
                }
            }
        }
        secrets
    }
}

/// Whether a text can be a skill's name.
pub fn is_name(text: &str) -> bool {
    (1..=NAME).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
}

/// Whether a text can name a secret of a skill.
fn is_variable(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && !OWN.split(' ').any(|own| own == name)
        && !OWN_BEGINNINGS.iter().any(|own| name.starts_with(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<(usize, usize, String)> {
        let found = parse(text.as_bytes(), "web").1;
        found.into_iter().map(|finding| (finding.line, finding.column, finding.reason)).collect()
    }

    #[test]
    fn a_skill_is_read_in_the_ways_that_people_write_it() {
        let text = "---\nname: web\ndescription: >-\n  Searches the web.\n  Use it seldom.\nlicense: MIT\n\
                    metadata:\n  author: x\n  secrets:\n    - ONE_KEY\n    - TWO_KEY\n  version: \"1\"\nother: y\n---\n\nDo it.\n";
        let (skill, findings) = parse(text.as_bytes(), "web");
        assert_eq!(findings, []);
        assert_eq!(skill.description, "Searches the web. Use it seldom.");
        assert_eq!(skill.secrets, ["ONE_KEY", "TWO_KEY"]);
        assert_eq!((skill.license.as_deref(), skill.body.as_str()), (Some("MIT"), "Do it."));
        for secrets in ["A_KEY B_KEY", "[A_KEY, B_KEY]", "\"A_KEY,B_KEY\""] {
            let text = format!("---\nname: web\ndescription: d\nmetadata:\n  secrets: {secrets}\n---\n");
            let (skill, findings) = parse(text.as_bytes(), "web");
            assert_eq!((skill.secrets, findings), (vec!["A_KEY".to_owned(), "B_KEY".to_owned()], vec![]));
        }
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        assert_eq!(places("no head")[0].2, "a skill begins with a head between two lines `---`");
        assert_eq!(places("---\n---\n").len(), 2);
        assert_eq!(
            places("---\nname: We--b\ndescription:\n---\n"),
            [
                (2, 7, "`We--b` can't be a skill's name".to_owned()),
                (3, 13, "`description` is empty".to_owned()),
            ]
        );
        let other = places("---\nname: other\ndescription: d\nmetadata:\n  secrets: LD_PRELOAD\n---\n");
        assert_eq!(
            other,
            [
                (2, 7, "the name `other` is not the folder's, `web`".to_owned()),
                (5, 3, "`LD_PRELOAD` can't be a skill's secret".to_owned()),
            ]
        );
        let long = format!("---\nname: web\ndescription: {}\n---\n", "é".repeat(1025));
        assert_eq!(places(&long), [(3, 14, "`description` has 1025 characters, 1 too many".to_owned())]);
        let hidden = "---\nname: web\ndescription: a\u{202e}b\n---\n";
        assert_eq!(places(hidden)[0].2, "`description` holds an invisible character");
    }
}
