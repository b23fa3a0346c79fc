//! Finds the secrets of a text. One pass finds the words that may mark a secret, for example the keywords of the rules,
//! or the prefixes of API tokens. Then the rules check the text around these words.
//!
//! One Aho-Corasick automaton finds all these words. Secrets without any such word (tokens of Discord's bots, lines of
//! pgpass files) are found by the form of a line or a word.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex_lite::Regex;

use super::rule::SecretRule;
use super::tokens::{TokenPrefix, TokenShape};
use super::{FoundSecret, assigned, commands, headers, tokens, urls};

/// The rules, in the order in which they name what several of them find.
const TABLES: [&[SecretRule]; 5] =
    [tokens::KEYS_AND_HASHES, tokens::RULES, urls::RULES, headers::RULES, commands::RULES];

/// The rule that a word of the automaton belongs to.
#[derive(Clone, Copy)]
enum KeywordOwner {
    Rule(usize),
    Token(&'static str, &'static TokenShape),
    Name,
    Scheme,
    Block,
}

/// The automaton, what its words belong to, and the rules with their patterns, compiled when first needed.
struct KeywordMatcher {
    automaton: AhoCorasick,
    of: Vec<KeywordOwner>,
    rules: Vec<(&'static SecretRule, OnceLock<Option<Regex>>)>,
}

static MACHINE: LazyLock<KeywordMatcher> = LazyLock::new(|| {
    let rules: Vec<&SecretRule> = TABLES.into_iter().flatten().collect();
    let keywords = rules
        .iter()
        .enumerate()
        .flat_map(|(at, rule)| rule.keywords.iter().map(move |word| (*word, KeywordOwner::Rule(at))));
    let tokens = tokens::SHAPES.iter().flat_map(|shape| {
        shape.prefixes.iter().map(move |prefix| (*prefix, KeywordOwner::Token(prefix, shape)))
    });
    let names = assigned::WORDS.split(' ').map(|word| (word, KeywordOwner::Name));
    let others = [("://", KeywordOwner::Scheme), (tokens::BEGIN, KeywordOwner::Block)];
    let (words, of): (Vec<&str>, Vec<KeywordOwner>) =
        keywords.chain(tokens).chain(names).chain(others).unzip();
    // With words this short a prefilter only costs, and a dense automaton is twice as large.
    let mut builder = AhoCorasick::builder();
    let automaton = builder.ascii_case_insensitive(true).prefilter(false).dense_depth(1).build(words);
    let automaton = automaton.expect("the words are few");
    let rules = rules.into_iter().map(|rule| (rule, OnceLock::new())).collect();
    KeywordMatcher { automaton, of, rules }
});

/// The positions of all keywords in a text, by their kind, each in order.
#[derive(Default)]
struct KeywordPositions {
    rules: Vec<(usize, usize)>,
    tokens: Vec<TokenPrefix>,
    names: Vec<Range<usize>>,
    schemes: Vec<usize>,
    blocks: Vec<usize>,
}

impl KeywordPositions {
    fn of(text: &str, machine: &KeywordMatcher) -> Self {
        let mut out = Self::default();
        for hit in machine.automaton.find_overlapping_iter(text) {
            match machine.of[hit.pattern()] {
                KeywordOwner::Rule(rule) if machine.rules[rule].0.may_begin(text, hit.start()) => {
                    out.rules.push((rule, hit.start()));
                }
                KeywordOwner::Rule(_) => {}
                KeywordOwner::Token(prefix, shape) => {
                    let one = TokenPrefix { at: hit.start(), prefix, shape };
                    if one.stands_in(text) {
                        out.tokens.push(one);
                    }
                }
                KeywordOwner::Name => out.names.push(hit.range()),
                KeywordOwner::Scheme => out.schemes.push(hit.start()),
                KeywordOwner::Block => out.blocks.push(hit.start()),
            }
        }
        out.rules.sort_unstable();
        out.names.sort_unstable_by_key(|name| name.start);
        out
    }
}

/// All that the rules find in a text. If two find the same place, the first one names it.
pub(super) fn find(text: &str) -> Vec<FoundSecret> {
    let (machine, mut found) = (&*MACHINE, Vec::new());
    let places = KeywordPositions::of(text, machine);
    tokens::private_keys(text, &places.blocks, &mut found);
    tokens::with_prefix(text, places.tokens, &mut found);
    tokens::of_discord(text, &mut found);
    for one in places.rules.chunk_by(|one, next| one.0 == next.0) {
        let starts: Vec<usize> = one.iter().map(|(_, start)| *start).collect();
        let (rule, regex) = &machine.rules[one[0].0];
        if let Some(regex) = regex.get_or_init(|| rule.compile()) {
            rule.find(regex, text, &starts, &mut found);
        }
    }
    urls::userinfo(text, &places.schemes, &mut found);
    commands::of_pgpass(text, &mut found);
    assigned::find(text, &places.names, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_compiles_within_its_size_and_has_keywords() {
        for (rule, _) in &MACHINE.rules {
            assert!(rule.is_valid(), "{:?}", rule.keywords);
        }
    }
}
