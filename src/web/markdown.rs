//! A note's Markdown as HTML that is safe to show.
//!
//! The text is untrusted. Raw HTML in it is shown as text, links to anything but the web, mail, Obsidian and the page's
//! own addresses are dead, pictures are those of the vault, and a sanitizer looks at the whole again.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use ammonia::Builder;
use maud::{Markup, PreEscaped};
use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

use super::visit::{encoded, note_address};

/// The HTML of a note's text. `folder` is the note's, for relative links; empty for the vault's root.
pub fn render(text: &str, folder: &str) -> Markup {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_WIKILINKS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let text = &*without_comments(text, options);
    let events = Parser::new_ext(text, options).map(|event| match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        // A box that can't be ticked here is a sign, which a screen reader says.
        Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ " } else { "☐ " }.into()),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::MetadataBlock(_)) => {
            Event::Start(Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Indented))
        }
        Event::End(TagEnd::MetadataBlock(_)) => Event::End(TagEnd::CodeBlock),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: link(&dest_url, link_type, folder), title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Image { link_type, dest_url: picture(&dest_url, folder), title, id })
        }
        Event::Start(Tag::Heading { level, id, classes, attrs }) => {
            Event::Start(Tag::Heading { level: lower(level), id, classes, attrs })
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        event => event,
    });
    let mut out = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut out, events);
    PreEscaped(sanitizer().clean(&out).to_string())
}

/// A note's text without Obsidian's comments (`%% … %%`), which don't show where a note is read; in code they are text.
fn without_comments(text: &str, options: Options) -> Cow<'_, str> {
    if !text.contains("%%") {
        return Cow::Borrowed(text);
    }
    let code = Parser::new_ext(text, options).into_offset_iter().filter_map(|(event, range)| {
        matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))).then_some(range)
    });
    let code: Vec<Range<usize>> = code.collect();
    let mut marks = text.match_indices("%%").map(|(at, _)| at);
    let is_code = |at: usize| {
        let next = code.partition_point(|range| range.end <= at);
        code.get(next).is_some_and(|range| range.contains(&at))
    };
    let mut marks = std::iter::from_fn(|| marks.find(|at| !is_code(*at)));
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    while let Some(start) = marks.next() {
        out.push_str(&text[from..start]);
        from = marks.next().map_or(text.len(), |end| end + 2);
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// A note's first heading stands below the page's own.
fn lower(level: pulldown_cmark::HeadingLevel) -> pulldown_cmark::HeadingLevel {
    use pulldown_cmark::HeadingLevel::{H2, H3, H4, H5, H6};
    match level as usize {
        1 => H2,
        2 => H3,
        3 => H4,
        4 => H5,
        _ => H6,
    }
}

fn sanitizer() -> &'static Builder<'static> {
    static SANITIZER: OnceLock<Builder<'static>> = OnceLock::new();
    SANITIZER.get_or_init(|| {
        let mut builder = Builder::default();
        builder
            .url_schemes(HashSet::from(["http", "https", "mailto", "obsidian"]))
            .link_rel(Some("noopener noreferrer"));
        builder
    })
}

/// Where a link of a note leads on the page.
fn link<'a>(to: &str, kind: LinkType, folder: &str) -> CowStr<'a> {
    // A browser passes over line breaks and tabs in an address: what they part may be a scheme.
    if to.contains(char::is_control) {
        return "".into();
    }
    if to.starts_with('#') || has_scheme(to) {
        return to.to_owned().into();
    }
    let (path, _) = to.split_once('#').unwrap_or((to, ""));
    let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
    let is_wiki = matches!(kind, LinkType::WikiLink { .. });
    let mut path = if is_wiki { path.into_owned() } else { beside(folder, &path) };
    if !path.rsplit('/').next().is_some_and(|name| name.contains('.')) {
        path.push_str(".md");
    }
    note_address(&path).into()
}

/// The address of a picture of the vault; pictures from elsewhere aren't fetched.
fn picture<'a>(to: &str, folder: &str) -> CowStr<'a> {
    if has_scheme(to) || to.starts_with("//") {
        return "".into();
    }
    let path = percent_encoding::percent_decode_str(to).decode_utf8_lossy();
    format!("/files/{}", encoded(&beside(folder, &path))).into()
}

fn has_scheme(to: &str) -> bool {
    to.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':'))
}

/// A relative path as one from the vault's root; what leads out of the vault stays as it is, and is refused when it is
/// asked for.
fn beside(folder: &str, path: &str) -> String {
    if let Some(rooted) = path.strip_prefix('/') {
        return rooted.to_owned();
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." if !parts.is_empty() => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn links_and_pictures_of_the_vault_lead_to_the_page() {
        let html = render(
            "# T\n[a](<b c.md>) [[Other note|words]] ![p](../img/x.png) ![e](https://e.example/t.png)",
            "Notes/sub",
        )
        .into_string();
        assert!(html.contains("<h2>T</h2>"), "{html}");
        assert!(html.contains("href=\"/notes/Notes/sub/b%20c.md\""), "{html}");
        assert!(html.contains("href=\"/notes/Other%20note.md\""), "{html}");
        assert!(html.contains("src=\"/files/Notes/img/x.png\"") && !html.contains("e.example"), "{html}");
    }
}
