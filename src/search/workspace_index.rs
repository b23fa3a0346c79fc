//! Opens the index of an opened vault.

use std::sync::Arc;

use super::{Index, IndexError};
use crate::workspace::Workspace;

impl Workspace {
    /// The vault's index; reads no note.
    ///
    /// # Errors
    /// The cache can't be used, in a way that making it anew doesn't mend.
    pub fn index(&self) -> Result<Index, IndexError> {
        Index::of(self.vault.clone(), &self.settings, &self.dirs.cache, Arc::clone(&self.clock))
    }
}
