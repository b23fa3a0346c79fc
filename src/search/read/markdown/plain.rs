//! Strips markup: the text of a callout and of HTML that a reader sees.
//!
//! A piece of Markdown comes in, plain text goes out.

/// A callout's text without its `[!name]` mark.
pub(super) fn callout_text(text: &str) -> String {
    let rest = text.trim_start();
    match rest.strip_prefix("[!").and_then(|rest| rest.split_once(']')) {
        Some((_, rest)) => rest.trim_start_matches(['+', '-']).trim_start().to_owned(),
        None => text.to_owned(),
    }
}

/// Appends what of `html` a reader sees; `inside` remembers a comment that is still open.
pub(super) fn strip_html(html: &str, inside: &mut bool, out: &mut String) {
    let mut rest = html;
    loop {
        if *inside {
            let Some(end) = rest.find("-->") else { return };
            rest = &rest[end + 3..];
            *inside = false;
        }
        let Some(open) = rest.find('<') else {
            push_words(rest, out);
            return;
        };
        push_words(&rest[..open], out);
        rest = &rest[open..];
        if rest.starts_with("<!--") {
            *inside = true;
            rest = &rest[4..];
            continue;
        }
        match rest.find('>') {
            Some(close) => rest = &rest[close + 1..],
            None => return,
        }
        if !out.is_empty() && !out.ends_with([' ', '\n']) {
            out.push(' ');
        }
    }
}

fn push_words(words: &str, out: &mut String) {
    out.push_str(if out.ends_with([' ', '\n']) { words.trim_start_matches(' ') } else { words });
}
