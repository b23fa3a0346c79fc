//! Tests `filter`.

use super::*;

#[test]
fn phrases_stand_at_the_bounds_of_words() {
    let holds = |text: &str, phrase: &str| contains(&flat(text, true), &flat(phrase, true));
    assert!(holds("The  Dark,\nside bar", "dark side"));
    assert!(!holds("darkside", "dark side"));
    assert!(holds("हिन्दी", "हिन्दी") && !holds("हिन्दी", "दी") && !holds("हिन्दी", "हिन"));
    assert!(!holds("a darker side", "dark"));
    assert!(holds("时间复杂度", "间复杂"));
    assert!(holds("snake_case id", "Snake case"));
    assert!(holds("party🎉 tonight", "party 🎉") && holds("📅 2026-11-20", "📅"));
    assert!(!holds("party tonight", "party 🎉") && !holds("anything", ""));
}
