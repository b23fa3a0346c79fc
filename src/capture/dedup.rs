//! Finds which candidates for the inbox are known already, and whether a candidate replaces or extends a known fact.
//! Pure; vectors have unit length.
//!
//! The thresholds and the rules of the categories are those of source 002 (see `ARCHITECTURE.md`), "Auto-capture". The
//! verdict of a brain, if there is one, is applied as far as the category's rule allows. Otherwise [`verdict_by_words`]
//! compares the words. A candidate that adds nothing is skipped, a candidate with another value of the same attribute
//! replaces the fact, and a candidate with further details extends the fact.

use crate::capture::DedupVerdict;
use crate::format::candidate::{Category, FactChange};
use crate::memory::contradiction::{is_negated, is_other_value, words};
use crate::memory::normal;

/// The similarity from which on two candidates of one batch are one (source 002: "pairwise cosine on L0 abstracts,
/// threshold 0.85").
pub const SAME: f32 = 0.85;
/// The similarity from which on a known fact may be about the same (source 002: "vector search existing at 0.7").
pub const NEAR: f32 = 0.7;
/// How many known facts are compared (source 002: "top-3").
pub const TOP: usize = 3;

impl DedupVerdict {
    /// The verdict, if it is about one of these facts; else the candidate is a fact of its own.
    pub fn restricted_to(&self, near: &[&str]) -> Self {
        match self {
            Self::New(Some(change)) if near.iter().all(|known| normal(known) != normal(change.words())) => {
                Self::New(None)
            }
            verdict => verdict.clone(),
        }
    }
}

/// The cosine of two vectors of unit length.
pub fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// The indexes of the vectors that stay: of two that are [`SAME`], the first.
pub fn first_of_duplicates(vectors: &[Vec<f32>]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for (place, vector) in vectors.iter().enumerate() {
        if !kept.iter().any(|known| cosine(&vectors[*known], vector) >= SAME) {
            kept.push(place);
        }
    }
    kept
}

/// The indexes of the known facts that are [`NEAR`], nearest first, at most [`TOP`].
pub fn nearest<'v>(vector: &[f32], known: impl Iterator<Item = &'v [f32]>) -> Vec<usize> {
    let mut found: Vec<(usize, f32)> = known.map(|known| cosine(vector, known)).enumerate().collect();
    found.retain(|(_, cosine)| *cosine >= NEAR);
    found.sort_by(|one, other| other.1.total_cmp(&one.1));
    found.into_iter().take(TOP).map(|(place, _)| place).collect()
}

/// Whether two texts give different values of the same attribute, by their words: a person who lives in `Graz` no
/// longer lives in `Vienna`, however far apart the two names are in a model.
pub fn contradicts(one: &str, other: &str) -> bool {
    is_other_value(&words(one), &words(other))
}

/// Applies a category's rule (source 002) to a verdict: a forbidden effect becomes the next milder one. Preferences and
/// entities may replace a known fact (`TEMPORAL_VERSIONED`), patterns are added to it (`MERGE_SUPPORTED`), events and
/// cases stand alone (`APPEND_ONLY`). A profile is always merged (`ALWAYS_MERGE`), which means that the new value
/// replaces the old one. A replaced value is struck through, since nothing is ever erased.
pub fn allowed(category: Category, verdict: DedupVerdict) -> DedupVerdict {
    match (category, verdict) {
        (Category::Events | Category::Cases, DedupVerdict::New(_)) => DedupVerdict::New(None),
        (Category::Patterns, DedupVerdict::New(Some(FactChange::Replaces(words)))) => {
            DedupVerdict::New(Some(FactChange::Joins(words)))
        }
        (_, verdict) => verdict,
    }
}

/// The verdict by the words alone: `near` are the known facts that are near, nearest first.
pub fn verdict_by_words(category: Category, text: &str, near: &[&str]) -> DedupVerdict {
    let new = words(text);
    let mut change = near.first().map(|known| FactChange::Joins((*known).to_owned()));
    for known in near {
        let old = words(known);
        if new.iter().all(|word| old.contains(word)) && is_negated(&new) == is_negated(&old) {
            return DedupVerdict::Known;
        }
        if is_other_value(&new, &old) {
            change = Some(FactChange::Replaces((*known).to_owned()));
            break;
        }
    }
    allowed(category, DedupVerdict::New(change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::candidate::FactChange::{Joins, Replaces};

    #[test]
    fn a_batch_keeps_the_first_of_two_that_are_the_same() {
        let at = |cosine: f32| vec![cosine, (1.0 - cosine * cosine).sqrt()];
        assert_eq!(first_of_duplicates(&[at(1.0), at(0.86), at(0.84)]), [0, 2]);
        assert_eq!(first_of_duplicates(&[]), [0; 0]);
    }

    #[test]
    fn the_nearest_three_that_are_near_enough() {
        let known: Vec<Vec<f32>> =
            [0.69, 0.71, 0.99, 0.8, 0.75_f32].iter().map(|c| vec![*c, (1.0 - c * c).sqrt()]).collect();
        assert_eq!(nearest(&[1.0, 0.0], known.iter().map(Vec::as_slice)), [2, 3, 4]);
    }

    #[test]
    fn each_category_has_the_sources_rule() {
        use Category::*;
        let new = |change: Option<FactChange>| DedupVerdict::New(change);
        let (put, replaced) = (new(Some(Joins("a".into()))), new(Some(Replaces("a".into()))));
        let (create, skip) = (new(None), DedupVerdict::Known);
        for (category, merge, supersede) in [
            (Profile, &put, &replaced),
            (Preferences, &put, &replaced),
            (Entities, &put, &replaced),
            (Patterns, &put, &put),
            (Events, &create, &create),
            (Cases, &create, &create),
        ] {
            assert_eq!(allowed(category, put.clone()), *merge, "{category}");
            assert_eq!(allowed(category, replaced.clone()), *supersede, "{category}");
            assert_eq!(allowed(category, skip.clone()), skip, "{category}");
            assert_eq!(allowed(category, create.clone()), create, "{category}");
        }
    }

    #[test]
    fn words_say_what_a_candidate_does() {
        let verdict = |category, text: &str, known: &str| verdict_by_words(category, text, &[known]);
        let pref = Category::Preferences;
        assert_eq!(verdict(pref, "I like green tea.", "I like green tea"), DedupVerdict::Known);
        assert_eq!(verdict(pref, "green tea", "likes green tea a lot"), DedupVerdict::Known);
        assert_eq!(
            verdict(pref, "I don't like green tea", "I like green tea"),
            DedupVerdict::New(Some(Replaces("I like green tea".into())))
        );
        assert_eq!(
            verdict(Category::Entities, "Anna lives in Vienna", "Anna lives in Graz"),
            DedupVerdict::New(Some(Replaces("Anna lives in Graz".into())))
        );
        assert_eq!(
            verdict(pref, "likes green tea with honey", "likes green tea"),
            DedupVerdict::New(Some(Joins("likes green tea".into())))
        );
        assert_eq!(verdict(Category::Events, "went to Graz again", "went to Graz"), DedupVerdict::New(None));
        assert_eq!(verdict_by_words(pref, "likes tea", &[]), DedupVerdict::New(None));
    }
}
