//! Translates single words between English, German, French, Spanish, Italian, Portuguese, Dutch, Chinese and Japanese.
//! Pure.
//!
//! A stem of a question comes in; the stems of its translations go out. A Chinese or Japanese word goes out as pairs of
//! characters, as the index stores it. A translation between two other languages goes through English. The table is
//! sorted by bytes and has one line for each stem: the stem, a tab, and its translations, the likeliest first.
//! `tools/translations/` generates it.

const TABLE: &str = include_str!("../data/translations.txt");

/// The stems that mean in other languages what `stem` means, each once, the direct ones first; none where the table
/// doesn't know it.
pub(in crate::search) fn translations(stem: &str) -> Vec<&'static str> {
    let direct: Vec<&str> = words(stem).collect();
    let english = direct.iter().filter(|word| word.is_ascii());
    let mut found = Vec::new();
    for word in direct.iter().copied().chain(english.flat_map(|word| words(word))) {
        if word != stem && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// The translations in a stem's line.
fn words(stem: &str) -> impl Iterator<Item = &'static str> {
    line(stem).unwrap_or_default().split_ascii_whitespace()
}

fn line(stem: &str) -> Option<&'static str> {
    // The lines that may be it.
    let mut lines = TABLE;
    while !lines.is_empty() {
        let middle = lines.floor_char_boundary(lines.len() / 2);
        let start = lines[..middle].rfind('\n').map_or(0, |end| end + 1);
        let (line, behind) = lines[start..].split_once('\n')?;
        let (key, words) = line.split_once('\t')?;
        match key.cmp(stem) {
            std::cmp::Ordering::Equal => return Some(words),
            std::cmp::Ordering::Less => lines = behind,
            std::cmp::Ordering::Greater => lines = &lines[..start],
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_found() {
        let mut last = "";
        for line in TABLE.lines() {
            let (key, words) = line.split_once('\t').unwrap();
            assert!(last < key && !words.is_empty(), "{line}");
            assert_eq!(super::line(key), Some(words));
            last = key;
        }
        assert_eq!(line(""), None);
        assert_eq!(line("~"), None);
        assert_eq!(line("qqqqqq"), None);
    }

    #[test]
    fn between_other_languages_the_way_is_through_english() {
        assert!(translations("messag").contains(&"nachricht"));
        let found = translations("nachricht");
        assert!(found.contains(&"messag") && found.contains(&"消息") && !found.contains(&"nachricht"));
        assert!(translations("qqqqqq").is_empty());
    }
}
