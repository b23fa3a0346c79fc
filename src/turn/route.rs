//! Chooses the brains to ask and their order, by the routes and the chain of the settings. Also determines the category
//! of a question. Pure.
//!
//! The first route that matches puts its brain before the chain. A route matches if all of its conditions hold; a route
//! without conditions always matches. A question that names a brain goes to that brain alone.
//!
//! A question with a picture has the category `vision`; a question with a code fence has `code`. Otherwise words
//! decide: each category has a list of words, and the category with the most words in the question wins. Of equal
//! categories the first in the list wins. A question without any such word has no category, because a guess would route
//! it wrongly.

use std::sync::LazyLock;

use regex_lite::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use crate::config::{AttachmentKind, MEMORY, Route, Settings, TaskCategory};
use crate::words::{WordLists, word_lists};

/// The properties of a question that routing uses.
#[derive(Debug, Clone, Copy, Default)]
pub struct QuestionProperties<'a> {
    /// The text of the question.
    pub text: &'a str,
    /// The channel; of a question in a thread, the thread's channel.
    pub channel: Option<u64>,
    /// The thread.
    pub thread: Option<u64>,
    /// The routine that asks, if any.
    pub routine: Option<&'a str>,
    /// The kinds of its files; `Any` is a file that is neither a picture nor text.
    pub attachments: &'a [AttachmentKind],
}

/// The chosen brains, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RouteDecision {
    /// All, in the order in which they are tried.
    pub chain: Vec<String>,
    /// The route that fits, from 1.
    pub rule: Option<usize>,
    /// Why.
    pub why: String,
    /// The kind of task that it is.
    #[schemars(with = "Option<String>")]
    pub category: Option<TaskCategory>,
}

/// The brains that would be asked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownRoute {
    /// The first; null where memory answers.
    brain: Option<String>,
    #[serde(flatten)]
    route: RouteDecision,
}

impl From<RouteDecision> for ShownRoute {
    fn from(route: RouteDecision) -> Self {
        Self { brain: route.chain.first().cloned(), route }
    }
}

impl RouteDecision {
    /// The decision in three lines.
    pub fn words(&self) -> String {
        let chain = if self.chain.is_empty() { MEMORY.to_owned() } else { self.chain.join(", then ") };
        format!("{chain}\n{}\ncategory: {}", self.why, self.category.map_or("none", TaskCategory::as_str))
    }

    /// Moves the brain with this name to the front, if there is one.
    pub fn ask_first(&mut self, settings: &Settings, name: &str) {
        if settings.brains.iter().any(|brain| brain.name == name) {
            self.chain.retain(|brain| brain != name);
            self.chain.insert(0, name.to_owned());
            self.why = format!("The routine names `{name}`.");
        }
    }
}

/// A brain was requested that is not configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no brain has the name `{name}`; {}", known_names(.known))]
pub struct UnknownBrain {
    /// The name.
    pub name: String,
    /// The configured names.
    pub known: Vec<String>,
}

fn known_names(names: &[String]) -> String {
    if names.is_empty() {
        return "none is set up in vault-agent.toml".to_owned();
    }
    format!("there {} `{}`", if names.len() == 1 { "is" } else { "are" }, names.join("`, `"))
}

/// Chooses the brains; `only` is a brain that was requested by name.
///
/// # Errors
/// No brain has that name.
pub fn route(
    settings: &Settings,
    question: &QuestionProperties<'_>,
    only: Option<&str>,
) -> Result<RouteDecision, UnknownBrain> {
    let category = category(question);
    let all = || settings.brains.iter().map(|brain| brain.name.clone());
    if let Some(name) = only {
        let chain = match all().find(|brain| brain == name) {
            Some(brain) => vec![brain],
            None if name == MEMORY => Vec::new(),
            None => return Err(UnknownBrain { name: name.to_owned(), known: all().collect() }),
        };
        let why = "It was asked for by its name.".to_owned();
        return Ok(RouteDecision { chain, rule: None, why, category });
    }
    let fitting = settings.routes.iter().position(|route| fits(route, question, category));
    let mut chain: Vec<String> = Vec::new();
    let first = fitting.map(|at| settings.routes[at].brain.clone());
    let follow = settings.assistant.chain.clone().unwrap_or_else(|| all().collect());
    for name in first.into_iter().chain(follow) {
        if !chain.contains(&name) {
            chain.push(name);
        }
    }
    let why = match fitting {
        Some(at) => format!("Route {} fits: {}.", at + 1, conditions(&settings.routes[at])),
        None if settings.brains.is_empty() => "No brain is set up; memory answers.".to_owned(),
        None if chain.is_empty() => "The chain is empty; memory answers.".to_owned(),
        None if settings.routes.is_empty() => "There are no routes; the chain is asked.".to_owned(),
        None => "No route fits; the chain is asked.".to_owned(),
    };
    Ok(RouteDecision { chain, rule: fitting.map(|at| at + 1), why, category })
}

