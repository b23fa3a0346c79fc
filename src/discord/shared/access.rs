//! Decides by its author whether a Discord message is logged and answered: only owners command and are answered; other
//! bots never.
//!
//! Which channels belong to the bot is not decided here but in `discord::bot`.

use crate::discord::api::message::IncomingMessage;

/// The people of `[discord] owner_ids`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Owners(Vec<u64>);

impl Owners {
    /// The owners with these user ids.
    pub fn new(ids: &[u64]) -> Self {
        Self(ids.to_vec())
    }

    /// Whether this user is one.
    pub fn has(&self, user: u64) -> bool {
        self.0.contains(&user)
    }

    /// Their ids: whom a notification may ping.
    pub fn ids(&self) -> &[u64] {
        &self.0
    }

    /// `allowed_mentions` with only those owners that the text names.
    ///
    /// Every message, edit and answer carries this: without it Discord lets `@everyone` and roles through.
    pub fn allowed_mentions(&self, text: &str) -> serde_json::Value {
        // Discord refuses ids in `users` that are doubled; those that the text doesn't name do nothing.
        let mut named: Vec<u64> =
            self.0.iter().copied().filter(|id| text.contains(&format!("<@{id}>"))).collect();
        named.sort_unstable();
        named.dedup();
        let named: Vec<String> = named.iter().map(u64::to_string).collect();
        serde_json::json!({ "parse": [], "users": named, "roles": [], "replied_user": false })
    }
}

/// The policy for a message, by its author and place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessagePolicy {
    /// An owner's: logged, and answered if it addresses the bot.
    Owner,
    /// The bot's own: logged.
    Own,
    /// Another person's message: logged, never answered.
    Other,
    /// Dropped: a stranger's DM, or another person's where others aren't logged.
    Dropped,
}

/// The policy for a message.
pub fn policy(
    message: &IncomingMessage,
    bot: u64,
    owners: &Owners,
    is_dm: bool,
    log_others: bool,
) -> MessagePolicy {
    match message.author.id {
        author if author == bot => MessagePolicy::Own,
        author if owners.has(author) && !message.author.bot => MessagePolicy::Owner,
        _ if is_dm || !log_others => MessagePolicy::Dropped,
        _ => MessagePolicy::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_but_owners_can_be_pinged() {
        let owners = Owners::new(&[42, 42]);
        let allowed = owners.allowed_mentions("<@42> <@66> @everyone");
        assert_eq!(allowed["users"], serde_json::json!(["42"]));
        assert_eq!(allowed["parse"], serde_json::json!([]));
        assert_eq!(owners.allowed_mentions("hi")["users"], serde_json::json!([]));
    }
}
