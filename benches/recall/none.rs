//! When to give nothing: prompts over a memory that has their answer, and over one that hasn't, through the whole program.
//!
//! The gate's logistics, of each kind of place, are fitted here (`--none`).

use vault_agent::search::rank::confidence::{FIRST, Measured, NAMES, confidence, default_confidence};
use vault_agent::search::weights::{LEAST_CONFIDENCE, Logistic, MEASURES};

use crate::data::{Conversation, Vault};
use crate::fit::FOLDS;
use crate::whole::Built;

/// What nobody's memory helps with.
const SMALL_TALK: &[&str] = &[
    "How are you doing today?",
    "What a lovely day it is!",
    "I'm a bit tired this morning.",
    "Tell me a joke.",
    "Haha, that was really funny!",
    "I hope you are well.",
    "Nice talking to you, see you tomorrow!",
    "What's up with you?",
    "Can you help me with something?",
    "That makes sense, thank you for your help.",
    "I will try that and come back to you later.",
    "Let me think about it for a moment.",
    "How was your weekend?",
    "Sing me a song!",
    "What do you think about that?",
    "That's great news, well done!",
    "Wie geht es dir heute?",
    "Schönes Wetter heute, oder?",
    "Ich bin heute ein bisschen müde.",
    "Erzähl mir einen Witz.",
    "Das war wirklich lustig, danke dir!",
    "Ich melde mich später wieder bei dir.",
    "Comment vas-tu aujourd'hui ?",
    "Il fait beau aujourd'hui, n'est-ce pas ?",
    "Raconte-moi une blague.",
    "Je suis un peu fatigué ce matin.",
    "¿Qué tal te va hoy?",
    "Hace muy buen tiempo hoy.",
    "Cuéntame un chiste, por favor.",
    "Estoy un poco cansado esta mañana.",
    "Come stai oggi?",
    "Che bella giornata!",
    "Raccontami una barzelletta.",
    "Como você está hoje?",
    "Que dia lindo, não é?",
    "Conta uma piada para mim.",
    "Hoe gaat het vandaag met je?",
    "Wat een mooie dag!",
    "Vertel eens een grap.",
    "Jak się dzisiaj masz?",
    "Opowiedz mi dowcip.",
    "Hur mår du idag?",
    "Vilken fin dag det är!",
    "Hvordan har du det i dag?",
    "Mitä sinulle kuuluu tänään?",
    "Jak se dnes máš?",
    "Bugün nasılsın?",
    "Bana bir fıkra anlat.",
    "Как у тебя сегодня дела?",
    "Расскажи мне анекдот.",
    "Сегодня прекрасная погода.",
    "Як твої справи сьогодні?",
    "你今天过得怎么样？",
    "今天天气真好啊。",
    "给我讲个笑话吧。",
    "我今天有点累了。",
    "今日の調子はどうですか？",
    "いい天気ですね。",
    "何か面白い話をして。",
    "오늘 기분이 어때요?",
    "농담 하나 해 줘.",
    "كيف حالك اليوم؟",
    "احك لي نكتة.",
    "आज आप कैसे हैं?",
    "Hôm nay bạn có khỏe không?",
    "Apa kabar hari ini?",
];

/// What a prompt may be dressed in.
const DRESSES: &[(&str, &str)] = &[
    ("", " Please answer in one sentence."),
    ("Hi there! ", " Thanks!"),
    ("Could you tell me ", " Keep it short, please."),
    ("Hello, ", ""),
    ("Quick question: ", " Thank you in advance."),
];

/// A prompt over a memory: what kind of memory, which group of prompts, whether it has the answer, and what is measured
/// of each find.
#[derive(Clone)]
struct Sample {
    kind: usize,
    group: &'static str,
    answers: bool,
    /// Where the prompt comes from and which memory is asked, by number: a fit that leaves a number out has seen neither.
    of: [usize; 2],
    finds: Vec<Measured>,
}

const KINDS: [&str; 3] = ["conversations of two", "logs of an assistant", "notes"];

