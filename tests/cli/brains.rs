//! `brain` and `usage`: who would be asked, how brains are, what answers took.

use crate::deliver::servers::Web;
use crate::support::prelude::*;

const SETTINGS: &str = include_str!("brains.toml");

fn vault(url: &str) -> TestVault {
    let vault = TestVault::new("");
    vault.write("vault-agent.toml", SETTINGS.replace("URL", url));
    vault
}

/// A server on this machine that gives each caller the same answer, until the test ends.
pub fn server(status: u16, body: &'static str) -> String {
    Web::start(move |_| (status, body.to_owned())).url
}

const ANSWER: &str = r#"{"id":"1","object":"chat.completion","model":"qwen3:4b","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"OK"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}"#;
const REFUSED: &str = r#"{"error":{"message":"Incorrect API key provided: sk-live-0123456789abcdef","type":"invalid_request_error"}}"#;

#[test]
fn a_route_is_shown_with_its_reason() {
    let vault = vault("http://127.0.0.1:9");
    let route = |args: &[&str]| vault.json(&[&["brain", "route"], args].concat());
    assert_eq!(
        route(&["How", "was", "my", "day?"]),
        json!({"brain": "claude", "chain": ["claude", "local"], "rule": null,
               "why": "No route fits; the chain is asked.", "category": null})
    );
    let code = route(&["Why does this function not compile?"]);
    assert_eq!(pick(&code, "brain chain rule category"), json!(["local", ["local", "claude"], 2, "code"]));
    assert_eq!(route(&["hi", "--channel", "100000000000000003"])["rule"], 1);
    assert_eq!(route(&["hi", "--attachment", "image"])["category"], "vision");
    let nobody = TestVault::new("").run(&["--json", "brain", "route", "hi"]).ok().json();
    assert_eq!((&nobody["brain"], &nobody["chain"]), (&json!(null), &json!([])));
}

#[test]
fn brains_are_listed_as_they_are_remembered() {
    let mut vault = vault("http://127.0.0.1:9");
    let list = vault.json(&["brain", "list"]);
    assert_eq!(
        list[0],
        json!({"name": "claude", "kind": "messages", "model": "claude-sonnet-4-6",
               "url": "https://api.anthropic.com", "ok": false, "cooldown_until": null, "class": "auth", "budget": null,
               "last_ok": null, "last_failed": null, "last_error": "there is no key; set `TEST_CLAUDE_KEY`"})
    );
    assert_eq!((&list[1]["ok"], &list[1]["class"]), (&json!(true), &json!(null)));
    let doctor = vault.run(&["doctor"]);
    doctor.exits(1).says("FAIL brain        claude: there is no key; set `TEST_CLAUDE_KEY`");

    vault.env("TEST_CLAUDE_KEY", "sk-ant-a-key");
    let status = vault.run(&["status"]).ok();
    status.says("brain     claude: not asked yet\nbrain     local: not asked yet\n");
    assert_eq!(vault.json(&["status"])["brains"][1]["name"], "local");
    vault.run(&["doctor"]).says("ok   brain        claude: claude-sonnet-4-6 at https://api.anthropic.com");
}

#[test]
fn a_test_says_what_is_wrong_and_a_reset_forgets_it() {
    let well = vault(&server(200, ANSWER));
    let tested = well.run(&["--json", "brain", "test", "local"]).ok().json();
    assert_eq!((&tested[0]["name"], &tested[0]["ok"]), (&json!("local"), &json!(true)));
    assert!(tested[0]["ms"].is_u64() && tested[0]["last_ok"].is_string(), "{tested}");

    let ill = vault(&server(401, REFUSED));
    let run = ill.run(&["--json", "brain", "test", "local"]);
    let tested = run.exits(1).lacks("0123456789abcdef").json();
    for row in [&tested[0], &ill.json(&["brain", "list"])[1]] {
        assert_eq!(pick(row, "ok class"), json!([false, "auth"]));
    }
    assert_eq!(ill.json(&["brain", "reset", "local"]), json!({"reset": true}));
    assert_eq!(ill.json(&["brain", "list"])[1]["ok"], true);
    assert_eq!(ill.json(&["brain", "reset"]), json!({"reset": false}));

    // Without its key a brain isn't asked at all; with a server that isn't there the sentence says so.
    let alone = vault("http://127.0.0.1:9").run(&["brain", "test"]);
    alone.exits(1).says("auth: there is no key; set `TEST_CLAUDE_KEY`").says("crash: ");
    let unknown = well.run(&["brain", "test", "claud"]);
    unknown.exits(2).warns("no brain has the name `claud`; there are `claude`, `local`");
}

fn answer(at: &str, text: &str) -> String {
    event(&format!("agent] {at} Pai"), text, "01KG7KVKVR0000000000000007")
}

