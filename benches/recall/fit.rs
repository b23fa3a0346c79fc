//! Fitting the weights: a listwise softmax over each question's candidates, cross-validated by conversation, over
//! conversations of two people and logs of users with an assistant at once. A
//! first fit looks at all candidates; the second at each question's [`HARDEST`] by the first: what is far from the
//! answer teaches nothing more.

use vault_agent::search::analyze::authors::{names_of, without_names};
use vault_agent::search::query::question::Question;
use vault_agent::search::rank::turn_signals::{
    Candidates, CorpusScope, Occurrences, RankingInput, Scores, Vectors,
};
use vault_agent::search::retrieve::bm25;
use vault_agent::search::store::corpus::Corpus;
use vault_agent::search::store::vector_code::{Matrix, Probe, to_bytes};
use vault_agent::search::weights::TURNS;
use vault_agent::search::weights::{SIGNALS, Signal, Weights};

use crate::data::Conversation;
use crate::metrics::{self, Metrics};

/// So many candidates of each question are looked at closely.
const HARDEST: usize = 150;
/// So many fits, each without its share of the conversations and of the logs.
pub const FOLDS: usize = 5;
/// What a question of the logs counts in the fit: there are fewer of them.
const LOG: f64 = 6.0;
/// The signals that weigh something else where a question asks for several things.
const SEVERAL: [Signal; 5] =
    [Signal::Region, Signal::SessionTop, Signal::Vector, Signal::Speaker, Signal::VectorSession];
/// What is fitted: a weight a signal, and what is added to some where a question asks for several things.
const FREE: usize = SIGNALS + SEVERAL.len();

/// The signal of what is fitted at this place.
fn signal_of(at: usize) -> usize {
    if at < SIGNALS { at } else { SEVERAL[at - SIGNALS] as usize }
}

/// Weights for all questions, and what is added to [`SEVERAL`]'s.
#[derive(Clone, Copy)]
pub struct Model(pub [f64; FREE]);

impl Model {
    /// As the program ranks.
    pub fn built_in() -> Self {
        Self(std::array::from_fn(|at| {
            f64::from(if at < SIGNALS { TURNS[at].1 } else { TURNS[signal_of(at)].2 })
        }))
    }

    fn weights(&self, row: &Row) -> Weights {
        let mut weights: Weights = std::array::from_fn(|at| self.0[at] as f32);
        if row.several {
            for (signal, more) in SEVERAL.iter().zip(&self.0[SIGNALS..]) {
                weights[*signal as usize] += *more as f32;
            }
        }
        weights
    }
}

/// One question: the signals of every candidate.
pub struct Row {
    pub several: bool,
    /// Which conversation is left out of the fit with it.
    pub fold: usize,
    /// Whether a user talks with an assistant.
    pub is_log: bool,
    pub category: u8,
    /// Each candidate's session.
    pub sessions: Vec<u32>,
    pub signals: Vec<[f32; SIGNALS]>,
    pub bm25: Vec<f32>,
    pub cosine: Vec<f32>,
    pub evidence: Vec<usize>,
}

impl Row {
    fn counts(&self) -> f64 {
        if self.is_log { LOG } else { 1.0 }
    }
}

pub fn rows(conversations: &[Conversation], embed: &dyn Fn(&str) -> Vec<f32>, builtin: bool) -> Vec<Row> {
    let mut out = Vec::new();
    for (at, conversation) in conversations.iter().enumerate() {
        let corpus = &conversation.corpus;
        let candidates = Candidates::new(corpus, |_| true);
        let names = names_of(conversation.turns.iter().map(|said| said.author.as_str()));
        let other = (!builtin).then(|| {
            let vectors: Vec<Vec<f32>> =
                conversation.turns.iter().map(|said| embed(&without_names(&said.text, &names))).collect();
            let mut matrix = Matrix::new(vectors[0].len());
            vectors.iter().for_each(|vector| matrix.push(to_bytes(vector).as_deref()));
            matrix
        });
        let matrix = other.as_ref();
        for asked in &conversation.questions {
            let question = Question::new(&asked.text, asked.today);
            let probe = Probe::new(&embed(&without_names(&asked.text, &names)));
            let vectors = probe.as_ref().map(|probe| Vectors { matrix, probe });
            let zone = &jiff::tz::TimeZone::UTC;
            let (candidates, question) = (&candidates, &question);
            let occurrences = &Occurrences::default();
            let scope = CorpusScope { corpus, candidates, occurrences };
            let prompt = RankingInput { scope, question, vectors, nearest: None, others: &[], zone };
            let cosine = |slot: usize| match (&probe, matrix) {
                (Some(probe), Some(matrix)) => {
                    let (values, scale) = matrix.row_parts(slot);
                    probe.cosine(values, scale)
                }
                (Some(probe), None) => {
                    let sums = probe.sums.as_ref();
                    sums.and_then(|sums| Some(sums.cosine(&corpus.code(slot as u32)?))).unwrap_or(0.0)
                }
                (None, _) => 0.0,
            };
            let cosine = (0..corpus.len()).map(cosine).collect();
            out.push(Row {
                several: question.wants.several,
                fold: at % FOLDS,
                is_log: conversation.is_log,
                category: asked.category,
                sessions: (0..corpus.len()).map(|slot| corpus.meta(slot as u32).file).collect(),
                signals: signals(prompt),
                bm25: plain_bm25(corpus, candidates, question),
                cosine,
                evidence: asked.evidence.clone(),
            });
        }
    }
    out
}

