//! Tells whether new settings differ from the old ones in the assistant's part alone (brains, routes, recall, pauses): the
//! daemon then makes no more than its assistant anew.

use super::Settings;

impl Settings {
    /// Whether nothing but who answers, how, and what is paused, differs from `other`.
    pub fn differ_for_assistant_alone(&self, other: &Self) -> bool {
        let mut same = self.clone();
        (same.paused_until, same.pause_reminders) = (other.paused_until, other.pause_reminders);
        same.assistant.clone_from(&other.assistant);
        same.brains.clone_from(&other.brains);
        same.routes.clone_from(&other.routes);
        same.recall.brain.clone_from(&other.recall.brain);
        same.summary.clone_from(&other.summary);
        same.capture.clone_from(&other.capture);
        same.inbox.clone_from(&other.inbox);
        same.mcp.clone_from(&other.mcp);
        same.skills.clone_from(&other.skills);
        same == *other
    }
}
