//! The text of a module as statements with their lines.

/// A statement without its `;`, or a label with its `:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) text: String,
    /// The line that it begins on, from 1.
    pub(crate) line: u32,
}

/// Replaces comments by spaces; lines stay where they are.
pub(crate) fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
            plain.extend(rest[..end].chars().filter(|c| *c == '\n'));
            plain.push(' ');
            rest = &rest[end..];
        } else {
            plain.push('/');
            rest = &rest[1..];
        }
    }
    plain.push_str(rest);
    plain
}

/// Splits the lines of a body, of which the first has this number, into statements. Braces only group, so they are
/// left out.
pub(crate) fn statements(lines: &[&str], first: u32) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut text = String::new();
    let mut begun = first;
    for (line, number) in lines.iter().zip(first..) {
        let mut rest = line.trim();
        while !rest.is_empty() {
            if text.is_empty() {
                begun = number;
                if rest == "{" || rest == "}" {
                    break;
                }
                if let Some(end) = rest.find(':').filter(|_| rest.starts_with('$')) {
                    statements.push(Statement { text: rest[..=end].to_owned(), line: number });
                    rest = rest[end + 1..].trim_start();
                    continue;
                }
            }
            let Some(end) = rest.find(';') else {
                text.push_str(rest);
                text.push(' ');
                break;
            };
            text.push_str(&rest[..end]);
            statements.push(Statement { text: std::mem::take(&mut text).trim().to_owned(), line: begun });
            rest = rest[end + 1..].trim_start();
        }
    }
    if !text.trim().is_empty() {
        statements.push(Statement { text: text.trim().to_owned(), line: begun });
    }
    statements
}

/// Splits operands at the commas outside of braces.
pub(crate) fn operands(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = text.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_lines_stay() {
        assert_eq!(without_comments("a // b\nc /* d\ne */ f / g"), "a \nc \n  f / g");
        assert_eq!(without_comments("a /* never ends\n"), "a \n ");
    }

    #[test]
    fn statements_have_the_line_that_they_begin_on() {
        let lines = ["{", "$L_1: add.s32 %r1,", "  %r2, 1; ret;", "}", "bra $L_1"];
        let found = statements(&lines, 7);
        let expected = [("$L_1:", 8), ("add.s32 %r1, %r2, 1", 8), ("ret", 9), ("bra $L_1", 11)];
        let expected = expected.map(|(text, line)| Statement { text: text.to_owned(), line });
        assert_eq!(found, expected);
    }

    #[test]
    fn operands_in_braces_are_one() {
        assert_eq!(operands("{%r1, %r2}, [%rd1+4] , %p1|%p2,"), ["{%r1, %r2}", "[%rd1+4]", "%p1|%p2"]);
        assert!(operands(" ").is_empty());
    }
}
