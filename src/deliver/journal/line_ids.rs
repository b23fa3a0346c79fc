//! Records in the delivery journal the ids that reminder lines are about to get, and the problems that were reported,
//! so that a pass after a crash gives the same ids and reports nothing twice.

use std::collections::BTreeSet;

use rusqlite::params;

use super::{DeliveryRow, Journal, LineHash, ROW, Result, row_of};

impl Journal {
    /// All deliveries that are sent, or may have been, and are not done, in the order of their claims.
    pub fn unfinished_deliveries(&self) -> Result<Vec<DeliveryRow>> {
        let sql = format!("SELECT {ROW} FROM deliveries WHERE state IN ('sending', 'sent') ORDER BY number");
        self.db.rows(&sql, [], row_of)
    }

    /// The id that was given to a line without one, if any.
    pub fn name(&self, line: &LineHash) -> Result<Option<String>> {
        self.db.row("SELECT id FROM names WHERE line = ?1", [line.bytes()], |row| row.get(0))
    }

    /// Remembers the ids of lines, before they are written; a line that has one gets the new one.
    pub fn set_names(&self, names: &[(LineHash, String)]) -> Result<()> {
        self.db.write(|tx| {
            let mut insert = tx.prepare_cached("INSERT OR REPLACE INTO names (line, id) VALUES (?1, ?2)")?;
            for (line, id) in names {
                insert.execute(params![line.bytes(), id])?;
            }
            Ok(())
        })
    }

    /// The stat of a note when a pass last found nothing to do or to say in it.
    pub fn clean(&self, note: &str) -> Result<Option<String>> {
        self.db.row("SELECT stat FROM clean WHERE note = ?1", [note], |row| row.get(0))
    }

    /// Notes that a pass found nothing to do or to say in a note with this stat.
    pub fn set_clean(&self, note: &str, stat: &str) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO clean (note, stat) VALUES (?1, ?2)";
        self.db.execute(sql, [note, stat]).map(drop)
    }

    /// The findings among `current` in a note that were not reported yet. With `remember` they count as reported from
    /// now on, and those that are fixed are deleted: a mistake made again is reported again.
    pub fn new_findings(
        &self,
        note: &str,
        current: &BTreeSet<LineHash>,
        remember: bool,
    ) -> Result<BTreeSet<LineHash>> {
        let reported = "SELECT finding FROM reported WHERE note = ?1";
        let known: BTreeSet<LineHash> = self.db.rows(reported, [note], |row| Ok(LineHash(row.get(0)?)))?;
        let new: BTreeSet<LineHash> = current.difference(&known).copied().collect();
        let gone: Vec<LineHash> = known.difference(current).copied().collect();
        if remember && !(new.is_empty() && gone.is_empty()) {
            self.db.write(|tx| {
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
