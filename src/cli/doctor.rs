//! `doctor`: prints what is wrong and how to fix it. With `--fix`, [`super::doctor_fix`] runs first.

use super::context::Context;
use super::doctor_fix;
use super::error::{CommandResult, Status};
use crate::doctor::{Check, CheckExtent, CheckOutcome, ExtraCheck, examine, settings_failure};

/// Looks at the vault, the machine and the daemon, and says what is wrong and how to mend it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Mends first what needs no decision, and says what it did: rights of secret files, edits that a crash cut short,
    /// a damaged index, a missing time zone.
    #[arg(long)]
    fix: bool,
}

/// Checks of other rooms.
const EXTRA_CHECKS: &[ExtraCheck] = &[
    #[cfg(feature = "assistant")]
    crate::doctor::discord,
    crate::doctor::embeddings,
    #[cfg(all(unix, feature = "assistant"))]
    crate::web::checks,
];

/// Runs `doctor`: exit code 1 where a check failed.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let fixed = if args.fix { doctor_fix::fix_all(context)? } else { Vec::new() };
    let found = match crate::workspace::Workspace::open(&context.vault_dir()?, context.clock.clone()) {
        Ok(workspace) => examine(&workspace, CheckExtent::Whole, EXTRA_CHECKS),
        Err(error) => vec![settings_failure(&error)],
    };
    let checks: Vec<Check> = fixed.into_iter().chain(found).collect();
    context.ui.json(&checks);
    checks.iter().for_each(|check| print_check(context, check));
    let failed = checks.iter().any(|check| check.status == CheckOutcome::Fail);
    Ok(if failed { Status::Problem } else { Status::Fine })
}

fn print_check(context: &Context, check: &Check) {
    use anstyle::AnsiColor::{Green, Red, Yellow};
    let (mark, colour) = match check.status {
        CheckOutcome::Ok => ("ok  ", Green),
        CheckOutcome::Warn => ("warn", Yellow),
        CheckOutcome::Fail => ("FAIL", Red),
    };
    let style = colour.on_default();
    context.ui.line(format!("{style}{mark}{style:#} {:12} {}", check.check, check.detail));
    if let Some(fix) = &check.fix {
        context.ui.line(format!("     {:12} -> {fix}", ""));
    }
}
