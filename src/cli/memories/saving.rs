//! `memory save`: saves a fact, an entry in the day's note, or a follow-up.

use super::arguments::{parse_name, parse_scope, text_argument};
use crate::cli::prelude::*;
use crate::format::commitment::{Commitment, Precision};
use crate::memory::{MemoryFields, MemoryKind, MemoryTier, NewMemory, SavedMemory, Scope, Temporal};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct SaveArgs {
    /// The text to remember; `-` reads it from standard input.
    pub text: String,
    /// The kind of memory: `long` (MEMORY.md), `daily` (today's note) or `commitment` (a follow-up).
    #[arg(long, value_name = "KIND", default_value = "long")]
    pub to: String,
    /// The section of MEMORY.md; made if there is none. `Notes` if none is named.
    #[arg(long, value_name = "NAME")]
    pub section: Option<String>,
    /// Its scope: `global`, `project:ID`, `agent:ID`, `user:ID`, `custom:NAME`, or `here` for this folder's project.
    /// Without it, what the environment names (VAULT_AGENT_SCOPE, VAULT_AGENT_PROJECT), else `global`.
    #[arg(long, value_name = "S")]
    pub scope: Option<String>,
    /// How much it matters, 0 to 1.
    #[arg(long, value_name = "N")]
    pub importance: Option<f64>,
    /// How sure it is, 0 to 1.
    #[arg(long, value_name = "N")]
    pub confidence: Option<f64>,
    /// How lasting it is: `core`, `working` or `peripheral`.
    #[arg(long, value_name = "TIER", value_parser = parse_name::<MemoryTier>)]
    pub tier: Option<MemoryTier>,
    /// Whether the fact may change: `static` or `dynamic`.
    #[arg(long, value_name = "KIND", value_parser = parse_name::<Temporal>)]
    pub temporal: Option<Temporal>,
    /// When a follow-up is due: `2026-12-01 09:30`, `tomorrow 9am`, `in 20 minutes`, `fri 17:00`, `übermorgen 17 Uhr`.
    #[arg(long, value_name = "WHEN")]
    pub due: Option<String>,
    /// How exactly a follow-up's time is meant: `precise` or `soft`.
    #[arg(long, value_name = "P", value_parser = Precision::parse)]
    pub precision: Option<Precision>,
    /// The place where a follow-up is delivered: `channel:ID`, `thread:ID` or `user:ID`.
    #[arg(long, value_name = "PLACE")]
    pub place: Option<String>,
    /// The turn that a follow-up came from.
    #[arg(long, value_name = "TURN")]
    pub source: Option<String>,
}

pub(super) fn save(context: &Context, workspace: &Workspace, args: &SaveArgs) -> CommandResult {
    let now = workspace.clock.now();
    let (memory, origin) = (workspace.memory(), context.origin());
    let text = text_argument(&args.text)?;
    let kind: MemoryKind = args.to.parse()?;
    let fact = || -> Result<NewMemory<'_>> {
        let fields = MemoryFields {
            importance: args.importance,
            confidence: args.confidence,
            tier: args.tier,
            temporal: args.temporal,
        };
        let section = args.section.as_deref();
        // Without `--scope`, a scope tag in the text counts.
        let typed = || Scope::of_text(&text).pop().filter(|_| args.scope.is_none());
        let scope = match parse_scope(args.scope.as_deref())? {
            Scope::Global => typed().unwrap_or(Scope::Global),
            scope => scope,
        };
        Ok(NewMemory { section, fields, scope, ..NewMemory::new(&text) })
    };
    check_options(args, kind)?;
    let saved = match kind {
        MemoryKind::Long => memory.save_fact(&fact()?, now, &origin)?,
        MemoryKind::Daily => memory.save_note(&fact()?, now, &origin)?,
        MemoryKind::Commitment => {
            let due = args.due.as_deref().map(|phrase| when::parse_instant(phrase, now, &workspace.zone));
            let due = due.transpose()?;
            let draft = Commitment {
                text: text.to_string(),
                due: due.as_ref().map(|due| due.at),
                precision: args.precision,
                scope: args.place.clone(),
                source: args.source.clone(),
                ..Commitment::default()
            };
            let saved = memory.save_commitment(&draft, None, now, &origin)?;
            if let Some(due) = due {
                context.ui.note(when::confirmation_of((due.local, due.at), now, &workspace.zone));
            }
            saved
        }
    };
    print_saved(context, &saved, &saved, "saved in")
}

/// Refuses options that the kind ignores, and a follow-up without a time.
pub(super) fn check_options(args: &SaveArgs, kind: MemoryKind) -> Result<()> {
    let of_follow_ups = [
        ("--due", args.due.is_some()),
        ("--precision", args.precision.is_some()),
        ("--place", args.place.is_some()),
        ("--source", args.source.is_some()),
    ];
    let of_memories = [
        ("--scope", args.scope.is_some()),
        ("--importance", args.importance.is_some()),
        ("--confidence", args.confidence.is_some()),
        ("--tier", args.tier.is_some()),
        ("--temporal", args.temporal.is_some()),
    ];
    let is_follow_up = kind == MemoryKind::Commitment;
    let (lost, hint) = match is_follow_up {
        true => (&of_memories[..], "leave it out"),
        false => (&of_follow_ups[..], "save a follow-up with `--to commitment`, or leave it out"),
    };
    if let Some((option, _)) = lost.iter().find(|(_, given)| *given) {
        return Err(CommandError::usage(format!("`{option}` means nothing with `--to {kind}`")).hint(hint));
    }
    if args.section.is_some() && kind != MemoryKind::Long {
        return Err(CommandError::usage(format!("`--section` means nothing with `--to {kind}`"))
            .hint("sections are in MEMORY.md: leave it out, or save with `--to long`"));
    }
    if is_follow_up && args.due.is_none() {
        return Err(
            CommandError::usage("a follow-up needs a due time: `--due` is missing").hint(when::WHEN_HINT)
        );
    }
    Ok(())
}

/// Prints the saved lines and their place; with `--json` the document.
pub(super) fn print_saved(
    context: &Context,
    document: &impl serde::Serialize,
    saved: &SavedMemory,
    done: &str,
) -> CommandResult {
    context.answer(document, &saved.text)?;
    let done = if saved.existing { "nothing written: it stands in" } else { done };
    context.ui.note(format!("{done} `{}`, line {}", saved.path, saved.line));
    saved.notes.iter().for_each(|note| context.ui.note(note));
    Ok(Status::Fine)
}

pub(super) fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}
