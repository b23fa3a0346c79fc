//! What the daemon asks a person, with the real tools: a command that needs the network, and more than a day's budget.

use super::house::*;
use crate::models::Reply;
use serde_json::json;

const BRAIN: &str = "[[brain]]\nname = \"wire\"\nkind = \"messages\"\nmodel = \"m\"\nurl = \"URL\"\n";

fn fetch() -> Reply {
    Reply::tool("bash", json!({ "command": "echo fetched $((40 + 2))", "network": true }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_with_the_network_is_asked_about_and_a_conversation_that_has_read_its_output_asks_again() {
    if !is_whole() {
        return;
    }
    let house = House::new(&format!("# Mine.\n[assistant]\ntools = [\"bash\"] # no more\n{BRAIN}")).await;
    let before = house.read("vault-agent.toml");
    let daemon = house.run().await;
    let results = || house.server.requests().last().unwrap().results();

    house.server.script(vec![fetch(), Reply::text("No then.")]);
    let id = house.ask("fetch it");
    let question = house.asked(1).await;
    let text = question["content"].as_str().unwrap().to_owned();
    assert!(text.contains("(network)") && text.contains("echo fetched $((40 + 2))"), "{text}");
    assert_eq!(house.server.requests().len(), 1, "nothing runs before the word");
    house.press(&question, "No").await;
    house.wait("the answer", || !house.replies(id).is_empty()).await;
    assert!(results()[0].contains("declined") && !results()[0].contains("fetched 42"), "{:?}", results());
    assert_eq!(house.read("vault-agent.toml"), before);

    house.server.script(vec![fetch(), Reply::text("Once.")]);
    let id = house.ask("fetch it, please");
    let question = house.asked(2).await;
    house.press(&question, "Once").await;
    house.wait("the answer", || !house.replies(id).is_empty()).await;
    assert!(results().last().unwrap().contains("fetched 42"), "{:?}", results());
    assert_eq!(house.read("vault-agent.toml"), before, "once is once");

    house.server.script(vec![fetch(), Reply::text("Always.")]);
    let id = house.ask("fetch it for good");
    let question = house.asked(3).await;
    let said = house.press(&question, "Always").await;
    assert!(said.contains("from now on"), "{said}");
    house.wait("the answer", || !house.replies(id).is_empty()).await;
    assert!(results().last().unwrap().contains("fetched 42"), "{:?}", results());
    let allow = "allow = [\"bash:echo fetched $((40 + 2))\"]\n";
    assert_eq!(
        house.read("vault-agent.toml"),
        before.replace("[assistant]\n", &format!("[assistant]\n{allow}"))
    );

    // What the command said stands in the conversation: from now on it is asked about all the same.
    house.server.script(vec![fetch(), Reply::text("Again.")]);
    let id = house.ask("fetch it again");
    let question = house.asked(4).await;
    let buttons = question["components"].to_string();
    assert!(buttons.contains("Once"), "{buttons}");
    house.press(&question, "No").await;
    house.wait("the answer", || !house.replies(id).is_empty()).await;
    assert!(results().last().unwrap().contains("declined"), "{:?}", results());
    assert_eq!((house.replies(id), house.questions_asked().len()), (vec!["Again.".to_owned()], 4));
    daemon.kill(&house).await;
}

/// A day of 100 tokens, of which the first answer takes more than all.
async fn spent() -> (House, HouseDaemon) {
    let house = House::new(&format!("[assistant]\nday_tokens = 100\n{BRAIN}")).await;
    house.write("MEMORY.md", "## Health\n- The dentist is on Friday at ten\n");
    house.server.respond(|_| Reply::text("By the model."));
    let daemon = house.run().await;
    assert_eq!(house.reply("hello").await, "By the model.");
    (house, daemon)
}

/// Asks twice; memory answers, and there is one question.
async fn record_memory_answer(house: &House) {
    for text in ["when is the dentist?", "and the dentist once more?"] {
        let said = house.reply(text).await;
        assert!(said.starts_with("Today's budget of 100 tokens is used up."), "{said}");
        assert!(said.contains("Friday at ten"), "{said}");
    }
    house.asked(1).await;
    assert_eq!((house.questions_asked().len(), house.server.requests().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_100_percent_one_question_is_asked_memory_answers_and_once_lets_the_next_message_through() {
    for is_restarted in [false, true] {
        let (house, mut daemon) = spent().await;
        record_memory_answer(&house).await;
        if is_restarted {
            daemon.kill(&house).await;
            daemon = house.run().await;
            let said = house.reply("the dentist, after a restart?").await;
            assert!(said.starts_with("Today's budget of 100 tokens is used up."), "{said}");
            assert_eq!(
                house.questions_asked().len(),
                1,
                "it is the same question: {:#?}",
                house.questions_asked()
            );
        }
        let question = house.asked(1).await;
        let text = question["content"].as_str().unwrap();
        assert!(text.contains("go on beyond today's budget of 100 tokens"), "{text}");
        assert!(!question["components"].to_string().contains("Always"), "{question}");
        house.press(&question, "Once").await;
        house.wait("the word is kept", || house.read("Approvals.md").contains("state=")).await;
        assert_eq!(house.reply("and now?").await, "By the model.", "restarted: {is_restarted}");
        daemon.kill(&house).await;
        let daemon = house.run().await;
        assert_eq!(house.reply("and after a restart?").await, "By the model.");
        assert_eq!(house.questions_asked().len(), 1);
        daemon.kill(&house).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_no_to_the_budget_lasts_for_the_day_and_is_not_asked_about_again() {
    for is_restarted in [false, true] {
        let (house, mut daemon) = spent().await;
        record_memory_answer(&house).await;
        if is_restarted {
            daemon.kill(&house).await;
            daemon = house.run().await;
        }
        let question = house.asked(1).await;
        house.press(&question, "No").await;
        for round in 0..2 {
            let said = house.reply("the dentist, after the no?").await;
            assert!(said.starts_with("Today's budget of 100 tokens is used up."), "{said}");
            if round == 0 {
                daemon.kill(&house).await;
                daemon = house.run().await;
            }
        }
        assert_eq!(
            (house.questions_asked().len(), house.server.requests().len()),
            (1, 1),
            "restarted: {is_restarted}"
        );
        daemon.kill(&house).await;
    }
}
