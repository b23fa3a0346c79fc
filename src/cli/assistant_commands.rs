//! Lists the commands that the assistant may call from its confined shell: reading, reminders, follow-ups and memory.
//!
//! A change made this way is recorded as the assistant's. All other commands, such as those that undo, set up or send,
//! are for people alone.

use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::cli::CommandError;

/// The commands, with their subcommands where not all of them are permitted, and the arguments that are not.
const PERMITTED: [(&str, &[&str], &[&str]); 12] = [
    ("search", &[], &[]),
    ("recall", &[], &[]),
    ("remind", &["add", "list", "edit", "rm", "done", "snooze", "skip", "move", "preview"], &[]),
    ("agenda", &[], &[]),
    ("memory", &["save", "list", "get", "promote", "pin", "unpin", "forget", "working"], &[]),
    ("commitment", &["add", "list", "done", "cancel"], &[]),
    ("skill", &["list", "check"], &[]),
    ("status", &[], &[]),
    ("stats", &[], &[]),
    ("check", &[], &["files"]),
    ("usage", &[], &[]),
    ("lcm", &["grep", "describe", "expand", "verify"], &[]),
];

/// Checks that the assistant may call the command of these arguments, in a turn that has read untrusted text or not.
///
/// # Errors
/// It may not; the hint lists the commands that it may call.
pub(super) fn check(matches: &ArgMatches, tainted: bool) -> Result<(), CommandError> {
    let refused = |what: String| {
        let known: Vec<&str> = PERMITTED.iter().map(|(name, ..)| *name).collect();
        Err(CommandError::usage(format!("{what} isn't for the assistant"))
            .hint(format!("it may use: {}", known.join(", "))))
    };
    let mut inner = Some(matches);
    while let Some(matches) = inner {
        // The caller may not choose the vault.
        if matches.try_contains_id("vault").unwrap_or(false)
            && matches.value_source("vault") == Some(ValueSource::CommandLine)
        {
            return refused("`--vault`".to_owned());
        }
        inner = matches.subcommand().map(|(_, matches)| matches);
    }
    let Some((name, inner)) = matches.subcommand() else { return Ok(()) };
    let Some((_, actions, arguments)) = PERMITTED.iter().find(|(known, ..)| *known == name) else {
        return refused(format!("`{name}`"));
    };
    if let Some((action, _)) = inner.subcommand()
        && !actions.is_empty()
        && !actions.contains(&action)
    {
        return refused(format!("`{name} {action}`"));
    }
    if tainted && (name, inner.subcommand_name()) == ("memory", Some("pin")) {
        return refused("`memory pin` after untrusted text".to_owned());
    }
    for argument in *arguments {
        if inner.value_source(argument) == Some(ValueSource::CommandLine) {
            return refused(format!("a file for `{name}`"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    fn permits(args: &[&str]) -> bool {
        let args = std::iter::once("vault-agent").chain(args.iter().copied());
        super::check(&crate::cli::Cli::command().try_get_matches_from(args).unwrap(), false).is_ok()
    }

    #[test]
    fn it_remembers_and_reminds_and_sets_up_nothing() {
        for args in [
            &["remind", "add", "fri 9:00", "x"][..],
            &["remind", "rm", "rid_AAAAAAAAAAAA"],
            &["remind", "done", "pay rent"],
            &["remind", "snooze", "pay rent", "--minutes", "10"],
            &["memory", "save", "x"],
            &["commitment", "list"],
            &["check"],
            &["status", "--json"],
        ] {
            assert!(permits(args), "{args:?}");
        }
        for args in [
            &["init", "/tmp/x"][..],
            &["run"],
            &["tick"],
            &["import", "/etc/passwd"],
            &["export"],
            &["--vault", "/tmp", "status"],
            &["status", "--vault", "/tmp"],
            &["remind", "list", "--vault=/tmp"],
            &["check", "/etc/passwd"],
            &["hook", "stop"],
            &["service", "install"],
            &["doctor"],
        ] {
            assert!(!permits(args), "{args:?}");
        }
    }

    #[test]
    fn each_name_is_a_command_of_this_program() {
        let command = crate::cli::Cli::command();
        for (name, actions, arguments) in super::PERMITTED {
            let Some(found) = command.find_subcommand(name) else {
                assert!(["lcm", "search", "recall", "stats", "usage", "skill"].contains(&name), "{name}");
                continue;
            };
            for action in actions {
                assert!(found.find_subcommand(action).is_some(), "{name} {action}");
            }
            for argument in arguments {
                assert!(found.get_arguments().any(|known| known.get_id() == *argument), "{name} {argument}");
            }
        }
    }
}
