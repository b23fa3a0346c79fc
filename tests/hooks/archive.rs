//! Sessions as logs: what was said and done comes into the vault, each thing once, whatever is killed or done twice.

use crate::hooks::host::{self, *};
use vault_agent::format::log::{self, EventKind, LogBlock};

use crate::format::tool_call::tool_parts;
use crate::hooks::host::log as hooks_log;

pub const ON: &str = "//- vault-agent.toml\n[hooks]\narchive = true\n";

/// A transcript in the host's words.
#[derive(Default)]
pub struct Tape {
    pub lines: Vec<Value>,
    pub session: String,
    count: usize,
}

impl Tape {
    pub fn new() -> Self {
        Self { session: SESSION.to_owned(), ..Self::default() }
    }

    pub fn entry(&mut self, kind: &str, message: Value) -> &mut Value {
        self.count += 1;
        let id = |count: usize| format!("{}-{count:04}", self.session);
        let time = format!("2026-12-01T08:{:02}:{:02}.123Z", self.count / 60 % 60, self.count % 60);
        let mut line = host::entry(kind, &id(self.count), &time, message);
        line["sessionId"] = json!(self.session);
        line["parentUuid"] = json!((self.count > 1).then(|| id(self.count - 1)));
        self.lines.push(line);
        self.lines.last_mut().unwrap()
    }

    pub fn user(&mut self, text: &str) -> &mut Value {
        self.entry("user", json!({ "role": "user", "content": text }))
    }

    pub fn said(&mut self, text: &str) -> &mut Value {
        let content = json!([{ "type": "text", "text": text }]);
        self.entry("assistant", json!({ "role": "assistant", "model": "claude-opus-4", "content": content }))
    }

    pub fn call(&mut self, id: &str, tool: &str, arguments: Value) -> &mut Value {
        let content = json!([{ "type": "tool_use", "id": id, "name": tool, "input": arguments }]);
        self.entry("assistant", json!({ "role": "assistant", "model": "claude-opus-4", "content": content }))
    }

    pub fn result(&mut self, id: &str, text: &str) -> &mut Value {
        let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": text }]);
        self.entry("user", json!({ "role": "user", "content": content }))
    }

    /// A turn with a tool.
    pub fn turn(&mut self, number: usize) {
        self.user(&format!("Prompt {number} about the roses"));
        self.call(&format!("toolu_{number}"), "Bash", json!({ "command": format!("ls bed{number}") }));
        self.result(&format!("toolu_{number}"), &format!("rose{number}.txt"));
        self.said(&format!("Answer {number}: they are in bed {number}."));
    }

    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The host has written it, and the assistant has answered.
    pub fn stop(&self, vault: &TestVault) {
        self.write(vault);
        stops(vault);
    }

    pub fn write(&self, vault: &TestVault) -> PathBuf {
        let path = transcript_path(vault).with_file_name(format!("{}.jsonl", self.session));
        vault.write(&path, self.text());
        path
    }
}

/// A vault that keeps sessions, and a session.
fn recorded() -> (TestVault, Tape) {
    (TestVault::new(ON), Tape::new())
}

/// What we know of sessions beside their logs is lost.
fn forget(vault: &TestVault) {
    std::fs::remove_dir_all(vault.state().join("sessions")).unwrap();
}

/// The assistant has answered.
pub fn stops(vault: &TestVault) {
    happens(vault, "stop", json!({}));
}

pub fn logs(vault: &TestVault) -> Vec<PathBuf> {
    ending_in("md", &vault.path("logs/claude-code"))
}

fn ending_in(extension: &str, folder: &Path) -> Vec<PathBuf> {
    let files = files_below(folder).into_iter();
    files.filter(|path| path.extension().is_some_and(|own| own == extension)).collect()
}

pub fn log_of(vault: &TestVault, session: &str) -> PathBuf {
    let mut logs = logs(vault).into_iter();
    logs.find(|path| path.ends_with(format!("{session}.md"))).unwrap_or_else(|| panic!("no log of {session}"))
}

pub fn events(vault: &TestVault, session: &str) -> Vec<LogBlock> {
    log::parse(&std::fs::read(log_of(vault, session)).unwrap()).blocks
}

/// The events of the usual session.
pub fn kept(vault: &TestVault) -> Vec<LogBlock> {
    events(vault, SESSION)
}