fn category(question: &QuestionProperties<'_>) -> Option<TaskCategory> {
    if question.attachments.contains(&AttachmentKind::Image) {
        return Some(TaskCategory::Vision);
    }
    category_of(question.text)
}

fn fits(route: &Route, question: &QuestionProperties<'_>, category: Option<TaskCategory>) -> bool {
    route.channel.is_none_or(|channel| question.channel == Some(channel))
        && route.thread.is_none_or(|thread| question.thread == Some(thread))
        && route.routine.as_deref().is_none_or(|routine| question.routine == Some(routine))
        && route.attachment.is_none_or(|kind| match kind {
            AttachmentKind::Any => !question.attachments.is_empty(),
            kind => question.attachments.contains(&kind),
        })
        && route.category.is_none_or(|wanted| category == Some(wanted))
        // The settings were checked: the pattern can be understood.
        && route.matches.as_ref().is_none_or(|pattern| {
            Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(question.text))
        })
}

/// A route's conditions, in words.
fn conditions(route: &Route) -> String {
    let mut named = Vec::new();
    named.extend(route.channel.map(|channel| format!("channel {channel}")));
    named.extend(route.thread.map(|thread| format!("thread {thread}")));
    named.extend(route.routine.as_ref().map(|routine| format!("routine `{routine}`")));
    named.extend(route.matches.as_ref().map(|pattern| format!("the text matches `{pattern}`")));
    named.extend(route.attachment.map(|kind| {
        match kind {
            AttachmentKind::Image => "a picture is attached",
            AttachmentKind::Text => "a text file is attached",
            AttachmentKind::Any => "a file is attached",
        }
        .to_owned()
    }));
    named.extend(route.category.map(|category| format!("the category is {}", category.as_str())));
    if named.is_empty() { "it takes everything".to_owned() } else { named.join(", ") }
}

/// The length of the examined beginning of a text.
const HEAD: usize = 4000;

/// The categories that words tell, the first of equals first.
const BY_WORDS: [TaskCategory; 5] = [
    TaskCategory::Code,
    TaskCategory::Scheduling,
    TaskCategory::System,
    TaskCategory::Creative,
    TaskCategory::Analysis,
];

/// The words of each category.
static WORDS: LazyLock<WordLists> = LazyLock::new(|| word_lists(include_str!("data/categories.txt")));

/// The category of a text, if its words show one.
pub fn category_of(text: &str) -> Option<TaskCategory> {
    let head: String = text.chars().take(HEAD).collect::<String>().to_lowercase();
    // A fence means code, whatever surrounds it.
    if head.contains("```") {
        return Some(TaskCategory::Code);
    }
    let plain = plain(&head);
    let mut best = (0, None);
    for category in BY_WORDS {
        let count = WORDS[category.as_str()].iter().filter(|word| holds(&plain, word)).count();
        if count > best.0 {
            best = (count, Some(category));
        }
    }
    best.1
}

/// Words with one space around each; a hyphen or an apostrophe within a word stays.
fn plain(text: &str) -> String {
    let mut out = String::from(" ");
    for c in text.chars() {
        match c {
            '’' => out.push('\''),
            c if c.is_alphanumeric() || "'-_".contains(c) => out.push(c),
            _ if !out.ends_with(' ') => out.push(' '),
            _ => {}
        }
    }
    out.push(' ');
    out
}

