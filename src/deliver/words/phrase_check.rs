//! A brain (a model or an agent program) may put a reminder into other words. This file checks that its phrase says the
//! same as the reminder. Pure.
//!
//! The check needs no understanding of language. It compares the parts whose loss a person would notice:
//!
//! - words with a capital letter, the first word of each sentence, words of scripts without capitals;
//! - numbers, and dates and times in their order;
//! - quotes, links, mentions, ids;
//! - English words such as "not", "two", "tomorrow" or "before".
//!
//! The phrase must contain all such parts of the reminder. It must not add others, with three exceptions: quotes, the
//! first word of a sentence, and a few words such as "before" or "I". Other words may differ. If the check fails, the
//! reminder's own text is sent.

use std::collections::HashSet;

use crate::format::{capitalised, invisible};

/// Longer messages are sent as they are.
pub const MOST_MESSAGE: usize = 300;

/// Words that change the meaning, and may be neither lost nor added.
const TURNING: &str = "no not never nobody nothing none nor neither cannot without stop cancelled canceled \
    yesterday tomorrow tonight noon midnight";

/// Words for numbers.
const NUMBERS: &str = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety half quarter hundred \
    thousand";

/// Words that may be added ("before you forget") and not lost: those of times, orders and families, and a few of other
/// languages.
const KEPT: &str = "one once twice double dozen pair before after until till unless except only again today morning \
    afternoon evening night next last this every each day days week weeks weekend fortnight month months year years \
    hour hours minute minutes daily weekly monthly yearly monday tuesday wednesday thursday friday saturday sunday \
    january february march april may june july august september october november december first second third fourth \
    fifth sixth seventh eighth ninth tenth mum mom mummy dad daddy granny grandma grandpa \
    nicht kein keine nie heute morgen gestern übermorgen nächste nächsten nächstes nächster jeden jede jedes halb \
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf pas jamais demain hier aujourd'hui nunca hoy mañana ayer \
    domani oggi ieri";

/// Capitals that don't begin a name.
const OWN: [&str; 6] = ["I", "I'm", "I'll", "I've", "I'd", "OK"];

/// Signs that Markdown or Discord reads as something else than words.
const SIGNS: [char; 12] = ['*', '_', '~', '`', '|', '[', ']', '<', '>', '#', '@', '\\'];

/// Whether a message can be put into other words at all: one line, not too long.
pub fn fits(message: &str) -> bool {
    let length = message.chars().count();
    (1..=MOST_MESSAGE).contains(&length) && !message.chars().any(char::is_control)
}

/// Whether `phrase` may be said in the place of `message`.
pub fn says_the_same(message: &str, phrase: &str) -> bool {
    let length = |text: &str| text.chars().count();
    let whole = fits(message)
        && !phrase.trim().is_empty()
        && length(phrase) <= 2 * length(message) + 120
        && !phrase.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
        && invisible::first(phrase).is_none();
    if !whole {
        return false;
    }
    let (message, phrase) = (plain(message), plain(phrase));
    let count = |text: &str, sign: char| text.matches(sign).count();
    if SIGNS.iter().any(|sign| count(&phrase, *sign) > count(&message, *sign)) {
        return false;
    }
    let (own, said) = (words(&message), words(&phrase));
    let numbers = |words: &[PhraseWord<'_>]| -> Vec<String> {
        words.iter().filter(|word| word.is_number()).map(|word| word.text.to_lowercase()).collect()
    };
    if numbers(&own) != numbers(&said) {
        return false;
    }
    let kept =
        own.iter().filter(|word| word.is_required()).all(|word| said.iter().any(|new| word.is_in(new)));
    let quoted = quotes(&message).all(|quote| phrase.contains(quote));
    kept && quoted && said.iter().all(|word| !word.is_new(&own))
}

/// The same text with one form of apostrophe and quotes.
fn plain(text: &str) -> String {
    let one = |c| match c {
        '\u{2019}' | '\u{2018}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '«' | '»' => '"',
        c => c,
    };
    text.chars().map(one).collect()
}

