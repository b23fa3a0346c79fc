//! Tests `markdown`.

use super::*;

fn show(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    blocks(text, 0, &Lines::of(text), &mut found);
    found
        .iter()
        .map(|b| {
            let section = b.section.as_deref().unwrap_or("-");
            format!("{} {}-{} [{section}] {}", b.kind, b.line, b.end_line, b.text.replace('\n', "/"))
        })
        .collect()
}

#[test]
fn every_part_of_a_note_is_a_block_under_its_headings() {
    let text = "# Top\nA *very* fine\nparagraph.\n\n## Sub\n- one\n  - nested `x`\n- two\n\n| h1 | h2 |\n|---|---|\n| a | b |\n\n```rust\nfn x() {}\n```\n> quote\n\n# Next\nend";
    assert_eq!(
        show(text),
        [
            "heading 1-1 [Top] Top",
            "paragraph 2-3 [Top] A very fine/paragraph.",
            "heading 5-5 [Top > Sub] Sub",
            "item 6-6 [Top > Sub] one",
            "item 7-7 [Top > Sub] nested x",
            "item 8-8 [Top > Sub] two",
            "row 10-10 [Top > Sub] h1 | h2",
            "row 12-12 [Top > Sub] a | b",
            "code 14-16 [Top > Sub] fn x() {}",
            "paragraph 17-17 [Top > Sub] quote",
            "heading 19-19 [Next] Next",
            "paragraph 20-20 [Next] end",
        ]
    );
}

#[test]
fn callouts_are_whole_and_injected_ones_are_left_out() {
    let text = "> [!tip]+ Title\n> body\n> > nested\n> - item\n\n> [!recall]- 3 memories\n> secret\n\nafter";
    assert_eq!(show(text), ["callout 1-4 [-] Title/body/nested/item", "paragraph 9-9 [-] after"]);
}

#[test]
fn links_tags_ids_and_embeds_are_fields() {
    let text = "See [[Note#h|that]] and [web](https://x.org/a 'Its title') #tag/a ![[pic.png]] on 2026-11-20 ^id1\n\n- item\n\n^id2\n";
    let mut found = Vec::new();
    blocks(text, 0, &Lines::of(text), &mut found);
    let first = &found[0];
    assert_eq!(first.links, ["Note#h", "pic.png"]);
    assert_eq!(first.tags, ["tag/a"]);
    assert_eq!(first.block_id.as_deref(), Some("id1"));
    assert!(first.text.starts_with("See that and web"), "{}", first.text);
    assert!(first.extra.contains("https://x.org/a Its title") && first.extra.contains("Note#h"));
    assert_eq!(found[1].block_id.as_deref(), Some("id2"));
    assert_eq!(found.len(), 2);
}

#[test]
fn what_stands_behind_a_nested_block_has_its_own_line() {
    for (nested, ends) in
        [("- nested", 2), ("```\n  code\n  ```", 4), ("> [!tip] T\n  > t", 3), ("| a |\n  |---|\n  | b |", 4)]
    {
        let shown = show(&format!("- item\n  {nested}\n\n  tail delta\n- next"));
        let tail = format!("item {0}-{0} [-] tail delta", ends + 2);
        assert!(shown.contains(&tail), "{nested}: {shown:?}");
        assert!(shown.contains(&"item 1-1 [-] item".to_owned()), "{nested}: {shown:?}");
    }
}

#[test]
fn an_escaped_hash_begins_no_tag() {
    let text = "- scope \\#project/garden and #tea \\\\#no\n";
    let mut found = Vec::new();
    blocks(text, 0, &Lines::of(text), &mut found);
    assert_eq!(
        (found[0].text.as_str(), &found[0].tags[..]),
        ("scope #project/garden and #tea \\#no", &["tea".to_owned()][..])
    );
}

#[test]
fn html_gives_its_words() {
    assert_eq!(show("<div align=\"center\">\n<b>Hello</b> you\n</div>\n"), ["paragraph 1-3 [-] Hello you"]);
}

