//! Sentences of a grammar, made at random, each with the parts that it was made of: what a parser must find
//! in it is known without asking the parser.

use super::abnf::{Grammar, Node};

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
        self.parts
            .iter()
            .filter(|(name, _)| name == rule)
            .map(|(_, range)| &self.text[range.clone()])
            .collect()
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
    state: u64,
    /// A file has one kind of line end.
    eol: &'static str,
}

impl<'g> Generator<'g> {
    pub fn new(grammar: &'g Grammar, seed: u64) -> Generator<'g> {
        Generator { grammar, state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, eol: "\n" }
    }

    /// A random sentence of a rule.
    pub fn sentence(&mut self, rule: &str) -> Sentence {
        self.eol = if self.below(4) == 0 { "\r\n" } else { "\n" };
        let mut sentence = Sentence::default();
        self.expand(&Node::Rule(rule.to_owned()), &mut sentence);
        sentence
    }

    /// `xorshift64*` (Marsaglia 2003, Vigna 2016).
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number from 0 to below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
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
