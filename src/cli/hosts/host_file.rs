//! Prints the change of a host's settings file as a diff.

use std::path::Path;

use crate::cli::Context;

/// Shows what changes in a settings file.
pub(super) fn show_change(context: &Context, path: &Path, before: &str, after: &str) {
    if before != after {
        let shown = path.to_string_lossy();
        let diff = similar::TextDiff::from_lines(before, after);
        let diff = diff.unified_diff().context_radius(3).header(&shown, &shown).to_string();
        context.ui.line(diff.trim_end());
    }
}

/// The hint for a file that can't be changed.
pub(super) const MEND: &str = "mend the file by hand first; nothing was written";
