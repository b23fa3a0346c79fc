//! Reads `[assistant] allow`, patterns of calls that need no approval, and matches a call against them. Pure.
//!
//! `bash:GLOB` allows a whole command. `*` in it stands for any text that can't begin a second command: text without
//! `;`, `&`, `|`, `` ` ``, `$`, `(`, `)`, `<`, `>`, `#`, line breaks and other control characters. If the pattern
//! itself contains one of these characters, its `*` matches no quote and no backslash either, so that the quoted parts
//! of the pattern stay quoted. `\*` is a star, `\\` a backslash. `skill:NAME@HASH` allows a skill while its files have
//! this hash, `mcp:SERVER.TOOL` a tool of another server. Any other text is no pattern and allows nothing.

/// A call, as the patterns see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallToMatch<'a> {
    /// A shell command, whole.
    Bash(&'a str),
    /// A skill's files are used.
    Skill {
        /// The skill.
        name: &'a str,
        /// The hash of its files, in lower-case hexadecimal digits.
        hash: &'a str,
    },
    /// A tool of another MCP server is called.
    Mcp {
        /// The server's name in the settings.
        server: &'a str,
        /// The tool.
        tool: &'a str,
    },
}

impl CallToMatch<'_> {
    /// The pattern that allows exactly this: what "Always" adds.
    pub fn always(&self) -> String {
        match self {
            Self::Bash(command) => format!("bash:{}", command.replace('\\', "\\\\").replace('*', "\\*")),
            Self::Skill { name, hash } => {
                format!("skill:{name}@{}", hash.get(..HASH_DIGITS).unwrap_or(hash))
            }
            Self::Mcp { server, tool } => format!("mcp:{server}.{tool}"),
        }
    }
}

/// How many digits of a hash a pattern holds at least.
const HASH_DIGITS: usize = 12;

/// Whether one of the patterns allows it.
pub fn allows(patterns: &[String], doing: &CallToMatch<'_>) -> bool {
    patterns.iter().filter_map(|pattern| parse(pattern).ok()).any(|pattern| match (pattern, *doing) {
        (CallToMatch::Bash(glob), CallToMatch::Bash(command)) => fits(&pieces(glob), command),
        (CallToMatch::Skill { name, hash }, CallToMatch::Skill { name: used, hash: now }) => {
            name == used && now.starts_with(hash)
        }
        (pattern, doing) => pattern == doing,
    })
}

/// Reads a pattern: a call with a glob as its command, or with the first digits of its hash.
///
/// # Errors
/// A sentence on why it is none.
pub fn parse(pattern: &str) -> Result<CallToMatch<'_>, String> {
    let (kind, rest) = pattern.split_once(':').unwrap_or(("", pattern));
    match kind {
        "bash" => {
            let pieces = pieces(rest);
            let blank = |piece: &Option<char>| piece.is_some_and(char::is_whitespace);
            if pieces.first().is_none_or(blank) {
                return Err("it names no command".to_owned());
            }
            if pieces.iter().take_while(|piece| !blank(piece)).any(Option::is_none) {
                return Err("a `*` in a command's first word would allow every program".to_owned());
            }
            Ok(CallToMatch::Bash(rest))
        }
        "skill" => {
            let (name, hash) = rest.split_once('@').ok_or("a skill needs `@` and the hash of its files")?;
            let digits = hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
            if name.is_empty() || !digits || !(HASH_DIGITS..=64).contains(&hash.len()) {
                return Err("a skill is `skill:NAME@` and 12 or more hexadecimal digits".to_owned());
            }
            Ok(CallToMatch::Skill { name, hash })
        }
        "mcp" => match rest.split_once('.') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() && !tool.contains('*') => {
                Ok(CallToMatch::Mcp { server, tool })
            }
            _ => Err("a server's tool is `mcp:SERVER.TOOL`".to_owned()),
        },
        _ => Err("it begins with none of `bash:`, `skill:` and `mcp:`".to_owned()),
    }
}

/// The characters of a command's pattern; `None` for a star.
fn pieces(glob: &str) -> Vec<Option<char>> {
    let mut pieces = Vec::new();
    let mut chars = glob.chars().peekable();
    while let Some(c) = chars.next() {
        pieces.push(match (c, chars.peek()) {
            ('\\', Some(&next @ ('*' | '\\'))) => {
                chars.next();
                Some(next)
            }
            ('*', _) => None,
            (c, _) => Some(c),
        });
    }
    pieces
}

