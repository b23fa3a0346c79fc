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
    let form = visitor.form(&plan, "undo", &saved);
    let again = visitor.form(&plan, "undo", &saved);
    assert_eq!(form.get("form"), again.get("form"));
    let _ = visitor.submit(&form).is(303);
    let _ = visitor.submit(&again).is(303);
    // Another look is another plan; a form of one that was shown before it was undone elsewhere comes late.
    let other = visitor.get(&format!("/history/{saved}?plan=undo")).is(200).text();
    assert!(!other.contains(form.get("form").unwrap()) && other.contains("was undone already"), "{other}");
    let late = form.with("form", "aaaaaaaaaaaaaaaaaaaaaa");
    assert!(visitor.submit(&late).is(409).text().contains("was undone already"));
    let by_person = visitor.json("/history?actor=human")[0]["id"].as_str().unwrap().to_owned();
    let plan = visitor.get(&format!("/history/{by_person}?plan=undo")).is(200).text();
    assert!(plan.contains("no write of the agent"), "{plan}");
}

#[test]
fn a_hit_says_what_was_found_where_and_a_fact_who_wrote_it() {
    let vault = vault();
    vault.write("Kitchen.md", "# Kitchen\n\n## Oven\nThe oven needs a new seal.\n");
    drop(vault.run(&["memory", "save", "tea at five"]).ok());
    let (_served, visitor) = Served::visited(&vault);
    let found = visitor.json("/search?q=oven+seal");
    let hit = &found["hits"][0];
    assert_eq!(hit["path"], "Kitchen.md", "{found}");
    let places = json!([
        { "word": "oven", "places": ["text", "heading"] },
        { "word": "seal", "places": ["text"] },
    ]);
    assert_eq!(hit["matched"], places, "{found}");
    let page = visitor.get("/search?q=oven+seal").is(200).text();
    assert!(page.contains("<mark>oven</mark> (text, heading)"), "{page}");
    let facts = visitor.json("/memory");
    let memories =
        facts.as_array().unwrap().iter().flat_map(|section| section["memories"].as_array().unwrap());
    let fact = memories.into_iter().find(|one| one["text"] == "tea at five").expect("the fact");
    assert_eq!(fact["origin"]["actor"], "cli", "{fact}");
    let page = visitor.get("/memory").is(200).text();
    let change = format!("href=\"/history/{}\"", fact["origin"]["snapshot"].as_str().unwrap());
    assert!(page.contains("by person") && page.contains(&change), "{page}");
}

/// A question of the page is a turn as any other: what it called and cost can be looked up, and a form sent again asks nothing.
#[test]
fn a_question_of_the_page_is_a_turn_that_can_be_looked_up() {
    let sample = Sample::still();
    sample.server.script(vec![Reply::text("Fifteen minutes.")]);
    let (_sample, _served, visitor) = sample.visited();
    let form = visitor.form(&format!("/?write={}", encoded("how long does the soup cook")), "ask", "");
    let to = visitor.submit(&form).is(303).header("location").to_owned();
    until("an answer", || visitor.get(&to).is(200).text().contains("Fifteen minutes."));
    let asked = visitor.json(&to);
    assert_eq!(asked["state"], "done");
    assert!(asked["answer"].as_str().is_some_and(|text| text.starts_with("Fifteen minutes.")), "{asked}");
    let page = visitor.get(&to).text();
    let turn = page.split("href=\"/turns/").nth(1).expect("a link").split('"').next().unwrap().to_owned();
    let detail = visitor.json(&format!("/turns/{turn}"));
    assert!(detail["state"] == "done" && detail["channel"] == "page", "{detail}");
    assert_eq!(detail["question"], "how long does the soup cook");
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
    let form = visitor.form(&format!("/?write={}", encoded("how long does the soup cook")), "ask", "");
    let to = visitor.submit(&form).is(303).header("location").to_owned();
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
    let visitor = open();
    let form = visitor.form(&format!("/?write={}", encoded("how long does the soup cook")), "ask", "");
    let to = visitor.submit(&form).is(303).header("location").to_owned();
    until("the model", || !sample.server.requests().is_empty());
    let _ = sample.vault.run(&["web", "--stop"]).ok().says("closed");
    assert_eq!(open().json(&to)["state"], "called");
}

#[test]
fn health_says_what_doctor_says_and_ends_a_session() {
    let (vault, _served, visitor) = Served::over(listening(
        "//- /Reminders.md\n- [ ] date=2026-12-02 time=09:30 recur=none msg=\"Call\"\n- [ ] date=someday time=09:30 recur=none msg=\"Odd\"\n",
    ));
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
    assert!(page.contains("the voice") && page.contains("laptop"), "{page}");
    assert!(page.contains("&lt;b&gt;1&lt;/b&gt; **2**") && !page.contains("<b>1</b>"), "{page}");
}

#[test]
fn a_turn_shows_what_the_model_was_given() {
    let (sample, _served, visitor) = Sample::new().visited();
    let turns = visitor.json("/turns");
    let id = turns[0]["id"].as_str().unwrap().to_owned();
    let command = sample.vault.json(&["turns", &id, "--request"]);
    let path = format!("/turns/{id}?request=yes");
    assert_eq!(visitor.json(&path), command);
    let page = visitor.get(&path).is(200).text();
    assert!(page.contains("What is due today? Answer in five lines.") && page.contains("the same"), "{page}");
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
    for number in 0..50 {
        vault.write(format!("{number}.md"), number.to_string());
    }
    drop(vault.run(&["history"]).ok());
    let remove = || (0..40).for_each(|number| fs::remove_file(vault.path(format!("{number}.md"))).unwrap());
    remove();
    drop(vault.run(&["history"]).ok());
    let (_served, visitor) = Served::visited(&vault);
    contains_all(visitor.get("/health").is(200).text(), &["files are gone since"]);
    visitor.submit(&visitor.form("/health", "bring-back", "")).is(303);
    assert_eq!(vault.read("7.md"), "7");
    assert!(!visitor.get("/health").is(200).text().contains("files are gone since"));
    remove();
    drop(vault.run(&["history"]).ok());
    let accept = visitor.form("/health", "accept", "");
    fs::remove_file(vault.path("49.md")).unwrap();
    contains_all(visitor.submit(&accept).is(409).text(), &["missing files changed"]);
    visitor.submit(&visitor.form("/health", "accept", "")).is(303);
    assert!(!vault.has("7.md"));
    assert!(!visitor.get("/health").is(200).text().contains("files are gone since"));
    // A restore that was killed is finished, or taken back.
    let commit = visitor.json("/history")[0]["id"].as_str().unwrap().to_owned();
    let stored = |text: &str| {
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, text.as_bytes()).unwrap().to_string();
        json!(["100644", id])
    };
    let note = vault.state().join("history.git/restore.json");
    let interrupt = || {
        let pending = json!({
            "from": commit, "subject": "restored: 1 file", "began": vault.now(),
            "steps": [{ "path": "45.md", "before": stored("45"), "after": stored("7") }],
        });
        fs::write(&note, pending.to_string()).unwrap();
    };
    interrupt();
    visitor.submit(&visitor.form("/health", "finish", "")).is(303);
    assert_eq!((vault.read("45.md").as_str(), note.exists()), ("7", false));
    interrupt();
    visitor.submit(&visitor.form("/health", "roll-back", "")).is(303);
    assert_eq!((vault.read("45.md").as_str(), note.exists()), ("45", false));
}
