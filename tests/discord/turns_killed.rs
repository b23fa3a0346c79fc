//! Exactly one whole answer to each message, wherever the program is killed. A word to stop and a word on the day's budget
//! count, though the program dies before it obeys.

use crate::discord::rig::*;
use vault_agent::format::approval::ApprovalState;
use vault_agent::turn::facts;

use super::approvals::lines;
use super::traps::{SENDING, STOP, TURN, Traps};
use super::turns::{Look, looking};

/// An answer of so many messages, another one each time; it names its question.
fn different(question: &str, number: usize, chunks: usize) -> String {
    let word = format!("{question}-{number} ");
    let part = |n: usize| format!("begin {question}-{number} part {n} {}end", word.repeat(1500 / word.len()));
    (0..chunks).map(part).collect::<Vec<_>>().join("\n\n")
}

/// A model that uses a tool once where the question asks for one, and never says the same twice.
fn model(rig: &Rig, fail_one_in: usize) {
    let mut number = 0usize;
    rig.server.respond(move |asked| {
        number += 1;
        if fail_one_in > 0 && number % fail_one_in == fail_one_in - 1 {
            let failures = [Reply::status(500), Reply::cut_after(300), Reply::status(529)];
            return failures[number / fail_one_in % 3].clone();
        }
        // The question itself, without what memory gave.
        let said = asked.last_user().lines().last().unwrap_or_default().to_owned();
        let question = said.split_whitespace().rfind(|word| word.starts_with("q0")).unwrap_or("none");
        let last = asked.messages().pop().unwrap_or_default();
        let last_is_result = last["role"] == "tool" || last["content"][0]["type"] == "tool_result";
        if said.contains("tool") && !last_is_result {
            return Reply::tool("look", json!({ "q": question }));
        }
        Reply::text(different(question, number, if said.contains("long") { 3 } else { 1 }))
    });
}

/// The answers to each question: replies on Discord, in order.
fn replies(rig: &Rig) -> HashMap<u64, Vec<String>> {
    let mut found: HashMap<u64, Vec<String>> = HashMap::new();
    let mut of = None;
    for message in rig.fake.messages(CHANNEL).iter().filter(|message| message["author"]["id"] == "500") {
        of = message["message_reference"]["message_id"].as_str().map(|to| to.parse().unwrap()).or(of);
        found.entry(of.unwrap()).or_default().push(message["content"].as_str().unwrap().to_owned());
    }
    found
}

