//! Records in the delivery journal the ids that reminder lines are about to get, and the problems that were reported,
//! so that a pass after a crash gives the same ids and reports nothing twice.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};

use super::{DeliveryRow, Journal, LineHash, ROW, row_of};
use crate::deliver::journal::Result;

impl Journal {
    /// All deliveries that are sent, or may have been, and are not done, in the order of their claims.
    pub fn unfinished_deliveries(&self) -> Result<Vec<DeliveryRow>> {
        self.read(|tx| {
            let sql =
                format!("SELECT {ROW} FROM deliveries WHERE state IN ('sending', 'sent') ORDER BY number");
            tx.prepare_cached(&sql)?.query_map([], row_of)?.collect()
        })
    }

    /// The id that was given to a line without one, if any.
    pub fn name(&self, line: &LineHash) -> Result<Option<String>> {
        self.read(|tx| {
            tx.prepare_cached("SELECT id FROM names WHERE line = ?1")?
                .query_row([line.bytes()], |row| row.get(0))
                .optional()
        })
    }

    /// Remembers the ids of lines, before they are written; a line that has one gets the new one.
    pub fn set_names(&self, names: &[(LineHash, String)]) -> Result<()> {
        self.write(|tx| {
            let mut insert = tx.prepare_cached("INSERT OR REPLACE INTO names (line, id) VALUES (?1, ?2)")?;
            for (line, id) in names {
                insert.execute(params![line.bytes(), id])?;
            }
            Ok(())
        })
    }

    /// The stat of a note when a pass last found nothing to do or to say in it.
    pub fn clean(&self, note: &str) -> Result<Option<String>> {
        self.read(|tx| {
            tx.prepare_cached("SELECT stat FROM clean WHERE note = ?1")?
                .query_row([note], |row| row.get(0))
                .optional()
        })
    }

    /// Notes that a pass found nothing to do or to say in a note with this stat.
    pub fn set_clean(&self, note: &str, stat: &str) -> Result<()> {
        self.write(|tx| {
            tx.execute("INSERT OR REPLACE INTO clean (note, stat) VALUES (?1, ?2)", params![note, stat])
                .map(|_| ())
        })
    }

    /// The findings among `current` in a note that were not reported yet. With `remember` they count as reported from
    /// now on, and those that are fixed are deleted: a mistake made again is reported again.
    pub fn new_findings(
        &self,
        note: &str,
        current: &BTreeSet<LineHash>,
        remember: bool,
    ) -> Result<BTreeSet<LineHash>> {
        let known: BTreeSet<LineHash> = self.read(|tx| {
            tx.prepare_cached("SELECT finding FROM reported WHERE note = ?1")?
                .query_map([note], |row| row.get::<_, Vec<u8>>(0))?
                .filter_map(|bytes| bytes.map(|bytes| bytes.try_into().ok().map(LineHash)).transpose())
                .collect()
        })?;
        let new: BTreeSet<LineHash> = current.difference(&known).copied().collect();
        let gone: Vec<LineHash> = known.difference(current).copied().collect();
        if remember && !(new.is_empty() && gone.is_empty()) {
            self.write(|tx| {
                let mut insert = tx.prepare_cached("INSERT OR IGNORE INTO reported VALUES (?1, ?2)")?;
                for finding in &new {
                    insert.execute(params![note, finding.bytes()])?;
                }
                let mut delete =
                    tx.prepare_cached("DELETE FROM reported WHERE note = ?1 AND finding = ?2")?;
                for finding in &gone {
                    delete.execute(params![note, finding.bytes()])?;
                }
                Ok(())
            })?;
        }
        Ok(new)
    }
}
