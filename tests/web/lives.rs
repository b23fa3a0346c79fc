//! A note's life, the changes of the vault, routines, usage, `/health` and the request of a turn, without a browser: what
//! each place shows and changes.

use crate::doors::moved;
use crate::sample::*;

fn vault() -> TestVault {
    let vault = listening("//- /a.md\n# N\n## A\none\n## B\ntwo <script>x</script>\n");
    vault.write("routines/morning.md", "---\nschedule: daily 08:00\n---\nGo.\n");
    drop(vault.run(&["history"]).ok());
    vault.write("a.md", "# N\n## A\nspoilt\n## B\ntwo <script>x</script>\n");
    drop(vault.run(&["history"]).ok());
    vault
}

/// A page that Back fetches anew holds the form that was sent: it is known, and nothing is undone twice. What can't be taken
/// back is said, and is no failure.
#[test]
fn a_plan_has_one_form_however_often_it_is_fetched_and_is_carried_out_once() {
    let vault = vault();
    drop(vault.run(&["memory", "save", "tea at five"]).ok());
    let (_served, visitor) = Served::visited(&vault);
    let saved = visitor.json("/history")[0]["id"].as_str().unwrap().to_owned();
    let page = visitor.get(&format!("/history/{saved}")).is(200).text();
    let link = page.split("href=\"").find(|link| link.contains("plan=undo")).expect("a link to the plan");
    let plan = link.split('"').next().unwrap().replace("&amp;", "&");
    let (form, again) = (visitor.form(&plan, "undo", &saved), visitor.form(&plan, "undo", &saved));
    assert_eq!(form.get("form"), again.get("form"));
    let _ = [&form, &again].map(|form| visitor.submit(form).is(303));
    // Another look is another plan; a form of one that was shown before it was undone elsewhere comes late.
    let other = visitor.get(&format!("/history/{saved}?plan=undo")).is(200).text();
    assert!(!other.contains(form.get("form").unwrap()) && other.contains("was undone already"), "{other}");
    let late = form.with("form", "aaaaaaaaaaaaaaaaaaaaaa");
    assert!(visitor.submit(&late).is(409).text().contains("was undone already"));
    let by_person = visitor.json("/history?actor=human")[0]["id"].as_str().unwrap().to_owned();
    let plan = visitor.get(&format!("/history/{by_person}?plan=undo")).is(200).text();
    contains_all(plan, &["no write of the agent"]);
}

#[test]
fn a_hit_says_what_was_found_where_and_a_fact_who_wrote_it() {
    let vault = vault();
    vault.write("Kitchen.md", "# Kitchen\n\n## Oven\nThe oven needs a new seal.\n");
    drop(vault.run(&["memory", "save", "tea at five"]).ok());
    let (_served, visitor) = Served::visited(&vault);
    let found = visitor.json("/search?q=oven+seal");
    let hit = &found["hits"][0];
    let oven = json!({ "word": "oven", "places": ["text", "heading"] });
    let matched = json!([oven, { "word": "seal", "places": ["text"] }]);
    assert_eq!(pick(hit, "path matched"), json!(["Kitchen.md", matched]), "{found}");
    contains_all(visitor.get("/search?q=oven+seal").is(200).text(), &["<mark>oven</mark> (text, heading)"]);
    let facts = visitor.json("/memory");
    let mut memories = facts.as_array().unwrap().iter().flat_map(|part| part["memories"].as_array().unwrap());
    let fact = memories.find(|one| one["text"] == "tea at five").expect("the fact");
    assert_eq!(fact["origin"]["actor"], "cli", "{fact}");
    let change = format!("href=\"/history/{}\"", fact["origin"]["snapshot"].as_str().unwrap());
    contains_all(visitor.get("/memory").is(200).text(), &["by person", &change]);
}

