//! Ids given to lines, and findings that were told: small memories that make a pass repeatable.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};

use super::{Journal, JournalError, LineHash};

impl Journal {
    /// The id that was given to a line without one, if any.
    pub fn name(&self, line: &LineHash) -> Result<Option<String>, JournalError> {
        self.read(|tx| {
            tx.prepare_cached("SELECT id FROM names WHERE line = ?1")?
                .query_row([line.bytes()], |row| row.get(0))
                .optional()
        })
    }

    /// Remembers the ids of lines, before they are written; a line that has one gets the new one.
    pub fn set_names(&self, names: &[(LineHash, String)]) -> Result<(), JournalError> {
        self.write(|tx| {
            let mut insert = tx.prepare_cached("INSERT OR REPLACE INTO names (line, id) VALUES (?1, ?2)")?;
            for (line, id) in names {
                insert.execute(params![line.bytes(), id])?;
            }
            Ok(())
        })
    }

    /// Which of the `current` findings the person was not told of yet. With `remember` they count as
    /// told from now on, and those that are gone are forgotten: a mistake made again is told again.
    pub fn new_findings(
        &self,
        current: &BTreeSet<LineHash>,
        remember: bool,
    ) -> Result<BTreeSet<LineHash>, JournalError> {
        let known: BTreeSet<LineHash> = self.read(|tx| {
            tx.prepare_cached("SELECT finding FROM reported")?
                .query_map([], |row| row.get::<_, Vec<u8>>(0))?
                .filter_map(|bytes| bytes.map(|bytes| bytes.try_into().ok().map(LineHash)).transpose())
                .collect()
        })?;
        let new: BTreeSet<LineHash> = current.difference(&known).copied().collect();
        let gone: Vec<LineHash> = known.difference(current).copied().collect();
        if remember && !(new.is_empty() && gone.is_empty()) {
            self.write(|tx| {
                let mut insert = tx.prepare_cached("INSERT OR IGNORE INTO reported VALUES (?1)")?;
                for finding in &new {
                    insert.execute([finding.bytes()])?;
                }
                let mut delete = tx.prepare_cached("DELETE FROM reported WHERE finding = ?1")?;
                for finding in &gone {
                    delete.execute([finding.bytes()])?;
                }
                Ok(())
            })?;
        }
        Ok(new)
    }
}
