//! `setup` with somebody who has just made a bot: the dialogue in a real terminal, against a Discord of our own.

use crate::deliver::setting_up::{answers, begin, finish, has_lines, in_v, machine, secret};
use crate::discord::rig::*;

/// A machine with an Obsidian vault whose Discord is ours.
fn home(fake: &FakeDiscord) -> TestVault {
    let vault = machine();
    fs::create_dir_all(vault.home().join("v/.obsidian")).unwrap();
    let settings = format!("[discord]\napi_base = \"{}\"\n", fake.api_base());
    fs::write(vault.home().join("v/vault-agent.toml"), settings).unwrap();
    vault
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_is_set_up_step_by_step() {
    let fake = FakeDiscord::start().await;
    let home = home(&fake);
    let token = fake.world().token.clone();
    fake.world().invited = false;
    let mut at = begin(&home, "discord");
    at.answer("As a bot, or through a webhook? [bot]", "carrier");
    at.answer("As a bot, or through a webhook?", "");
    let said = at.answer("The bot's token (it isn't shown while you paste it)?", "wrong-token");
    contains_all(said, &["https://discord.com/developers/applications"]);
    contains_all(at.answer("The bot's token", &token), &["Discord refuses the bot's token"]);
    at.see("ok Discord knows the bot as ");
    let invite = "https://discord.com/oauth2/authorize?client_id=501&scope=bot+applications.commands&permissions=274877975552";
    contains_all(at.answer("Press Enter once the bot is in your server.", ""), &[invite]);
    contains_all(at.see("Press Enter once"), &["the bot is in no server yet"]);
    fake.world().invited = true;
    at.line("");
    contains_all(at.answer("Which channel gets the messages?", "99"), &["  1. #", " in Home"]);
    assert!(at.answer("Which channel", &CHANNEL.to_string()).contains("neither in the list"), "99 is none");
    contains_all(at.answer(&format!("Your id at Discord? [{ALICE}]"), ""), &["The bot was made by "]);
    at.see("ok a test message is in the channel");
    let (said, screen) = finish(at, false);
    contains_all(&said, &["~/.config/vault-agent/discord-token: a secret, for you alone"]);
    assert!(!screen.contains(&token) && !screen.contains("wrong-token"), "{screen}");
    assert_eq!(secret(&home, "discord-token"), token);
    let token = "token_file = \"~/.config/vault-agent/discord-token\"";
    has_lines(&home, &["kind = \"discord\"", token, "channel_id = 2000", "owner_ids = [42]"]);
    assert_eq!(fake.texts(CHANNEL).len(), 1, "{:?}", fake.texts(CHANNEL));
    // What was set up is what `doctor` finds well.
    in_v(&home, &["doctor"]).says("can be read and written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_sets_up_a_webhook_from_a_file() {
    let fake = FakeDiscord::start().await;
    let home = home(&fake);
    let secret = home.home().join("hook");
    write_private(&secret, "https://discord.com/api/webhooks/700/webhook-token\n");
    let text = "notify = \"discord\"\n[discord]\nway = \"webhook\"\nwebhook_url_file = \"~/hook\"\n";
    for (mode, code, words) in [(0o644, 2, "can be read by other users"), (0o600, 0, "")] {
        set_mode(&secret, mode);
        answers(&home, text).exits(code).warns(words);
    }
    has_lines(&home, &["webhook_url_file = \"~/hook\""]);
    assert_eq!(fake.texts(CHANNEL).len(), 1);
}
