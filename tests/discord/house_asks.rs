//! What the daemon asks a person, with the real tools: a command that needs the network, and more than a day's budget.

use super::house::*;

use crate::support::prelude::*;

const BRAIN: &str = "[[brain]]\nname = \"wire\"\nkind = \"messages\"\nmodel = \"m\"\nurl = \"URL\"\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_with_the_network_is_asked_about_and_a_conversation_that_has_read_its_output_asks_again() {
    if !is_whole() {
        return;
    }
    let house = House::new(&format!("# Mine.\n[assistant]\ntools = [\"bash\"] # no more\n{BRAIN}")).await;
    let before = house.text("vault-agent.toml");
    let allow = "[assistant]\nallow = [\"bash:echo fetched $((40 + 2))\"]\n";
    let allowed = before.replace("[assistant]\n", allow);
    let daemon = house.run().await;
    for (count, label, told, settings) in [
        (1, "No", "declined", &before),
        (2, "Once", "fetched 42", &before),
        (3, "Always", "fetched 42", &allowed),
        // What the command said stands in the conversation: from now on it is asked about all the same.
        (4, "No", "declined", &allowed),
    ] {
        let requests = house.server.requests().len();
        let call = json!({ "command": "echo fetched $((40 + 2))", "network": true });
        house.server.script(vec![Reply::tool("bash", call), Reply::text(format!("End {count}."))]);
        let id = house.ask(&format!("fetch it, {count}"));
        contains_all(house.asked_text(count).await, &["(network)", "echo fetched $((40 + 2))"]);
        assert_eq!(house.server.requests().len(), requests + 1, "nothing runs before the word");
        let said = house.press(&house.asked(count).await, label).await;
        assert_eq!(said.contains("from now on"), label == "Always", "{said}");
        house.answered(id).await;
        let result = house.server.requests().last().unwrap().results().pop().unwrap();
        assert!(result.contains(told), "{count}: {result}");
        assert_eq!(result.contains("fetched 42"), told == "fetched 42", "{count}: {result}");
        assert_eq!(house.text("vault-agent.toml"), *settings, "{count}");
        assert_eq!(
            (house.replies(id), house.questions_asked().len()),
            (vec![format!("End {count}.")], count)
        );
    }
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

/// Memory answers, and says why.
async fn memory_answers(house: &House) {
    let said = house.reply("when is the dentist?").await;
    assert!(said.starts_with("Today's budget of 100 tokens is used up."), "{said}");
    contains_all(&said, &["Friday at ten"]);
}

/// A day whose tokens are spent, asked about twice, and perhaps once more after a restart: there is one question.
async fn asked_about(is_restarted: bool) -> (House, HouseDaemon) {
    let (house, mut daemon) = spent().await;
    memory_answers(&house).await;
    memory_answers(&house).await;
    house.asked(1).await;
    if is_restarted {
        daemon.kill(&house).await;
        daemon = house.run().await;
        memory_answers(&house).await;
    }
    assert_eq!((house.questions_asked().len(), house.server.requests().len()), (1, 1));
    (house, daemon)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_100_percent_one_question_is_asked_memory_answers_and_once_lets_the_next_message_through() {
    for is_restarted in [false, true] {
        let (house, daemon) = asked_about(is_restarted).await;
        let question = house.asked(1).await;
        contains_all(house.asked_text(1).await, &["go on beyond today's budget of 100 tokens"]);
        assert!(!question["components"].to_string().contains("Always"), "{question}");
        house.press(&question, "Once").await;
        house.wait("the word is kept", || house.text("Approvals.md").contains("state=")).await;
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
        let (house, daemon) = asked_about(is_restarted).await;
        house.press(&house.asked(1).await, "No").await;
        memory_answers(&house).await;
        daemon.kill(&house).await;
        let daemon = house.run().await;
        memory_answers(&house).await;
        let counts = (house.questions_asked().len(), house.server.requests().len());
        assert_eq!(counts, (1, 1), "restarted: {is_restarted}");
        daemon.kill(&house).await;
    }
}
