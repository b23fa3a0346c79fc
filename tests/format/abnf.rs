//! A reader of ABNF (RFC 5234, with RFC 7405's `%s""` and `%i""`): enough for the files in `grammar/`, strict
//! about everything else, so that a slip in them is found.

use crate::support::prelude::*;

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
            let mut reader = Reader { text: body.trim(), rule: &rule };
            let node = reader.alternation();
            assert!(reader.text.is_empty(), "left over in {rule}: {}", reader.text);
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

struct Reader<'t> {
    text: &'t str,
    rule: &'t str,
}

impl Reader<'_> {
    fn alternation(&mut self) -> Node {
        let mut nodes = vec![self.concatenation()];
        while self.eat("/") {
            nodes.push(self.concatenation());
        }
        if nodes.len() == 1 { nodes.remove(0) } else { Node::Alternation(nodes) }
    }

    fn concatenation(&mut self) -> Node {
        let mut nodes = Vec::new();
        while !self.text.is_empty() && !self.text.starts_with(['/', ')', ']']) {
            nodes.push(self.repetition());
        }
        assert!(!nodes.is_empty(), "an empty alternative in {}", self.rule);
        if nodes.len() == 1 { nodes.remove(0) } else { Node::Concatenation(nodes) }
    }

    fn repetition(&mut self) -> Node {
        let least = self.number();
        if self.eat_here("*") {
            let most = self.number();
            Node::Repetition(least.unwrap_or(0), most, Box::new(self.element()))
        } else if let Some(count) = least {
            Node::Repetition(count, Some(count), Box::new(self.element()))
        } else {
            self.element()
        }
    }

    fn element(&mut self) -> Node {
        if self.eat("(") {
            let node = self.alternation();
            assert!(self.eat(")"), "no `)` in {}", self.rule);
            return node;
        }
        if self.eat("[") {
            let node = self.alternation();
            assert!(self.eat("]"), "no `]` in {}", self.rule);
            return Node::Repetition(0, Some(1), Box::new(node));
        }
        if self.eat_here("%x") {
            return self.numbers();
        }
        let sensitive = self.eat_here("%s");
        if self.eat_here("\"") {
            let end = self.text.find('"').unwrap_or_else(|| panic!("an open quote in {}", self.rule));
            let text = self.text[..end].to_owned();
            self.skip(end + 1);
            return Node::Text(text, sensitive);
        }
        let end = self.text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(self.text.len());
        assert!(end > 0, "{} isn't ABNF, in {}", self.text, self.rule);
        let name = self.text[..end].to_lowercase();
        self.skip(end);
        Node::Rule(name)
    }

    /// `41`, `41-5A`, `0D.0A`, after `%x`.
    fn numbers(&mut self) -> Node {
        let first = self.hex();
        if self.eat_here("-") {
            let last = self.hex();
            self.skip(0);
            return Node::Range(first, last);
        }
        let mut nodes = vec![Node::Range(first, first)];
        while self.eat_here(".") {
            let next = self.hex();
            nodes.push(Node::Range(next, next));
        }
        self.skip(0);
        if nodes.len() == 1 { nodes.remove(0) } else { Node::Concatenation(nodes) }
    }

    fn hex(&mut self) -> u32 {
        let end = self.text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(self.text.len());
        let number = u32::from_str_radix(&self.text[..end], 16)
            .unwrap_or_else(|_| panic!("no number in {}", self.rule));
        self.text = &self.text[end..];
        number
    }

    fn number(&mut self) -> Option<usize> {
        let end = self.text.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.text.len());
        let number = self.text[..end].parse().ok();
        self.text = &self.text[end..];
        number
    }

    fn skip(&mut self, count: usize) {
        self.text = self.text[count..].trim_start();
    }

    fn eat_here(&mut self, token: &str) -> bool {
        let rest = self.text.strip_prefix(token);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn eat(&mut self, token: &str) -> bool {
        let eaten = self.eat_here(token);
        if eaten {
            self.skip(0);
        }
        eaten
    }
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
    random: Random,
    /// A file has one kind of line end.
    eol: &'static str,
}

impl<'g> Generator<'g> {
    pub fn new(grammar: &'g Grammar, seed: u64) -> Generator<'g> {
        Generator { grammar, random: Random(seed), eol: "\n" }
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
        self.random.below(end)
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