#[test]
fn comments_are_blocks_of_their_own() {
    let text = "%%\n# Not a heading\n- no item\n%%\n# Top\n- milk <!-- two\nlitres -->\n- tea %%green%% ^t\n\n<!-- last -->";
    assert_eq!(
        show(text),
        [
            "comment 2-3 [-] # Not a heading/- no item",
            "heading 5-5 [Top] Top",
            "item 6-6 [Top] milk",
            "comment 6-7 [Top] two/litres",
            "item 8-8 [Top] tea",
            "comment 8-8 [Top] green",
            "comment 10-10 [Top] last",
        ]
    );
}

#[test]
fn a_long_paragraph_is_cut_with_places() {
    let text = format!("x\n\n{}", "One sentence stands here.\nAnother follows it. ".repeat(100));
    let mut found = Vec::new();
    blocks(&text, 0, &Lines::of(&text), &mut found);
    assert!(found.len() > 3);
    for pair in found.windows(2) {
        assert!(pair[0].end <= pair[1].start && pair[0].end_line <= pair[1].line);
    }
    assert!(found.iter().all(|b| b.text.len() <= MOST && b.start < b.end));
}

#[test]
fn a_piece_of_a_long_block_stands_in_its_lines() {
    let line =
        |n: usize| format!("[Title{n}](https://x.org/{n}) by **Author{n}** `code` [[Note{n}|n]] word{n}.");
    let lines: Vec<String> = (0..80).map(line).collect();
    let html = |n: usize| {
        format!("<p class=\"x\"><a href=\"https://x.org/{n}\">Title{n}</a> by <b>Author{n}</b> word{n}</p>")
    };
    let html: Vec<String> = (0..80).map(html).collect();
    for (what, text, first) in [
        ("paragraph", lines.join("\n"), 1),
        ("item", format!("- {}", lines.join("\n  ")), 1),
        ("callout", format!("> [!tip] Title\n> {}", lines.join("\n> ")), 2),
        ("html", format!("<div>\n{}\n</div>", html.join("\n")), 2),
        ("quoted html", format!("> [!tip] Title\n>\n> <div>\n> {}\n> </div>", html.join("\n> ")), 4),
    ] {
        let mut found = Vec::new();
        blocks(&format!("{text}\n\n^id\n"), 0, &Lines::of(&text), &mut found);
        assert!(found.len() > 1, "{what}: {found:?}");
        assert!(found.iter().all(|block| block.block_id.as_deref() == Some("id")), "{what}");
        for n in 0..80 {
            let word = format!("word{n}");
            let is_it = |block: &&Block| block.text.split(['.', ' ', '\n']).any(|other| other == word);
            let block = found.iter().find(is_it).unwrap();
            let line = first + u32::try_from(n).unwrap();
            assert!((block.line..=block.end_line).contains(&line), "{what} {line}: {block:?}");
            assert!(block.end_line - block.line < 60, "{what} {line}: {block:?}");
        }
    }
}

/// The square of these would take minutes.
#[test]
fn a_note_costs_what_its_length_is() {
    let show = |text: &str| {
        let mut found = Vec::new();
        blocks(text, 0, &Lines::of(text), &mut found);
        (found.len(), found.pop().unwrap().text)
    };
    assert_eq!(show(&("a %% b %%\n\n".repeat(100_000) + "end")), (200_001, "end".to_owned()));
    assert_eq!(show(&("a <!-- b\n\n".repeat(100_000) + "end")), (100_001, "end".to_owned()));
    assert!(show(&("word `code` ".repeat(200_000) + "end")).1.ends_with("code end"));
}

#[test]
fn what_every_block_has_is_bounded() {
    let many: String = (0..400).map(|n| format!("#tag{n} ")).collect();
    let text = format!("# {}\n\n{many}\n\n#{} end", "n".repeat(10_000), "m".repeat(10_000));
    let mut found = Vec::new();
    blocks(&text, 0, &Lines::of(&text), &mut found);
    assert!(found.iter().all(|block| block.section.as_ref().is_some_and(|section| section.len() <= 500)));
    assert!(found.iter().all(|block| block.tags.iter().all(|tag| tag.len() <= 200)));
    let with_tags: Vec<_> = found.iter().filter(|block| !block.tags.is_empty()).collect();
    assert!(with_tags.len() > 1 && with_tags.iter().all(|block| block.tags.len() < 400));
    assert_eq!(with_tags.iter().map(|block| block.tags.len()).sum::<usize>(), 400);
}