/// A word as it stands between blanks, without the punctuation around it.
#[derive(Debug, Clone, Copy)]
struct PhraseWord<'t> {
    text: &'t str,
    /// It begins a sentence, where a capital says nothing.
    first: bool,
}

impl PhraseWord<'_> {
    fn has_digit(&self) -> bool {
        self.text.chars().any(char::is_numeric)
    }

    fn is_number(&self) -> bool {
        self.has_digit() || is_among(NUMBERS, &self.text.to_lowercase())
    }

    fn is_turning(&self) -> bool {
        let lower = self.text.to_lowercase();
        lower.ends_with("n't") || is_among(TURNING, &lower)
    }

    fn has_capital(&self) -> bool {
        self.text.chars().any(char::is_uppercase)
    }

    /// A link, an address, a mention, a tag: something with signs inside.
    fn is_special(&self) -> bool {
        let inner = |c: char| !c.is_alphanumeric() && c != '\'' && c != '-';
        self.text.contains("://") || self.text.chars().any(inner)
    }

    /// Of a script that knows no capitals.
    fn is_caseless(&self) -> bool {
        self.text.chars().any(|c| c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase())
    }

    /// Whether it has to be said.
    fn is_required(&self) -> bool {
        let names = self.first || self.has_digit() || self.has_capital();
        let counts = self.is_turning() || is_among(KEPT, &self.text.to_lowercase());
        names || counts || self.is_special() || self.is_caseless()
    }

    /// Whether `said` is this word. The first one of a sentence may lose its capital; a name may gain an ending
    /// (`Anna`, `Anna's`).
    fn is_in(&self, said: &PhraseWord<'_>) -> bool {
        let same = |word: &str| {
            word == self.text
                || (self.first
                    && !self.has_inner_capital()
                    && word.to_lowercase() == self.text.to_lowercase())
                || (said.first && capitalised(self.text) == word)
        };
        same(said.text) || said.text.strip_suffix("'s").is_some_and(same)
    }

    fn has_inner_capital(&self) -> bool {
        self.text.chars().skip(1).any(char::is_uppercase)
    }

    /// Whether it says something that none of the message's words say.
    fn is_new(&self, own: &[PhraseWord<'_>]) -> bool {
        let known: HashSet<String> = own.iter().map(|word| word.text.to_lowercase()).collect();
        let lower = self.text.to_lowercase();
        if known.contains(&lower) || lower.strip_suffix("'s").is_some_and(|stem| known.contains(stem)) {
            return false;
        }
        let names = self.has_capital() && (!self.first || self.has_inner_capital());
        self.is_turning() || self.is_special() || self.is_caseless() || (names && !OWN.contains(&self.text))
    }
}

fn is_among(list: &str, lower: &str) -> bool {
    list.split_whitespace().any(|word| word == lower)
}

fn words(text: &str) -> Vec<PhraseWord<'_>> {
    let mut first = true;
    let mut words = Vec::new();
    for part in text.split_whitespace() {
        let edge = |c: char| ".,;:!?()\"'…–—".contains(c);
        let word = part.trim_matches(edge);
        if !word.is_empty() {
            words.push(PhraseWord { text: word, first });
            first = false;
        }
        first |= part.ends_with(['.', '!', '?', ':', '…', '–', '—']);
    }
    words
}

