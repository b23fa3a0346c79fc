//! Adds a pattern to `[assistant] allow` in the text of a settings file. Pure.
//!
//! The pattern is inserted into the text, so that comments and layout stay as they are. The result is checked: the new
//! text must mean the old settings with that pattern, and nothing else.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use super::error::find_key;
use super::set_values::{line_end, put, split_bom};
use super::{FILE_NAME, Settings};

/// The text of a settings file with one more pattern in `[assistant] allow`; as it is, where that is allowed already.
///
/// # Errors
/// A sentence on why the text can't be changed; the person adds the pattern by hand then.
pub fn with_allowed(text: &str, pattern: &str) -> Result<String, String> {
    let before = Settings::parse(text).map_err(|error| format!("`{FILE_NAME}` can't be read: {error}"))?;
    if before.assistant.allow.iter().any(|known| known == pattern) {
        return Ok(text.to_owned());
    }
    crate::config::tables::allow::parse(pattern)
        .map_err(|why| format!("that is no pattern for the settings: {why}"))?;
    let after = insert(text, &toml::Value::from(pattern).to_string());
    let mut expected = before;
    expected.assistant.allow.push(pattern.to_owned());
    match Settings::parse(&after) {
        Ok(settings) if settings == expected => Ok(after),
        _ => Err(format!(
            "`{FILE_NAME}` is written in a way that I can't add to: add `{pattern}` to `[assistant] allow` yourself"
        )),
    }
}

fn insert(text: &str, value: &str) -> String {
    let (bom, body) = split_bom(text);
    let changed = match find_key(body, "assistant.allow") {
        Some((_, list)) => into_list(body, list, value),
        None => put(body, "assistant.allow", None, &format!("[{value}]")),
    };
    format!("{bom}{changed}")
}

/// One value more at the end of a list. If each stands on a line of its own, so does this; a comment stays behind
/// the value that it stands at.
fn into_list(text: &str, list: Range<usize>, value: &str) -> String {
    let Ok(parsed) = DeValue::parse(&text[list.clone()]) else { return text.to_owned() };
    let DeValue::Array(items) = parsed.get_ref() else { return text.to_owned() };
    let Some(last) = items.iter().next_back().map(Spanned::span) else {
        let at = list.start + 1;
        return format!("{}{value}{}", &text[..at], &text[at..]);
    };
    let (last, end) = (list.start + last.start..list.start + last.end, line_end(text));
    let line = text[..last.start].rfind('\n').map_or(0, |at| at + 1);
    let indent = &text[line..last.start];
    let own_line = line > list.start && indent.trim().is_empty();
    if !own_line {
        return format!("{}, {value}{}", &text[..last.end], &text[last.end..]);
    }
    let rest = &text[last.end..list.end];
    let comma = rest.trim_start().starts_with(',');
    let (next_line, closed) = match rest.find('\n') {
        Some(at) => (last.end + at + 1, true),
        // The bracket closes on the same line.
        None => (last.end, false),
    };
    let (before, after) = (&text[..last.end], &text[last.end..next_line]);
    let added = if comma { format!("{indent}{value},") } else { format!("{indent}{value}") };
    let comma = if comma { "" } else { "," };
    if closed {
        format!("{before}{comma}{after}{added}{end}{}", &text[next_line..])
    } else {
        format!("{before},{end}{indent}{value}{}", &text[last.end..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str) -> String {
        with_allowed(text, "bash:git log *").unwrap()
    }

    #[test]
    fn a_pattern_is_added_and_all_else_stays() {
        for (text, expected) in [
            ("", "[assistant]\nallow = [\"bash:git log *\"]\n"),
            (
                "# mine\ntimezone = \"UTC\"",
                "# mine\ntimezone = \"UTC\"\n\n[assistant]\nallow = [\"bash:git log *\"]\n",
            ),
            (
                "[assistant] # who\nmax_rounds = 3\n\n[notify]\n",
                "[assistant] # who\nallow = [\"bash:git log *\"]\nmax_rounds = 3\n\n[notify]\n",
            ),
            (
                "[assistant]\r\nmax_rounds = 3\r\n",
                "[assistant]\r\nallow = [\"bash:git log *\"]\r\nmax_rounds = 3\r\n",
            ),
            ("[assistant]\nallow = [] # none\n", "[assistant]\nallow = [\"bash:git log *\"] # none\n"),
            (
                "[assistant]\nallow = ['bash:ls',]\n",
                "[assistant]\nallow = ['bash:ls', \"bash:git log *\",]\n",
            ),
            (
                "[assistant]\nallow = [\n  \"bash:ls\",\n  'bash:df', # disks, [all]\n] # end\nmax_rounds = 3\n",
                "[assistant]\nallow = [\n  \"bash:ls\",\n  'bash:df', # disks, [all]\n  \"bash:git log *\",\n] # end\nmax_rounds = 3\n",
            ),
            (
                "[assistant]\nallow = [\n\t\"bash:ls\" # list\n]\n",
                "[assistant]\nallow = [\n\t\"bash:ls\", # list\n\t\"bash:git log *\"\n]\n",
            ),
            (
                "[assistant]\nallow = [\n  \"bash:ls\"]\n",
                "[assistant]\nallow = [\n  \"bash:ls\",\n  \"bash:git log *\"]\n",
            ),
            ("assistant.allow = [\"bash:ls\"]\n", "assistant.allow = [\"bash:ls\", \"bash:git log *\"]\n"),
        ] {
            assert_eq!(added(text), expected);
            assert_eq!(added(expected), expected, "once");
        }
        let odd = "bash:echo \"a\\\\\\*\" 'b'\nx\u{1b}";
        let settings = Settings::parse(&with_allowed("", odd).unwrap()).unwrap();
        assert_eq!(settings.assistant.allow, [odd]);
    }

    #[test]
    fn what_can_not_be_added_to_is_said() {
        for text in ["assistant = { max_rounds = 3 }\n", "assistant.max_rounds = 3\n", "timezon = 3\n"] {
            let error = with_allowed(text, "bash:git log *").unwrap_err();
            assert!(error.contains("vault-agent.toml"), "{text}: {error}");
        }
        assert!(with_allowed("", "bash:*").unwrap_err().contains("no pattern"));
        let text = "[notify]\nkind = \"console\"\n# [assistant]\nx = 1\n";
        assert!(with_allowed(text, "bash:ls").is_err());
    }
}
