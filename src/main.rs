//! Parses, dispatches, prints an error, sets the exit code: all in [`vault_agent::cli::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    // Only test builds have failpoints; they are set by the environment variable `FAILPOINTS`.
    let _failpoints = fail::has_failpoints().then(fail::FailScenario::setup);
    ExitCode::from(vault_agent::cli::run(std::env::args_os()))
}
