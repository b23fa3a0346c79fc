//! Classifies a provider's failure: makes a [`BrainError`] from status, headers and text. Pure.
//!
//! The order of the checks matters: providers report an empty account with the statuses 400, 403 and 429, so the
//! error's words are checked before its status. From JSON only the fields of the error are read. Servers echo the
//! request, and a question about a bank balance would look like an empty account. From a web page only the title is
//! read, from any other text the first 2,000 characters.

use std::sync::LazyLock;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::brain::scrub::scrub;
use crate::brain::{BrainError, FailureClass};
use crate::words::{WordLists, word_lists};

/// The pause that a provider asks for: the header `retry-after-ms` in milliseconds, else `Retry-After`, seconds or a
/// date.
pub fn wait(retry_after: Option<&str>, retry_after_ms: Option<&str>, now: Timestamp) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    if let Some(ms) = retry_after_ms.and_then(number) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let text = retry_after?;
    if let Some(seconds) = number(text) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // A date that many write for "never"; it is beyond the last representable instant.
    if text.contains("31 Dec 9999") {
        return Some(Duration::from_secs(u64::from(u32::MAX)));
    }
    let until = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    // A past date: now.
    Some(Duration::try_from(until.duration_since(now)).unwrap_or_default())
}

/// Classes an answer that isn't a success.
pub fn status(status: u16, body: &str, secrets: &[&str]) -> BrainError {
    class_of(Some(status), &ErrorText::of(body), secrets)
}

/// Classes an error that came within a stream, or with the status 200: `{"error": …}`, Anthropic's `error` event,
/// the `error` of `response.failed`.
pub fn in_stream(value: &Value, secrets: &[&str]) -> BrainError {
    let error = ErrorText::of_json(value);
    class_of(error.status(), &error, secrets)
}

/// The sentence before a provider's own words.
fn sentence(class: FailureClass, too_long: bool) -> &'static str {
    match class {
        FailureClass::Billing => "the account has no credit or quota left",
        FailureClass::RateLimit => "too many requests for now",
        FailureClass::Auth => "the key was refused",
        FailureClass::Timeout => "there was no answer in time",
        FailureClass::Overloaded => "the provider is overloaded or broken",
        FailureClass::Format if too_long => "the request is too long for the model",
        FailureClass::Format => "the request was refused",
        FailureClass::UnknownModel => "there is no such model at this address",
        FailureClass::Refusal => "the model declined to answer",
        FailureClass::Crash => "the provider broke off",
    }
}

fn class_of(status: Option<u16>, error: &ErrorText, secrets: &[&str]) -> BrainError {
    let says_so = error.says(&WORDS["too long"]);
    let too_long = says_so && !matches!(status, Some(401..=404 | 429)) || status == Some(413);
    let class = match status {
        _ if error.is_billing() => FailureClass::Billing,
        _ if too_long => FailureClass::Format,
        Some(402) => FailureClass::Billing,
        Some(429 | 529) => FailureClass::RateLimit,
        Some(401 | 403) => FailureClass::Auth,
        Some(408 | 504) => FailureClass::Timeout,
        Some(404) => FailureClass::UnknownModel,
        Some(500..) => FailureClass::Overloaded,
        Some(_) => FailureClass::Format,
        None => FailureClass::Crash,
    };
    let too_long = too_long && class == FailureClass::Format;
    let words = scrub(&error.message, secrets);
    let why = match (status, words.is_empty()) {
        (Some(status), true) => format!(" (status {status})"),
        (Some(status), false) => format!(" (status {status}: {words})"),
        (None, true) => String::new(),
        (None, false) => format!(" ({words})"),
    };
    let message = format!("{}{why}", sentence(class, too_long));
    BrainError { too_long, ..BrainError::new(class, message) }
}

/// The words of providers' errors, and the codes that stand for a status, by its number.
static WORDS: LazyLock<WordLists> = LazyLock::new(|| word_lists(include_str!("data/errors.txt")));

/// An error's own words.
struct ErrorText {
    /// For people.
    message: String,
    /// Codes and types, for programs.
    codes: Vec<String>,
    /// A status among the codes.
    number: Option<u16>,
    /// The message and the codes, in lower case.
    all: String,
}

impl ErrorText {
    fn of(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => Self::of_json(&value),
            _ => Self::new(text_of_page(body), Vec::new(), None),
        }
    }

    /// The fields that providers use: `error` (an object or a text), else the object itself.
    fn of_json(value: &Value) -> Self {
        // Google wraps its error into a list; FastAPI calls it `detail`.
        let value = value.get(0).unwrap_or(value);
        let inner = match &value["error"] {
            Value::Null => value,
            inner => inner,
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let message = text(inner)
            .or_else(|| text(&inner["message"]))
            .or_else(|| text(&value["message"]))
            .or_else(|| text(&inner["detail"]))
            .or_else(|| text(&inner["detail"][0]["msg"]))
            .unwrap_or_default();
        let mut codes: Vec<String> = Vec::new();
        let mut number = None;
        for field in [&inner["code"], &inner["type"], &inner["status"], &value["code"]] {
            if let Some(code) = field.as_u64().and_then(|n| u16::try_from(n).ok()) {
                number = number.or(Some(code).filter(|n| (400..600).contains(n)));
            } else if let Some(code) = field.as_str() {
                number = number.or(code.parse().ok().filter(|n| (400..600).contains(n)));
                codes.push(code.to_ascii_lowercase());
            }
        }
        // A gateway's own words for it: OpenRouter puts the provider's text into `metadata.raw`.
        let raw = text(&inner["metadata"]["raw"]).unwrap_or_default();
        let message = if raw.is_empty() { message } else { format!("{message}: {raw}") };
        Self::new(message, codes, number)
    }

    fn new(message: String, codes: Vec<String>, number: Option<u16>) -> Self {
        let all = format!("{} {}", message, codes.join(" ")).to_lowercase();
        Self { message, codes, number, all }
    }

    fn says(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.all.contains(phrase))
    }

    fn is_billing(&self) -> bool {
        if self.says(&WORDS["billing"]) {
            return true;
        }
        // Google calls a limit for a minute a quota, and says when to come back.
        if self.says(&WORDS["not for long"]) {
            return false;
        }
        let word = |wanted: &[&str]| {
            self.all.split(|c: char| !c.is_alphanumeric()).any(|word| wanted.contains(&word))
        };
        let quota = word(&["quota", "quotas"]) && self.says(&WORDS["quota is used up"]);
        word(&["credit", "credits", "balance"]) || quota
    }

    /// The status that an error within a stream would have had.
    fn status(&self) -> Option<u16> {
        let of_code = |code: &String| {
            let mut lists = WORDS.iter().filter(|(_, codes)| codes.contains(&code.as_str()));
            lists.find_map(|(status, _)| status.parse().ok())
        };
        // A code says more than a type: `server_error` beside `rate_limit_exceeded`.
        self.number.or_else(|| self.codes.iter().find_map(of_code))
    }
}

/// The words of something that isn't JSON; of a web page its title.
fn text_of_page(body: &str) -> String {
    let body = body.trim();
    if body.starts_with('<') {
        let title = body.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
        return title.map_or_else(|| "a web page".to_owned(), |(title, _)| title.trim().to_owned());
    }
    body.chars().take(2000).collect()
}

#[cfg(test)]
mod tests;
