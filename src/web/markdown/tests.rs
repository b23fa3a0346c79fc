use super::*;

#[test]
fn what_stands_deep_in_quotes_is_shown_at_once() {
    let html = render(&format!("{} deep *inside*\n\nbeside", ">".repeat(100_000)), "").into_string();
    assert_eq!(html.matches("<blockquote>").count(), DEEPEST);
    assert!(html.contains("deep inside") && html.contains("<p>beside</p>"), "{html}");
}

#[test]
fn scripts_of_a_note_are_words() {
    for (text, shown) in [
        ("<script>alert(1)</script>", "&lt;script&gt;"),
        ("a <img src=x onerror=alert(1)> b", "&lt;img src=x"),
        ("<svg onload=alert(1)>", "&lt;svg"),
    ] {
        let html = render(text, "").into_string();
        assert!(
            html.contains(shown)
                && !html.contains("<script")
                && !html.contains("<img")
                && !html.contains("<svg"),
            "{html}"
        );
    }
    for link in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "vbscript:x",
        "&#106;avascript:alert(1)",
        "java&#10;script:alert(1)",
    ] {
        let html = render(&format!("[x](<{link}>) ![y](<{link}>)"), "").into_string();
        assert!(
            !html.to_lowercase().contains("script:")
                && !html.contains("href=\"data")
                && !html.contains("file:"),
            "{link}: {html}"
        );
    }
}

#[test]
fn an_embedded_note_is_a_link_and_an_embedded_picture_a_picture() {
    let html =
        render("![[pic.png|300]] then ![[Other note]] and ![[Plan#Two|the plan]]", "Notes").into_string();
    assert!(html.contains("<img src=\"/files/Notes/pic.png\""), "{html}");
    assert_eq!(html.matches("<img").count(), 1, "{html}");
    assert!(html.contains("href=\"/notes/Other%20note.md\"") && html.contains(">the plan</a>"), "{html}");
    assert!(html.contains("href=\"/notes/Plan.md#note-two\""), "{html}");
}

#[test]
fn links_lead_to_headings_footnotes_and_blocks() {
    let text = "# My *great* `x` Head!\n\n# My great x head\n\na[^1]\n\n[^1]: b\n";
    let html = render(text, "").into_string();
    assert_eq!(html.matches("id=\"note-my-great-x-head\"").count(), 1, "{html}");
    assert!(html.contains("href=\"#note-1\"") && html.contains("id=\"note-1\""), "{html}");
    for (link, to) in [
        ("[x](#my-great-x-head)", "#note-my-great-x-head"),
        ("[[#My great x Head!]]", "#note-my-great-x-head"),
        ("[[N#A#B c]]", "/notes/N.md#note-b-c"),
        ("[x](n.md?x=1#B%20c)", "/notes/n.md#note-b-c"),
        ("[[N#^01ab|x]]", "/notes/N.md?block=01ab"),
        ("[[#^01ab]]", "?block=01ab"),
        ("[x](<N.md#^01ab>)", "/notes/N.md?block=01ab"),
    ] {
        let html = render(link, "").into_string();
        assert!(html.contains(&format!("href=\"{to}\"")), "{link}: {html}");
    }
}

#[test]
fn comments_do_not_show_but_in_code() {
    let text = "a %%b%% c\n\n%%\n## Sample\n- x\n%%\n\n`%%d%%` e\n\n```\n%%f%%\n```\n\n%% to the end";
    let html = render(text, "").into_string();
    for (part, shows) in
        [("a  c", true), ("Sample", false), ("%%d%%", true), ("%%f%%", true), ("to the end", false)]
    {
        assert_eq!(html.contains(part), shows, "{part}: {html}");
    }
}

#[test]
fn a_part_of_a_long_note_is_what_stands_there() {
    let text = "# Top\n%% a\nb %%\n1. one\n2. two\n3. three\n4. four\n\n```\ncode 1\ncode 2\n```\n\nend\n";
    let part = |from: &str, to: &str| {
        let range = text.find(from).unwrap()..text.find(to).unwrap();
        render_part(text, range, "").into_string().replace('\n', "")
    };
    assert_eq!(part("3. three", "4. four"), "<ol start=\"3\" dir=\"auto\"><li>three</li></ol>");
    assert_eq!(part("# Top", "2. two"), "<h2 id=\"note-top\">Top</h2><ol dir=\"auto\"><li>one</li></ol>");
    assert_eq!(part("code 2", "end"), "<pre><code>code 2</code></pre>");
    assert_eq!(render_part(text, 0..text.len(), "").into_string(), render(text, "").into_string());
}

#[test]
fn links_and_pictures_of_the_vault_lead_to_the_page() {
    let html = render(
        "# T\n[a](<b c.md>) [[Other note|words]] [[../Up]] ![p](../img/x.png) ![e](https://e.example/t.png)",
        "Notes/sub",
    )
    .into_string();
    assert!(html.contains("<h2 id=\"note-t\">T</h2>"), "{html}");
    assert!(html.contains("href=\"/notes/Notes/sub/b%20c.md?link=b%20c.md\""), "{html}");
    assert!(html.contains("href=\"/notes/Other%20note.md\""), "{html}");
    assert!(html.contains("href=\"/notes/Notes/Up.md\""), "{html}");
    assert!(html.contains("src=\"/files/Notes/img/x.png\"") && !html.contains("e.example"), "{html}");
}
