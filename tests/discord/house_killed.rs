//! The daemon killed at any moment of a turn that runs a command with something in the background, a program as a brain,
//! or another MCP server: nothing of it is left, the message has one answer, and each tool was started at most once.
//! `VAULT_AGENT_KILLS` says how often; 200 nightly.

use crate::discord::house::*;
use crate::discord::rig::*;

const SETTINGS: &str = "[assistant]\ntools = [\"vault\", \"bash\"]\nchain = [\"wire\"]\n\
    [[brain]]\nname = \"wire\"\nkind = \"messages\"\nmodel = \"m\"\nurl = \"URL\"\nkey_file = \"../key\"\n\
    [[brain]]\nname = \"coder\"\nkind = \"claude-code\"\nmodel = \"m\"\nurl = \"URL\"\nkey_file = \"../key\"\n\
    command = [\"HERE/bin/claude\"]\n\
    [[route]]\nmatch = \"coder\"\nbrain = \"coder\"\n";

/// One tool for each question, by its kind; where the call stands in the request, the answer. Never the same twice.
fn model(house: &House, tag: String) {
    let mut number = 0;
    house.server.respond(move |asked: &Asked| {
        number += 1;
        let said = asked.last_user();
        let words = || said.lines().rev().flat_map(str::split_whitespace);
        // Also out of what is told of an earlier try, as JSON.
        let name = words().find(|word| word.starts_with("q0")).unwrap_or("none");
        let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned();
        let effect = format!("effect {name}");
        if String::from_utf8_lossy(&asked.bytes).contains(&effect) {
            return Reply::text(format!("end {name} {number}")).after(Duration::from_millis(300));
        }
        if said.contains("coder") {
            let arguments = json!({ "when": "2031-01-01 10:00", "message": effect });
            return Reply::tool("mcp__vault-agent__reminder_add", arguments);
        }
        if said.contains("web") {
            let arguments = json!({ "server": "web", "tool": "look", "arguments": { "q": effect } });
            return Reply::tool("mcp_call", arguments);
        }
        let command = format!(
            "setsid sleep {tag} & sleep {tag} & vault-agent remind add '2031-01-01 10:00' '{effect}'; sleep 0.5; echo ran"
        );
        Reply::tool("bash", json!({ "command": command }))
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_killed_in_its_turns_leaves_no_process_and_answers_each_message_once() {
    let kills: u64 = std::env::var("VAULT_AGENT_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let mut kinds = vec!["coder"];
    let mut settings = SETTINGS.to_owned();
    if is_whole() {
        kinds.push("shell");
    }
    if python() {
        kinds.push("web");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/server.py");
        settings.push_str(&format!(
            "[[mcp]]\nname = \"web\"\ncommand = [\"python3\", \"-u\", \"{script}\", \"children\", \"HERE/calls\"]\n\
             tools = [\"look\"]\nask_after_reading = false\n"
        ));
    }
    let house = House::new(&settings).await;
    house.keep("key", "sk-0123456789");
    // A number that no other test's process has in its arguments.
    let port: u64 = house.server.url().rsplit(':').next().unwrap().parse().unwrap();
    let tag = (1_000_000 + port).to_string();
    model(&house, tag.clone());
    let (mut random, mut done, mut with_children, mut number) = (Rng::with_seed(0x9e37_79b9), 0, 0, 0);
    let mut asked = Vec::new();
    let mut daemon = house.run().await;
    while done < kills {
        number += 1;
        let name = format!("q0{number}");
        let requests = house.server.requests().len();
        let id = house.ask(&format!("{} {name}", kinds[number % kinds.len()]));
        asked.push((id, name.clone()));
        // Anywhere from the message on; or, more often, from the model's first word on, where tools run.
        if random.u64(..4) > 0 {
            house.wait("the model is asked", || house.server.requests().len() > requests).await;
        }
        for again in 0..3 {
            tokio::time::sleep(Duration::from_micros(random.u64(..900_000))).await;
            assert!(daemon.child.try_wait().unwrap().is_none(), "it ended by itself");
            with_children += usize::from(daemon.kill(&house).await > 0);
            done += 1;
            house.wait("the background is gone", || !is_running(&tag)).await;
            daemon = house.start();
            if again == 1 || random.u64(..3) > 0 {
                break;
            }
        }
        house.wait(&name, || !house.replies(id).is_empty()).await;
        house.wait("the turn is over", || house.is_over(id)).await;
        let tools = house.turn_journal().tools(id).unwrap();
        assert!(tools.len() <= 1, "{name}: {tools:?}");
        house.fake.connected().await;
    }
    let left = daemon.kill(&house).await;
    assert_eq!(left, 0, "between turns nothing runs beside the daemon");
    let calls = std::fs::read_to_string(house.dir().join("calls")).unwrap_or_default();
    let told = house.text("Reminders.md") + &calls;
    let mut effects = 0;
    for (id, name) in &asked {
        let replies = house.replies(*id);
        assert_eq!(replies.len(), 1, "{name}: {replies:?}");
        assert!(replies[0].starts_with(&format!("end {name} ")), "{name}: {replies:?}");
        let logged = house.said(CHANNEL).iter().filter(|said| **said == replies[0]).count();
        assert_eq!(logged, 1, "{name} in the log");
        let count = told.matches(&format!("effect {name}\"")).count();
        assert!(count <= 1, "{name}: {count} times");
        effects += count;
    }
    assert!(effects > 0 && with_children > 0, "{effects} effects, {with_children} kills with children");
}

/// Whether a process with this argument runs.
fn is_running(tag: &str) -> bool {
    running().iter().any(|(_, line, _)| *line == format!("sleep\0{tag}\0"))
}
