//! `resume`: ends a pause.

use super::pause::print_state;
use crate::cli::prelude::*;
use crate::pause;

/// Ends a pause.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `resume`.
pub fn run(context: &Context, _: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    if !pause::resume(&workspace, &context.origin())? {
        context.ui.note("nothing was paused");
    }
    print_state(context)
}