/// Moves that log, as a person does; where it is then.
fn move_log(vault: &TestVault, folder: &str) -> PathBuf {
    let log = log_of(vault, SESSION);
    let moved = vault.path("logs/claude-code").join(folder).join(log.file_name().unwrap());
    std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
    std::fs::rename(log, &moved).unwrap();
    moved
}

/// Its log as it is.
pub fn bytes(vault: &TestVault) -> Vec<u8> {
    std::fs::read(log_of(vault, SESSION)).unwrap()
}

/// Each event in a few words.
pub fn shown(blocks: &[LogBlock]) -> Vec<String> {
    let show = |block: &LogBlock| match tool_parts(&block.event.content) {
        Some((arguments, result)) => format!("tool {} {arguments} -> {result}", block.event.author),
        None => format!("{}: {}", block.event.kind, block.event.content),
    };
    blocks.iter().map(show).collect()
}

/// An event of the host, answered; nothing may have gone wrong.
pub fn happens(vault: &TestVault, name: &str, more: Value) {
    happens_in(vault, SESSION, name, more);
}

fn happens_in(vault: &TestVault, session: &str, name: &str, more: Value) {
    let host_name = HostEvent::named(name).unwrap().host_name();
    let _ = hook(vault, name, &input(vault, host_name, more).replace(SESSION, session));
    assert_eq!(hooks_log(vault), "");
}

#[test]
fn a_session_is_kept_whole_and_once() {
    let (vault, mut tape) = recorded();
    tape.turn(1);
    tape.write(&vault);
    for event in ["stop", "user-prompt-submit", "stop", "pre-compact", "session-start"] {
        happens(&vault, event, json!({ "prompt": "Where are the roses?", "source": "resume" }));
    }
    tape.turn(2);
    tape.lines.insert(0, json!({ "type": "file-history-snapshot", "messageId": "m0", "snapshot": {} }));
    tape.write(&vault);
    happens(&vault, "session-end", json!({ "reason": "other" }));
    let blocks = kept(&vault);
    let turn = "user: Prompt N about the roses|tool Bash {\"command\":\"ls bedN\"} -> roseN.txt|\
                agent: Answer N: they are in bed N.";
    assert_eq!(shown(&blocks).join("|"), [turn.replace('N', "1"), turn.replace('N', "2")].join("|"));
    assert_eq!(blocks[2].event.author, "claude-opus-4");
    assert!(blocks.iter().all(|block| block.event.ulid().is_some()));
    let log = log_of(&vault, SESSION);
    let project = log.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    assert!(project.starts_with("garden-"), "{project}");
    let text = std::fs::read_to_string(log).unwrap();
    assert!(text.starts_with(&format!("---\nsurface: claude-code\ncontext_id: {project}\n")), "{text}");
    assert!(text.contains("title: Prompt 1 about the roses\n"), "{text}");
}

#[test]
fn entries_that_the_host_writes_again_are_kept_once() {
    let (vault, mut tape) = recorded();
    tape.turn(1);
    tape.user("yes");
    tape.user("yes");
    // After a compaction the host writes old entries again, with the same ids.
    let mut again = tape.lines.clone();
    again[0]["version"] = json!("2.1.301");
    tape.entry("system", json!(null))["subtype"] = json!("compact_boundary");
    tape.user("This session is being continued: roses.")["isCompactSummary"] = json!(true);
    tape.lines.extend(again);
    tape.turn(2);
    tape.stop(&vault);
    let compacted = "agent: Answer 1: they are in bed 1.|user: yes|user: yes|\
        system: The host compacted the conversation here.|\
        system: The host's summary of what was said before:\nThis session is being continued: roses.";
    assert_eq!(shown(&kept(&vault))[2..7].join("|"), compacted);
    assert_eq!(kept(&vault).len(), 10);
}