/// Whether a character means more to a shell than itself, outside quotes.
fn acts(c: char) -> bool {
    c.is_control() || ";&|`$()<>#".contains(c)
}

fn fits(pieces: &[Option<char>], command: &str) -> bool {
    let guarded = pieces.iter().flatten().any(|c| acts(*c));
    let quotes = if guarded { r#"'"\\"# } else { "" };
    let piece = |piece: &Option<char>| match piece {
        Some(c) => regex_lite::escape(&c.to_string()),
        None => format!(r"[^\x00-\x1f\x7f-\x9f;&|`$()<>#{quotes}]*"),
    };
    let whole = format!("^(?:{})$", pieces.iter().map(piece).collect::<String>());
    regex_lite::Regex::new(&whole).is_ok_and(|whole| whole.is_match(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash(pattern: &str, command: &str) -> bool {
        allows(&[format!("bash:{pattern}")], &CallToMatch::Bash(command))
    }

    #[test]
    fn a_command_fits_whole_or_not_at_all() {
        assert!(bash("git status", "git status"));
        assert!(!bash("git status", "git status --short"));
        assert!(!bash("git status", "git statu"));
        assert!(bash("curl https://api.example.com/*", "curl https://api.example.com/v1?q=\"two words\""));
        assert!(bash("ls *", "ls "));
        assert!(!bash("ls *", "ls"));
        assert!(bash("ls *a*b", "ls aabab"));
    }

    #[test]
    fn a_star_takes_nothing_that_could_begin_a_second_command() {
        for tail in [
            "; rm x", "&& rm x", "& rm x", "| sh", "`rm x`", "$(rm x)", "${x}", "$KEY", "> x", "< x",
            "\nrm x", "\rrm x", "(rm x)", "<(rm x)", "a # b", "\u{0}x", "\u{85}x",
        ] {
            let command = format!("curl https://a/{tail}");
            assert!(!bash("curl https://a/*", &command), "{command}");
            assert!(!bash("curl *", &command), "{command}");
            assert!(bash(&CallToMatch::Bash(&command).always()[5..], &command), "{command}");
        }
    }

    #[test]
    fn what_a_pattern_has_within_quotes_stays_within_quotes() {
        assert!(bash("curl \"https://a/?x=*&y=*\"", "curl \"https://a/?x=1&y=2\""));
        assert!(!bash("curl \"https://a/?x=*&y=*\"", "curl \"https://a/?x=1\" &y=1 rm \""));
        assert!(!bash("curl \"https://a/?x=*&y=*\"", "curl \"https://a/?x=\\&y=1"));
        assert!(bash("curl * | jq *", "curl https://a | jq .b"));
        assert!(!bash("curl * | jq *", "curl https://a | sh | jq .b"));
    }

    #[test]
    fn the_pattern_of_always_allows_exactly_that() {
        for command in ["ls *.md", "printf 'a\\*b\\n' | wc", "echo a\necho b", "git log --format=%h\\"] {
            let always = CallToMatch::Bash(command).always();
            assert!(allows(std::slice::from_ref(&always), &CallToMatch::Bash(command)), "{always}");
            assert!(!allows(&[always], &CallToMatch::Bash(&format!("{command} x"))));
        }
        assert!(!bash("ls \\*.md", "ls a.md"));
        let hash = "0123456789abcdef0123";
        let skill = CallToMatch::Skill { name: "brave-search", hash };
        assert_eq!(skill.always(), "skill:brave-search@0123456789ab");
        assert!(allows(&[skill.always()], &skill));
        assert!(!allows(
            &[skill.always()],
            &CallToMatch::Skill { name: "brave-search", hash: "1123456789abcdef" }
        ));
        assert!(!allows(&[skill.always()], &CallToMatch::Skill { name: "brave", hash }));
        let tool = CallToMatch::Mcp { server: "web", tool: "browser.click" };
        assert!(allows(&[tool.always()], &tool));
        assert!(!allows(&[tool.always()], &CallToMatch::Mcp { server: "web.browser", tool: "click" }));
        assert!(!allows(&["bash:web.browser.click".to_owned()], &tool));
    }

    #[test]
    fn what_is_no_pattern_is_said_and_allows_nothing() {
        for wrong in [
            "",
            "ls",
            "bash:",
            "bash: *",
            "bash:*",
            "bash:* --version",
            "bash:l*",
            "skill:x",
            "skill:x@12",
            "skill:@0123456789ab",
            "skill:x@0123456789AB",
            "mcp:web",
            "mcp:.click",
            "mcp:web.*",
            "Bash:ls",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
