//! Shortens the results of a turn's tools until the messages fit into a request, or each result is short. Pure.

use super::history::{estimate, shorten, tokens};
use crate::brain::Message;

/// The characters of a result that stay where a request has no room for more, without the line about what is left out.
const LEAST_RESULT: usize = 400;
/// The most characters of that line.
const MOST_MARK: usize = 60;

/// Shortens results of tools, the oldest first, until these messages have at most `room` tokens or each result is short.
pub fn fit_results(messages: &mut [Message], room: u64) {
    let mut over = messages.iter().map(tokens).sum::<u64>().saturating_sub(room);
    let results = messages.iter_mut().filter_map(|message| match message {
        Message::ToolResults { results } => Some(results),
        Message::User { .. } | Message::Assistant { .. } => None,
    });
    for result in results.flatten() {
        let cut = usize::try_from(over).unwrap_or(usize::MAX).saturating_mul(4).saturating_add(MOST_MARK);
        let most = result.text.chars().count().saturating_sub(cut).max(LEAST_RESULT);
        let shorter = shorten(&result.text, most);
        let saved = estimate(&result.text).saturating_sub(estimate(&shorter));
        if over > 0 && saved > 0 {
            over = over.saturating_sub(saved);
            result.text = shorter;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brain::ToolResult;

    #[test]
    fn the_oldest_results_are_shortened_first_and_no_more_than_needed() {
        let round = |text: String| Message::ToolResults {
            results: vec![ToolResult { call_id: "c".into(), text, is_error: false }],
        };
        let whole = [
            round("a".repeat(8_000)),
            Message::assistant("Hm."),
            round("b".repeat(8_000)),
            round("c".into()),
        ];
        let all: u64 = whole.iter().map(tokens).sum();
        let lengths = |room: u64| {
            let mut messages = whole.clone();
            fit_results(&mut messages, room);
            let sum: u64 = messages.iter().map(tokens).sum();
            let of = |message: &Message| match message {
                Message::ToolResults { results } => results[0].text.chars().count(),
                _ => 0,
            };
            (sum, of(&messages[0]), of(&messages[2]), of(&messages[3]))
        };
        assert_eq!(lengths(all), (all, 8_000, 8_000, 1));
        for room in [all - 1, all - 500, all - 1_800, all - 3_000] {
            let (sum, first, second, last) = lengths(room);
            assert!(sum <= room && room - sum < 20, "{sum} of {room}");
            assert!(first < 8_000 && last == 1 && (first < 500 || second == 8_000), "{first} {second}");
        }
        // A short result stays as it is, however little room there is.
        let (_, first, second, _) = lengths(0);
        assert!((400..470).contains(&first) && first == second, "{first} {second}");
    }
}
