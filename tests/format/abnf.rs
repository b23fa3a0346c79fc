//! A reader of ABNF (RFC 5234, with RFC 7405's `%s""` and `%i""`): enough for the files in `grammar/`, strict
//! about everything else, so that a slip in them is found.

use crate::support::prelude::*;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, digit1, hex_digit1, space0};
use nom::combinator::{all_consuming, map_res, opt};
use nom::multi::{many1, separated_list1};
use nom::sequence::{delimited, preceded, separated_pair, terminated};
use nom::{IResult, Parser};

/// What a rule says.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Alternation(Vec<Node>),
    Concatenation(Vec<Node>),
    /// From as many to as many times.
    Repetition(usize, Option<usize>, Box<Node>),
    Rule(String),
    /// Letters and whether their case matters.
    Text(String, bool),
    /// One character of a range.
    Range(u32, u32),
}

/// The rules of one or more files, by their names in small letters.
#[derive(Debug, Default)]
pub struct Grammar {
    pub rules: BTreeMap<String, Node>,
}

impl Grammar {
    /// All grammars of the folder `grammar/`, which are written to stand beside each other.
    pub fn of_this_repository() -> Grammar {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammar");
        let mut grammar = Grammar::default();
        grammar.add(CORE);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "abnf") {
                grammar.add(&std::fs::read_to_string(&path).unwrap());
            }
        }
        grammar.check();
        grammar
    }

    fn add(&mut self, text: &str) {
        let mut rules: Vec<String> = Vec::new();
        for line in text.lines().map(without_comment).filter(|line| !line.trim().is_empty()) {
            if line.starts_with(' ') {
                rules.last_mut().expect("a rule before its continuation").push_str(line);
            } else {
                rules.push(line.to_owned());
            }
        }
        for rule in rules {
            let (name, body) = rule.split_once('=').unwrap_or_else(|| panic!("no `=` in {rule}"));
            let node = all_consuming(alternation).parse(body.trim());
            let (_, node) = node.unwrap_or_else(|error| panic!("{rule} isn't ABNF: {error}"));
            assert!(self.rules.insert(name.trim().to_lowercase(), node).is_none(), "{name} stands twice");
        }
    }

    /// Every rule that is used is there.
    fn check(&self) {
        fn names<'n>(node: &'n Node, found: &mut Vec<&'n str>) {
            match node {
                Node::Alternation(nodes) | Node::Concatenation(nodes) => {
                    nodes.iter().for_each(|n| names(n, found));
                }
                Node::Repetition(_, _, node) => names(node, found),
                Node::Rule(name) => found.push(name),
                Node::Text(..) | Node::Range(..) => {}
            }
        }
        let mut found = Vec::new();
        self.rules.values().for_each(|node| names(node, &mut found));
        for name in found {
            assert!(self.rules.contains_key(name), "no rule {name}");
        }
    }
}

/// RFC 5234, appendix B.1, as far as it is used.
const CORE: &str =
    "ALPHA = %x41-5A / %x61-7A\nDIGIT = %x30-39\nSP = %x20\nHTAB = %x09\nWSP = SP / HTAB\nDQUOTE = %x22\n";

fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let end = line.find(|c| {
        quoted ^= c == '"';
        c == ';' && !quoted
    });
    line[..end.unwrap_or(line.len())].trim_end()
}

type Parsed<'t, T> = IResult<&'t str, T>;

fn alternation(text: &str) -> Parsed<'_, Node> {
    let nodes = separated_list1((char('/'), space0), concatenation);
    nodes.map(|nodes| single_or(nodes, Node::Alternation)).parse(text)
}

fn concatenation(text: &str) -> Parsed<'_, Node> {
    many1(repetition).map(|nodes| single_or(nodes, Node::Concatenation)).parse(text)
}

fn single_or(mut nodes: Vec<Node>, several: fn(Vec<Node>) -> Node) -> Node {
    if nodes.len() == 1 { nodes.remove(0) } else { several(nodes) }
}

fn repetition(text: &str) -> Parsed<'_, Node> {
    let number = |text| map_res(digit1, str::parse).parse(text);
    let times = (opt(number), opt(preceded(char('*'), opt(number))));
    let repeated = |((least, most), node)| match (least, most) {
        (None, None) => node,
        (Some(count), None) => Node::Repetition(count, Some(count), Box::new(node)),
        (least, Some(most)) => Node::Repetition(least.unwrap_or(0), most, Box::new(node)),
    };
    (times, terminated(element, space0)).map(repeated).parse(text)
}

