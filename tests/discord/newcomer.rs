//! `setup` with somebody who has just made a bot: the dialogue in a real terminal, against a Discord of our own.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::fake::{FakeDiscord, Fault};
use super::rig::{ALICE, CHANNEL};
use crate::pty::Pty;

/// A home with an Obsidian vault whose Discord is ours.
fn home(fake: &FakeDiscord) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("v/.obsidian")).unwrap();
    let settings = format!("[discord]\napi_base = \"{}\"\n", fake.api_base());
    std::fs::write(home.path().join("v/vault-agent.toml"), settings).unwrap();
    home
}

fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vault-agent"));
    command
        .args(args)
        .env_clear()
        .env("HOME", home)
        .env("TZ", "Europe/Berlin")
        .env("OLLAMA_HOST", "http://127.0.0.1:1");
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LANG", "C.UTF-8");
    command.env("XDG_STATE_HOME", home.join("state")).env("XDG_CACHE_HOME", home.join("cache"));
    command.current_dir(home).stdin(Stdio::null());
    command
}

fn to_discord(at: &mut Pty) {
    at.answer("Which folder?", "v");
    at.answer("Which time zone", "");
    at.answer("Where are you told what is due?", "discord");
}

fn to_the_end(at: &mut Pty) -> String {
    at.answer("Who answers?", "none");
    let before = at.answer("Install it as a service?", "no");
    before + &at.answer("Write this?", "yes")
}

fn settings(home: &Path) -> String {
    std::fs::read_to_string(home.join("v/vault-agent.toml")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_is_set_up_step_by_step() {
    let fake = FakeDiscord::start().await;
    let home = home(&fake);
    let token = fake.world().token.clone();
    fake.world().invited = false;
    let mut at = Pty::start(&command(home.path(), &["setup"]));
    to_discord(&mut at);
    at.answer("As a bot, or through a webhook? [bot]", "carrier");
    at.answer("As a bot, or through a webhook?", "");
    let said = at.answer("The bot's token (it isn't shown while you paste it)?", "wrong-token");
    assert!(said.contains("https://discord.com/developers/applications"), "{said}");
    let said = at.answer("The bot's token", &token);
    assert!(said.contains("Discord refuses the bot's token"), "{said}");
    at.see("ok Discord knows the bot as ");
    let said = at.answer("Press Enter once the bot is in your server.", "");
    let invite =
        "https://discord.com/oauth2/authorize?client_id=501&scope=bot+applications.commands&permissions=";
    assert!(said.contains(invite), "{said}");
    let said = at.see("Press Enter once");
    assert!(said.contains("the bot is in no server yet"), "{said}");
    fake.world().invited = true;
    at.line("");
    let said = at.answer("Which channel is it told in?", "99");
    assert!(said.contains("  1. #") && said.contains(" in Home"), "{said}");
    assert!(at.answer("Which channel", &CHANNEL.to_string()).contains("neither in the list"), "99 is none");
    let said = at.answer(&format!("Your id at Discord? [{ALICE}]"), "");
    assert!(said.contains("The bot was made by "), "{said}");
    at.see("ok a test message is in the channel");
    let said = to_the_end(&mut at);
    assert!(said.contains("~/.config/vault-agent/discord-token: a secret, for you alone"), "{said}");
    let (code, screen) = at.wait();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!screen.contains(&token) && !screen.contains("wrong-token"), "{screen}");
    let file = home.path().join(".config/vault-agent/discord-token");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{token}\n"));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let settings = settings(home.path());
    for line in [
        "kind = \"discord\"",
        "token_file = \"~/.config/vault-agent/discord-token\"",
        "channel_id = 2000",
        "owner_ids = [42]",
    ] {
        assert!(settings.contains(line), "{line}\n{settings}");
    }
    let said = fake.texts(CHANNEL);
    assert_eq!(said.len(), 1, "{said:?}");
    // What was set up is what `doctor` finds well.
    let doctor = command(home.path(), &["--vault", "v", "doctor"]).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("can be read and written"), "{doctor}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_sent_is_said_and_can_be_left_out_or_kept() {
    let fake = FakeDiscord::start().await;
    let home = home(&fake);
    let token = fake.world().token.clone();
    fake.fault(
        "POST",
        "/messages",
        Fault::Status(403, serde_json::json!({"message": "Missing Permissions", "code": 50013})),
        2,
    );
    let mut with_token = command(home.path(), &["setup"]);
    let mut at = Pty::start(with_token.env("DISCORD_TOKEN", &token));
    to_discord(&mut at);
    at.answer("As a bot", "bot");
    assert!(at.answer("The bot's token", "").contains("Enter takes the one in `DISCORD_TOKEN`"));
    at.answer("Which channel", "1");
    at.answer("Your id at Discord?", "");
    let said = at.answer("Which channel", "1");
    assert!(said.contains("may not") && said.contains("`anyway` keeps it all the same"), "{said}");
    at.answer("Which channel", "anyway");
    let said = to_the_end(&mut at);
    assert!(said.contains("A service doesn't see what is set in your shell: `DISCORD_TOKEN`"), "{said}");
    assert_eq!(at.wait().0, Some(0));
    assert!(!settings(home.path()).contains("token_file"), "the token stays in the environment");
    // Left out, all is as it was, but for the zone.
    let again = self::home(&fake);
    let mut at = Pty::start(&command(again.path(), &["setup"]));
    to_discord(&mut at);
    at.answer("As a bot", "skip");
    to_the_end(&mut at);
    assert_eq!(at.wait().0, Some(0));
    assert!(!settings(again.path()).contains("kind = \"discord\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_sets_up_a_webhook_from_a_file() {
    let fake = FakeDiscord::start().await;
    let home = home(&fake);
    let secret = home.path().join("hook");
    std::fs::write(&secret, "https://discord.com/api/webhooks/700/webhook-token\n").unwrap();
    let answers = home.path().join("a.toml");
    let text =
        "vault = \"v\"\nnotify = \"discord\"\n[discord]\nway = \"webhook\"\nwebhook_url_file = \"~/hook\"\n";
    std::fs::write(&answers, text).unwrap();
    let run = || {
        let output = command(home.path(), &["setup", "--answers", "a.toml"]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (code, said) = run();
    assert!(code == Some(2) && said.contains("can be read by other users"), "{said}");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (code, said) = run();
    assert_eq!(code, Some(0), "{said}");
    assert!(settings(home.path()).contains("webhook_url_file = \"~/hook\""));
    assert_eq!(fake.texts(CHANNEL).len(), 1);
}
