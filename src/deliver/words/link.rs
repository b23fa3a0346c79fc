//! Makes links that open a note in Obsidian. Pure.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that percent-encoding escapes in an address.
pub const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// `obsidian://open?vault=…&file=…` for the note at `path` of the vault with this folder name. Opens the note wherever
/// a vault of that name is known, so on a phone too.
pub fn obsidian(vault: &str, path: &str) -> String {
    obsidian_at(vault, path, None)
}

/// As [`obsidian`], at a place in the note: `^block`, or a heading with those above it (`A > B`).
pub fn obsidian_at(vault: &str, path: &str, place: Option<&str>) -> String {
    // Obsidian finds a note without its extension, unless the rest looks like another extension.
    let bare = path.strip_suffix(".md").filter(|bare| !bare.ends_with(".md")).unwrap_or(path);
    let mut file = bare.to_owned();
    match place {
        Some(block) if block.starts_with('^') => file.extend(["#", block]),
        Some(headings) => headings.split(" > ").for_each(|heading| file.extend(["#", &plain(heading)])),
        None => {}
    }
    let encoded = |text| utf8_percent_encode(text, PLAIN);
    format!("obsidian://open?vault={}&file={}", encoded(vault), encoded(&file))
}

/// A heading for use in a link: characters with a meaning in a link become spaces.
fn plain(heading: &str) -> String {
    let spaced: String = heading.chars().map(|c| if "#^|:%[]\\".contains(c) { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words that a terminal opens a link at (OSC 8).
pub fn on_terminal(words: &str, url: &str) -> String {
    format!("\x1b]8;;{url}\x1b\\{words}\x1b]8;;\x1b\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_encoded_as_obsidian_reads_it() {
        assert_eq!(
            obsidian("My Vault", "Agent/Zeit & Ort é.md"),
            "obsidian://open?vault=My%20Vault&file=Agent%2FZeit%20%26%20Ort%20%C3%A9"
        );
        assert_eq!(obsidian("v", "a.md.md"), "obsidian://open?vault=v&file=a.md.md");
        assert_eq!(obsidian("v", "100% C#?.canvas"), "obsidian://open?vault=v&file=100%25%20C%23%3F.canvas");
    }

    #[test]
    fn a_place_in_a_note_is_a_block_or_a_heading() {
        assert!(obsidian_at("v", "logs/a.md", Some("^01JG")).ends_with("&file=logs%2Fa%23%5E01JG"));
        assert!(
            obsidian_at("v", "n.md", Some("Health > C# & co: [x]"))
                .ends_with("&file=n%23Health%23C%20%26%20co%20x")
        );
    }
}
