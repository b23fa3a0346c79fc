//! `stats`: prints the size and the contents of the index.

use crate::cli::{CommandResult, Context, Status};

/// Shows what is indexed, what is left out and why, and how large the index is.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `stats`.
pub fn run(context: &Context, _: &Args) -> CommandResult {
    let stats = context.workspace()?.index()?.stats()?;
    context.ui.json(&stats);
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let mut row = |name: &str, value: String| {
        table.add_row([name.to_owned(), value]);
    };
    row("files", format!("{} ({}), {} left out", stats.files, megabytes(stats.bytes), stats.left_out.len()));
    row("blocks", stats.blocks.to_string());
    for (kind, blocks) in &stats.by_kind {
        row(&format!("  {kind}"), blocks.to_string());
    }
    row("vectors", stats.vectors.to_string());
    row(
        "index",
        format!(
            "{}, {} parts, {} dead blocks",
            megabytes(stats.index_bytes),
            stats.segments,
            stats.dead_blocks
        ),
    );
    let committed = stats.committed.map_or_else(|| "never".to_owned(), |at| at.to_string());
    row("last commit", format!("{committed}, generation {}", stats.generation));
    row(
        "daemon",
        if stats.followed { "follows every change" } else { "not running; each search looks at every file" }
            .to_owned(),
    );
    context.ui.line(table.to_string());
    for (path, why) in &stats.left_out {
        context.ui.line(format!("left out: {path}: {why}"));
    }
    Ok(Status::Fine)
}
