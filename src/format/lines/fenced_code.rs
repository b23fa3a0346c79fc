//! Finds a note's fenced code line by line, and follows the block quotes and list items in which code may stand. Pure.
//!
//! The rules are CommonMark's: a fence stands in its containers (block quotes, list items), and ends with them. A
//! paragraph's lazy continuation line ends no container. HTML blocks are read as paragraphs, so a fence in an HTML
//! block opens code.
//!
//! Time is linear in the number of bytes, because containers are followed to a fixed depth.

/// The most containers in each other that are followed. What is deeper is text.
const DEEPEST: usize = 64;

/// The role of a line in fenced code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// It begins outside fenced code, and opens none.
    Text,
    /// It begins a list item, and opens fenced code in it.
    ItemWithFence,
    /// It is in fenced code, or opens or closes it.
    Code,
}

/// Finds the fenced code in lines that are given one by one.
#[derive(Debug, Clone, Default)]
pub struct FencedCode {
    /// The open block quotes and list items, the outermost first.
    containers: Vec<Container>,
    /// Whether the last line belongs to a paragraph, which the next one may go on with.
    in_paragraph: bool,
    /// The open fence, in the innermost container.
    fence: Option<Fence>,
}

#[derive(Debug, Clone, Copy)]
enum Container {
    Quote,
    /// Its text is indented by `width` columns; `is_empty` while only its marker was seen.
    Item {
        width: usize,
        is_empty: bool,
    },
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
}

impl FencedCode {
    /// Takes the next line, without its terminator.
    pub fn line(&mut self, text: &[u8]) -> LineKind {
        let mut rest = Rest::new(text, 0);
        let matched = self.matched(&mut rest);
        let is_inside = matched == self.containers.len();
        if let Some(fence) = self.fence.filter(|_| is_inside) {
            if rest.indent() <= 3 && closes_fence(rest.body, fence) {
                self.fence = None;
            }
            return LineKind::Code;
        }
        self.fence = None;
        let mut can_interrupt = is_inside && self.in_paragraph;
        let (mut opened, mut begins_item, mut kind) = (false, false, LineKind::Text);
        let in_paragraph = loop {
            let body = rest.body;
            if body.is_empty() {
                break false;
            } else if rest.indent() > 3 {
                // Indented code, unless it goes on with a paragraph.
                break !opened && self.in_paragraph;
            } else if let Some(fence) = opens_fence(body) {
                kind = if begins_item { LineKind::ItemWithFence } else { LineKind::Code };
                self.fence = Some(fence);
                break false;
            } else if is_heading(body) || (can_interrupt && is_underline(body)) || is_rule(body) {
                break false;
            }
            let Some(container) = rest.container(can_interrupt) else { break !body.starts_with(b"<!--") };
            if !opened {
                self.containers.truncate(matched);
            }
            if self.containers.len() == DEEPEST {
                break true;
            }
            begins_item |= matches!(container, Container::Item { .. });
            self.containers.push(container);
            (opened, can_interrupt) = (true, false);
        };
        // Text goes on with a paragraph, wherever that is.
        let goes_on = in_paragraph && self.in_paragraph;
        if !opened && !goes_on {
            self.containers.truncate(matched);
        }
        self.in_paragraph = in_paragraph;
        kind
    }

    /// The line that closes the open fence.
    pub fn closer(&self) -> Option<String> {
        self.fence.map(|fence| String::from(char::from(fence.mark)).repeat(fence.length))
    }

    /// The beginning that a line needs to belong to the open containers.
    pub fn prefix(&self) -> String {
        let of = |container: &Container| match container {
            Container::Quote => "> ".to_owned(),
            Container::Item { width, .. } => " ".repeat(*width),
        };
        self.containers.iter().map(of).collect()
    }

    /// The number of open containers that the line goes on with; `rest` is then what stands in them.
    fn matched(&mut self, rest: &mut Rest<'_>) -> usize {
        for (depth, container) in self.containers.iter_mut().enumerate() {
            let goes_on = match container {
                Container::Quote => rest.indent() <= 3 && rest.quote(),
                // It may begin with one blank line, not with two.
                Container::Item { is_empty, .. } if rest.body.is_empty() => !*is_empty,
                Container::Item { width, is_empty } if rest.indent() >= *width => {
                    rest.skip(*width);
                    *is_empty = false;
                    true
                }
                Container::Item { .. } => false,
            };
            if !goes_on {
                return depth;
            }
        }
        self.containers.len()
    }
}

