//! Tests of `lines`.

use super::*;

fn live(text: &str) -> Vec<usize> {
    LiveLines::new(text.as_bytes()).map(|line| line.number).collect()
}

#[test]
fn lines_keep_every_byte() {
    for text in ["", "a", "a\n", "a\r\nb\rc\n\n", "\r\n", "\u{feff}a\n", "\u{feff}"] {
        let mut joined = text.as_bytes()[..bom_len(text.as_bytes())].to_vec();
        for line in lines(text.as_bytes()) {
            assert_eq!(line.start, joined.len());
            joined.extend_from_slice(line.text);
            joined.extend_from_slice(line.terminator);
        }
        assert_eq!(joined, text.as_bytes());
    }
}

#[test]
fn a_lone_carriage_return_ends_no_line() {
    let all: Vec<_> = lines(b"a\rb\r\nc\r").map(|line| line.text).collect();
    assert_eq!(all, [&b"a\rb"[..], b"c\r"]);
}

#[test]
fn frontmatter_only_at_the_very_top_and_only_closed() {
    assert_eq!(live("---\na: 1\n---\nx\n"), [4]);
    assert_eq!(live("\u{feff}---\na: 1\n--- \nx\n"), [4]);
    assert_eq!(live("---\na: 1\nx\n"), [1, 2, 3]);
    assert_eq!(live("\n---\na: 1\n---\n"), [1, 2, 3, 4]);
    assert_eq!(LiveLines::without_frontmatter(b"---\na: 1\n---\nx\n").count(), 4);
}

#[test]
fn fences_of_any_length_hide_their_lines() {
    assert_eq!(live("a\n```\nb\n```\nc"), [1, 5]);
    assert_eq!(live("````md\n```\nb\n```\n````\nc"), [6]);
    assert_eq!(live("   ~~~ x ` y\nb\n```\n  ~~~~  \nc"), [5]);
    assert_eq!(live("    ```\nb\n"), [1, 2]);
    assert_eq!(live("```a`b\nb\n"), [1, 2]);
    assert_eq!(live("``` \nb\n``` x\nc\n"), [] as [usize; 0]);
}

#[test]
fn comments_hide_the_lines_that_start_inside_them() {
    assert_eq!(live("a <!-- b\nc\nd --> e\nf"), [1, 4]);
    assert_eq!(live("%%\nc\n%%\nf"), [1, 4]);
    assert_eq!(live("a %%b%% c\nd %% e\nf %% g %% h\ni\n%%\nj"), [1, 2, 6]);
    assert_eq!(live("<!-- a --> b\nc <!-- %% -->\nd <!---> e\nf"), [1, 2, 3, 4]);
    assert_eq!(live("<!-- ```\n--> \nb\n"), [1, 3]);
    assert_eq!(live("```\n<!--\n```\nb\n"), [4]);
    assert_eq!(live("`<!--` and ``%% ` ``\nb `<!--\nc"), [1, 2]);
}

#[test]
fn a_quoted_marker_in_a_task_line_is_text() {
    assert_eq!(live("- [ ] msg=\"50%% off <!-- \"\nb\n"), [1, 2]);
    assert_eq!(live("- [ ] msg=\"x\" %% y\nb\n"), [1]);
    assert_eq!(live("say \"50%% off\"\nb\n"), [1]);
}