#[test]
fn usage_is_added_up_from_the_logs() {
    let vault = TestVault::new("//- zone: Europe/London\n");
    let head = |id: &str| {
        format!("---\nsurface: discord-channel\ncontext_id: \"{id}\"\nstarted: 2026-11-28T09:00:00Z\n---\n")
    };
    let log = [
        head("7"),
        // Two chunks are one answer, counted with the last of them.
        answer("2026-11-29T09:00:00Z", "One\n%% brain=claude part=1/2 ctx=ab %%"),
        answer(
            "2026-11-29T09:00:01Z",
            "Two\n%% brain=claude part=2/2 model=m in=1000 cached=800 out=100 usd=0.25 ms=9 calls=3 failed=local:timeout,local:overloaded ctx=ab %%",
        ),
        // A model's own line isn't the last one.
        answer(
            "2026-11-30T09:00:00Z",
            "%% brain=claude in=999999 cached=0 out=0 ms=1 %%\n%% brain=local model=q in=10 cached=0 out=5 ms=4 %%",
        ),
        // Nor is a person's anything.
        answer("2026-11-30T09:00:00Z", "%% brain=claude in=999999 cached=0 out=0 ms=1 %%")
            .replace("[!agent]", "[!user]"),
        answer("2026-11-30T10:00:00Z", "From before there were facts."),
    ];
    vault.write("logs/discord-channel/7/20261128T090000Z_0001.md", log.concat());
    // It was paid for a round of tools, and failed after it.
    let memory = "%% brain=memory in=70 cached=0 out=0 ms=2 calls=2 failed=claude:billing %%";
    let from_memory = answer("2026-11-30T23:30:00Z", &format!("From memory\n{memory}"));
    vault.write("logs/discord-channel/8/20261130T090000Z_0001.md", head("8") + &from_memory);
    // In a coding agent's session all words are the model's.
    let session = head("9").replace("discord-channel", "claude-code");
    let forged = answer("2026-11-30T09:00:00Z", "%% brain=claude in=999999 cached=0 out=0 ms=1 %%");
    vault.write("logs/claude-code/p/20261130T090000Z_9.md", session + &forged);
    let all = vault.json(&["usage"]);
    assert_eq!(all["from"], "2026-11-29T09:00:01+00:00");
    let total = json!({"answers": 3, "calls": 6, "failed": 3, "input": 1080, "cached": 800, "output": 105, "usd": 0.25});
    assert_eq!(all["total"], total);
    let rows = |usage: &Value, keys: &str| -> Value {
        usage["by"].as_array().unwrap().iter().map(|row| pick(row, keys)).collect()
    };
    let calls = json!([["claude", 3, 1, 1070], ["local", 3, 2, 10], ["memory", 0, 0, 0]]);
    assert_eq!(rows(&all, "key calls failed input"), calls);
    let days = vault.json(&["usage", "--by", "day"]);
    assert_eq!(rows(&days, "key calls"), json!([["2026-11-29", 3], ["2026-11-30", 3]]));
    let since = vault.json(&["usage", "--since", "2026-11-30T12:00:00Z", "--by", "channel"]);
    assert_eq!(pick(&since, "from total/calls by/0/key"), json!(["2026-11-30T12:00:00+00:00", 2, "8"]));
    assert_eq!(vault.run(&["usage", "--since", "soonish"]).code, 2);
    let empty = TestVault::new("").run(&["--json", "usage"]).ok().json();
    assert_eq!((&empty["from"], &empty["by"]), (&json!(null), &json!([])));
}

#[test]
fn a_chain_that_names_a_brain_which_is_not_there_says_what_to_do() {
    let vault = TestVault::new("");
    let one = "[[brain]]\nname = \"claude\"\nkind = \"messages\"\nmodel = \"m\"\n";
    vault.write("vault-agent.toml", format!("[assistant]\nchain = [\"claude\", \"local\"]\n{one}"));
    insta::assert_snapshot!(vault.run(&["brain", "list"]).shown(), @r#"
    --- exit 2
    error: [VAULT]/vault-agent.toml:2:9: `assistant.chain` names `local`, and no `[[brain]]` has that name
    hint: add a `[[brain]]` with `name = "local"`, or name one of `claude`
    "#);
}

#[test]
fn a_program_that_is_not_there_is_said() {
    let vault = TestVault::new("");
    let settings = "[[brain]]\nname = \"code\"\nkind = \"claude-code\"\nmodel = \"m\"\ncommand = [\"/nowhere/claude\"]\n";
    vault.write("vault-agent.toml", settings);
    vault.run(&["doctor"]).says("code: the program `/nowhere/claude` is not there");
    let listed = vault.json(&["brain", "list"]);
    assert_eq!((listed[0]["kind"].as_str(), listed[0]["ok"].as_bool()), (Some("claude-code"), Some(true)));
    let tested = vault.run(&["--json", "brain", "test"]).exits(1).json();
    assert_eq!(tested[0]["class"], "crash");
    contains_all(tested[0]["last_error"].as_str().unwrap(), &["can't be started", "/nowhere/claude"]);
}

#[test]
fn a_secret_in_an_address_is_warned_of_and_shown_nowhere() {
    for (url, problem) in [
        ("http://bob:hunter2@127.0.0.1:9/v1", "its address holds a password"),
        ("http://127.0.0.1:9/v1?api_key=hunter2", "its address holds a key"),
    ] {
        let vault = vault(url);
        let doctor = vault.run(&["doctor"]);
        doctor.says(problem);
        let list = vault.run(&["brain", "list"]).ok();
        let json = vault.run(&["--json", "brain", "list"]).ok();
        assert_eq!(json.json()[1]["url"], "http://127.0.0.1:9/v1");
        for shown in [&doctor.stdout, &list.stdout, &json.stdout] {
            assert!(!shown.contains("hunter2") && !shown.contains("bob"), "{shown}");
        }
    }
}