/// A question of the page is a turn as any other: what it called and cost can be looked up, and a form sent again asks nothing.
#[test]
fn a_question_of_the_page_is_a_turn_that_can_be_looked_up() {
    let sample = Sample::still();
    sample.server.script(vec![Reply::text("Fifteen minutes.")]);
    let (_sample, _served, visitor) = sample.visited();
    let (form, to) = visitor.ask("how long does the soup cook");
    until("an answer", || visitor.get(&to).is(200).text().contains("Fifteen minutes."));
    let asked = visitor.json(&to);
    assert_eq!(asked["state"], "done");
    assert!(asked["answer"].as_str().is_some_and(|text| text.starts_with("Fifteen minutes.")), "{asked}");
    let page = visitor.get(&to).text();
    let turn = page.split("href=\"/turns/").nth(1).expect("a link").split('"').next().unwrap().to_owned();
    let detail = visitor.json(&format!("/turns/{turn}"));
    let told = json!(["done", "page", "how long does the soup cook"]);
    assert_eq!(pick(&detail, "state channel question"), told, "{detail}");
    assert_eq!(detail["calls"].as_array().unwrap().len(), 1, "{detail}");
    assert!(detail["cost"]["input"].as_u64().is_some_and(|tokens| tokens > 0), "{detail}");
    let listed = visitor.json("/turns");
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["id"]), (1, &json!(turn)));
    contains_all(visitor.get(&format!("/turns/{turn}?request=yes")).is(404).text(), &["asked on the page"]);
    // Sent again it leads to the same answer.
    assert_eq!(visitor.submit(&form).is(303).header("location"), to);
    assert_eq!(visitor.json("/turns").as_array().unwrap().len(), 1);
}

#[test]
fn a_question_whose_process_was_killed_has_an_end() {
    let sample = Sample::still();
    sample.server.script(vec![Reply::hang()]);
    let (sample, served, visitor) = sample.visited();
    let (_, to) = visitor.ask("how long does the soup cook");
    until("the model", || !sample.server.requests().is_empty());
    let open = visitor.json(&to);
    assert!(open["state"] == "called" && open["answer"].is_null(), "{open}");
    served.kill();
    let served = sample.serve();
    let visitor = moved(&visitor, &served);
    let ended = visitor.json(&to);
    assert!(ended["state"] == "dropped" && ended["answer"].as_str().is_some(), "{ended}");
    contains_all(visitor.get(&to).is(200).text(), &["There is no answer", ended["turn"].as_str().unwrap()]);
}

#[test]
fn a_question_goes_on_where_the_page_is_closed_and_opened_again() {
    let sample = Sample::still();
    sample.server.script(vec![Reply::hang()]);
    let _daemon = sample.vault.daemon();
    let socket = vault_agent::web::control_socket::socket(&sample.vault.state());
    until("the daemon", || socket.exists());
    let open = || {
        let opened = sample.vault.json(&["web", "--print"]);
        let url = opened["url"].as_str().expect("an address");
        Visitor::enter(address(url), url)
    };
    let (_, to) = open().ask("how long does the soup cook");
    until("the model", || !sample.server.requests().is_empty());
    let _ = sample.vault.run(&["web", "--stop"]).ok().says("closed");
    assert_eq!(open().json(&to)["state"], "called");
}

#[test]
fn health_says_what_doctor_says_and_ends_a_session() {
    let (vault, _served, visitor) = Served::over(with_call());
    let odd = "- [ ] date=someday time=09:30 recur=none msg=\"Odd\"\n";
    vault.write("Reminders.md", vault.read("Reminders.md") + odd);
    let health = visitor.json("/health?look=all");
    let doctor = vault.run(&["--json", "doctor"]).json();
    // The paths of the vault are masked in what a command prints here.
    let seen = |all: &Value| -> Vec<String> {
        all.as_array().unwrap().iter().map(|one| format!("{} {}", one["check"], one["status"])).collect()
    };
    assert_eq!(seen(&health["checks"]), seen(&doctor));
    assert_eq!(health["status"]["running"], false);
    contains_all(visitor.get("/health").is(200).text(), &["someday", "The daemon is not running"]);
    // The index is made anew beside the answer.
    let form = visitor.form("/health", "reindex", "");
    assert!(visitor.submit(&form).is(303).header("location").starts_with("/health"));
    // The session that is ended is let in no more.
    let id = health["sessions"][0]["id"].as_str().unwrap();
    visitor.submit(&visitor.form("/health", "end", id)).is(303);
    visitor.get("/health").is(401);
}

