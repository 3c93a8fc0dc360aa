//! A report as GitHub-flavoured Markdown.

use super::{Block, Grid, Sheet};
use crate::types::text::visible_line;

/// The report, ending in a line break. Names and ids are escaped, for Markdown and for HTML.
pub(crate) fn to_markdown(sheet: &Sheet) -> String {
    let mut text = format!("## {}\n", markdown_escaped(&sheet.title));
    for block in &sheet.blocks {
        text.push('\n');
        match block {
            Block::Table(grid) => text.push_str(&markdown_table(grid)),
            Block::Lines { title, lines } => {
                if !title.is_empty() {
                    text = text + "**" + &markdown_escaped(title) + "**\n\n";
                }
                for line in lines {
                    text = text + "- " + &markdown_escaped(line) + "\n";
                }
            }
        }
    }
    text
}

fn markdown_table(grid: &Grid) -> String {
    let mut text = String::new();
    if !grid.title.is_empty() {
        text = format!("**{}**\n\n", markdown_escaped(&grid.title));
    }
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text += &row(grid.header.iter().map(|heading| markdown_escaped(&heading.text)).collect());
    text += &row(grid.header.iter().map(|heading| if heading.right { "---:" } else { "---" }.to_owned()).collect());
    for line in &grid.rows {
        text += &row(line.cells.iter().map(|cell| markdown_escaped(&cell.text)).collect());
    }
    text
}

/// The text on one line: a backslash before Markdown's marks, character references for those of HTML.
fn markdown_escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 8);
    for c in visible_line(text, 2000).chars() {
        match c {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            // An address would become a link.
            ':' => shown.push_str("&#58;"),
            '@' => shown.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' | '$' => {
                shown.push('\\');
                shown.push(c);
            }
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::markdown_escaped;

    #[test]
    fn no_mark_of_a_name_is_one_of_markdowns() {
        assert_eq!(markdown_escaped("a|b\n# c_d*"), "a\\|b \\# c\\_d\\*");
        assert_eq!(markdown_escaped("<b>&[x](y)"), "&lt;b&gt;&amp;\\[x\\](y)");
        assert_eq!(markdown_escaped("http://x `\u{1b}[2J`"), "http&#58;//x \\`\\\\u{1b}\\[2J\\`");
        assert_eq!(markdown_escaped("react 65.0 (-3.1), p = 0.03 %"), "react 65.0 (-3.1), p = 0.03 %");
    }
}
