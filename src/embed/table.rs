//! Embeds texts with the built-in model: a text's vector is the sum of its tokens' vectors, scaled to unit length.
//!
//! The table is distilled from all-MiniLM-L6-v2 (`tools/distill`, Apache-2.0). The length of a token's vector is the
//! token's weight. A row stores each number in four bits, with one scale factor for the row. With eight bits the table
//! would be twice as large, and only one or two questions of the recall benchmark would get another ranking. The table
//! is used in place in the program's read-only data. The table's file also lists each word's nearest words, which the
//! ranking uses for soft matches.

/// Dimensions of the built-in vectors.
pub const DIMENSIONS: usize = 256;

/// The name under which vectors of this model are stored; changes whenever the table does.
pub const NAME: &str = "builtin-minilm-256-v2";

/// Tokens beyond this many in one text change nothing: a mean over 2,000 tokens is settled.
pub(super) const MOST_TOKENS: usize = 2000;

static DATA: &[u8] = include_bytes!("data/table.bin");
/// Marks, in a token's text end, a piece that continues a word.
const INNER: u32 = 1 << 31;
const MAGIC: &[u8; 8] = b"VAEMB002";

/// The built-in table.
#[derive(Debug, Clone, Copy)]
pub struct BuiltinTable {
    dimensions: usize,
    neighbours: usize,
    unknown: u32,
    scales: &'static [[u8; 4]],
    rows: &'static [u8],
    ends: &'static [[u8; 4]],
    slots: &'static [[u8; 2]],
    near: &'static [[u8; 2]],
    how: &'static [u8],
    text: &'static [u8],
}

impl BuiltinTable {
    /// The table in the binary.
    pub fn builtin() -> Self {
        // The file is made by `tools/distill/pack.py` and checked by a test, so a wrong one never ships.
        Self::parse(DATA).expect("the table in the binary has the layout that the tests check")
    }

    fn parse(data: &'static [u8]) -> Option<Self> {
        let rest = data.strip_prefix(MAGIC)?;
        let (head, mut rest) = rest.split_at_checked(20)?;
        let head = head.as_chunks().0;
        let number = |at: usize| u32::from_le_bytes(head[at]) as usize;
        let (tokens, dimensions, neighbours) = (number(0), number(1), number(2));
        let mut take = |size: usize| {
            let (part, after) = rest.split_at_checked(size)?;
            rest = after;
            Some(part)
        };
        Some(Self {
            dimensions,
            neighbours,
            unknown: u32::from_le_bytes(head[3]),
            scales: take(4 * tokens)?.as_chunks().0,
            rows: take(tokens * dimensions / 2)?,
            ends: take(4 * tokens)?.as_chunks().0,
            slots: take(2 * number(4))?.as_chunks().0,
            near: take(2 * tokens * neighbours)?.as_chunks().0,
            how: take(tokens * neighbours)?,
            text: rest,
        })
    }

    /// The vector of a text by its tokens: of unit length, or all zeros where no token has one.
    pub(super) fn embed_tokens(&self, tokens: &[u32]) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimensions];
        vector_loops::add_rows(&mut sum, self.rows, self.scales, tokens);
        normalise(&mut sum);
        sum
    }

    /// The nearest words of a word of the vocabulary, nearest first, with their similarity in 0.5..1.
    pub fn neighbours(&self, word: &str) -> impl Iterator<Item = (&'static str, f32)> {
        let this = *self;
        let token = self.piece(word, false);
        let places = token.map_or(0..0, |token| {
            let from = token as usize * this.neighbours;
            from..from + this.neighbours
        });
        places.map_while(move |at| {
            let near = u16::from_le_bytes(this.near[at]);
            (near != u16::MAX).then(|| (this.text_of(u32::from(near)), f32::from(this.how[at]) / 255.0))
        })
    }

    /// Whether it knows a word, lower case, as a whole word.
    pub fn has(&self, word: &str) -> bool {
        self.piece(word, false).is_some()
    }

    /// The weight of a lower-case word for the subject of a text, which is the length of its vector: about 0.1 for
    /// "the", 1 for "dog" and 1.7 for "trombone". [`BuiltinTable::UNKNOWN`] for a word that the table doesn't have as a
    /// whole.
    pub fn weight(&self, word: &str) -> f32 {
        let Some(token) = self.piece(word, false) else { return Self::UNKNOWN };
        let mut row = vec![0.0; self.dimensions];
        vector_loops::add_rows(&mut row, self.rows, self.scales, &[token]);
        row.iter().map(|value| value * value).sum::<f32>().sqrt()
    }

    /// The weight of a word that is rarer than those of the table.
    pub const UNKNOWN: f32 = 1.3;

    fn is_inner(&self, token: u32) -> bool {
        u32::from_le_bytes(self.ends[token as usize]) & INNER != 0
    }

    fn text_of(&self, token: u32) -> &'static str {
        let token = token as usize;
        let end_of = |token: usize| (u32::from_le_bytes(self.ends[token]) & !INNER) as usize;
        let (start, end) = (if token == 0 { 0 } else { end_of(token - 1) }, end_of(token));
        self.text.get(start..end).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or("")
    }

    /// The number of a piece; `inner` for one that continues a word (written `##piece` in vocabularies).
    pub fn piece(&self, piece: &str, inner: bool) -> Option<u32> {
        let basis = if inner { 0x2F0B_4C47 } else { 0x811C_9DC5_u32 };
        let hash = piece.bytes().fold(basis, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let token = u32::from(u16::from_le_bytes(self.slots[at]));
            if token == u32::from(u16::MAX) {
                return None;
            }
            if self.is_inner(token) == inner && self.text_of(token) == piece {
                return Some(token);
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of the unknown token.
    pub(super) fn unknown(&self) -> u32 {
        self.unknown
    }
}

/// Brings `vector` to unit length; leaves zeros alone.
pub fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 1e-12 {
        let inverse = 1.0 / length;
        for x in vector {
            *x *= inverse;
        }
    }
}
