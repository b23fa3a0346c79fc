//! The grammars in `grammar/`, and sentences that are made from them.

use std::ops::Range;

use abnf::types::{Node, Repeat, TerminalValues};

use crate::support::prelude::*;

/// The rules of one or more files, by their names in small letters.
#[derive(Debug, Default)]
pub struct Grammar {
    pub rules: BTreeMap<String, Node>,
}

impl Grammar {
    /// All grammars of the folder `grammar/`, which are written to stand beside each other.
    pub fn of_this_repository() -> Grammar {
        let mut grammar = Grammar::default();
        grammar.add(CORE);
        let is_grammar = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "abnf");
        let files = files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("grammar")).into_iter();
        files.filter(is_grammar).for_each(|path| grammar.add(&fs::read_to_string(path).unwrap()));
        grammar.rules.values().for_each(|node| grammar.check(node));
        grammar
    }

    fn add(&mut self, text: &str) {
        for rule in abnf::rulelist(text).unwrap_or_else(|error| panic!("{error}")) {
            let name = rule.name().to_lowercase();
            assert!(self.rules.insert(name, rule.node().clone()).is_none(), "{rule} stands twice");
        }
    }

    /// Every rule that is used is there.
    fn check(&self, node: &Node) {
        match node {
            Node::Alternatives(nodes) | Node::Concatenation(nodes) => {
                nodes.iter().for_each(|node| self.check(node));
            }
            Node::Repetition { node, .. } | Node::Group(node) | Node::Optional(node) => self.check(node),
            Node::Rulename(name) => assert!(self.rules.contains_key(&name.to_lowercase()), "no rule {name}"),
            Node::String(_) | Node::TerminalValues(_) | Node::Prose(_) => {}
        }
    }
}

/// RFC 5234, appendix B.1, as far as it is used.
const CORE: &str =
    "ALPHA = %x41-5A / %x61-7A\nDIGIT = %x30-39\nSP = %x20\nHTAB = %x09\nWSP = SP / HTAB\nDQUOTE = %x22\n";

/// A sentence and its derivation.
#[derive(Debug, Default, Clone)]
pub struct Sentence {
    pub text: String,
    /// Every rule that was expanded and the range of text that it became, in the order of their beginnings.
    pub parts: Vec<(String, Range<usize>)>,
}

impl Sentence {
    /// The texts that a rule became.
    pub fn all(&self, rule: &str) -> Vec<&str> {
        let parts = self.parts.iter().filter(|(name, _)| name == rule);
        parts.map(|(_, range)| &self.text[range.clone()]).collect()
    }

    /// The text that a rule became, the first time.
    pub fn first(&self, rule: &str) -> Option<&str> {
        self.all(rule).first().copied()
    }

    /// The texts of `rule` within the parts of `within`, one list a part.
    pub fn within<'a>(&'a self, within: &'a str, rule: &'a str) -> Vec<Vec<&'a str>> {
        let of =
            |rule: &'a str| self.parts.iter().filter(move |(name, _)| name == rule).map(|(_, range)| range);
        let inside = |outer: &Range<usize>| {
            let is_inner = |inner: &&Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
            of(rule).filter(is_inner).map(|range| &self.text[range.clone()]).collect()
        };
        of(within).map(inside).collect()
    }
}

/// Makes sentences; the same seed makes the same ones.
pub struct Generator<'g> {
    grammar: &'g Grammar,
    random: Rng,
    /// A file has one kind of line end.
    eol: &'static str,
}

impl<'g> Generator<'g> {
    pub fn new(grammar: &'g Grammar, seed: u64) -> Generator<'g> {
        Generator { grammar, random: Rng::with_seed(seed), eol: "\n" }
    }

    /// A random sentence of a rule.
    pub fn sentence(&mut self, rule: &str) -> Sentence {
        self.eol = if self.below(4) == 0 { "\r\n" } else { "\n" };
        let mut sentence = Sentence::default();
        self.expand(&Node::rulename(rule), &mut sentence);
        sentence
    }

    /// A number from 0 to below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.random.u64(..end)
    }

    fn expand(&mut self, node: &Node, out: &mut Sentence) {
        match node {
            Node::Alternatives(nodes) => {
                let choice = self.below(nodes.len() as u64) as usize;
                self.expand(&nodes[choice], out);
            }
            Node::Concatenation(nodes) => nodes.iter().for_each(|node| self.expand(node, out)),
            Node::Group(node) => self.expand(node, out),
            Node::Optional(node) => (0..self.below(2)).for_each(|_| self.expand(node, out)),
            Node::Repetition { repeat, node } => {
                let (least, most) = match repeat {
                    Repeat::Specific(times) => (*times, *times),
                    Repeat::Variable { min, max } => {
                        let least = min.unwrap_or(0);
                        (least, max.unwrap_or(least + 5).min(least + 12))
                    }
                };
                for _ in 0..least as u64 + self.below((most - least) as u64 + 1) {
                    self.expand(node, out);
                }
            }
            Node::Rulename(name) if name == "eol" => out.text.push_str(self.eol),
            Node::Rulename(name) => {
                let grammar = self.grammar;
                let place = out.parts.len();
                out.parts.push((name.clone(), out.text.len()..0));
                self.expand(&grammar.rules[&name.to_lowercase()], out);
                out.parts[place].1.end = out.text.len();
            }
            Node::String(text) if text.is_case_sensitive() => out.text.push_str(text.value()),
            Node::String(text) => {
                let any_case = |c: char| {
                    if self.below(2) == 0 { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
                };
                out.text.extend(text.value().chars().map(any_case));
            }
            Node::TerminalValues(TerminalValues::Range(from, to)) => {
                out.text.push(self.character(*from, *to));
            }
            Node::TerminalValues(TerminalValues::Concatenation(all)) => {
                out.text.extend(all.iter().map(|one| char::from_u32(*one).expect("a character")));
            }
            Node::Prose(words) => panic!("{words} can't be made"),
        }
    }

    /// A character of a range; of a long one mostly an early one.
    fn character(&mut self, from: u32, to: u32) -> char {
        loop {
            let span = match self.below(4) {
                0 => u64::from(to - from) + 1,
                _ => u64::from(to - from).min(0x2100) + 1,
            };
            if let Some(c) = char::from_u32(from + self.below(span) as u32) {
                return c;
            }
        }
    }
}