fn element(rest: &str) -> Parsed<'_, Node> {
    let group = delimited((char('('), space0), alternation, char(')'));
    let option = delimited((char('['), space0), alternation, char(']'));
    let quoted = (opt(tag("%s")), delimited(char('"'), take_while(|c| c != '"'), char('"')));
    let text = |(sensitive, text): (Option<&str>, &str)| Node::Text(text.to_owned(), sensitive.is_some());
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    alt((
        group,
        option.map(|node| Node::Repetition(0, Some(1), Box::new(node))),
        preceded(tag("%x"), characters),
        quoted.map(text),
        take_while1(is_name).map(|name: &str| Node::Rule(name.to_lowercase())),
    ))
    .parse(rest)
}

fn hex(text: &str) -> Parsed<'_, u32> {
    map_res(hex_digit1, |digits| u32::from_str_radix(digits, 16)).parse(text)
}

/// `41`, `41-5A`, `0D.0A`, after `%x`.
fn characters(text: &str) -> Parsed<'_, Node> {
    let range = separated_pair(hex, char('-'), hex).map(|(first, last)| Node::Range(first, last));
    let each = separated_list1(char('.'), hex.map(|one| Node::Range(one, one)));
    alt((range, each.map(|nodes| single_or(nodes, Node::Concatenation)))).parse(text)
}

#[test]
fn rules_are_read_as_the_rfc_has_them() {
    let mut grammar = Grammar::default();
    grammar.add("a = 1*2\"x;\" / ( %s\"y\" [b] ) ; comment\n    3b\nb = %x41-43 / %x0D.0A / *b\n");
    let text = |text: &str, sensitive| Node::Text(text.to_owned(), sensitive);
    let b = || Box::new(Node::Rule("b".to_owned()));
    assert_eq!(
        grammar.rules["a"],
        Node::Alternation(vec![
            Node::Repetition(1, Some(2), Box::new(text("x;", false))),
            Node::Concatenation(vec![
                Node::Concatenation(vec![text("y", true), Node::Repetition(0, Some(1), b())]),
                Node::Repetition(3, Some(3), b()),
            ]),
        ])
    );
    let range = |from, to| Node::Range(from, to);
    assert_eq!(
        grammar.rules["b"],
        Node::Alternation(vec![
            range(0x41, 0x43),
            Node::Concatenation(vec![range(0xd, 0xd), range(0xa, 0xa)]),
            Node::Repetition(0, None, b()),
        ])
    );
}

/// A sentence and its derivation.
#[derive(Debug, Default, Clone)]
pub struct Sentence {
    pub text: String,
    /// Every rule that was expanded and the range of text that it became, in the order of their beginnings.
    pub parts: Vec<(String, std::ops::Range<usize>)>,
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
    pub fn within(&self, within: &str, rule: &str) -> Vec<Vec<&str>> {
        let outer = self.parts.iter().filter(|(name, _)| name == within);
        outer
            .map(|(_, outer)| {
                let inner = self.parts.iter().filter(|(name, range)| {
                    name == rule && range.start >= outer.start && range.end <= outer.end
                });
                inner.map(|(_, range)| &self.text[range.clone()]).collect()
            })
            .collect()
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
        self.expand(&Node::Rule(rule.to_owned()), &mut sentence);
        sentence
    }

    /// A number from 0 to below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.random.u64(..end)
    }

    fn expand(&mut self, node: &Node, out: &mut Sentence) {
        match node {
            Node::Alternation(nodes) => {
                let choice = self.below(nodes.len() as u64) as usize;
                self.expand(&nodes[choice], out);
            }
            Node::Concatenation(nodes) => nodes.iter().for_each(|node| self.expand(node, out)),
            Node::Repetition(least, most, node) => {
                let most = most.unwrap_or(least + 5).min(least + 12);
                for _ in 0..*least as u64 + self.below((most - least) as u64 + 1) {
                    self.expand(node, out);
                }
            }
            Node::Rule(name) if name == "eol" => out.text.push_str(self.eol),
            Node::Rule(name) => {
                let grammar = self.grammar;
                let place = out.parts.len();
                out.parts.push((name.clone(), out.text.len()..0));
                self.expand(&grammar.rules[name], out);
                out.parts[place].1.end = out.text.len();
            }
            Node::Text(text, true) => out.text.push_str(text),
            Node::Text(text, false) => {
                for c in text.chars() {
                    out.text.push(if self.below(2) == 0 {
                        c.to_ascii_uppercase()
                    } else {
                        c.to_ascii_lowercase()
                    });
                }
            }
            Node::Range(from, to) => out.text.push(self.character(*from, *to)),
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
