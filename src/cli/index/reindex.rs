//! `reindex`: rebuilds the index from the notes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::cli::prelude::*;
use crate::search::{Progress, Reindexed};

/// Rebuilds the search index and the data of recall from all notes; the old index answers until the new one is
/// complete.
#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Debug, Serialize)]
struct ReindexReport {
    #[serde(flatten)]
    made: Reindexed,
    took_ms: u64,
}

/// Runs `reindex`. Ctrl-C ends it with the old index untouched.
pub fn run(context: &Context, _: &Args) -> CommandResult {
    let index = context.workspace()?.index()?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_interrupt(&stop)?;
    let bar = bar(context);
    let start = Instant::now();
    let made = index.reindex(
        &|progress: Progress| {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
        },
        &stop,
    );
    bar.finish_and_clear();
    let made = made?;
    let took_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let Reindexed { files, skipped, blocks, bytes } = made;
    let (megabytes, seconds) = (bytes as f64 / 1e6, took_ms as f64 / 1e3);
    let said = format!(
        "{files} files ({skipped} left out), {blocks} blocks, {megabytes:.1} MB of text in {seconds:.1} s"
    );
    context.answer(&ReindexReport { made, took_ms }, said)?;
    if made.skipped > 0 && !context.ui.json {
        context.ui.note("`vault-agent stats` says what was left out and why");
    }
    Ok(Status::Fine)
}

fn bar(context: &Context) -> indicatif::ProgressBar {
    if context.ui.json || !std::io::stderr().is_terminal() {
        return indicatif::ProgressBar::hidden();
    }
    let style = indicatif::ProgressStyle::with_template("indexing {bar:40} {pos}/{len} files, {eta} left")
        .unwrap_or_else(|_| indicatif::ProgressStyle::default_bar());
    indicatif::ProgressBar::new(0).with_style(style)
}

/// Sets `stop` at Ctrl-C; a second one ends the process as usual.
fn stop_on_interrupt(stop: &Arc<AtomicBool>) -> std::io::Result<()> {
    let stop = Arc::clone(stop);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(move || {
        runtime.block_on(async {
            if tokio::signal::ctrl_c().await.is_ok() {
                stop.store(true, Ordering::Relaxed);
            }
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(130);
            }
        });
    })?;
    Ok(())
}