fn samples(conversations: &[Conversation], notes: &[Vault]) -> Vec<Sample> {
    let (talks, logs): (Vec<&Conversation>, Vec<&Conversation>) =
        conversations.iter().partition(|conversation| !conversation.is_log);
    let mut out = Vec::new();
    let built = |of: &[&Conversation]| Built::of(of);
    let own: Vec<Built> = talks.iter().map(|talk| built(&[talk])).collect();
    let all = built(&talks);
    let diaries: Vec<Built> = logs.iter().map(|log| built(&[log])).collect();
    let folders: Vec<Built> = notes.iter().map(|vault| Built::copy(&vault.folder)).collect();
    let mut n = 0_usize;
    let mut ask = |built: &Built, kind: usize, group, answers, of: [usize; 2], text: &str| {
        n += 1;
        let (before, behind) = DRESSES[n % DRESSES.len()];
        for dressed in [text.to_owned(), format!("{before}{text}{behind}")] {
            let finds = built.recall.measures(&dressed).unwrap();
            out.push(Sample { kind, group, answers, of, finds });
        }
    };
    for (at, talk) in talks.iter().enumerate() {
        let asked = talk.questions.iter().filter(|asked| asked.category != 5);
        for (n, asked) in asked.enumerate().filter(|(n, _)| n % 3 == 0) {
            let other = (at + 1) % own.len();
            ask(&own[at], 0, "own", true, [at, at], &asked.text);
            ask(&own[other], 0, "another's", false, [at, other], &asked.text);
            if n % 2 == 0 {
                ask(&all, 0, "in a large vault", true, [at, at], &asked.text);
            }
            if n % 6 == 0 && !diaries.is_empty() {
                let other = n % diaries.len();
                ask(&diaries[other], 1, "foreign", false, [other, other], &asked.text);
            }
            if n % 6 == 3 && !folders.is_empty() {
                let other = n % folders.len();
                ask(&folders[other], 2, "foreign", false, [other, other], &asked.text);
            }
        }
    }
    for (at, log) in logs.iter().enumerate() {
        ask(&diaries[at], 1, "own", true, [at, at], &log.questions[0].text);
        for other in [1, 2, 3].map(|more| (at + more) % diaries.len()) {
            ask(&diaries[other], 1, "another's", false, [at, other], &log.questions[0].text);
        }
        ask(&all, 0, "foreign", false, [at, at], &log.questions[0].text);
    }
    for (at, vault) in notes.iter().enumerate() {
        for (n, question) in vault.questions.iter().enumerate() {
            let answers = !question.notes.is_empty();
            let other = (at + 1 + n % 3) % folders.len();
            ask(
                &folders[at],
                2,
                if answers { "own" } else { "no answer" },
                answers,
                [at, at],
                &question.text,
            );
            ask(&folders[other], 2, "another's", false, [at, other], &question.text);
            if n % 5 == 0 {
                ask(&all, 0, "foreign", false, [n, n], &question.text);
            }
        }
    }
    for (n, text) in SMALL_TALK.iter().enumerate() {
        ask(&own[n % own.len()], 0, "small talk", false, [n % own.len(); 2], text);
        ask(&all, 0, "small talk", false, [n, n], text);
        for (kind, built) in [(1, &diaries), (2, &folders)] {
            if !built.is_empty() {
                ask(&built[n % built.len()], kind, "small talk", false, [n % built.len(); 2], text);
            }
        }
    }
    out
}

impl Sample {
    fn first(&self) -> &[Measured] {
        &self.finds[..FIRST.min(self.finds.len())]
    }

    /// How sure the surest of the first finds is.
    fn surest(&self, sure: impl Fn(&Measured) -> f64) -> f64 {
        self.first().iter().map(sure).fold(0.0, f64::max)
    }

    /// One, then the most of each measure.
    fn most(&self) -> [f64; MEASURES + 1] {
        let most = |at: usize| self.first().iter().map(|find| f64::from(find.of[at])).fold(0.0, f64::max);
        std::array::from_fn(|at| if at == 0 { 1.0 } else { most(at - 1) })
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.kind, self.group, self.answers) == (other.kind, other.group, other.answers)
    }
}

/// So many of the answerable of each kind keep their memory in the fit.
const KEEP: [f64; 3] = [0.97, 0.95, 0.93];

/// A logistic regression by Newton's method; each group counts the same, and so do answerable and other prompts.
fn fit(samples: &[&Sample]) -> Logistic {
    let mut weights: Logistic = [0.0; MEASURES + 1];
    let counts = |of: &Sample| {
        let group = samples.iter().filter(|one| one.is_same(of)).count() as f64;
        let groups: f64 = samples
            .iter()
            .filter(|one| one.answers == of.answers)
            .map(|one| 1.0 / samples.iter().filter(|other| other.is_same(one)).count() as f64)
            .sum();
        1000.0 / (group * groups)
    };
    let mut known: Vec<(&Sample, f64)> = Vec::new();
    let mut points = Vec::new();
    for sample in samples.iter().filter(|sample| !sample.finds.is_empty()) {
        let same = known.iter().find(|(of, _)| of.is_same(sample)).map(|(_, counts)| *counts);
        let counts = same.unwrap_or_else(|| {
            known.push((sample, counts(sample)));
            known[known.len() - 1].1
        });
        points.push((sample.most(), f64::from(u8::from(sample.answers)), counts));
    }
    for _ in 0..60 {
        let mut gradient = weights;
        let mut curve = [[0.0; MEASURES + 1]; MEASURES + 1];
        (0..=MEASURES).for_each(|i| curve[i][i] = 1.0);
        for (x, y, counts) in &points {
            let sum: f64 = x.iter().zip(&weights).map(|(x, w)| x * w).sum();
            let p = 1.0 / (1.0 + (-sum).exp());
            for i in 0..=MEASURES {
                gradient[i] += counts * (p - y) * x[i];
                for j in 0..=MEASURES {
                    curve[i][j] += counts * p * (1.0 - p) * x[i] * x[j];
                }
            }
        }
        let step = solve(curve, gradient);
        weights.iter_mut().zip(step).for_each(|(w, step)| *w -= step.clamp(-3.0, 3.0));
    }
    weights
}

