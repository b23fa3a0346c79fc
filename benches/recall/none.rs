//! When to give nothing: questions against their own conversation, and against another's.

use jiff::tz::TimeZone;
use vault_agent::recall::corpus::{names_of, without_names};
use vault_agent::recall::matrix::Probe;
use vault_agent::recall::question::Question;
use vault_agent::recall::score::{self, Candidates, Near, Prompt, Scores, Vectors, Work};
use vault_agent::recall::signal::{NEAR, SURE_ENOUGH, weights};

use crate::data::Conversation;

/// The soft coverage and the standardised cosine of the surest of the best blocks, and its sureness.
fn surest(conversation: &Conversation, candidates: &Candidates, text: &str) -> (f64, f64, f64) {
    let corpus = &conversation.corpus;
    let names = names_of(corpus.authors().iter().map(String::as_str));
    let probe = Probe::new(&vault_agent::embed::Table::builtin().embed(&without_names(text, &names)));
    let vectors = probe.as_ref().map(|probe| Vectors { matrix: None, probe });
    let question = Question::new(text, jiff::civil::date(2024, 6, 1));
    let mut scores = Scores::new(weights(&question), Near::Cosine(NEAR), corpus.len());
    let (question, zone) = (&question, &TimeZone::UTC);
    let prompt = Prompt { corpus, candidates, question, vectors, zone };
    score::signals(prompt, &mut Work::default(), &mut scores);
    let best = scores.best(corpus, candidates, 24);
    let surest = best.into_iter().max_by(|a, b| scores.sureness(*a).total_cmp(&scores.sureness(*b)));
    surest.map_or((0.0, 0.0, 0.0), |slot| {
        (f64::from(scores.soft(slot)), f64::from(scores.vector(slot)), scores.sureness(slot))
    })
}

/// Of one question over one memory: the best soft match, the best cosine, the surest.
type Surest = (f64, f64, f64);

/// For each question its conversation, then how sure a find is with the answer in the memory, and with
/// another conversation as the memory.
fn samples(conversations: &[Conversation]) -> Vec<Sample> {
    let candidates: Vec<Candidates> =
        conversations.iter().map(|c| Candidates::new(&c.corpus, |_| true)).collect();
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
    let all: Vec<&Sample> = samples.iter().collect();
    let (none, kept) = shares(&all, SURE_ENOUGH, |surest| surest.2);
    println!(
        "\nNONE at {SURE_ENOUGH}: {:.1} % of unanswerable questions, while {:.1} % of answerable ones keep their memory",
        none * 100.0,
        kept * 100.0
    );
    let (mut nones, mut keeps, mut n) = (0.0, 0.0, 0.0);
    let mut folds = Vec::new();
    for fold in 0..conversations.len() {
        let (test, train): (Vec<&Sample>, Vec<&Sample>) = samples.iter().partition(|(at, ..)| *at == fold);
        let weights = logistic(&train);
        let sure = |surest: &Surest| sureness(&weights, surest);
        let (none, kept) = shares(&test, threshold(&train, KEEP, sure), sure);
        folds.push(format!("{:.1}/{:.1}", none * 100.0, kept * 100.0));
        nones += none * test.len() as f64;
        keeps += kept * test.len() as f64;
        n += test.len() as f64;
    }
    println!(
        "fitted on the other conversations: {:.1} % and {:.1} % ({})",
        nones / n * 100.0,
        keeps / n * 100.0,
        folds.join(" ")
    );
}

type Sample = (usize, Surest, Surest);

/// So many of the answerable keep their memory in the fit.
const KEEP: f64 = 0.915;

/// How many of the unanswerable get nothing and of the answerable something, at a threshold.
fn shares(samples: &[&Sample], threshold: f64, sure: impl Fn(&Surest) -> f64) -> (f64, f64) {
    let n = samples.len().max(1) as f64;
    let share = |is: &dyn Fn(&Sample) -> bool| samples.iter().filter(|sample| is(sample)).count() as f64 / n;
    (share(&|(_, _, other)| sure(other) < threshold), share(&|(_, own, _)| sure(own) >= threshold))
}

fn threshold(samples: &[&Sample], keep: f64, sure: impl Fn(&Surest) -> f64) -> f64 {
    let mut own: Vec<f64> = samples.iter().map(|(_, own, _)| sure(own)).collect();
    own.sort_by(f64::total_cmp);
    own[((1.0 - keep) * own.len() as f64) as usize]
}

fn sureness(w: &[f64; 3], x: &Surest) -> f64 {
    1.0 / (1.0 + (-(w[0] + w[1] * x.0 + w[2] * x.1)).exp())
}

/// A logistic regression on the two signals, by Newton's method.
fn logistic(samples: &[&Sample]) -> [f64; 3] {
    let points = samples.iter().flat_map(|(_, own, other)| [(own, 1.0), (other, 0.0)]);
    let points: Vec<(&Surest, f64)> = points.collect();
    let mut w = [0.0_f64; 3];
    for _ in 0..30 {
        let (mut gradient, mut curve) = ([0.0; 3], [[0.0; 3]; 3]);
        for (surest, y) in &points {
            let (p, x) = (sureness(&w, surest), [1.0, surest.0, surest.1]);
            for i in 0..3 {
                gradient[i] += (p - y) * x[i];
                for j in 0..3 {
                    curve[i][j] += p * (1.0 - p) * x[i] * x[j];
                }
            }
        }
        let step = solve(curve, gradient);
        w.iter_mut().zip(step).for_each(|(w, step)| *w -= step);
    }
    w
}

/// `a x = b` for three unknowns, by elimination.
fn solve(mut a: [[f64; 3]; 3], mut b: [f64; 3]) -> [f64; 3] {
    for i in 0..3 {
        for j in i + 1..3 {
            let (part, pivot) = (a[j][i] / a[i][i], a[i]);
            a[j].iter_mut().zip(pivot).skip(i).for_each(|(cell, above)| *cell -= part * above);
            b[j] -= part * b[i];
        }
    }
    for i in (0..3).rev() {
        for j in i + 1..3 {
            b[i] -= a[i][j] * b[j];
        }
        b[i] /= a[i][i];
    }
    b
}

/// Prints a logistic regression on all conversations, and thresholds.
pub fn fit(conversations: &[Conversation]) {
    let samples = samples(conversations);
    let all: Vec<&Sample> = samples.iter().collect();
    let w = logistic(&all);
    let sure = |surest: &Surest| sureness(&w, surest);
    for keep in [0.90, 0.91, 0.92, 0.94] {
        let threshold = threshold(&all, keep, sure);
        let (none, _) = shares(&all, threshold, sure);
        println!("SURE {w:.3?}: keep {keep} at {threshold:.3}: NONE {none:.3}");
    }
}
