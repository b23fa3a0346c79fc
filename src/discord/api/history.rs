//! Reads a channel's history, page by page.
//!
//! Discord returns a page newest first, even with `after`. A message that can't be read is left out of its page. A page
//! that isn't full is the last one.

use serde_json::Value;
use serenity::http::Route;

use super::error::ApiError;
use super::http::DiscordApi;
use super::message::{self, IncomingMessage};

/// How many messages a page holds at most.
const FULL: usize = 100;

/// A page of history, oldest first.
#[derive(Debug)]
pub struct HistoryPage {
    /// Its messages.
    pub messages: Vec<IncomingMessage>,
    /// The ids of all its messages, also of those that can't be read.
    pub ids: Vec<u64>,
    /// The newest id on it.
    pub last: Option<u64>,
    /// The id that the next page begins after; none if this was the last.
    pub next: Option<u64>,
}

/// The messages that come next after the id `after`.
///
/// # Errors
/// As the API's. Without the permission to read history Discord answers an empty page, and no error.
pub async fn page(api: &DiscordApi, channel: u64, after: u64) -> Result<HistoryPage, ApiError> {
    let route = Route::ChannelMessages { channel_id: channel.into() };
    let params = vec![("limit", FULL.to_string()), ("after", after.to_string())];
    let answer = api.get(route, params).await?;
    read(&answer, after).ok_or_else(|| ApiError::Unknown("the answer is no page of history".to_owned()))
}

/// The first message after the id `after` that is sought, on at most so many pages.
///
/// # Errors
/// As the API's.
pub async fn find(
    api: &DiscordApi,
    channel: u64,
    mut after: u64,
    pages: usize,
    is_sought: impl Fn(&IncomingMessage) -> bool,
) -> Result<Option<IncomingMessage>, ApiError> {
    for _ in 0..pages {
        let page = page(api, channel, after).await?;
        if let Some(found) = page.messages.into_iter().find(&is_sought) {
            return Ok(Some(found));
        }
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    Ok(None)
}

fn read(answer: &Value, after: u64) -> Option<HistoryPage> {
    let items = answer.as_array()?;
    let mut messages: Vec<IncomingMessage> = items.iter().filter_map(IncomingMessage::from_json).collect();
    messages.sort_by_key(|message| message.id);
    messages.dedup_by_key(|message| message.id);
    let ids: Vec<u64> = items.iter().filter_map(|item| message::id(&item["id"])).collect();
    let newest = ids.iter().copied().max();
    let next = newest.filter(|newest| items.len() >= FULL && *newest > after);
    Some(HistoryPage { messages, ids, last: newest, next })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_odd_message_costs_neither_the_page_nor_the_way_on() {
        let mut items: Vec<Value> = (1..100u64)
            .rev()
            .map(|id| json!({ "id": id.to_string(), "channel_id": "2", "author": { "id": "3" } }))
            .collect();
        items.insert(0, json!({ "id": "100", "author": 7 }));
        let page = read(&json!(items), 0).unwrap();
        assert_eq!(page.messages.len(), 99);
        assert_eq!(page.messages[0].id, 1);
        assert_eq!(page.next, Some(100));
        assert!(read(&json!({ "message": "odd" }), 0).is_none());
    }
}
