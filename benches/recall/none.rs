//! When to give nothing: questions against their own conversation, and against another's.

use jiff::tz::TimeZone;
use vault_agent::recall::corpus::{names_of, without_names};
use vault_agent::recall::matrix::Probe;
use vault_agent::recall::question::Question;
use vault_agent::recall::score::{self, Candidates, Scores, Vectors};
use vault_agent::recall::signal::{FITTED, SURE_ENOUGH};

use crate::data::Conversation;

/// The soft coverage and the standardised cosine of the surest of the best blocks, and its sureness.
fn surest(conversation: &Conversation, candidates: &Candidates, text: &str) -> (f64, f64, f64) {
    let corpus = &conversation.corpus;
    let names = names_of(corpus.authors().iter().map(String::as_str));
    let probe = Probe::new(&vault_agent::embed::Table::builtin().embed(&without_names(text, &names)));
    let vectors = probe.as_ref().map(|probe| Vectors { matrix: &corpus.vectors, probe });
    let question = Question::new(text, jiff::civil::date(2024, 6, 1));
    let mut scores = Scores::new(FITTED, corpus.len());
    score::signals(corpus, candidates, &question, vectors, &TimeZone::UTC, &mut scores);
    let best = scores.best(corpus, candidates, 24);
    let surest = best.into_iter().max_by(|a, b| scores.sureness(*a).total_cmp(&scores.sureness(*b)));
    surest.map_or((0.0, 0.0, 0.0), |slot| {
        (
            f64::from(scores.soft[slot as usize]),
            f64::from(scores.vector[slot as usize]),
            scores.sureness(slot),
        )
    })
}

/// Of one question over one memory: the best soft match, the best cosine, the surest.
type Surest = (f64, f64, f64);

/// For each question its conversation, then how sure a find is with the answer in the memory, and with
/// another conversation as the memory.
fn samples(conversations: &[Conversation]) -> Vec<(usize, Surest, Surest)> {
    let candidates: Vec<Candidates> =
        conversations.iter().map(|c| Candidates::new(&c.corpus, |_| true, |_| true)).collect();
    let mut out = Vec::new();
    for (at, conversation) in conversations.iter().enumerate() {
        let other = (at + 1) % conversations.len();
        for asked in conversation.questions.iter().filter(|asked| asked.category != 5) {
            let own = surest(conversation, &candidates[at], &asked.text);
            out.push((at, own, surest(&conversations[other], &candidates[other], &asked.text)));
        }
    }
    out
}

pub fn report(conversations: &[Conversation]) {
    let samples = samples(conversations);
    let n = samples.len() as f64;
    let kept = samples.iter().filter(|(_, own, _)| own.2 >= SURE_ENOUGH).count() as f64 / n;
    let none = samples.iter().filter(|(_, _, other)| other.2 < SURE_ENOUGH).count() as f64 / n;
    println!(
        "\nNONE at {SURE_ENOUGH}: {:.1} % of unanswerable questions, while {:.1} % of answerable ones keep their memory",
        none * 100.0,
        kept * 100.0
    );
}

/// A logistic regression on the two signals, and the threshold where 92 % of the answerable are kept.
pub fn fit(conversations: &[Conversation]) {
    let samples = samples(conversations);
    let points: Vec<([f64; 3], f64)> = samples
        .iter()
        .flat_map(|(_, own, other)| [([1.0, own.0, own.1], 1.0), ([1.0, other.0, other.1], 0.0)])
        .collect();
    let mut w = [0.0_f64; 3];
    for _ in 0..20_000 {
        let mut gradient = [0.0; 3];
        for (x, y) in &points {
            let sum: f64 = w.iter().zip(x).map(|(w, x)| w * x).sum();
            let error = 1.0 / (1.0 + (-sum).exp()) - y;
            for (gradient, x) in gradient.iter_mut().zip(x) {
                *gradient += error * x / points.len() as f64;
            }
        }
        for (w, gradient) in w.iter_mut().zip(gradient) {
            *w -= 0.5 * gradient;
        }
    }
    let sure = |x: &(f64, f64, f64)| 1.0 / (1.0 + (-(w[0] + w[1] * x.0 + w[2] * x.1)).exp());
    let mut own: Vec<f64> = samples.iter().map(|(_, own, _)| sure(own)).collect();
    own.sort_by(f64::total_cmp);
    for keep in [0.90, 0.92, 0.94] {
        let threshold = own[((1.0 - keep) * own.len() as f64) as usize];
        let none = samples.iter().filter(|(_, _, other)| sure(other) < threshold).count() as f64
            / samples.len() as f64;
        println!("SURE {w:.3?}: keep {keep} at {threshold:.3}: NONE {none:.3}");
    }
}