fn holds(plain: &str, word: &str) -> bool {
    // Scripts without spaces have no word boundaries.
    if word
        .chars()
        .any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
    {
        return plain.contains(word);
    }
    let (word, open) = word.strip_suffix('*').map_or((word, false), |stem| (stem, true));
    plain
        .match_indices(word)
        .any(|(at, _)| plain[..at].ends_with(' ') && (open || plain[at + word.len()..].starts_with(' ')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BRAINS: &str = r#"
[[brain]]
name = "a"
kind = "chat"
model = "m"
[[brain]]
name = "b"
kind = "chat"
model = "m"
[[brain]]
name = "c"
kind = "messages"
model = "m"
"#;

    fn settings(head: &str, routes: &str) -> Settings {
        Settings::parse(&format!("{head}\n{BRAINS}\n{routes}")).unwrap()
    }

    fn show(settings: &Settings, question: &QuestionProperties<'_>) -> String {
        let routed = route(settings, question, None).unwrap();
        format!("{} | {:?} | {}", routed.chain.join(" "), routed.rule, routed.why)
    }

    #[test]
    fn without_routes_the_chain_is_asked() {
        let hi = QuestionProperties { text: "hi", ..QuestionProperties::default() };
        assert_eq!(show(&settings("", ""), &hi), "a b c | None | There are no routes; the chain is asked.");
        let chain = settings("[assistant]\nchain = [\"c\", \"a\", \"c\"]", "");
        assert_eq!(show(&chain, &hi), "c a | None | There are no routes; the chain is asked.");
        let empty = settings("[assistant]\nchain = []", "");
        assert_eq!(show(&empty, &hi), " | None | The chain is empty; memory answers.");
        assert_eq!(show(&Settings::default(), &hi), " | None | No brain is set up; memory answers.");
    }

    #[test]
    fn the_first_route_that_fits_wins() {
        let settings = settings(
            "[assistant]\nchain = [\"a\", \"b\"]",
            "[[route]]\nchannel = 7\ncategory = \"code\"\nbrain = \"b\"\n\
             [[route]]\nthread = 9\nbrain = \"c\"\n\
             [[route]]\nmatch = '(?i)\\bprivate\\b'\nbrain = \"c\"\n\
             [[route]]\nattachment = \"image\"\nbrain = \"b\"\n\
             [[route]]\nroutine = \"review\"\nattachment = \"any\"\nbrain = \"c\"\n\
             [[route]]\ncategory = \"scheduling\"\nbrain = \"a\"\n",
        );
        let question = |text| QuestionProperties { text, ..QuestionProperties::default() };
        let code = "fix this code";
        assert_eq!(show(&settings, &question(code)), "a b | None | No route fits; the chain is asked.");
        assert_eq!(
            show(&settings, &QuestionProperties { channel: Some(7), ..question(code) }),
            "b a | Some(1) | Route 1 fits: channel 7, the category is code."
        );
        assert_eq!(
            show(&settings, &QuestionProperties { channel: Some(7), thread: Some(9), ..question("hi") }),
            "c a b | Some(2) | Route 2 fits: thread 9."
        );
        assert_eq!(
            show(&settings, &question("a Private matter")),
            "c a b | Some(3) | Route 3 fits: the text matches `(?i)\\bprivate\\b`."
        );
        let picture = QuestionProperties {
            attachments: &[AttachmentKind::Text, AttachmentKind::Image],
            ..question("")
        };
        assert_eq!(show(&settings, &picture), "b a | Some(4) | Route 4 fits: a picture is attached.");
        assert_eq!(route(&settings, &picture, None).unwrap().category, Some(TaskCategory::Vision));
        let routine = QuestionProperties { routine: Some("review"), ..question("") };
        assert_eq!(show(&settings, &routine), "a b | None | No route fits; the chain is asked.");
        let with_file = QuestionProperties { attachments: &[AttachmentKind::Any], ..routine };
        assert_eq!(
            show(&settings, &with_file),
            "c a b | Some(5) | Route 5 fits: routine `review`, a file is attached."
        );
        assert_eq!(
            show(&settings, &question("remind me to call")),
            "a b | Some(6) | Route 6 fits: the category is scheduling."
        );
    }

    #[test]
    fn a_brain_asked_for_is_asked_alone() {
        let settings = settings("[assistant]\nchain = [\"a\"]", "[[route]]\nbrain = \"b\"\n");
        let hi = QuestionProperties { text: "hi", ..QuestionProperties::default() };
        assert_eq!(show(&settings, &hi), "b a | Some(1) | Route 1 fits: it takes everything.");
        assert_eq!(route(&settings, &hi, Some("c")).unwrap().chain, ["c"]);
        assert_eq!(route(&settings, &hi, Some("memory")).unwrap().chain, [""; 0]);
        let unknown = |settings| route(settings, &hi, Some("d")).unwrap_err().to_string();
        assert_eq!(unknown(&settings), "no brain has the name `d`; there are `a`, `b`, `c`");
        assert_eq!(
            unknown(&Settings::default()),
            "no brain has the name `d`; none is set up in vault-agent.toml"
        );
    }

    #[test]
    fn words_tell_the_kind() {
        for (text, category) in [
            ("Why does my Rust code panic in this function?", Some(TaskCategory::Code)),
            ("look:\n```\nx\n```\nwhy?", Some(TaskCategory::Code)),
            ("Remind me about the dentist appointment", Some(TaskCategory::Scheduling)),
            ("Erinnere mich an den Termin", Some(TaskCategory::Scheduling)),
            ("Wer bist du, und welches Modell?", Some(TaskCategory::System)),
            ("Write me a poem about autumn", Some(TaskCategory::Creative)),
            ("Écris un poème", Some(TaskCategory::Creative)),
            ("Explain the difference between an IRA and a 401k", Some(TaskCategory::Analysis)),
            ("为什么天空是蓝色的", Some(TaskCategory::Analysis)),
            ("明日の会議の予定", Some(TaskCategory::Scheduling)),
            ("сравни два тарифа", Some(TaskCategory::Analysis)),
            ("I had soup today", None),
            ("what about the barcode or the rusty gate", None),
            ("", None),
            ("??", None),
        ] {
            assert_eq!(category_of(text), category, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_decided(text in "\\PC{0,300}|(code |why |诗|-|'){0,20}") {
            let _ = category_of(&text);
        }
    }
}