/// The texts between quotes.
fn quotes(text: &str) -> impl Iterator<Item = &str> {
    let between = |sign| text.split(sign).skip(1).step_by(2);
    between('"').chain(between('`')).filter(|quote| !quote.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_around_the_persons_own_are_fine() {
        for (message, phrase) in [
            ("Call Mum", "It's time to call Mum."),
            ("call Mum about the flat", "Now would be a good moment to call Mum about the flat!"),
            ("Pay 12.50 to Bert by 17:00", "Please pay 12.50 to Bert by 17:00."),
            ("Take \"the blue ones\", two of them", "A gentle nudge: take \"the blue ones\", two of them."),
            ("Send https://example.org/a?b=1 to @anna", "Time to send https://example.org/a?b=1 to @anna."),
            ("Anna's birthday", "Today it is Anna's birthday."),
            ("Ring Anna", "Ring Anna, I'm sure it helps."),
            ("お母さんに電話", "お母さんに電話"),
            ("call Anna, not Berta, at noon", "At noon, call Anna, not Berta."),
            ("please take two pills at half past nine", "Two pills please, take them at half past nine."),
            ("call Mum", "Before you forget: call Mum."),
            ("Zahnarzt um 9:30 anrufen", "Zahnarzt: bitte um 9:30 anrufen."),
        ] {
            assert!(says_the_same(message, phrase), "{message} | {phrase}");
        }
    }

    #[test]
    fn what_is_lost_or_new_is_seen() {
        for (message, phrase) in [
            ("Call Mum", "Time to call."),
            ("Call Mum", "Time to ring Mum."),
            ("Call Mum", "Time to call Dad, not Mum."),
            ("Call Mum", "Call Mum tomorrow."),
            ("Call Mum", "Call Mum at 9."),
            ("Call Mum", "Call Mum and Bert."),
            ("Call Mum", "Call Mum, see https://evil.example"),
            ("Call Mum", "@everyone call Mum"),
            ("Call Mum", "Call **Mum**"),
            ("Call Mum", "Call Mum\nNow"),
            ("Call Mum", "Call Mum\u{200b} now"),
            ("Call Mum", ""),
            ("Call Mum", "   "),
            ("Pay 12.50 to Bert", "Pay Bert 12"),
            ("From 9 to 10", "From 10 to 9"),
            ("At 17:00 in room 4", "At 4 in room 17:00"),
            ("Take \"the blue ones\"", "Take \"blue ones\""),
            ("Anna's birthday", "A birthday is today."),
            ("Check rid_K5V4M2J9Q2ZP", "Check the reminder"),
            ("Read [[Notes/Flat]]", "Read the note"),
            ("Ship USB cable", "Ship usb cable"),
            ("お母さんに電話", "電話してください"),
            ("Feed the cat", "Don't feed the cat"),
            ("Call Anna, not Berta", "Call Berta, Anna."),
            ("we mustn't ring Kim", "We ring Kim."),
            ("go without Tom to the shop", "Go to the shop with Tom."),
            ("please take two pills at noon", "Please take two pills."),
            ("please take two pills at noon", "Please take pills at noon."),
            ("leave by half past nine", "Leave now"),
            ("water plants before noon", "Water plants after noon."),
            ("visit granny next week", "Visit granny this week."),
            ("Ship it every day", "Ship it every week."),
            ("call mum again", "Call dad again."),
            ("ring the dentist friday", "Ring the dentist monday."),
            ("take the second pill", "Take the third pill."),
            ("buy a dozen eggs", "Buy eggs."),
            ("Zahnarzt morgen anrufen", "Zahnarzt heute anrufen."),
            ("um halb drei los", "Um halb vier los."),
            ("appeler Anna demain", "Appeler Anna hier."),
        ] {
            assert!(!says_the_same(message, phrase), "{message} | {phrase}");
        }
        assert!(!says_the_same("Call Mum", &format!("call Mum {}", "please ".repeat(40))));
        assert!(!says_the_same(&"word ".repeat(100), &"word ".repeat(100)));
        assert!(!fits("two\nlines") && !fits(""));
    }

    proptest! {
        #[test]
        fn a_message_keeps_itself_and_a_lost_number_is_always_seen(
            message in "[A-Z][a-z]{1,8}( [A-Za-z]{1,8}| [0-9]{1,4}| [0-9]{1,2}:[0-9]{2}){0,10}",
            number in 0u32..10_000,
        ) {
            prop_assert!(says_the_same(&message, &message));
            let with = format!("{message} {number}");
            prop_assert!(!says_the_same(&with, &message));
            prop_assert!(!says_the_same(&message, &with));
        }

        #[test]
        fn no_text_panics(message in "(?s).{0,60}", phrase in "(?s).{0,60}") {
            let _ = says_the_same(&message, &phrase);
        }
    }
}
