//! Implements `memory_get`: returns the lines of a note, as they stand.

use super::{McpCall, ToolAnswer, ToolOutcome};
use crate::mcp::failure::ToolFailure;
use crate::mcp::outputs::Text;
use crate::mcp::untrusted;

/// `memory_get`.
pub fn get(call: &McpCall<'_>) -> ToolOutcome {
    let wanted = call.arguments.text("lines").map(range).transpose()?;
    let path = call.arguments.text("path").unwrap_or_default();
    let excerpt = call.workspace.memory().get(path, wanted)?;
    let asked_end = wanted.map_or(excerpt.total_lines, |(_, last)| last.min(excerpt.total_lines));
    let next_lines = (excerpt.truncated && excerpt.end_line < asked_end)
        .then(|| format!("{}-{asked_end}", excerpt.end_line + 1));
    let head = format!(
        "{} lines {} to {} of {}, hash {}",
        excerpt.path, excerpt.line, excerpt.end_line, excerpt.total_lines, excerpt.hash
    );
    let more = next_lines.as_ref().map_or_else(String::new, |next| format!("; ask for lines `{next}` next"));
    let output = Text {
        path: excerpt.path.to_string(),
        line: excerpt.line,
        end_line: excerpt.end_line,
        total_lines: excerpt.total_lines,
        text: excerpt.text,
        hash: excerpt.hash,
        next_lines,
        untrusted: true,
    };
    // The lines as they stand, invisible characters included: that is this tool's purpose.
    let text = format!("{head}{more}\n{}", untrusted::marked(&output.text));
    Ok(ToolAnswer { text, ..ToolAnswer::from_notes("", &output) })
}

/// `5`, `5-20`, `5-` as first and last line.
fn range(text: &str) -> Result<(usize, usize), ToolFailure> {
    let bad = || {
        let shown: String = text.chars().take(40).collect();
        ToolFailure::new("bad_lines", format!("{shown:?} names no lines"))
            .of("lines")
            .hint("Write `5`, `5-20` or `5-`; lines count from 1.")
    };
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|n| *n > 0);
    let (first, last) = match text.split_once('-') {
        None => {
            let line = number(text).ok_or_else(bad)?;
            (line, line)
        }
        Some((first, "")) => (number(first).ok_or_else(bad)?, usize::MAX),
        Some((first, last)) => (number(first).ok_or_else(bad)?, number(last).ok_or_else(bad)?),
    };
    if last < first {
        return Err(bad());
    }
    Ok((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_written() {
        assert_eq!(range("5").unwrap(), (5, 5));
        assert_eq!(range("5-20").unwrap(), (5, 20));
        assert_eq!(range("5-").unwrap(), (5, usize::MAX));
        for bad in ["", "0", "a", "5-4", "-5", "1,2", "5--6", "99999999999999999999"] {
            assert_eq!(range(bad).unwrap_err().kind, "bad_lines", "{bad}");
        }
    }
}
