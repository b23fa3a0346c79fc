//! Tests `gateway`.

use super::*;

#[test]
fn only_the_right_hosts_get_the_token() {
    for good in ["wss://gateway.discord.gg", "wss://gateway-us-east1-b.discord.gg/"] {
        assert!(checked_address(good, false).is_ok(), "{good}");
        assert!(checked_address(good, true).is_err(), "{good}");
    }
    for bad in
        ["ws://gateway.discord.gg", "wss://discord.gg.example.com", "wss://evildiscord.gg", "", "wss://"]
    {
        assert!(checked_address(bad, false).is_err(), "{bad}");
    }
    assert!(checked_address("ws://127.0.0.1:80", true).is_ok());
    assert!(checked_address("ws://127.0.0.1:80?x=1", true).is_err());
}
