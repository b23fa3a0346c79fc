//! Who speaks in a scope, and whom of them the question names.

use crate::search::query::question::Question;
use crate::search::retrieve::candidates::Candidates;
use crate::search::store::corpus::blocks::Corpus;

/// The speakers in scope: all their names' words, and those whom the question names.
pub(in crate::search) struct Speakers {
    pub names: Vec<String>,
    pub named: Vec<u32>,
}

impl Speakers {
    /// Those of `candidates`. Where the question names all of them, it names none.
    pub fn of(corpus: &Corpus, candidates: &Candidates, question: &Question) -> Self {
        let ids = &candidates.authors;
        let asked = |name: &str| {
            name.split(' ').any(|part| part.len() > 1 && question.words.iter().any(|word| word == part))
        };
        let mut named: Vec<u32> = ids.iter().copied().filter(|id| asked(corpus.author_name(*id))).collect();
        if named.len() == ids.len() {
            named.clear();
        }
        let names = ids.iter().flat_map(|id| corpus.author_name(*id).split(' ').map(str::to_owned)).collect();
        Self { names, named }
    }
}