/// The rest of a line behind the marks of its containers. Blanks are columns here, so a tab can be used in part.
struct Rest<'a> {
    /// The column at which it begins, from 0.
    column: usize,
    /// The text behind its blanks.
    body: &'a [u8],
    /// The column of that.
    body_column: usize,
}

impl<'a> Rest<'a> {
    fn new(text: &'a [u8], column: usize) -> Self {
        let (blanks, body) = text.split_at(blanks(text));
        // A tab goes to the next multiple of four.
        let to = |column: usize, blank: &u8| if *blank == b'\t' { column / 4 * 4 + 4 } else { column + 1 };
        Self { column, body, body_column: blanks.iter().fold(column, to) }
    }

    /// The columns of blanks that it begins with.
    fn indent(&self) -> usize {
        self.body_column - self.column
    }

    /// Goes over so many columns of blanks, as far as there are any.
    fn skip(&mut self, columns: usize) {
        self.column += columns.min(self.indent());
    }

    /// Goes over the blanks and `length` bytes behind them.
    fn take(&mut self, length: usize) {
        *self = Self::new(&self.body[length..], self.body_column + length);
    }

    /// Goes over the mark of a block quote.
    fn quote(&mut self) -> bool {
        let is_quote = self.body.starts_with(b">");
        if is_quote {
            self.take(1);
            self.skip(1);
        }
        is_quote
    }

    /// Goes over the mark of a container that begins here.
    fn container(&mut self, interrupts_paragraph: bool) -> Option<Container> {
        if self.quote() {
            return Some(Container::Quote);
        }
        let (indent, body) = (self.indent(), self.body);
        let digits = body.iter().take_while(|b| b.is_ascii_digit()).count();
        let is_marker = match body.get(digits)? {
            b'-' | b'*' | b'+' => digits == 0,
            b'.' | b')' => (1..=9).contains(&digits),
            _ => false,
        };
        let (marker, after) = body.split_at(digits + 1);
        let is_empty = blanks(after) == after.len();
        // Beside a paragraph, only an item with text, and of a numbered list only the first.
        let can_begin = !interrupts_paragraph || (!is_empty && (digits == 0 || is_one(&body[..digits])));
        if !is_marker || !can_begin || !matches!(after, [] | [b' ' | b'\t', ..]) {
            return None;
        }
        self.take(marker.len());
        // From five columns on it is indented code, behind one blank.
        let gap = if is_empty || self.indent() > 4 { 1 } else { self.indent() };
        self.skip(gap);
        Some(Container::Item { width: indent + marker.len() + gap, is_empty })
    }
}

/// Whether a number is 1, perhaps behind zeros.
fn is_one(digits: &[u8]) -> bool {
    digits.strip_suffix(b"1").is_some_and(|zeros| zeros.iter().all(|b| *b == b'0'))
}

/// The number of spaces and tabs that a text begins with.
fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// The fence that a line opens whose first byte this is.
fn opens_fence(body: &[u8]) -> Option<Fence> {
    let mark = *body.first().filter(|b| matches!(b, b'`' | b'~'))?;
    let length = run(body, mark);
    let is_code_span = mark == b'`' && memchr::memchr(b'`', &body[length..]).is_some();
    (length >= 3 && !is_code_span).then_some(Fence { mark, length })
}

fn closes_fence(body: &[u8], Fence { mark, length }: Fence) -> bool {
    let count = run(body, mark);
    count >= length && count + blanks(&body[count..]) == body.len()
}

/// How often a text has `mark` at its beginning.
fn run(text: &[u8], mark: u8) -> usize {
    text.iter().take_while(|b| **b == mark).count()
}

fn is_heading(body: &[u8]) -> bool {
    let level = run(body, b'#');
    (1..=6).contains(&level) && matches!(body.get(level), None | Some(b' ' | b'\t'))
}

/// Whether a line below a paragraph makes a heading of it.
fn is_underline(body: &[u8]) -> bool {
    let length = run(body, body[0]);
    matches!(body[0], b'=' | b'-') && length + blanks(&body[length..]) == body.len()
}

/// Whether a line is a rule: three or more of the same mark, perhaps with blanks between.
fn is_rule(body: &[u8]) -> bool {
    let mark = body[0];
    matches!(mark, b'-' | b'*' | b'_')
        && body.iter().all(|b| *b == mark || matches!(b, b' ' | b'\t'))
        && body.iter().filter(|b| **b == mark).count() >= 3
}
