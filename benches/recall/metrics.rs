//! Retrieval metrics, as `retrieval_eval.py` counts them.

/// Of one question, or the means of many.
#[derive(Clone, Copy, Default, Debug)]
pub struct Metrics {
    pub r5: f64,
    pub r10: f64,
    pub r20: f64,
    pub mrr: f64,
    pub ndcg: f64,
    /// Whether a session with evidence is among the first five.
    pub s5: f64,
}

/// Of one ranking, best first, looked at to depth 50.
pub fn of(order: &[usize], evidence: &[usize], sessions: &[u32]) -> Metrics {
    let mut first: Vec<u32> = Vec::new();
    for session in order.iter().take(50).map(|slot| sessions[*slot]) {
        if first.len() < 5 && !first.contains(&session) {
            first.push(session);
        }
    }
    let found = evidence.iter().any(|slot| first.contains(&sessions[*slot]));
    let ranks: Vec<usize> = order
        .iter()
        .take(50)
        .enumerate()
        .filter(|(_, slot)| evidence.contains(slot))
        .map(|(at, _)| at + 1)
        .collect();
    let mut unique = evidence.to_vec();
    unique.sort_unstable();
    unique.dedup();
    let n = evidence.len() as f64;
    let recall = |k: usize| ranks.iter().filter(|rank| **rank <= k).count() as f64 / n;
    let gain = |rank: usize| 1.0 / (rank as f64 + 1.0).log2();
    let ideal: f64 = (1..=evidence.len().min(10)).map(gain).sum();
    Metrics {
        r5: recall(5),
        r10: recall(10),
        r20: recall(20),
        mrr: ranks.first().map_or(0.0, |rank| 1.0 / *rank as f64),
        ndcg: ranks.iter().filter(|rank| **rank <= 10).map(|rank| gain(*rank)).sum::<f64>() / ideal,
        s5: f64::from(u8::from(found)),
    }
}

pub fn mean(all: &[Metrics]) -> Metrics {
    let n = all.len().max(1) as f64;
    let sum = |get: fn(&Metrics) -> f64| all.iter().map(get).sum::<f64>() / n;
    Metrics {
        r5: sum(|m| m.r5),
        r10: sum(|m| m.r10),
        r20: sum(|m| m.r20),
        mrr: sum(|m| m.mrr),
        ndcg: sum(|m| m.ndcg),
        s5: sum(|m| m.s5),
    }
}

pub fn line(all: &[Metrics]) -> String {
    let m = mean(all);
    format!("| {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |", m.r5, m.r10, m.r20, m.mrr, m.ndcg, m.s5)
}
