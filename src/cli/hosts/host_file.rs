//! Prints the change of a host's settings file as a diff.

use std::path::Path;

use crate::cli::Context;
use crate::format::unified_diff::LineDiff;

/// Shows what changes in a settings file.
pub(super) fn show_change(context: &Context, path: &Path, before: &str, after: &str) {
    if before != after {
        let shown = path.to_string_lossy();
        let diff = LineDiff::new(before, after);
        let mut text = format!("--- {shown}\n+++ {shown}\n");
        diff.hunks().iter().for_each(|hunk| diff.write_hunk(hunk, &mut text));
        context.ui.line(text.trim_end());
    }
}

/// The hint for a file that can't be changed.
pub(super) const MEND: &str = "mend the file by hand first; nothing was written";