/// Every signal of every slot: the score where that signal alone has a weight.
fn signals(prompt: RankingInput<'_>) -> Vec<[f32; SIGNALS]> {
    // Of more candidates only a shortlist would get all signals.
    assert!(prompt.scope.candidates.count <= 5000, "a conversation is short");
    let mut signals = vec![[0.0; SIGNALS]; prompt.scope.corpus.len()];
    for signal in 0..SIGNALS {
        let alone = std::array::from_fn(|other| f32::from(u8::from(other == signal)));
        let mut scores = Scores::new(alone, true, prompt.scope.corpus.len());
        prompt.compute(&mut scores);
        signals.iter_mut().zip(0..).for_each(|(of_slot, slot)| of_slot[signal] = scores.of(slot));
    }
    signals
}

/// Plain BM25 of each slot, for the published formulas and as the measure of all else.
fn plain_bm25(corpus: &Corpus, candidates: &Candidates, question: &Question) -> Vec<f32> {
    let mut out = vec![0.0; corpus.len()];
    let n = candidates.count as f32;
    let lengths = candidates.slots().map(|slot| f32::from(corpus.meta(slot).length));
    let mean = (lengths.sum::<f32>() / n.max(1.0)).max(1e-9);
    for term in &question.terms {
        let mut found = Vec::new();
        corpus.each_posting(&term.stem, &[], |slot, times, _| found.push((slot, times.all() as f32)));
        let rarity = bm25::idf(found.len() as f32, n);
        for (slot, tf) in found {
            let length = f32::from(corpus.meta(slot).length);
            out[slot as usize] += rarity * bm25::saturated(tf, length, mean, bm25::B);
        }
    }
    out
}

pub fn metrics_of(row: &Row, model: &Model) -> Metrics {
    metrics_by(row, &scores(row, model))
}

fn scores(row: &Row, model: &Model) -> Vec<f32> {
    let weights = model.weights(row);
    row.signals.iter().map(|signals| dot(signals, &weights)).collect()
}

fn order(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    order
}

pub fn metrics_by(row: &Row, scores: &[f32]) -> Metrics {
    metrics::of(&order(scores), &row.evidence, &row.sessions)
}

fn top(scores: &[f32]) -> f64 {
    f64::from(scores.iter().copied().fold(1e-9, f32::max))
}

/// Weighted fusion: `0.7 vector + 0.3 bm25`, both in 0..1; an exact match (`bm25 >= 0.75`) never falls
/// below `0.92 bm25`; clamped to 0.1..1.
fn weighted_fusion(vector: f64, bm25: f64) -> f64 {
    let fused = 0.7 * vector + 0.3 * bm25;
    let floor = if bm25 >= 0.75 { 0.92 * bm25 } else { 0.0 };
    fused.max(floor).clamp(0.1, 1.0)
}

/// Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) with `k` 60: the sum over the lists of
/// `1 / (60 + rank)`, ranks from 1, `None` where a list doesn't have it.
fn reciprocal_rank(ranks: &[Option<usize>]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
    ranks.iter().flatten().map(|rank| 1.0 / (60.0 + *rank as f64)).sum()
}

/// The published weighted sum; BM25 and cosine as shares of the best.
pub fn published(row: &Row) -> Vec<f32> {
    let (b, v) = (top(&row.bm25), top(&row.cosine));
    let both = row.bm25.iter().zip(&row.cosine);
    both.map(|(bm25, cosine)| weighted_fusion(f64::from(cosine.max(0.0)) / v, f64::from(*bm25) / b) as f32)
        .collect()
}

