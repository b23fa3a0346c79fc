//! Claims told from ordinary talk, over a labelled set: how many of those that are found are claims
//! (precision), and how many claims are found (recall), over the whole set and over the part that the rules
//! were not fitted on.

use vault_agent::hooks::save_claims::{AnswerSubject, claims};

const SET: &str = include_str!("claims.txt");

/// A line in a setting: whether it is a claim there, and whether it is found as one.
struct Case {
    line: &'static str,
    is_claim: bool,
    is_found: bool,
}

#[allow(clippy::cast_precision_loss)]
fn check<'a>(part: &str, cases: impl Iterator<Item = &'a Case> + Clone) {
    let count = |is_claim, is_found| {
        cases.clone().filter(|case| (case.is_claim, case.is_found) == (is_claim, is_found)).count() as f64
    };
    let (right, wrong, missed) = (count(true, true), count(false, true), count(true, false));
    let (precision, recall) = (right / (right + wrong), right / (right + missed));
    let mistakes = cases.clone().filter(|case| case.is_claim != case.is_found).map(|case| case.line);
    let figures = format!("{part}: precision {precision:.3}, recall {recall:.3}");
    assert!(precision >= 0.98 && recall >= 0.85, "{figures}\n{:#?}", mistakes.collect::<Vec<_>>());
}

/// Whether a line is in the part that is only measured: by the FNV-1a hash of its text.
fn is_held_out(line: &str) -> bool {
    let text = line.split_once(' ').unwrap().1.replace("\\n", "\n");
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 20) % 2 == 1
}

#[test]
fn claims_are_told_from_work() {
    let mut cases = Vec::new();
    for line in SET.lines() {
        let Some((label, text)) = line.split_once(' ') else { continue };
        // Each in the setting that is hardest for it.
        let settings: &[(AnswerSubject, bool)] = match label {
            "+" => &[(AnswerSubject::Work, true)],
            "?" => &[(AnswerSubject::Keeping, true), (AnswerSubject::Work, false)],
            "-" => &[(AnswerSubject::Keeping, false)],
            _ => continue,
        };
        let is_found = |about| !claims(&text.replace("\\n", "\n"), about).is_empty();
        let case = |&(about, is_claim)| Case { line, is_claim, is_found: is_found(about) };
        cases.extend(settings.iter().map(case));
    }
    let claimed = cases.iter().filter(|case| case.is_claim).count();
    assert!(claimed >= 150 && cases.len() >= claimed + 300, "{claimed} claims of {}", cases.len());
    check("the whole set", cases.iter());
    check("the part held out", cases.iter().filter(|case| is_held_out(case.line)));
}
