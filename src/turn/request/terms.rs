//! Splits a text into the words that conversations are compared by, as recall does. Pure.

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