/// Each question has one whole answer on Discord, and the log holds the same once, with its facts.
fn check(rig: &Rig, questions: &BTreeMap<u64, (String, usize)>, context: &str) {
    let replies = replies(rig);
    let mut logged = rig.events(CHANNEL);
    logged.retain(|block| block.event.kind == EventKind::Agent);
    let logged: Vec<_> = logged.iter().map(|block| facts::split(&block.event.content)).collect();
    for (id, (name, chunks)) in questions {
        let texts = replies.get(id).cloned().unwrap_or_default();
        let whole: String = texts.join("\n");
        let begins: Vec<&str> = whole.match_indices("begin ").map(|(at, _)| &whole[at + 6..]).collect();
        let words: Vec<&str> = begins.iter().filter_map(|rest| rest.split_whitespace().next()).collect();
        if *chunks > 0 {
            assert_eq!(texts.len(), *chunks, "{context}: {name} has {} messages: {texts:?}", texts.len());
            assert_eq!(words.len(), *chunks, "{context}: {name}");
            assert!(words[0].starts_with(&format!("{name}-")), "{context}: {name}: {words:?}");
            assert!(words.iter().all(|word| *word == words[0]), "{context}: chunks of one text: {words:?}");
            assert_eq!(whole.matches(" end").count(), *chunks, "{context}: whole");
            for text in &texts {
                let held: Vec<_> = logged.iter().filter(|(held, _)| held == text).collect();
                assert!(held.iter().all(|(_, facts)| facts.is_some()), "{context}: {name}: no facts");
                let said = texts.iter().filter(|other| *other == text).count();
                assert_eq!(held.len(), said, "{context}: {name}: logged once");
            }
        } else {
            assert!(!texts.is_empty(), "{context}: {name} has no answer");
        }
    }
    let sent: usize = replies.values().map(Vec::len).sum();
    assert_eq!(logged.len(), sent, "{context}: the log holds each message once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_each_step_of_a_turn_its_answer_is_one_and_whole() {
    let (rig, tool) = Look::rig("messages", 1_000_000, vec![]).await;
    model(&rig, 0);
    let traps = Traps::set(&rig);
    let mut questions: BTreeMap<u64, (String, usize)> = BTreeMap::new();
    let (mut number, mut unsprung) = (0, vec![]);
    let mut running = rig.run().await;
    for (point, left) in
        TURN.split(' ').map(|p| (p, 0)).chain(SENDING.into_iter().flat_map(|p| [(p, 0), (p, 1)]))
    {
        for (long, with_tool) in [(false, false), (true, false), (false, true), (true, true)] {
            let needs_tool = point.contains("tool") || point.contains("round");
            if (needs_tool && !with_tool) || (left > 0 && (!long || point == "deliver::before-sending-row")) {
                continue;
            }
            number += 1;
            let name = format!("q0{number}");
            let context = format!("{point} +{left}, long {long}, tool {with_tool}");
            traps.arm(point, left);
            let (length, chunks) = if long { ("long", 3) } else { ("", 1) };
            let id = rig.ask(&format!("{name} dentist {length} {}", if with_tool { "tool" } else { "" }));
            questions.insert(id, (name, chunks));
            let is_done = || rig.is_over(id);
            rig.wait(&context, || traps.is_sprung() || is_done()).await;
            if !traps.is_sprung() {
                unsprung.push(context.clone());
            }
            running.crash().await;
            traps.disarm();
            running = rig.run().await;
            rig.wait(&context, is_done).await;
            check(&rig, &questions, &context);
            let started = tool.started.lock().unwrap();
            let unique: BTreeSet<_> = started.iter().map(|(by, _)| (&by.turn, by.number)).collect();
            assert_eq!(unique.len(), started.len(), "{context}: a tool was started twice");
        }
    }
    drop(running);
    assert!(unsprung.len() <= 4, "no crash in {} of {}: {unsprung:?}", unsprung.len(), questions.len());
    let requests = rig.server.requests();
    let is_told = |results: &Vec<String>| results.iter().any(|result| result.contains("outcome is unknown"));
    let told = requests.iter().map(|asked| asked.results()).filter(is_told).count();
    assert!(told >= 4, "after a crash within a tool the model is told so: {told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_real_daemon_killed_at_random_gives_each_message_one_whole_answer() {
    // `VAULT_AGENT_KILLS=200` for the long run: 300 messages.
    let kills: usize = std::env::var("VAULT_AGENT_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let messages = kills * 3 / 2;
    let rig = Rig::new().await;
    rig.set(&rig.brains(&[("one", "messages"), ("two", "chat"), ("three", "responses")]));
    model(&rig, 10);
    let mut random = Rng::with_seed(7);
    let mut questions: BTreeMap<u64, (String, usize)> = BTreeMap::new();
    let mut daemon = Some(rig.reading_daemon().await);
    let mut killed = 0;
    while killed < kills || questions.len() < messages {
        for _ in 0..=random.u64(..2) {
            if questions.len() < messages {
                let name = format!("q0{}", questions.len());
                let (length, chunks) = if random.u64(..2) == 0 { ("long", 3) } else { ("", 1) };
                questions.insert(rig.ask(&format!("{name} {length}")), (name, chunks));
            }
        }
        // From the first request after it began, so that kills fall on work rather than on the start.
        let count = || (rig.server.requests().len(), rig.posts().len());
        let (before, quiet) = (count(), Instant::now() + Duration::from_secs(3));
        while count() == before && Instant::now() < quiet {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tokio::time::sleep(Duration::from_millis(random.u64(..120))).await;
        if killed < kills {
            drop(daemon.take());
            killed += 1;
            daemon = Some(rig.daemon());
        }
    }
    let state = rig.turn_journal();
    let last = *questions.keys().next_back().unwrap();
    rig.wait("the last question", || state.turn(last).unwrap().is_some()).await;
    // However much was left undone by the kills, it goes on.
    let mut open = usize::MAX;
    while open > 0 {
        let left = || state.open_turns(None).unwrap().len();
        rig.wait("one more answer", || left() < open).await;
        open = left();
    }
    drop(daemon);
    // What came while a turn ran is answered with the last of it.
    let mut leaders = BTreeMap::new();
    for (id, (name, chunks)) in &questions {
        let turn = state.turn(*id).unwrap().unwrap_or_else(|| panic!("{name} was never accepted"));
        assert_eq!(turn.state, TurnState::Done, "{name}");
        if turn.joined.is_none() {
            let from_memory = turn.facts.as_deref().is_some_and(|facts| facts.contains("brain=memory"));
            leaders.insert(*id, (name.clone(), if from_memory { 0 } else { *chunks }));
        }
    }
    check(&rig, &leaders, "after all kills");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_of_yesterday_survives_a_crash_before_it_is_accepted() {
    let (rig, clock) = Rig::clocked().await;
    rig.run().await.crash().await;
    let id = rig.ask("when is the dentist?");
    rig.advance(&clock, SignedDuration::from_hours(24));
    let traps = Traps::set(&rig);
    traps.arm("turn::before-accepted", 0);
    let running = rig.start();
    traps.crash(&rig, running).await;
    let _running = rig.run().await;
    rig.wait_done(1).await;
    assert_eq!(replies(&rig)[&id].len(), 1);
    assert!(replies(&rig)[&id][0].starts_with("Sorry, I was away."), "{:?}", replies(&rig));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_keeps_the_settings_that_it_began_with() {
    let rig = Rig::new().await;
    let brain = |name: &str| rig.brains(&[(name, "messages")]).replace("\"m\"", &format!("\"model-{name}\""));
    rig.set(&brain("old"));
    let call = Reply::tool("reminder_list", json!({})).after(Duration::from_secs(4));
    rig.server.script(vec![call, Reply::text("As I began.")]);
    rig.server.respond(|asked| Reply::text(format!("By {}.", asked.body["model"].as_str().unwrap())));
    let daemon = rig.reading_daemon().await;
    rig.ask("first?");
    rig.server.wait_for(1).await;
    // Other settings of the bot restart it, too.
    rig.set(&brain("new"));
    rig.write("vault-agent.toml", rig.text("vault-agent.toml") + "thread_idle_days = 3\n");
    rig.wait("the next bot", || rig.fake.world().identifies == 2).await;
    assert!(rig.answers().is_empty(), "it came too early to prove anything");
    rig.wait_done(1).await;
    let models: Vec<_> = rig.server.requests().iter().map(|asked| asked.body["model"].clone()).collect();
    assert_eq!(models, ["model-old", "model-old"]);
    assert_eq!(rig.answers(), ["As I began."]);
    // The next ones are asked of the new brain, as soon as the file was seen.
    let end = Instant::now() + LONG;
    for nth in 2.. {
        if rig.answer("and now?", nth).await == "By model-new." {
            break;
        }
        assert!(Instant::now() < end, "the new settings were never taken on");
    }
    drop(daemon);
}

/// The turn is ended by the word, once, also after one more restart, and nobody was asked again for it.
async fn is_stopped(rig: &Rig, tool: &Look) {
    let running = rig.run().await;
    rig.wait_done(1).await;
    assert_eq!(rig.answers(), ["Stopped."]);
    assert_eq!(rig.server.requests().len(), 1);
    running.crash().await;
    let _running = rig.run().await;
    rig.answer("and now?", 2).await;
    assert_eq!(rig.answers(), ["Stopped.", "Yes."]);
    assert_eq!(tool.count(), 1);
    assert_eq!(rig.noted("Alice stopped the answer."), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_to_stop_counts_though_the_program_is_away_or_dies_before_it_is_obeyed() {
    let (rig, tool, running) = looking().await;
    running.crash().await;
    rig.ask("stop");
    is_stopped(&rig, &tool).await;

    let (rig, tool, running) = looking().await;
    let traps = Traps::set(&rig);
    traps.arm(STOP, 0);
    rig.ask("stop");
    traps.crash(&rig, running).await;
    is_stopped(&rig, &tool).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_on_the_budget_lasts_for_the_day_and_is_asked_for_once_though_a_crash_cuts_it_off() {
    use ApprovalState::{Declined, Used};
    for (label, state, is_cut_off) in
        [("Once", Used, false), ("Once", Used, true), ("No", Declined, false), ("No", Declined, true)]
    {
        let rig = Rig::with(&[("one", "messages")]).await;
        rig.server.respond(|_| Reply::text("By the model."));
        rig.prepend("[assistant]\nday_tokens = 100\n");
        let (traps, running) = (Traps::set(&rig), rig.run().await);
        rig.answer("hello", 1).await;
        rig.answer("when is the dentist?", 2).await;
        let why = "Today's budget of 100 tokens is used up.";
        let is_told = |text: &String| text.starts_with(why) && text.contains("Friday");
        assert!(rig.answers().iter().any(is_told), "{:?}", rig.answers());
        let question = rig.asked(1).await;
        contains_all(rig.asked_text(1).await, &["go on beyond today's budget of 100 tokens"]);
        assert!(!question["components"].to_string().contains("Always"), "{question}");
        if is_cut_off {
            // The note has the word, and the journal, which says what may be spent, never gets it.
            traps.arm("approval::after-word", 0);
            rig.press(&question, label).await;
            traps.crash(&rig, running).await;
            assert!(rig.turn_journal().budget_events_since(Timestamp::UNIX_EPOCH).unwrap().is_empty());
        } else {
            rig.press(&question, label).await;
            rig.wait("the word is kept", || lines(&rig)[0].state.is_some()).await;
            running.crash().await;
        }
        assert_eq!(lines(&rig)[0].state, Some(state));

        let _running = rig.run().await;
        for count in [3, 4] {
            let said = rig.answer("the dentist, once more", count).await;
            assert_eq!(said == "By the model.", label == "Once", "{said}");
            assert_eq!((rig.questions_asked().len(), lines(&rig).len()), (1, 1), "{label}");
        }
    }
}