#[test]
fn a_forked_session_goes_on_from_the_first_ones_log() {
    let (vault, mut first) = recorded();
    first.turn(1);
    first.turn(2);
    first.stop(&vault);
    let mut before = first.lines.clone();
    for (session, with_new_ids) in [("aaaa-fork", false), ("bbbb-fork", true)] {
        let mut fork = Tape { session: session.to_owned(), ..Tape::default() };
        for line in &before {
            let mut line = line.clone();
            line["sessionId"] = json!(session);
            if with_new_ids {
                line["forkedFrom"] = json!({ "sessionId": SESSION, "messageUuid": line["uuid"] });
                line["uuid"] = json!(format!("new-{}", line["uuid"].as_str().unwrap()));
            }
            fork.lines.push(line);
        }
        fork.user(&format!("Now the tulips of {session}"));
        fork.said("They are in bed 9.");
        fork.write(&vault);
        let is_second = session.starts_with('b');
        if is_second {
            move_log(&vault, "elsewhere");
        }
        happens_in(&vault, session, "stop", json!({}));
        forget(&vault);
        happens_in(&vault, session, "session-end", json!({ "reason": "other" }));
        let shown = shown(&events(&vault, session));
        assert!(shown[0].starts_with("system: Goes on from [[logs/claude-code/"), "{shown:?}");
        assert!(shown[0].contains(SESSION), "{shown:?}");
        let own = shown.iter().filter(|event| !event.starts_with("system: Goes on from")).count();
        assert_eq!((own, shown.len()), (2, if is_second { 4 } else { 3 }), "{shown:?}");
        // The second goes on from the first fork.
        if !is_second {
            before.extend(fork.lines[before.len()..].iter().cloned());
        }
    }
}

#[test]
fn sub_agents_have_logs_of_their_own() {
    let (vault, mut tape) = recorded();
    tape.user("Ask somebody");
    tape.call("toolu_1", "Task", json!({ "prompt": "Count the roses" }));
    // As older hosts write it, in the same file.
    tape.user("Count the roses")["isSidechain"] = json!(true);
    tape.said("There are seven.")["isSidechain"] = json!(true);
    tape.result("toolu_1", "seven");
    tape.said("Seven.");
    let path = tape.write(&vault);
    // As newer ones do: in the session's folder, or beside it.
    let begins = |folder: &str, id: &str| {
        let file = path.with_file_name(folder).join(format!("agent-{id}.jsonl"));
        let session = if id == "c3" { "another" } else { SESSION };
        let mut own = Tape { session: session.to_owned(), ..Tape::default() };
        own.user(&format!("Prompt for {id}"));
        own.said(&format!("Answer of {id}"));
        for line in &mut own.lines {
            (line["isSidechain"], line["agentId"]) = (json!(true), json!(id));
            line["cwd"] = json!("/work/elsewhere");
        }
        vault.write(file, own.text());
    };
    let below = format!("{SESSION}/subagents");
    for (folder, id) in [(below.as_str(), "a1"), ("", "b2"), ("", "c3")] {
        begins(folder, id);
    }
    stops(&vault);
    stops(&vault);
    let task = "tool Task {\"prompt\":\"Count the roses\"} -> seven";
    assert_eq!(shown(&kept(&vault)), ["user: Ask somebody", task, "agent: Seven."]);
    for (name, expected) in [
        (format!("{SESSION}_agents"), ["user: Count the roses", "agent: There are seven."]),
        (format!("{SESSION}_agent-a1"), ["user: Prompt for a1", "agent: Answer of a1"]),
        (format!("{SESSION}_agent-b2"), ["user: Prompt for b2", "agent: Answer of b2"]),
    ] {
        assert_eq!(shown(&events(&vault, &name)), expected, "{name}");
    }
    assert_eq!(logs(&vault).len(), 4);
    assert!(logs(&vault).iter().all(|log| log.parent() == log_of(&vault, SESSION).parent()));
    // One goes on, and others begin, when their session has no more events.
    let file = path.with_extension("").join("subagents/agent-a1.jsonl");
    let mut more = Tape { count: 9, ..Tape::new() };
    more.said("More of a1")["isSidechain"] = json!(true);
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + &more.text()).unwrap();
    happens_in(&vault, "dddd-next", "session-start", json!({ "source": "startup" }));
    assert_eq!(events(&vault, &format!("{SESSION}_agent-a1")).len(), 3);
    for (folder, id) in [(below.as_str(), "d4"), ("", "e5")] {
        begins(folder, id);
        happens_in(&vault, "dddd-next", "session-start", json!({ "source": "startup" }));
        assert_eq!(events(&vault, &format!("{SESSION}_agent-{id}")).len(), 2);
    }
}

