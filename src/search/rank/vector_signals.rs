//! Computes nearness in meaning: the cosines of the question's vector and those of blocks, and the signals from them.
//!
//! If there are many blocks, a few are chosen first ([`crate::search::retrieve::nearest_vectors`]).

use std::collections::HashMap;

use crate::search::rank::accumulator::Sink;
use crate::search::rank::signal_names::Signal;
use crate::search::retrieve::candidates::Candidates;
use crate::search::retrieve::cosines::Vectors;
use crate::search::store::corpus::blocks::Corpus;

/// The usual mean and spread of the built-in model's cosines between a question and a memory's blocks, and for
/// how many blocks they count.
const USUAL: (f64, f64, f64) = (0.147, 0.1, 20.0);

/// The cosines, standardised over the candidates that have a vector (or a sample of them): of all candidates, or
/// of those that are listed.
pub fn vector_signals(
    corpus: &Corpus,
    candidates: &Candidates,
    vectors: Vectors<'_>,
    listed: Option<&[u32]>,
    sample: &[f32],
    sink: &mut impl Sink,
) {
    let cosines = match listed {
        Some(listed) => vectors.cosines(corpus, listed.iter().copied()),
        None => vectors.cosines(corpus, candidates.slots()),
    };
    let Some((mean, scale)) = (match listed {
        Some(_) if !sample.is_empty() => spread_of(sample.iter().copied()),
        _ => spread_of(cosines.iter().map(|(_, cosine)| *cosine)),
    }) else {
        return;
    };
    let mut most: HashMap<u32, f32> = HashMap::new();
    for (slot, cosine) in &cosines {
        let most = most.entry(corpus.meta(*slot).file).or_insert(f32::MIN);
        *most = most.max(*cosine);
    }
    let standard = |cosine: f32| (cosine - mean) * scale;
    for (slot, cosine) in &cosines {
        sink.near(*slot, *cosine, standard(*cosine));
        sink.add(Signal::Vector, *slot, standard(*cosine));
        sink.add(Signal::VectorSession, *slot, standard(most[&corpus.meta(*slot).file]));
    }
}

/// The mean of cosines and one over their spread. A few have no spread to speak of: they are joined by as many
/// usual ones as make one.
fn spread_of(cosines: impl Iterator<Item = f32>) -> Option<(f32, f32)> {
    let mut cosines: Vec<f32> = cosines.collect();
    // Sums depend on their order, which is that in which the corpus grew.
    cosines.sort_unstable_by(f32::total_cmp);
    let (mut count, mut sum, mut squares) = (0_u32, 0.0_f64, 0.0_f64);
    for cosine in cosines.into_iter().map(f64::from) {
        count += 1;
        sum += cosine;
        squares += cosine * cosine;
    }
    if count == 0 {
        return None;
    }
    let (usual_mean, usual_spread, weight) = USUAL;
    let count = f64::from(count) + weight;
    let mean = (sum + weight * usual_mean) / count;
    let usual_square = usual_spread * usual_spread + usual_mean * usual_mean;
    let spread = ((squares + weight * usual_square) / count - mean * mean).max(0.0).sqrt();
    Some((mean as f32, (1.0 / spread.max(1e-4)) as f32))
}
