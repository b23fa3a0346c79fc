//! Claims told from ordinary talk, over a labelled set: how many of those that are found are claims
//! (precision), and how many claims are found (recall), over the whole set and over the part that the rules
//! were not fitted on.

use vault_agent::hooks::save_claims::{AnswerSubject, claims};

const SET: &str = include_str!("claims.txt");

/// What was counted.
#[derive(Debug, Default)]
struct Count {
    found: usize,
    wrong: Vec<&'static str>,
    missed: Vec<&'static str>,
}

impl Count {
    fn add(&mut self, line: &'static str, is_found: bool, is_claim: bool) {
        match (is_found, is_claim) {
            (true, true) => self.found += 1,
            (true, false) => self.wrong.push(line),
            (false, true) => self.missed.push(line),
            (false, false) => {}
        }
    }

    #[allow(clippy::cast_precision_loss)]
    fn check(&self, part: &str) {
        let precision = self.found as f64 / (self.found + self.wrong.len()) as f64;
        let recall = self.found as f64 / (self.found + self.missed.len()) as f64;
        let figures = format!("{part}: precision {precision:.3}, recall {recall:.3}");
        assert!(precision >= 0.98 && recall >= 0.85, "{figures}\n{self:#?}");
    }
}

/// Whether a text is in the part that is only measured: by its FNV-1a hash.
fn is_held_out(text: &str) -> bool {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 20) % 2 == 1
}

#[test]
fn claims_are_told_from_work() {
    let (mut all, mut held_out) = (Count::default(), Count::default());
    let (mut claimed, mut ordinary) = (0, 0);
    for line in SET.lines() {
        let Some((label, text)) = line.split_once(' ') else { continue };
        let text = text.replace("\\n", "\n");
        // Each in the setting that is hardest for it.
        let cases: &[(AnswerSubject, bool)] = match label {
            "+" => &[(AnswerSubject::Work, true)],
            "?" => &[(AnswerSubject::Keeping, true), (AnswerSubject::Work, false)],
            "-" => &[(AnswerSubject::Keeping, false)],
            _ => continue,
        };
        for (about, is_claim) in cases {
            if *is_claim {
                claimed += 1;
            } else {
                ordinary += 1;
            }
            let is_found = !claims(&text, *about).is_empty();
            all.add(line, is_found, *is_claim);
            if is_held_out(&text) {
                held_out.add(line, is_found, *is_claim);
            }
        }
    }
    assert!(claimed >= 150 && ordinary >= 300, "{claimed} claims, {ordinary} of ordinary work");
    all.check("the whole set");
    held_out.check("the part held out");
}
