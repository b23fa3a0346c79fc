//! The pages for whoever comes next name files that exist.

use std::path::Path;

/// The pages.
const PAGES: [(&str, &str); 3] = [
    ("ARCHITECTURE.md", include_str!("../../ARCHITECTURE.md")),
    ("CONTRIBUTING.md", include_str!("../../CONTRIBUTING.md")),
    ("AGENTS.md", include_str!("../../AGENTS.md")),
];
/// What a path of this repository begins with.
const TOPS: &str =
    "src/ tests/ docs/ benches/ fuzz/ grammar/ examples/ vault-template/ tools/ .ci/ packaging/";

/// The paths that a page names in backquotes: `src/vault/`, `tests/map/main.rs`. A capital word in one stands for many.
fn named(page: &str) -> impl Iterator<Item = &str> {
    let quoted = page.split('`').skip(1).step_by(2);
    let is_path =
        |text: &&str| TOPS.split(' ').any(|top| text.starts_with(top)) && !text.contains(char::is_whitespace);
    let is_one = |text: &&str| {
        !text.split(['/', '.']).any(|part| part.len() > 1 && part.chars().all(char::is_uppercase))
    };
    quoted.filter(is_path).filter(is_one).filter(|text| !text.contains(['<', '*', '{', '…']))
}

#[test]
fn the_files_that_the_pages_name_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (page, text) in PAGES {
        let missing: Vec<&str> = named(text).filter(|path| !root.join(path).exists()).collect();
        assert!(missing.is_empty(), "{page} names what is not there: {missing:?}");
    }
}

#[test]
fn contributing_leads_to_at_least_fifteen_places() {
    let rows = PAGES[1].1.lines().filter(|line| line.starts_with("| ") && line.contains("`src/")).count();
    assert!(rows >= 15, "only {rows} rows of `to change X, open Y`");
}
