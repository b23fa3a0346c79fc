//! What the daemon asks a person, with the real tools: a command that needs the network.

use crate::discord::house::*;
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
        assert_eq!(house.replies(id), [format!("End {count}.")]);
        assert_eq!(house.questions_asked().len(), count);
    }
    daemon.kill(&house).await;
}
