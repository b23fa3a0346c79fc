//! Tests `lines`.

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

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
fn a_fence_ends_with_its_list_item_or_quote() {
    assert_eq!(live("1. ```sh\n   a\n   ```\nb"), [1, 4]);
    assert_eq!(live("- a\n\t```\n\t%% b\n\t```\nc"), [1, 5]);
    assert_eq!(live("> [!note]\n> ```\n> <!-- a\n> ```\nb"), [1, 5]);
    assert_eq!(live("> ```\n> a\nb\n- ```\n  c\n\nd"), [3, 4, 7]);
    assert_eq!(live("- a\n  - ~~~\n    b\n  - c\n\n    ```\n    d\ne"), [1, 2, 4, 5, 8]);
    // In columns: a tab reaches over two levels.
    assert_eq!(live("- a\n\t- b\n\t  ```\n\t  - c\n\t  ```\n\t- d"), [1, 2, 6]);
    // No list, so no fence: an indented line, an empty item and a second one beside a paragraph.
    assert_eq!(live("a\n    - ```\nb\n2. ```\nc\n*\n    ```\nd"), [1, 2, 3, 4, 5, 6, 7, 8]);
    // A comment hides marks of lists, too.
    assert_eq!(live("<!--\n- a\n-->\n  ```\nb\n  ```\nc"), [1, 7]);
}

#[test]
fn what_closes_a_text_stands_where_it_ends() {
    let closer = |text: &str| closing_line(text.as_bytes());
    assert_eq!(closer("1. a\n   > ~~~~\n   > b").as_deref(), Some("   > ~~~~"));
    assert_eq!(closer("- a <!-- b").as_deref(), Some("  -->"));
    assert_eq!(closer("- ```\n  a\nb"), None);
}

/// The lines with text that are fenced code by pulldown-cmark.
fn code_by_pulldown(text: &str) -> Vec<usize> {
    let line = |at: usize| text[..at].matches('\n').count();
    let mut found = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) = event {
            found.extend(line(range.start)..=line(range.end.max(range.start + 1) - 1));
        }
    }
    found.retain(|number| text.lines().nth(*number).is_some_and(|it| !it.trim_matches(MARKS).is_empty()));
    found
}

fn code_by_us(text: &str) -> Vec<usize> {
    let mut code = FencedCode::default();
    let kinds: Vec<_> = text.lines().map(|line| (code.line(line.as_bytes()), line)).collect();
    let kinds = kinds.into_iter().enumerate();
    kinds
        .filter(|(_, (kind, it))| *kind != LineKind::Text && !it.trim_matches(MARKS).is_empty())
        .map(|(n, _)| n)
        .collect()
}

/// A line of these alone shows nothing.
const MARKS: [char; 3] = [' ', '\t', '>'];

proptest! {
    // Without tabs, of which pulldown-cmark reads some otherwise than CommonMark.
    #[test]
    fn fenced_code_is_what_pulldown_says(text in "((> ?|>|- |-|\\* |1\\. |2\\) | {1,5}|-   |-     ){0,4}(```|````|~~~|``` a|a|# a|---|===|)\n){1,9}") {
        prop_assert_eq!(code_by_us(&text), code_by_pulldown(&text), "{}", text);
    }
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

#[test]
fn a_range_is_read_as_it_is_written() {
    assert_eq!(["5", "5-20", "5-"].map(parse_range), [Some((5, 5)), Some((5, 20)), Some((5, usize::MAX))]);
    for bad in ["", "a", "-5", "1,2", "5--6", "99999999999999999999"] {
        assert_eq!(parse_range(bad), None, "{bad}");
    }
}
