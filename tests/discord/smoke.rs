//! The fake server itself, through serenity.
use super::fake::FakeDiscord;
use serde_json::json;

#[tokio::test]
async fn a_message_goes_through_serenity_and_answers_fit_the_description() {
    let fake = FakeDiscord::start().await;
    let token = fake.world().token.clone();
    let http =
        serenity::http::HttpBuilder::new(&token).proxy(fake.api_base()).ratelimiter_disabled(true).build();
    let user = http.get_current_user().await.unwrap();
    assert_eq!(user.name, "vault");
    let body = json!({ "content": "hello", "nonce": "n1", "enforce_nonce": true });
    let first = http.send_message(2000.into(), vec![], &body).await.unwrap();
    let again = http.send_message(2000.into(), vec![], &body).await.unwrap();
    assert_eq!(first.id, again.id);
    let page = http.get_messages(2000.into(), None, Some(10)).await.unwrap();
    assert_eq!(page.len(), 1);
    assert!(http.get_guild_active_threads(1000.into()).await.unwrap().threads.is_empty());
    assert_eq!(http.get_guild_roles(1000.into()).await.unwrap().len(), 3);
    http.get_current_application_info().await.unwrap();
    http.create_private_channel(&json!({ "recipient_id": "42" })).await.unwrap();
}
