//! A skill's secrets: given to its command alone, and in nothing that is kept or shown.

use std::path::Path;

use serde_json::json;
use vault_agent::agent::tools::ApprovalVerdict;

use crate::agent::rig::{Person, ask, boxed, left, settings};
use crate::deliver::servers::Web;
use crate::models::{ModelServer, Reply};
use crate::support::{TestVault, contains_all, write_private};

const CANARY: &str = "canary-7f3Qz+/=x9";

const NOTES: &str = concat!(
    "//- /MEMORY.md\n## General\n- x\n",
    "//- /skills/vaulty/SKILL.md\n---\nname: vaulty\ndescription: x\nmetadata:\n  secrets: CANARY_KEY\n---\n",
    "Run scripts/tell.sh.\n//- /skills/vaulty/scripts/tell.sh\n",
    "printf '%s\\n' \"$CANARY_KEY\"\nprintf '%s' \"$CANARY_KEY\" | base64\nprintf 'x%s' \"$CANARY_KEY\" | base64\n",
    "printf '%s' \"$CANARY_KEY\" | od -An -tx1 | tr -d ' \\n'\necho\nprintf '%s' \"$CANARY_KEY\" > kept.txt\n",
    "vault-agent memory save \"the key is $CANARY_KEY\" || echo 'not saved'\n",
    "printf '%s' \"$CANARY_KEY\" | vault-agent memory save - || echo 'not saved'\n",
);

/// Gives a skill the canary as its secret of this name, from a file.
fn give_key(vault: &TestVault, skill: &str, name: &str) {
    let file = vault.home().join("key");
    write_private(&file, &format!("{CANARY}\n"));
    let key = format!("[skill.{skill}]\nkey_files = {{ {name} = \"{}\" }}\n", file.display());
    vault.write("vault-agent.toml", vault.read("vault-agent.toml") + &key);
}

/// The forms in which the canary must be nowhere.
fn forms() -> Vec<String> {
    let hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let base64 = data_encoding::BASE64.encode(CANARY.as_bytes());
    vec![CANARY.to_owned(), hex, base64.trim_end_matches('=').to_owned()]
}

/// Whether a file below `dir` holds the canary.
fn holds(dir: &Path) -> Option<String> {
    for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            if let Some(found) = holds(&entry) {
                return Some(found);
            }
        } else if let Ok(bytes) = std::fs::read(&entry) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if forms().iter().any(|form| text.contains(form.as_str())) {
                return Some(entry.display().to_string());
            }
        }
    }
    None
}

fn clean(vault: &TestVault, server: &ModelServer, said: &str) {
    for form in forms() {
        assert!(!said.contains(&form), "{said}");
        for request in server.requests() {
            assert!(!String::from_utf8_lossy(&request.bytes).contains(&form), "{}", request.body);
        }
    }
    for dir in [vault.root(), vault.state(), vault.cache()] {
        assert_eq!(holds(&dir), None);
    }
    assert_eq!(left(vault), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_of_the_environment_is_in_nothing_that_is_kept_or_shown() {
    let Some((server, mut vault)) = boxed(NOTES, "").await else { return };
    vault.env("CANARY_KEY", CANARY);
    let listed = vault.json(&["skill", "list"]);
    let hash = &listed[0]["hash"].as_str().unwrap()[..12];
    let allow = format!("allow = [\"skill:vaulty@{hash}\", \"bash:skill vaulty: bash scripts/tell.sh\"]");
    vault.write("vault-agent.toml", settings(&server, &allow));
    server.script(vec![
        Reply::tool("bash", json!({"command": "bash scripts/tell.sh", "skill": "vaulty"})),
        // A later command of the turn finds neither the environment nor what the first one kept.
        Reply::tool("bash", json!({"command": "env; cat kept.txt; cat output*; ls -R ."})),
        Reply::text("Done."),
    ]);
    let run = vault.run(&["-vv", "--json", "ask", "Tell."]).ok();
    let results = server.requests()[2].results();
    assert!(results[0].starts_with("[hidden]\n[hidden]"), "{}", results[0]);
    assert_eq!(results[0].matches("not saved").count(), 2, "{}", results[0]);
    assert!(results[0].contains("a secret never goes into the vault"), "{}", results[0]);
    assert!(!results[1].contains("CANARY_KEY"), "{}", results[1]);
    clean(&vault, &server, &format!("{}{}", run.stdout, run.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_of_a_key_file_is_asked_about_and_given_after_a_yes() {
    let Some((server, vault)) = boxed(NOTES, "").await else { return };
    give_key(&vault, "vaulty", "CANARY_KEY");
    let call = || ("bash", json!({"command": "bash scripts/tell.sh", "skill": "vaulty"}));
    let no = Person::who_says(ApprovalVerdict::No);
    let results = ask(&vault, &server, &no, vec![call()]).await;
    assert!(results[0].contains("declined"), "{}", results[0]);
    let asked = no.asked();
    assert_eq!(asked[0].run, "skill vaulty: bash scripts/tell.sh");
    assert!(asked[0].why.contains("the secret CANARY_KEY") && asked[0].why.contains("came from elsewhere"));
    assert_eq!(asked[0].always, None, "one word can't be for both");
    let yes = Person::who_says(ApprovalVerdict::Yes);
    let results = ask(&vault, &server, &yes, vec![call()]).await;
    assert!(results[0].starts_with("[hidden]\n"), "{}", results[0]);
    clean(&vault, &server, &results.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_web_is_searched_with_the_key_and_the_key_stays_out_of_sight() {
    let Some((server, vault)) = boxed("", "").await else { return };
    if std::process::Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: there is no curl");
        return;
    }
    // A stand-in for Brave on this machine: answers once, and echoes the key as bad servers do.
    let echo = format!("{{\"web\":{{\"results\":[{{\"title\":\"Oolong\"}}]}},\"echo\":\"{CANARY}\"}}");
    let brave = Web::start(move |_| (200, echo.clone()));
    let _ = vault.run(&["init", "."]).ok();
    let script = vault.read("skills/brave-search/scripts/search.sh");
    vault.write(
        "skills/brave-search/scripts/search.sh",
        script.replace("https://api.search.brave.com", &brave.url),
    );
    give_key(&vault, "brave-search", "BRAVE_API_KEY");
    let yes = Person::who_says(ApprovalVerdict::Yes);
    let call = json!({"command": "bash scripts/search.sh 'green tea & cake' 3", "skill": "brave-search", "network": true});
    let results =
        ask(&vault, &server, &yes, vec![("skill", json!({"name": "brave-search"})), ("bash", call)]).await;
    contains_all(&results[1], &["\"title\":\"Oolong\"", "\"echo\":\"[hidden]\""]);
    let searched = brave.asked().remove(0);
    assert_eq!(searched.path, "/res/v1/web/search?q=green+tea+%26+cake&count=3");
    assert_eq!((searched.method.as_str(), searched.header("X-Subscription-Token")), ("GET", Some(CANARY)));
    let asked = yes.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].run, "skill brave-search, network: bash scripts/search.sh 'green tea & cake' 3");
    assert_eq!(asked[1].why, "network, the secret BRAVE_API_KEY", "the skill was approved when it was read");
    clean(&vault, &server, &results.join("\n"));
}
