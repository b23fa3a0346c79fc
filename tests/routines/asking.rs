//! What a run may use, and what it has to ask for.

use vault_agent::agent::{VaultApprovals, Waiter};
use vault_agent::routines::{RunProgress, claim_due_runs};

use crate::routines::by_hand::{Served, served};
use crate::routines::rig::*;

#[test]
fn a_run_waits_for_the_word_and_says_what_became_of_it() {
    for ticked in [true, false] {
        let mut rig = Rig::new("2026-12-01T08:00:00Z");
        rig.tools = Arc::<Outside>::default();
        rig.routine("news", "schedule: daily 08:00", "What is new?");
        rig.respond(calls("fetch", json!({})));
        let workspace = rig.workspace();
        let approvals = Arc::new(VaultApprovals::new(&workspace, Waiter::Call));
        let runner = rig.runner_with(Arc::clone(&approvals) as _);
        let open = claim_due_runs(&workspace, runner.journal(), runner.turns(), false).unwrap().open;
        let stop = CancellationToken::new();
        let driven = runtime().block_on(async {
            let word = async {
                when("the question", || rig.text("Approvals.md").contains("- [ ] ap_")).await;
                if ticked {
                    rig.write("Approvals.md", &rig.text("Approvals.md").replace("- [ ] ap_", "- [x] ap_"));
                } else {
                    rig.later(SignedDuration::from_mins(31));
                }
                approvals.recheck();
            };
            tokio::join!(runner.drive(&open[0], &stop), word).0
        });
        assert_eq!(driven.unwrap(), RunProgress::Done("sent".into()));
        let expected = if ticked { "It said: the page" } else { "It said: Nobody approved this in time." };
        let answer = rig.answers("news").remove(0);
        assert!(answer.starts_with(expected), "{answer}");
        assert!(rig.told()[0].contains(expected), "{:?}", rig.told());
    }
}

#[test]
fn a_tick_names_the_approval_and_a_later_one_goes_on_with_the_same_run() {
    if !python() {
        return;
    }
    let may = "tools = [\"look\"]\nfor = [\"routine:other\"]\nask = [\"look\"]";
    let it = served("2026-12-01T08:00:00Z", &scripted_server("web", "good", Path::new("/dev/null"), may));
    it.routine("news", "schedule: daily 08:00\nenabled: true\nmcp: [web]");
    it.server.respond(calls("mcp_call", json!({"server": "web", "tool": "look", "arguments": {"q": "tea"}})));
    let tick = it.vault.run(&["tick"]).ok();
    let note = it.vault.read("Approvals.md");
    let id = &note[note.find("ap_").unwrap()..][..15];
    tick.says(format!("asks for approval: tick `{id}` in `Approvals.md`"));
    tick.warns(format!("goes on in a later tick: it waits for the approval `{id}`"));
    // Nobody said anything yet: nothing is asked, told or put twice.
    it.vault.run(&["tick"]).ok().lacks("approval");
    assert_eq!((it.server.requests().len(), it.vault.read("Approvals.md")), (1, note.clone()));
    it.vault.write("Approvals.md", note.replace("- [ ] ap_", "- [x] ap_"));
    let ran = it.vault.json(&["tick"])["routines"]["ran"][0].clone();
    assert_eq!(pick(&ran, "run outcome"), json!(["news@2026-12-01T08:00", "sent"]));
    let asked = it.server.requests();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].results()[0].contains("look {\"q\": \"tea\"}"), "{:?}", asked[1].results());
    assert!(it.vault.read("Approvals.md").contains("state=used"));
}

fn skill(it: &Served, name: &str) {
    let note = format!("---\nname: {name}\ndescription: How {name} is made.\n---\nBoil it.\n");
    it.vault.write(format!("skills/{name}/SKILL.md"), note);
}

#[test]
fn a_head_says_what_its_runs_may_use_and_their_requests_can_be_made_again() {
    let server = |name: &str, whose: &str| {
        let tools = "command = [\"true\"]\ntools = [\"look\"]";
        format!("[[mcp]]\nname = \"{name}\"\n{tools}\nfor = [\"{whose}\"]\n")
    };
    let servers = [("own", "routine:narrow"), ("web", "routine:else"), ("mine", "assistant")];
    let it = served("2026-12-01T08:00:00Z", &servers.map(|(name, whose)| server(name, whose)).concat());
    skill(&it, "tea");
    skill(&it, "milk");
    let head = "schedule: daily 08:00\nenabled: true";
    it.routine("narrow", &format!("{head}\nskills: [tea]\nmcp: [web]"));
    it.routine("wide", head);
    it.server.respond(calls("skill", json!({"name": "milk"})));
    it.vault.run(&["routine", "run", "narrow"]).ok().says("there is no skill `milk`; known: tea");
    drop(it.vault.run(&["routine", "run", "wide"]).ok());
    let asked = it.server.requests();
    let what = ["How tea", "How milk", "own (look); web (look)", "mcp_call", "mine (look)"];
    let told = |at: usize| what.map(|what| String::from_utf8_lossy(&asked[at].bytes).contains(what));
    assert_eq!(told(0), [true, false, true, true, false]);
    assert_eq!(told(2), [true, true, false, false, false]);
    it.is_made_again(2);
}

#[test]
fn a_run_begins_with_the_brain_of_its_head_and_asks_another() {
    let it = served("2026-12-01T08:00:00Z", "");
    let local = it.vault.read("vault-agent.toml");
    let sage = local.replace("\"local\"", "\"sage\"").replace("\"m\"", "\"wise\"");
    it.vault.write("vault-agent.toml", sage + &local);
    it.routine("tea", "schedule: daily 08:00\nenabled: true\nbrain: local");
    let mut ask = calls("ask_brain", json!({"name": "sage", "question": "Which tea?"}));
    it.server.respond(move |asked| match asked.body["model"] == "wise" {
        true => Reply::text("Oolong."),
        false => ask(asked),
    });
    it.vault.run(&["routine", "run", "tea"]).ok().says("It said:").says("Oolong.");
}

#[test]
fn doctor_says_what_a_head_names_and_isnt_there() {
    let it = served("2026-12-01T08:00:00Z", "");
    it.routine("odd", "schedule: daily 08:00\nenabled: true\nbrain: nobody\nskills: [lost]\nmcp: [gone]");
    let said = it.vault.run(&["doctor"]);
    for what in ["brain `nobody`", "skill `lost`", "MCP server `gone`"] {
        said.says(format!("routines/odd.md: it names the {what}, and there is none"));
    }
    said.lacks("routines/morning.md");
}
