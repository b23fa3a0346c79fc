//! Computes a bot's permissions in a channel, by Discord's rule over roles and overwrites. Pure.

use serde_json::Value;

use super::content::list;
use super::message::id;

/// The permissions that the bot needs in its channel: the bit, and the name that Discord's settings show.
const NEEDED: [(u64, &str); 3] =
    [(1 << 11, "Send Messages"), (1 << 38, "Send Messages in Threads"), (1 << 16, "Read Message History")];

const ADMINISTRATOR: u64 = 1 << 3;
const VIEW_CHANNEL: u64 = 1 << 10;

/// The permissions that a member lacks in a channel that it can see, by the names that Discord's settings show. Empty if the
/// answers aren't enough to tell.
pub fn lacking(guild: u64, member: &Value, roles: &Value, channel: &Value) -> Vec<&'static str> {
    match allowed(guild, member, roles, channel) {
        // The channel was read, so an answer by which it can't be seen is incomplete.
        Some(allowed) if allowed & VIEW_CHANNEL != 0 => {
            NEEDED.iter().filter(|(bit, _)| allowed & bit == 0).map(|(_, name)| *name).collect()
        }
        _ => vec![],
    }
}

/// The permissions of a member in a channel, by the rule of Discord's documentation ("Permissions", overwrites).
fn allowed(guild: u64, member: &Value, roles: &Value, channel: &Value) -> Option<u64> {
    let held: Vec<u64> = list(&member["roles"]).iter().filter_map(id).collect();
    let of_role = |wanted: u64| list(roles).iter().find(|role| id(&role["id"]) == Some(wanted));
    let base = held.iter().filter_map(|role| id(&of_role(*role)?["permissions"]));
    let base = base.fold(id(&of_role(guild)?["permissions"])?, |all, more| all | more);
    if base & ADMINISTRATOR != 0 {
        return Some(u64::MAX);
    }
    let overwrites = list(&channel["permission_overwrites"]);
    let of = |wanted: u64| overwrites.iter().filter(move |overwrite| id(&overwrite["id"]) == Some(wanted));
    let change = |base: u64, overwrites: Vec<&Value>| {
        let sum = |key: &str| {
            overwrites.iter().filter_map(|overwrite| id(&overwrite[key])).fold(0, |all, more| all | more)
        };
        base & !sum("deny") | sum("allow")
    };
    let user = id(&member["user"]["id"])?;
    let everyone = change(base, of(guild).collect());
    let by_role = change(everyone, held.iter().flat_map(|role| of(*role)).collect());
    Some(change(by_role, of(user).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn roles_and_overwrites_count_as_discord_counts_them() {
        let all = (VIEW_CHANNEL | NEEDED.iter().map(|(bit, _)| bit).sum::<u64>()).to_string();
        let send = (1u64 << 11).to_string();
        let member = json!({ "roles": ["7"], "user": { "id": "5" } });
        let roles = json!([{ "id": "1", "permissions": all }, { "id": "7", "permissions": "0" }]);
        let with =
            |overwrites: Value| lacking(1, &member, &roles, &json!({ "permission_overwrites": overwrites }));
        assert!(with(json!([])).is_empty());
        let deny = |who: &str| json!({ "id": who, "type": 0, "allow": "0", "deny": send });
        let allow = |who: &str| json!({ "id": who, "type": 0, "allow": send, "deny": "0" });
        assert_eq!(with(json!([deny("1")])), ["Send Messages"]);
        assert!(with(json!([allow("7"), deny("1")])).is_empty(), "a role's word is above everyone's");
        assert_eq!(
            with(json!([allow("7"), deny("5")])),
            ["Send Messages"],
            "a member's own is above a role's"
        );
        assert!(with(json!([deny("8")])).is_empty(), "a role that it doesn't hold");
        let admin = json!([{ "id": "1", "permissions": "8" }]);
        assert!(lacking(1, &member, &admin, &json!({ "permission_overwrites": [deny("1")] })).is_empty());
        let unknown = json!([{ "id": "1", "permissions": "0" }]);
        assert!(
            lacking(1, &member, &unknown, &json!({})).is_empty(),
            "nothing is claimed of what isn't known"
        );
        assert!(lacking(1, &member, &json!({}), &json!({})).is_empty());
    }
}