/// Reciprocal rank fusion of BM25 and cosine.
pub fn reciprocal(row: &Row) -> Vec<f32> {
    let ranks = |scores: &[f32], all: bool| {
        let mut ranks = vec![None; scores.len()];
        for (at, slot) in order(scores).into_iter().enumerate().take(1000) {
            ranks[slot] = (all || scores[slot] > 0.0).then_some(at + 1);
        }
        ranks
    };
    let (b, v) = (ranks(&row.bm25, false), ranks(&row.cosine, true));
    b.into_iter().zip(v).map(|(b, v)| reciprocal_rank(&[b, v]) as f32).collect()
}

fn dot(a: &[f32; SIGNALS], b: &Weights) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Minimises the loss on `rows` over the signals that `used` marks.
pub fn fit(rows: &[&Row], used: &[bool; SIGNALS], l2: f64) -> Model {
    let all: Vec<Vec<usize>> = rows.iter().map(|row| (0..row.signals.len()).collect()).collect();
    let first = descend(rows, &all, used, l2, 150);
    let hardest: Vec<Vec<usize>> = rows
        .iter()
        .map(|row| {
            let mut hardest = order(&scores(row, &first));
            hardest.truncate(HARDEST);
            hardest.extend(&row.evidence);
            hardest.sort_unstable();
            hardest.dedup();
            hardest
        })
        .collect();
    descend(rows, &hardest, used, l2, 400)
}

/// Accelerated gradient descent over each row's `candidates`, on signals brought to one spread.
fn descend(rows: &[&Row], candidates: &[Vec<usize>], used: &[bool; SIGNALS], l2: f64, steps: i32) -> Model {
    let mut spread = [0.0_f64; FREE];
    let mut n = 0.0;
    for row in rows {
        for signals in &row.signals {
            n += 1.0;
            for (at, sum) in spread.iter_mut().enumerate().filter(|(at, _)| *at < SIGNALS || row.several) {
                *sum += f64::from(signals[signal_of(at)]).powi(2);
            }
        }
    }
    let scale: Vec<f64> = spread.iter().map(|sum| 1.0 / (sum / n).sqrt().max(1e-6)).collect();
    let (mut w, mut m, mut v) = ([0.0_f64; FREE], [0.0_f64; FREE], [0.0_f64; FREE]);
    let count: f64 = rows.iter().map(|row| row.counts()).sum();
    for step in 1..=steps {
        let model = Model(std::array::from_fn(|at| w[at] * scale[at]));
        let mut gradient = [0.0_f64; FREE];
        for (row, candidates) in rows.iter().zip(candidates) {
            let of_row = gradient_of(row, candidates, &model.weights(row));
            for (at, sum) in gradient.iter_mut().enumerate().filter(|(at, _)| *at < SIGNALS || row.several) {
                *sum += row.counts() * f64::from(of_row[signal_of(at)]);
            }
        }
        let rate = 0.05 * (1.0 - f64::from(step) / (f64::from(steps) * 1.05));
        for k in (0..FREE).filter(|k| used[signal_of(*k)]) {
            let g = gradient[k] * scale[k] / count + 2.0 * l2 * w[k] / count;
            m[k] = 0.9 * m[k] + 0.1 * g;
            v[k] = 0.99 * v[k] + 0.01 * g * g;
            let (mk, vk) = (m[k] / (1.0 - 0.9_f64.powi(step)), v[k] / (1.0 - 0.99_f64.powi(step)));
            w[k] -= rate * mk / (vk.sqrt() + 1e-9);
        }
    }
    Model(std::array::from_fn(|at| w[at] * scale[at]))
}

fn gradient_of(row: &Row, candidates: &[usize], weights: &Weights) -> [f32; SIGNALS] {
    let scores: Vec<f32> = candidates.iter().map(|at| dot(&row.signals[*at], weights)).collect();
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let weight: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
    let whole: f32 = weight.iter().sum();
    let mut sum = [0.0_f32; SIGNALS];
    for (at, weight) in candidates.iter().zip(&weight).filter(|(_, weight)| **weight > whole * 1e-6) {
        let share = weight / whole;
        for (sum, x) in sum.iter_mut().zip(&row.signals[*at]) {
            *sum += share * x;
        }
    }
    let part = 1.0 / row.evidence.len() as f32;
    for slot in &row.evidence {
        for (sum, x) in sum.iter_mut().zip(&row.signals[*slot]) {
            *sum -= part * x;
        }
    }
    sum
}

