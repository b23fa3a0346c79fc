//! `skill`: lists the folders of `skills/`, and checks them.

use crate::agent::skills::{ListedSkill, Skills};
use crate::cli::prelude::*;
use crate::cli::reminders::check::finding_line;

/// Lists the vault's skills, or checks them.
///
/// A skill is a folder `skills/NAME` with a `SKILL.md` in the form of agentskills.io. One with a problem, or whose
/// secrets are missing, isn't offered to the assistant.
#[derive(Debug, clap::Subcommand)]
pub enum Args {
    /// Lists all skills: whether they are offered, and what they are for.
    List,
    /// Shows what is wrong with a skill, by file, line and column, and settings of skills that there aren't; the exit
    /// code is 1 where anything is.
    Check {
        /// Only this skill; else all.
        name: Option<String>,
    },
}

#[derive(Debug, Serialize)]
struct SkillOutput<'a> {
    name: &'a str,
    description: &'a str,
    path: &'a str,
    problems: &'a [PlacedFinding],
    /// Whether the assistant is told of it.
    offered: bool,
    /// Why it isn't, where nothing is wrong with its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    /// Whether it came with this program and is unchanged; any other is asked about at its first use.
    shipped: bool,
    /// The hash over its files, which an approval is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

/// Runs `skill`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let skills = Skills::of(&workspace);
    let (mut listed, mut strays) = (skills.list()?, skills.unknown_tables()?);
    match args {
        Args::List => list(context, &skills, &listed),
        Args::Check { name } => {
            if let Some(name) = name {
                listed.retain(|one| one.folder == *name);
                if listed.is_empty() {
                    let error = CommandError::problem(format!("no skill `{name}`"));
                    return Err(error.hint("`vault-agent skill list` shows all"));
                }
                strays.clear();
            }
            check(context, &listed, &strays)
        }
    }
}

fn skill_output<'a>(skills: &Skills, one: &'a ListedSkill) -> SkillOutput<'a> {
    let loaded = skills.load(&one.folder);
    let missing = loaded.as_ref().err().filter(|_| one.problems.is_empty()).cloned();
    SkillOutput {
        name: &one.folder,
        description: &one.skill.description,
        path: one.path.as_str(),
        problems: &one.problems,
        offered: loaded.is_ok(),
        missing,
        shipped: loaded.as_ref().is_ok_and(|loaded| loaded.is_shipped),
        hash: loaded.ok().map(|loaded| loaded.hash),
    }
}

fn list(context: &Context, skills: &Skills, listed: &[ListedSkill]) -> CommandResult {
    let all: Vec<SkillOutput<'_>> = listed.iter().map(|one| skill_output(skills, one)).collect();
    context.list(&all, "no skills", |one| {
        let state = match (one.offered, one.shipped) {
            (true, true) => "",
            (true, false) => " (asked about at its first use)",
            (false, _) => " (off)",
        };
        let more = one.missing.iter().cloned().chain(one.problems.iter().map(finding_line));
        let more: String = more.map(|line| format!("\n  {line}")).collect();
        format!("{}{state}: {}{more}", one.name, one.description)
    })
}

fn check(context: &Context, listed: &[ListedSkill], strays: &[PlacedFinding]) -> CommandResult {
    let found: Vec<&PlacedFinding> =
        strays.iter().chain(listed.iter().flat_map(|one| &one.problems)).collect();
    let well = match listed.len() {
        1 => "the skill is valid".to_owned(),
        count => format!("all {count} skills are valid"),
    };
    context.list(&found, well, |finding| finding_line(finding))?;
    Ok(Status::of(found.is_empty()))
}
