//! `stats`: prints the size and the contents of the index.

use crate::cli::prelude::*;

/// Shows what is indexed, what is left out and why, and how large the index is.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `stats`.
pub fn run(context: &Context, _: &Args) -> CommandResult {
    let stats = context.workspace()?.index()?.stats()?;
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let left_out = stats.left_out.len();
    let mut table = table();
    let mut row = |name: &str, value: String| {
        table.add_row([name.to_owned(), value]);
    };
    row("files", format!("{} ({}), {left_out} left out", stats.files, megabytes(stats.bytes)));
    row("blocks", stats.blocks.to_string());
    stats.by_kind.iter().for_each(|(kind, blocks)| row(&format!("  {kind}"), blocks.to_string()));
    row("vectors", stats.vectors.to_string());
    let (size, dead) = (megabytes(stats.index_bytes), stats.dead_blocks);
    row("index", format!("{size}, {} parts, {dead} dead blocks", stats.segments));
    let committed = stats.committed.map_or_else(|| "never".to_owned(), |at| at.to_string());
    row("last commit", format!("{committed}, generation {}", stats.generation));
    let daemon =
        if stats.followed { "follows every change" } else { "not running; each search looks at every file" };
    row("daemon", daemon.to_owned());
    let left_out = stats.left_out.iter().map(|(path, why)| format!("left out: {path}: {why}"));
    context.report(&stats, std::iter::once(table.to_string()).chain(left_out), true)
}