/// Each question's metrics with weights that never saw its conversation.
pub fn unseen(rows: &[Row], used: &[bool; SIGNALS], l2: f64) -> Vec<Metrics> {
    let models: Vec<Model> = (0..FOLDS)
        .map(|fold| {
            let train: Vec<&Row> = rows.iter().filter(|row| row.fold != fold).collect();
            fit(&train, used, l2)
        })
        .collect();
    rows.iter().map(|row| metrics_of(row, &models[row.fold])).collect()
}

/// Each question's metrics with weights that never saw a corpus of its kind.
pub fn foreign(rows: &[Row], used: &[bool; SIGNALS], l2: f64) -> Vec<Metrics> {
    let model = |is_log: bool| {
        let train: Vec<&Row> = rows.iter().filter(|row| row.is_log != is_log).collect();
        fit(&train, used, l2)
    };
    let models = [model(false), model(true)];
    rows.iter().map(|row| metrics_of(row, &models[usize::from(row.is_log)])).collect()
}

/// The metrics of the questions that `is`.
pub fn of(rows: &[Row], all: &[Metrics], is: impl Fn(&Row) -> bool) -> Vec<Metrics> {
    rows.iter().zip(all).filter(|(row, _)| is(row)).map(|(_, metrics)| *metrics).collect()
}

/// Writes every row for a fit elsewhere, as little-endian numbers: how many candidates, how many signals and how many of the
/// candidates are evidence (u32 each); `several`, fold, `is_log`, category (a byte each); the evidence (u32); each
/// candidate's session (u32); each candidate's signals (f32).
pub fn dump(rows: &[Row], path: &str) {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let mut put = |bytes: &[u8]| std::io::Write::write_all(&mut out, bytes).unwrap();
    for row in rows {
        for count in [row.signals.len(), SIGNALS, row.evidence.len()] {
            put(&(count as u32).to_le_bytes());
        }
        put(&[u8::from(row.several), row.fold as u8, u8::from(row.is_log), row.category]);
        row.evidence.iter().for_each(|at| put(&(*at as u32).to_le_bytes()));
        row.sessions.iter().for_each(|at| put(&at.to_le_bytes()));
        row.signals.iter().flatten().for_each(|value| put(&value.to_le_bytes()));
    }
}

pub fn report(rows: &[Row]) {
    let show = |name: &str, all: &[Metrics]| {
        let temporal = metrics::mean(&of(rows, all, |row| row.category == 2)).r10;
        let own: Vec<String> = (0..FOLDS)
            .map(|fold| of(rows, all, |row| !row.is_log && row.fold == fold))
            .map(|fold| format!("{:.3}", metrics::mean(&fold).r10))
            .collect();
        let (talks, logs) = (of(rows, all, |row| !row.is_log), of(rows, all, |row| row.is_log));
        println!(
            "{name:24} talks {} ({}; temporal {temporal:.3}) logs {}",
            metrics::line(&talks),
            own.join(" "),
            metrics::line(&logs)
        );
    };
    let l2 = std::env::var("L2").ok().and_then(|l2| l2.parse().ok()).unwrap_or(1.0);
    let all = [true; SIGNALS];
    let without =
        |names: &[&str]| -> [bool; SIGNALS] { std::array::from_fn(|k| !names.contains(&TURNS[k].0)) };
    show("all", &unseen(rows, &all, l2));
    show("of the other kind", &foreign(rows, &all, l2));
    if let Ok(sets) = std::env::var("WITHOUT") {
        for set in sets.split(';') {
            let names: Vec<&str> = set.split(',').collect();
            show(&format!("- {set}"), &unseen(rows, &without(&names), l2));
        }
    }
    if std::env::var_os("ABLATE").is_some() {
        for (name, ..) in TURNS {
            show(&format!("- {name}"), &unseen(rows, &without(&[name]), l2));
        }
    }
    let every: Vec<&Row> = rows.iter().collect();
    let model = fit(&every, &all, l2);
    for (at, (name, ..)) in TURNS.iter().enumerate() {
        let several = SEVERAL.iter().position(|signal| *signal as usize == at);
        let more = several.map_or(0.0, |several| model.0[SIGNALS + several]);
        println!("    (\"{name}\", {:.3}, {more:.3}),", model.0[at]);
    }
}
