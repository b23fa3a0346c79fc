//! Words as conversations are compared by them: those that recall counts, where it is built in, else lower-case words of
//! some length.

/// The terms of a text, in order, with repetition.
pub fn terms(text: &str) -> Vec<String> {
    use std::cell::RefCell;

    use crate::search::analyze::stems::Terms;

    // Making a stemmer costs more than a line's words.
    thread_local! {
        static TERMS: RefCell<Terms> = RefCell::default();
    }
    let mut found = Vec::new();
    TERMS.with_borrow_mut(|terms| terms.each(text, |term| found.push(term.to_owned())));
    found
}

/// Whether a lower-case word is a function word: it says nothing of what a text is about.
pub fn is_function_word(word: &str) -> bool {
    crate::search::analyze::function_words::is_one(word)
}
