//! Makes directory entries durable, and holds the failpoints at which a test may end the process.

use std::fs::File;
use std::path::Path;

/// Makes a renamed or created name durable; a file system that can't is left alone.
pub(crate) fn sync_dir(dir: &Path) {
    if let Ok(dir) = File::open(dir) {
        let _ = dir.sync_all();
    }
}

/// A place where a test may end the process.
pub(crate) fn failpoint(name: &'static str) {
    fail::eval(name, |_| std::process::abort());
}
