//! Servers that hang, die, lie and talk too much.

use crate::servers::rig::*;
use vault_agent::agent::servers::ServerHealth;

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_at_its_start_is_ended_and_not_waited_for_again() {
    let Some(rig) = Rig::scripted("hang", "") else { return };
    // Time stands still but where all wait: then it jumps to the limit.
    let began = tokio::time::Instant::now();
    let hung = rig.look().await;
    assert!(hung.is_error && hung.text.contains("did not start within 20 s"), "{}", hung.text);
    assert_eq!(began.elapsed().as_secs(), 20);
    let again = rig.tools("web").await;
    assert_eq!((again.text, began.elapsed().as_secs()), (hung.text, 20));
    rig.all_are_gone();
    rig.ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_a_call_is_ended() {
    let Some(rig) = Rig::scripted("stuck", "") else { return };
    tokio::time::resume();
    let shown = rig.tools("web").await;
    assert!(!shown.is_error, "{}", shown.text);
    tokio::time::pause();
    let stuck = rig.look().await;
    assert!(stuck.is_error && stuck.text.contains("did not answer within 120 s"), "{}", stuck.text);
    rig.all_are_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_can_not_start_says_why() {
    let Some(rig) = Rig::scripted("exit", "env = [\"SECRET_OF_SERVER\"]\n") else { return };
    contains_all(rig.look().await.text, &["`SECRET_OF_SERVER` is not set"]);
    rig.ended().await;
    let missing = Rig::new("[[mcp]]\nname = \"web\"\ncommand = [\"/no/such/program\"]\ntools = [\"look\"]\n");
    let none = missing.look().await;
    assert!(none.is_error && none.text.contains("can't be used in this turn"), "{}", none.text);
}

/// Each is looked at twice: what it answers, whether that is an error, and how many processes it took.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_does_is_told() {
    let new_kind = "[content of a new kind: not shown]\nseen\n[content of a new kind: not shown]";
    for (mode, told, is_error, started) in [
        ("die", &["out of cheese", "status 7"][..], true, 2),
        ("exit", &["status 3", "no good"], true, 1),
        ("garbage", &["look {\"q\": \"tea\"}"], false, 1),
        ("big", &["It had 10000000 characters"], false, 1),
        ("huge", &["its answer is longer than 32 MiB"], true, 2),
        ("deep", &["its answer can't be read: recursion limit exceeded"], true, 2),
        ("number", &["its answer can't be read: "], true, 2),
        ("picture", &["[picture image/png, 30 KB: not shown]\nseen"], false, 1),
        ("new_kind", &[new_kind], false, 1),
        ("error", &["the page is gone"], true, 1),
        ("refuse", &["q is missing"], true, 1),
        // What it may not ask for it doesn't get.
        ("once", &["refused"], false, 1),
    ] {
        let Some(rig) = Rig::scripted(mode, "") else { return };
        for _ in 0..2 {
            let looked = rig.look().await;
            contains_all(&looked.text, told);
            assert!(looked.is_error == is_error && looked.text.len() < 31_000, "{mode}");
        }
        assert_eq!(rig.pids().len(), started, "{mode}");
        if mode == "die" {
            let seen = ServerHealth::new(&rig.workspace.dirs.state).load();
            contains_all(seen["web"].last_error.as_deref().unwrap(), &["status 7"]);
        }
        rig.ended().await;
        rig.all_are_gone();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_three_hundred_tools_the_allowed_are_shown() {
    for mode in ["many", "pages"] {
        let Some(rig) = Rig::scripted(mode, "") else { return };
        let shown = rig.tools("web").await;
        assert!(shown.text.contains("look: Does look.") && shown.text.contains("walk: "), "{}", shown.text);
        assert_eq!(shown.text.matches("look: ").count(), 1, "{mode}");
        assert!(!shown.text.contains("other_") && shown.text.len() < 600, "{mode}: {}", shown.text);
        rig.ended().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_environment_is_what_the_settings_name() {
    let Some(rig) = Rig::scripted("env", "env = [\"CARGO_MANIFEST_DIR\"]\n") else { return };
    let told = rig.look().await;
    let (start, end) = (told.text.find('{').unwrap(), told.text.rfind("} in ").unwrap());
    let environment: serde_json::Map<String, Value> = serde_json::from_str(&told.text[start..=end]).unwrap();
    let mut names: Vec<&str> = environment.keys().map(String::as_str).collect();
    // A shim that starts Python may add its own.
    names.retain(|name| {
        !["LC_CTYPE", "LANG", "VAULT_AGENT_CHILD_OF", "PWD", "SHLVL", "_"].contains(name)
            && !name.contains("PYENV_")
    });
    assert_eq!(names, ["CARGO_MANIFEST_DIR", "HOME", "PATH"]);
    assert_eq!(environment["CARGO_MANIFEST_DIR"], "[hidden]", "what it was given is nobody else's");
    assert!(told.text.contains("/state/mcp/"), "a folder of its own: {}", told.text);
    rig.ended().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_it_started_outlives_the_turn() {
    let Some(rig) = Rig::scripted("children", "") else { return };
    assert!(!rig.look().await.is_error);
    let pids = rig.pids();
    assert_eq!(pids.len(), 3);
    assert!(pids.iter().all(|pid| lives(*pid)));
    rig.ended().await;
    until("also what left its group is gone", || !pids.iter().any(|pid| lives(*pid)));
    rig.all_are_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_call_is_over_at_once() {
    let Some(rig) = Rig::scripted("stuck", "") else { return };
    let stop = CancellationToken::new();
    let (servers, token) = (rig.servers.clone(), stop.clone());
    let running = tokio::spawn(async move {
        let call = request("mcp_call", json!({"server": "web", "tool": "look"}));
        servers.call(&call, &caller("t1", false), &token).await
    });
    // The server says that the call has reached it.
    let reached = || rig.pids().len() == 2;
    tokio::task::block_in_place(|| until("the call reaches the server", reached));
    stop.cancel();
    let stopped = tokio::time::timeout(Duration::from_secs(60), running).await.unwrap().unwrap();
    assert!(stopped.is_error && stopped.text.contains("stopped"), "{}", stopped.text);
    rig.ended().await;
    rig.all_are_gone();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_is_left_after_many_turns() {
    let Some(rig) = Rig::scripted("children", "") else { return };
    for turn in 0..20 {
        let (stop, name) = (CancellationToken::new(), format!("t{turn}"));
        let call = request("mcp_call", json!({"server": "web", "tool": "look"}));
        let caller = caller(&name, false);
        let running = rig.servers.call(&call, &caller, &stop);
        // Cut off at another moment each time, as a turn's end may be.
        let _ = tokio::time::timeout(Duration::from_millis(turn * 8), running).await;
        rig.servers.turn_ended(&name).await;
    }
    rig.all_are_gone();
    assert!(!rig.pids().iter().any(|pid| lives(*pid)));
}
