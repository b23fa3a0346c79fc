//! Records pauses that a destination asked for (such as `Retry-After`). No pass and no process sends anything to it
//! before its pause ends.
//!
//! The pause belongs to the destination, not to the message: a refused message keeps its position before later ones.

use jiff::Timestamp;
use rusqlite::params;

use super::copies::Recipient;
use super::{Journal, Result};
use crate::deliver::notifier::MessageScope;
use crate::sqlite::instant;

impl Journal {
    /// Notes that a recipient, or a scope in it, asked at `now` for a pause until `until`.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn pause(
        &self,
        to: &Recipient,
        scope: Option<MessageScope>,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<()> {
        self.db.write(|tx| {
            tx.execute("DELETE FROM pauses WHERE until_ms <= ?1", [now.as_millisecond()])?;
            tx.execute(
                "INSERT INTO pauses (scope, asked_ms, until_ms) VALUES (?1, ?2, ?3)
                 ON CONFLICT (scope) DO UPDATE SET asked_ms = ?2, until_ms = ?3",
                params![text(to, scope), now.as_millisecond(), until.as_millisecond()],
            )?;
            Ok(())
        })
    }

    /// The pauses that last at `now`. One that was asked for later than now says nothing: the clock was put back.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn pauses(&self, now: Timestamp) -> Result<Vec<(Recipient, Option<MessageScope>, Timestamp)>> {
        let sql = "SELECT scope, until_ms FROM pauses WHERE asked_ms <= ?1 AND until_ms > ?1";
        self.db.rows(sql, [now.as_millisecond()], |row| {
            let (to, scope) = parts(&row.get::<_, String>(0)?);
            Ok((to, scope, instant(row.get(1)?).unwrap_or(now)))
        })
    }
}

/// How a recipient and a scope stand in the table; the primary notifier is its scope alone.
fn text(to: &Recipient, scope: Option<MessageScope>) -> String {
    let scope = scope.map_or_else(String::new, |scope| scope.to_string());
    match to {
        Recipient::Primary => scope,
        Recipient::Named(name) => format!("{name} {scope}"),
        Recipient::Copy(name) => format!("copy {name} {scope}"),
    }
}

fn parts(text: &str) -> (Recipient, Option<MessageScope>) {
    match text.split(' ').collect::<Vec<_>>().as_slice() {
        ["copy", name, scope] => (Recipient::Copy((*name).to_owned()), scope.parse().ok()),
        [name, scope] => (Recipient::Named((*name).to_owned()), scope.parse().ok()),
        _ => (Recipient::Primary, text.parse().ok()),
    }
}
