//! A report as LaTeX: each table is a complete `tabular` with the rules of the package `booktabs`.

use super::{Block, Cell, Grid, Sheet};
use crate::types::text::visible_line;
use std::fmt::Write as _;

/// The report, ending in a line break. Titles and sentences are comments, so that the tables can be copied into a
/// document as they are.
///
/// Names and ids are escaped. A character that is neither ASCII nor a letter of any script is written as its number,
/// because few fonts have it.
pub(crate) fn to_latex(sheet: &Sheet) -> String {
    let mut text = String::from("% \\usepackage{booktabs}\n");
    comment(&mut text, &sheet.title);
    for block in &sheet.blocks {
        text.push('\n');
        match block {
            Block::Table(grid) => latex_table(&mut text, grid),
            Block::Lines { title, lines } => {
                comment(&mut text, title);
                for line in lines {
                    comment(&mut text, line);
                }
            }
        }
    }
    text
}

fn comment(text: &mut String, line: &str) {
    if !line.is_empty() {
        // A line end would end the comment, and `^^M` is one for TeX.
        let line = visible_line(line, 2000).replace('^', " ");
        // Writing to a String cannot fail.
        let _ = writeln!(text, "% {line}");
    }
}

fn latex_table(text: &mut String, grid: &Grid) {
    comment(text, &grid.title);
    let columns: String = grid.header.iter().map(|heading| if heading.right { 'r' } else { 'l' }).collect();
    let row = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let _ = write!(text, "\\begin{{tabular}}{{{columns}}}\n\\toprule\n");
    text.push_str(&row(grid.header.iter().map(|heading| latex_escaped(&heading.text)).collect()));
    text.push_str("\\midrule\n");
    for line in &grid.rows {
        text.push_str(&row(line.cells.iter().map(shown).collect()));
    }
    text.push_str("\\bottomrule\n\\end{tabular}\n");
}

/// A cell. If it has figures, a hyphen before a number becomes a minus sign; names keep their hyphens.
fn shown(cell: &Cell) -> String {
    if cell.figures.is_empty() {
        return latex_escaped(&cell.text);
    }
    let (mut text, mut before) = (String::with_capacity(cell.text.len()), [' '; 2]);
    let mut characters = cell.text.chars().peekable();
    while let Some(c) = characters.next() {
        let begins = !before[1].is_alphanumeric() || (before[0].is_ascii_digit() && before[1] == 'e');
        let number = begins && characters.peek().is_some_and(char::is_ascii_digit);
        text.push(if c == '-' && number { '−' } else { c });
        before = [before[1], c];
    }
    latex_escaped(&text)
}

/// The text with TeX's special characters escaped.
fn latex_escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '\\' => shown.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '%' | '#' | '_' => {
                shown.push('\\');
                shown.push(c);
            }
            '~' => shown.push_str("\\textasciitilde{}"),
            '^' => shown.push_str("\\textasciicircum{}"),
            '<' => shown.push_str("\\textless{}"),
            '>' => shown.push_str("\\textgreater{}"),
            '|' => shown.push_str("\\textbar{}"),
            '"' => shown.push_str("{\\char34}"),
            // After the end of a row, `[` and `*` would be read as arguments; the others make ligatures.
            '[' | ']' | '*' | '`' | '\'' | ',' if c != ',' || before == ',' => {
                let _ = write!(shown, "{{{c}}}");
            }
            '-' if before == '-' => shown.push_str("{}-"),
            '–' => shown.push_str("--"),
            '−' => shown.push_str("$-$"),
            '…' => shown.push_str("\\ldots{}"),
            '∞' => shown.push_str("$\\infty$"),
            c if c.is_control() || c.is_whitespace() => shown.push(' '),
            c if c.is_ascii() || c.is_alphanumeric() => shown.push(c),
            c => {
                let _ = write!(shown, "(U+{:04X})", u32::from(c));
            }
        }
        before = c;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{Cell, comment, latex_escaped, shown};

    #[test]
    fn no_character_of_a_name_is_one_of_texs() {
        let hostile = "\\input{x}$&%#_~^<>|\"[]*`\u{1b}\n--–é東\u{202e}😀";
        let expected = "\\textbackslash{}input\\{x\\}\\$\\&\\%\\#\\_\\textasciitilde{}\\textasciicircum{}\\textless{}\
            \\textgreater{}\\textbar{}{\\char34}{[}{]}{*}{`}  -{}---é東(U+202E)(U+1F600)";
        assert_eq!(latex_escaped(hostile), expected);
        assert_eq!(latex_escaped("-3.1 {x}, 4"), "-3.1 \\{x\\}, 4");
    }

    #[test]
    fn figures_have_minus_signs_and_names_have_hyphens() {
        let figure = |text: &str| shown(&Cell::figure("difference", -1.0, text));
        assert_eq!(figure("-12.1 [-22.1, -3.3]"), "$-$12.1 {[}$-$22.1, $-$3.3{]}");
        assert_eq!(figure("-1.23e-5 and +4"), "$-$1.23e$-$5 and +4");
        assert_eq!(figure("27.4 table 1-2, cot-2"), "27.4 table 1-2, cot-2");
        assert_eq!(shown(&Cell::text("gpt-4 -1 [-2")), "gpt-4 -1 {[}-2");
    }

    #[test]
    fn a_comment_has_one_line() {
        let mut text = String::new();
        comment(&mut text, "a\nb\r\u{2028}c^^Md");
        assert_eq!(text, "% a b\\r\\u{2028}c  Md\n");
    }
}