/// The store may be anybody's who stole it: its words are plain text.
#[test]
fn other_machines_are_listed_and_their_words_are_plain_text() {
    use vault_agent::machines::engine::git::{GitEngine, GitPlace};
    use vault_agent::machines::engine::{EntryChange, StoreEngine};

    let (folder, store) = bare_repository();
    let remote = format!("file://{}", store.display());
    let mut vault = TestVault::new("");
    vault.write("vault-agent.toml", format!("{LISTEN}[machines]\nengine = \"git\"\nremote = \"{remote}\"\n"));
    vault.env("VAULT_AGENT_MACHINE", "server");
    vault.env("VAULT_AGENT_NOW", "2026-12-01T09:00:00Z@60");
    let daemon = vault.daemon();
    let machines = || vault.run(&["--json", "status"]).json()["daemon"]["machines"].clone();
    until("the server is the voice", || machines()["voice"] == "server");
    let place = GitPlace::new(&remote, folder.path().to_owned()).unwrap();
    let engine = GitEngine::new(place, Arc::new(SystemClock));
    let value = r#"{"machine":"X","nonce":"n","version":"<b>1</b> **2**","clock_ms":0}"#.to_owned();
    let key = "machine/laptop".to_owned();
    block_on(engine.swap(&[EntryChange { key, expected: None, value: Some(value) }])).unwrap();
    until("the daemon saw it", || machines()["machines"].as_array().is_some_and(|all| all.len() == 2));
    let served = Served::start(&vault);
    let page = served.visitor().get("/health").is(200).text();
    drop(daemon);
    contains_all(&page, &["the voice", "laptop", "&lt;b&gt;1&lt;/b&gt; **2**"]);
    contains_none(&page, &["<b>1</b>"]);
}

#[test]
fn a_turn_shows_what_the_model_was_given() {
    let (sample, _served, visitor) = Sample::new().visited();
    let turns = visitor.json("/turns");
    let id = turns[0]["id"].as_str().unwrap().to_owned();
    let command = sample.vault.json(&["turns", &id, "--request"]);
    let path = format!("/turns/{id}?request=yes");
    assert_eq!(visitor.json(&path), command);
    let told = ["What is due today? Answer in five lines.", "the same"];
    contains_all(visitor.get(&path).is(200).text(), &told);
    visitor.get("/turns/none?request=yes").is(404);
    // The run of the routine leads to it.
    let run = &visitor.json("/routines/morning")["runs"][0];
    let link = format!("/turns/{}", run["turn"].as_str().unwrap_or_else(|| panic!("{run}")));
    assert!(visitor.get("/routines/morning").is(200).text().contains(&link));
    assert_eq!(visitor.json(&link)["id"], json!(id));
}

#[test]
fn a_finding_is_mended_by_its_button() {
    let vault = listening("");
    (0..50).for_each(|number| vault.write(format!("{number}.md"), number.to_string()));
    drop(vault.run(&["history"]).ok());
    let remove = || {
        (0..40).for_each(|number| vault.remove(&format!("{number}.md")));
        drop(vault.run(&["history"]).ok());
    };
    remove();
    let (_served, visitor) = Served::visited(&vault);
    let is_told = || visitor.get("/health").is(200).text().contains("files are gone since");
    let press = |action: &str| visitor.submit(&visitor.form("/health", action, "")).is(303);
    assert!(is_told());
    press("bring-back");
    assert_eq!((vault.read("7.md").as_str(), is_told()), ("7", false));
    remove();
    let accept = visitor.form("/health", "accept", "");
    vault.remove("49.md");
    contains_all(visitor.submit(&accept).is(409).text(), &["missing files changed"]);
    press("accept");
    assert!(!vault.has("7.md") && !is_told());
    // A restore that was killed is finished, or taken back.
    let commit = visitor.json("/history")[0]["id"].as_str().unwrap().to_owned();
    let stored = |text: &str| {
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, text.as_bytes()).unwrap().to_string();
        json!(["100644", id])
    };
    let note = vault.state().join("history.git/restore.json");
    let pending = json!({
        "from": commit, "subject": "restored: 1 file", "began": vault.now(),
        "steps": [{ "path": "45.md", "before": stored("45"), "after": stored("7") }],
    });
    for (action, text) in [("finish", "7"), ("roll-back", "45")] {
        fs::write(&note, pending.to_string()).unwrap();
        press(action);
        assert_eq!((vault.read("45.md").as_str(), note.exists()), (text, false));
    }
}
