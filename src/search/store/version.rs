//! Computes the fingerprint of a cache: the version of the index, and the settings that decide what is read into it.
//!
//! [`Options`] come in; one line of text goes out. The cache stores it; a cache whose fingerprint differs is rebuilt.

use crate::search::read::note::Options;

/// The version of everything that an index's content depends on: blocks, terms, tables. Another version
/// is rebuilt without a question.
pub const SCHEMA: &str = concat!("vault-agent index 22, ", env!("CARGO_PKG_VERSION"));

impl Options {
    /// The inputs of the index beside the notes, as text: another text here means a rebuild.
    pub fn fingerprint(&self) -> String {
        let zone = self.zone.iana_name().unwrap_or("fixed");
        format!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {} {zone}",
            SCHEMA,
            self.memory,
            self.pinned,
            self.daily,
            self.logs,
            self.summaries,
            self.include,
            self.exclude,
            self.max_file_bytes
        )
    }
}