#[test]
fn long_results_and_pictures_stand_beside_the_log() {
    use sha2::{Digest, Sha256};

    let (vault, mut tape) = recorded();
    let long = format!("begin {} end", "line of words\n".repeat(3000));
    tape.user("Read it");
    tape.call("toolu_1", "Read", json!({ "file_path": "/work/garden/plan.txt" }));
    tape.result("toolu_1", &long);
    tape.call("toolu_2", "Read", json!({ "file_path": "/work/garden/short.txt" }));
    tape.result("toolu_2", &"x".repeat(16 << 10));
    let picture = json!([{ "type": "text", "text": "Look" },
        { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=" } }]);
    tape.entry("user", json!({ "role": "user", "content": picture }));
    tape.stop(&vault);
    let blocks = kept(&vault);
    let content = &blocks[1].event.content;
    let (_, result) = tool_parts(content).unwrap();
    assert!(result.len() < 4096 && result.starts_with("begin line") && result.ends_with(" end"), "{result}");
    let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(long.as_bytes()));
    let note = content.lines().last().unwrap();
    assert!(note.starts_with("note: the whole result: [[logs/claude-code/garden-"), "{note}");
    assert!(note.ends_with(&format!("/files/{hash}.txt]] ({} bytes, sha256 {hash})", long.len())), "{note}");
    assert_eq!(vault.read(note.split("[[").nth(1).unwrap().split("]]").next().unwrap()), long);
    assert_eq!(tool_parts(&blocks[2].event.content).unwrap().1.len(), 16 << 10);
    let prompt = &blocks[3].event.content;
    let path = prompt.strip_prefix("Look\n![[").unwrap().split("]]").next().unwrap();
    assert_eq!(std::fs::read(vault.path(path)).unwrap(), b"\x89PNG\r\n\x1a\n");
}

#[test]
fn keys_never_reach_the_vault() {
    let vault = TestVault::new(&ON.replace("archive = true", "archive = true\nmask = [\"acme_[a-z]{8,}\"]"));
    let github = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let keys = [github, "MIIEpAIBAAKCAQEA7bq98", "acme_supersecret", "tr0ub4dor!x"];
    let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    let text = format!("keys: {github} {begin}\n{}\n{end} {} done", keys[1], keys[2]);
    let mut tape = Tape::new();
    tape.user(&text);
    let deep = json!({ "deep": [text], (github): 1 });
    tape.call("toolu_1", "Bash", json!({ "command": text, "env": deep, "args": ["--password", keys[3]] }));
    tape.result("toolu_1", &format!("{text}{}{text}", "words and words\n".repeat(2000)));
    tape.said(&text);
    tape.call("toolu_2", "Bash", json!({ "command": text }));
    tape.write(&vault);
    happens(&vault, "session-end", json!({ "reason": "other" }));
    let mut files = vec![log_of(&vault, SESSION)];
    files.extend(files_below(&files[0].with_file_name("files")));
    assert_eq!((files.len(), kept(&vault).len()), (2, 4));
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        contains_none(&text, &keys);
        contains_all(&text, &["[masked: github token]", "[masked: own pattern]", "done"]);
    }
}

#[test]
fn half_a_character_is_kept_and_a_line_that_is_no_json_is_told_once() {
    let (vault, mut tape) = recorded();
    tape.user("Prompt HALF");
    tape.call("toolu_1", "Bash", json!({ "command": "x" }));
    tape.result("toolu_1", "important, cut here HALF");
    let path = tape.write(&vault);
    let (escape, bytes) = (tape.text().replace("HALF", "\\ud83d"), &b"{\"type\": \"us\xf0\xff\n\n"[..]);
    std::fs::write(&path, [escape.as_bytes(), bytes, b"{\"type\": \"user\", \"growing"].concat()).unwrap();
    happens(&vault, "stop", json!({}));
    forget(&vault);
    let stop = input(&vault, "Stop", json!({ "last_assistant_message": "HALF" })).replace("HALF", "\\ud83d");
    let _ = hook(&vault, "stop", &stop);
    assert_eq!(hooks_log(&vault), "");
    let shown = shown(&kept(&vault));
    let cut = "tool Bash {\"command\":\"x\"} -> important, cut here \u{fffd}";
    assert_eq!(shown[..2], ["user: Prompt \u{fffd}", cut]);
    let told = "system: A line of the transcript that is no JSON is not kept here: at byte ";
    assert!(shown.len() == 3 && shown[2].starts_with(told), "{shown:?}");
}

#[test]
fn a_call_waits_for_its_result_and_no_longer_than_the_next_prompt() {
    let (vault, mut tape) = recorded();
    tape.user("Do it");
    tape.call("toolu_1", "Bash", json!({ "command": "sleep" }));
    tape.stop(&vault);
    assert_eq!(kept(&vault).len(), 1);
    tape.said("Meanwhile.");
    tape.stop(&vault);
    tape.result("toolu_1", "done");
    tape.call("toolu_2", "Bash", json!({ "command": "lost" }));
    tape.user("And now?");
    tape.stop(&vault);
    let waited = "user: Do it|agent: Meanwhile.|tool Bash {\"command\":\"sleep\"} -> done|\
                  tool Bash {\"command\":\"lost\"} -> |user: And now?";
    assert_eq!(shown(&kept(&vault)).join("|"), waited);
    // The host writes an old prompt again while a call waits, and the user speaks beside its result.
    tape.call("toolu_3", "Bash", json!({ "command": "late" }));
    tape.lines.push(tape.lines[0].clone());
    tape.stop(&vault);
    let content = &mut tape.result("toolu_3", "done")["message"]["content"];
    content.as_array_mut().unwrap().push(json!({ "type": "text", "text": "Thanks" }));
    tape.stop(&vault);
    assert_eq!(shown(&kept(&vault))[5..], ["tool Bash {\"command\":\"late\"} -> done", "user: Thanks"]);
    let lost = &kept(&vault)[3];
    assert!(lost.event.content.ends_with("note: no result came") && lost.event.kind == EventKind::Tool);
}

/// As if a file was last written so long ago.
fn age(path: &Path, hours: u64) {
    let then = std::time::SystemTime::now() - Duration::from_secs(hours * 3600);
    std::fs::File::options().append(true).open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn a_session_whose_hooks_were_killed_is_completed_by_the_next() {
    let (vault, mut tape) = recorded();
    tape.turn(1);
    tape.stop(&vault);
    // Everything after this is said without us; and of one session nothing was ever heard.
    tape.turn(2);
    tape.write(&vault);
    let mut unheard = Tape { session: "cccc-unheard".to_owned(), ..Tape::default() };
    unheard.turn(3);
    unheard.write(&vault);
    for lost in [false, true] {
        if lost {
            forget(&vault);
        }
        happens_in(&vault, "dddd-next", "session-start", json!({ "source": "startup" }));
        assert_eq!((kept(&vault).len(), events(&vault, "cccc-unheard").len()), (6, 3), "{lost}");
    }
    // A question to the user may wait until the next morning; after a day its call has no result.
    tape.call("toolu_3", "Bash", json!({ "command": "lost" }));
    let path = tape.write(&vault);
    for (hours, expected) in [(0, 6), (20, 6), (25, 7), (26, 7)] {
        age(&path, hours);
        happens_in(&vault, "dddd-next", "session-start", json!({ "source": "startup" }));
        assert_eq!(kept(&vault).len(), expected, "{hours}");
    }
    // A result that comes later than that stands with its call all the same.
    tape.result("toolu_3", "late");
    tape.write(&vault);
    happens_in(&vault, "dddd-next", "session-start", json!({ "source": "startup" }));
    assert_eq!(shown(&kept(&vault))[7..], ["tool Bash {\"command\":\"lost\"} -> late"]);
    // A last line that the host was killed at is looked at once more, and no more then.
    std::fs::write(&path, tape.text() + "{\"type\": ").unwrap();
    age(&path, 25);
    let states = || {
        happens_in(&vault, "dddd-next", "session-start", json!({ "source": "startup" }));
        let found = ending_in("json", &vault.state().join("sessions")).into_iter();
        found.map(|path| std::fs::metadata(path).unwrap().modified().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((states(), kept(&vault).len()), (states(), 8));
}

#[test]
fn a_torn_event_is_gone_on_with() {
    let (vault, mut tape) = recorded();
    tape.turn(1);
    tape.stop(&vault);
    let before = bytes(&vault);
    tape.turn(2);
    tape.stop(&vault);
    let (path, whole) = (log_of(&vault, SESSION), bytes(&vault));
    let mut cuts: Vec<usize> = (before.len() + 1..whole.len()).step_by(37).collect();
    cuts.push(whole.len() - 1);
    for cut in cuts {
        std::fs::write(&path, &whole[..cut]).unwrap();
        forget(&vault);
        stops(&vault);
        assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {cut}");
    }
    // A person's words behind the last event stay, and are no event's beginning.
    let noted = [&before[..], b"\nmy note\n"].concat();
    std::fs::write(&path, &noted).unwrap();
    forget(&vault);
    stops(&vault);
    assert!(std::fs::read(&path).unwrap().starts_with(&noted) && kept(&vault).len() == 6);
}

#[test]
fn a_deleted_log_stays_deleted() {
    let (vault, mut tape) = recorded();
    tape.turn(1);
    tape.stop(&vault);
    std::fs::remove_file(log_of(&vault, SESSION)).unwrap();
    stops(&vault);
    assert!(logs(&vault).is_empty());
    tape.turn(2);
    tape.stop(&vault);
    assert_eq!(kept(&vault).len(), 3);
}

#[test]
fn memory_that_was_injected_is_not_kept_as_said() {
    let (vault, mut tape) = recorded();
    tape.user("<system-reminder>\nINJECTED_CONTEXT_RELEVANT_MEMORIES\n{\"x\": 1}\n</system-reminder>");
    tape.entry("attachment", json!(null))["attachment"] =
        json!({ "type": "hook_additional_context", "content": ["INJECTED_CONTEXT_RELEVANT_MEMORIES"] });
    tape.user("Real words");
    tape.stop(&vault);
    assert_eq!(shown(&kept(&vault)), ["user: Real words"]);
}

#[test]
fn sessions_are_found_when_asked_for_and_never_given() {
    let (vault, mut tape) = recorded();
    vault.write("MEMORY.md", "# Memory\n\n## Garden\n\n- The compost heap is behind the shed\n");
    for number in 0..40 {
        tape.user(&format!("The compost heap of plan {number} needs turning behind the shed"));
        tape.said(&format!("Turning {number} is planned for the compost heap."));
        tape.call(&format!("t{number}"), "Read", json!({ "file_path": "quokka.txt" }));
        tape.result(&format!("t{number}"), "quokka words");
    }
    tape.user("The zinnia thermometer hangs behind the cellar door");
    tape.said("Noted: the zinnia thermometer is behind the cellar door.");
    tape.stop(&vault);
    let recall = |question: &str, more: &[&str]| {
        let answer = vault.json(&[&["recall", question], more].concat());
        answer["hits"].as_array().unwrap().iter().map(|hit| hit["path"].clone()).collect::<Vec<_>>()
    };
    assert!(recall("where is the zinnia thermometer?", &[]).is_empty());
    assert_eq!(recall("where is the compost heap?", &[]), ["MEMORY.md"]);
    assert!(!recall("where is the zinnia thermometer?", &["--scope", "sessions"]).is_empty());
    assert_ne!(vault.json(&["search", "zinnia thermometer"])["hits"], json!([]));
    assert_eq!(vault.json(&["search", "quokka"])["hits"], json!([]));
    let text = crate::hooks::host::prompt(&vault, "Do you remember where the zinnia thermometer is?");
    assert!(!text.contains("innia"), "{text}");
    // A log that has grown isn't read for that, but for a pin of its own.
    let heap = || vault.json(&["recall", "where is the compost heap?"]);
    let before = heap()["freshness"]["generation"].clone();
    tape.user("The walrus clock hangs in the attic");
    tape.stop(&vault);
    assert_eq!(heap()["freshness"]["generation"], before);
    let id = kept(&vault).pop().unwrap().event.id.unwrap();
    vault.write("Pinned.md", format!("- [[{}#^{id}]]\n", SESSION.to_uppercase()));
    let pinned = heap();
    assert_ne!(pinned["freshness"]["generation"], before);
    assert!(pinned["hits"].to_string().contains("walrus clock"), "{pinned}");
}

#[test]
fn transcripts_can_be_brought_in_by_a_command() {
    let vault = TestVault::new("");
    let mut tape = Tape::new();
    tape.turn(1);
    // Nothing is kept unless the settings say so.
    tape.stop(&vault);
    assert!(!vault.path("logs/claude-code").exists() && !vault.state().join("sessions").exists());
    // Nothing is known yet, and nothing is said to be kept.
    let run = vault.run(&["hook", "archive"]);
    assert_eq!(run.exits(0).stdout.trim(), "no session is known for this vault, so none was archived");
    let path = tape.write(&vault);
    let run = vault.run(&["hook", "archive", path.to_str().unwrap(), "--json"]);
    assert_eq!((run.code, run.json()["logs"][0]["events"].clone()), (0, json!(3)), "{}", run.stderr);
    for args in [&["hook", "archive", path.to_str().unwrap()][..], &["hook", "archive"]] {
        vault.run(args).exits(0).says("all session logs are up to date\n");
    }
    vault.run(&["hook", "archive", "/nowhere.jsonl"]).exits(1).warns("no such transcript");
}

#[test]
fn history_knows_who_wrote() {
    let (vault, mut tape) = recorded();
    let _ = vault.run(&["history"]);
    tape.turn(1);
    tape.call("toolu_9", "Read", json!({}));
    tape.result("toolu_9", &"words \n".repeat(9000));
    tape.stop(&vault);
    let actors = |path: &str| {
        let records = vault.json(&["history", path]);
        records.as_array().unwrap().iter().map(|one| one["actor"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(actors("logs"), ["hook"]);
    tape.turn(2);
    tape.stop(&vault);
    assert_eq!(actors("logs"), ["hook", "hook"]);
    assert_eq!(vault.run(&["audit"]).code, 0);
    // A log that a person moved is gone on with there.
    for (folder, turn) in [("elsewhere", 3), ("old/2026", 4), ("", 5), ("files", 6)] {
        let moved = move_log(&vault, folder);
        let before = actors("logs").len();
        tape.turn(turn);
        tape.result(&format!("toolu_{turn}"), &format!("words {turn}\n").repeat(9000));
        tape.stop(&vault);
        assert_eq!((log_of(&vault, SESSION), kept(&vault).len()), (moved, 7 + (turn - 2) * 4));
        let after = actors("logs");
        assert_eq!((after.len(), &after[0]), (before + 1, &json!("hook")), "{folder}");
    }
}

#[test]
fn doctor_says_whether_anything_keeps_them() {
    let vault = TestVault::new(ON);
    let status = || vault.doctor("sessions").pop().map_or(Value::Null, |row| row["status"].clone());
    assert_eq!(status(), "warn");
    let _ = vault.run(&["hook", "install"]).ok();
    assert_eq!(status(), "ok");
    // Hooks of another vault, and those of a program that is gone.
    let settings = vault.home().join(".claude/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    let root = vault.root().canonicalize().unwrap();
    for (from, to) in [(root.to_str().unwrap(), "/other"), ("\"'/", "\"'/gone/")] {
        std::fs::write(&settings, text.replace(from, to)).unwrap();
        assert_eq!(status(), "warn", "{to}");
    }
    std::fs::remove_file(settings).unwrap();
    // A project's own, seen from there.
    std::fs::create_dir(vault.home().join("app")).unwrap();
    let at = |args: &[&str]| {
        let mut command = vault.command(args);
        Run::of(command.current_dir(vault.home().join("app")).env("VAULT_AGENT_VAULT", &root))
    };
    at(&["hook", "install", "--project", "--no-memories"]).exits(0);
    at(&["doctor"]).says("ok   sessions");
    vault.write("vault-agent.toml", "# none\n");
    assert_eq!(status(), Value::Null);
}

#[test]
fn a_line_that_is_too_long_to_be_kept_is_told_once() {
    let (vault, mut tape) = recorded();
    tape.turn(1);
    let path = tape.write(&vault);
    let long = json!({ "type": "user", "message": { "role": "user", "content": "x".repeat(65 << 20) } });
    std::fs::write(&path, format!("{}{long}\n", tape.text())).unwrap();
    stops(&vault);
    until("the transcript is read", || kept(&vault).len() == 4);
    let told = shown(&kept(&vault)).pop().unwrap();
    contains_all(told, &["system: A line of 65 MB of the transcript is not kept here: at byte "]);
    std::fs::remove_dir_all(vault.state()).unwrap();
    stops(&vault);
    let _ = vault.run(&["hook", "archive", path.to_str().unwrap()]).ok();
    assert_eq!(kept(&vault).len(), 4, "told once");
}