/// The weights, shifted so that at [`LEAST_CONFIDENCE`] so many of each group of answerable ones stay.
fn calibrated(samples: &[&Sample]) -> Logistic {
    let mut weights = fit(samples);
    let sure = |sample: &Sample| sample.surest(|find| confidence(&weights, find));
    let mut least = 1.0_f64;
    for of in samples.iter().filter(|sample| sample.answers) {
        let mut group: Vec<f64> = samples.iter().filter(|one| one.is_same(of)).map(|one| sure(one)).collect();
        group.sort_by(f64::total_cmp);
        least = least.min(group[((1.0 - KEEP[of.kind]) * group.len() as f64) as usize]);
    }
    let logit = |p: f64| (p / (1.0 - p)).ln();
    weights[0] += logit(LEAST_CONFIDENCE) - logit(least.clamp(1e-6, 1.0 - 1e-6));
    weights
}

/// `a x = b`, by elimination.
fn solve<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> [f64; N] {
    for i in 0..N {
        for j in i + 1..N {
            let (part, pivot) = (a[j][i] / a[i][i], a[i]);
            a[j].iter_mut().zip(pivot).skip(i).for_each(|(cell, above)| *cell -= part * above);
            b[j] -= part * b[i];
        }
    }
    for i in (0..N).rev() {
        for j in i + 1..N {
            b[i] -= a[i][j] * b[j];
        }
        b[i] /= a[i][i];
    }
    b
}

fn show(title: &str, samples: &[&Sample], gate: impl Fn(&Sample) -> bool) {
    println!("\n| NONE, {title} | prompts | right |\n|---|---|---|");
    let mut groups: Vec<(usize, &str, bool)> =
        samples.iter().map(|sample| (sample.kind, sample.group, sample.answers)).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut all = [(0.0, 0.0); 2];
    for (kind, group, answers) in groups {
        let of = samples.iter().filter(|s| (s.kind, s.group, s.answers) == (kind, group, answers));
        let (n, right) = of.fold((0.0, 0.0), |(n, right), sample| {
            (n + 1.0, right + f64::from(u8::from(gate(sample) == answers)))
        });
        all[usize::from(answers)].0 += n;
        all[usize::from(answers)].1 += right;
        println!(
            "| {}: {group} | {n} | {} {:.1} % |",
            KINDS[kind],
            if answers { "kept" } else { "nothing" },
            100.0 * right / n
        );
    }
    println!(
        "| all: nothing {:.1} %, kept {:.1} % |",
        100.0 * all[0].1 / all[0].0,
        100.0 * all[1].1 / all[1].0
    );
}

pub fn report(conversations: &[Conversation], notes: &[Vault], fits: bool) {
    let samples = samples(conversations, notes);
    let all: Vec<&Sample> = samples.iter().collect();
    show("as built", &all, |sample| sample.surest(default_confidence) >= LEAST_CONFIDENCE);
    if !fits {
        return;
    }
    let cosine = NAMES.iter().position(|name| *name == "cosine").unwrap();
    for (kind, name) in KINDS.iter().enumerate() {
        let mut own: Vec<Sample> = samples.iter().filter(|sample| sample.kind == kind).cloned().collect();
        for measures in ["by_meaning", "by_words"] {
            let of: Vec<&Sample> = own.iter().collect();
            let weights = calibrated(&of);
            let without = |fold: usize| {
                let others = of.iter().filter(|sample| sample.of.iter().all(|of| of % FOLDS != fold));
                calibrated(&others.copied().collect::<Vec<_>>())
            };
            let unseen: Vec<Logistic> = (0..FOLDS).map(without).collect();
            let fold = |sample: &Sample| &unseen[sample.of[1] % FOLDS];
            show(&format!("{measures}, unseen"), &of, |sample| {
                sample.surest(|find| confidence(fold(sample), find)) >= LEAST_CONFIDENCE
            });
            show(measures, &of, |sample| {
                sample.surest(|find| confidence(&weights, find)) >= LEAST_CONFIDENCE
            });
            println!("{name}: {measures} {weights:.2?} of 1 and {NAMES:?}");
            own.iter_mut().flat_map(|sample| &mut sample.finds).for_each(|find| find.of[cosine] = 0.0);
        }
    }
}
