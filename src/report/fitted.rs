//! Tables as wide as a terminal, where that goes without breaking inside a word or a figure, else wider.

use super::sheet::Heading;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle, presets};
use unicode_width::UnicodeWidthStr as _;

/// Columns of the narrowest usual terminal.
pub(super) const WIDTH: usize = 80;

/// A rule after every row.
pub(super) const RULED: TableStyle = presets::UTF8_HORIZONTAL_ONLY;

/// Rules above, below and under the header: one after every row would make long tables twice as long.
pub(super) const OPEN: TableStyle = {
    let line = LineStyle::none().fill('─').junction('─');
    TableStyle::new().top_border(line).header_separator(line).bottom_border(line)
};

/// Columns of the terminal between two columns of a table: padding, where a rule would be, padding.
const BETWEEN: usize = 3;

/// A table of these rows, without a line break at its end. Words, headings and what is between columns give way to the
/// width, figures do not.
pub(super) fn fitted(style: TableStyle, header: &[Heading], rows: &[Vec<String>], width: usize) -> String {
    let (widths, between) = layout(header, rows, width);
    let mut table = Table::new();
    table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().zip(&widths).map(|(heading, width)| wrapped(&heading.text, *width)));
    for row in rows {
        table.add_row(row.iter().zip(&widths).map(|(text, width)| wrapped(text, *width)));
    }
    for (column, heading) in table.column_iter_mut().zip(header) {
        column.set_padding((1, u16::from(between == BETWEEN)));
        if heading.right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// The width of each column, and how much is between two.
fn layout(header: &[Heading], rows: &[Vec<String>], width: usize) -> (Vec<usize>, usize) {
    let of = |at: usize, heading: &Heading, of_cell: fn(&str) -> usize, of_heading: fn(&str) -> usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|text| of_cell(text));
        cells.chain([of_heading(&heading.text)]).max().unwrap_or_default()
    };
    let columns = || header.iter().enumerate();
    let mut widths: Vec<usize> = columns().map(|(at, heading)| of(at, heading, whole, whole)).collect();
    let least = |(at, heading)| {
        let heading: &Heading = heading;
        of(at, heading, if heading.right { whole } else { longest_word }, longest_word)
    };
    let least: Vec<usize> = columns().map(least).collect();
    // After the last column nothing is seen.
    let fits = |widths: &[usize], between| widths.iter().sum::<usize>() + between * widths.len() <= width + 1;
    let between = if fits(&least, BETWEEN) { BETWEEN } else { BETWEEN - 1 };
    while !fits(&widths, between) {
        // The widest of those that can still give way.
        let yielding = (0..widths.len()).filter(|at| widths[*at] > least[*at]).max_by_key(|at| widths[*at]);
        let Some(at) = yielding else { break };
        widths[at] -= 1;
    }
    (widths, between)
}

fn whole(text: &str) -> usize {
    text.lines().map(str::width).max().unwrap_or_default()
}

/// The text in parts that stay whole: after each but the last a line may end.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let ends = |(at, c): (usize, char)| {
            let after = rest[at + c.len_utf8()..].chars().next();
            // An arrow, as in `react->cot-sc`, is no place for it.
            let hyphen = c == '-' && after.is_some_and(char::is_alphanumeric);
            (matches!(c, ' ' | ',' | '/' | '>' | '\n') || hyphen).then_some(at + c.len_utf8())
        };
        let end = rest.char_indices().find_map(ends).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

fn longest_word(text: &str) -> usize {
    words(text).map(|word| word.trim_end().width()).max().unwrap_or_default()
}

/// The text in lines of that width, or of a word's where that is more.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.width() + word.trim_end().width() <= width => line.push_str(word),
            _ => lines.push(word.to_owned()),
        }
        if word.ends_with('\n') {
            lines.push(String::new());
        }
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{OPEN, RULED, WIDTH, fitted, words, wrapped};
    use crate::report::sheet::Heading;
    use unicode_width::UnicodeWidthStr as _;

    fn text(header: &[&str], rows: &[&[&str]]) -> String {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        let header: Vec<Heading> = header.iter().copied().map(Heading::words).collect();
        fitted(RULED, &header, &rows, WIDTH)
    }

    #[test]
    fn a_line_ends_between_words() {
        let parts: Vec<&str> = words("hotpotqa/react->cot-sc, sample_one").collect();
        assert_eq!(parts, ["hotpotqa/", "react->", "cot-", "sc,", " ", "sample_one"]);
        assert_eq!(wrapped("hotpotqa/react->cot-sc", 12), "hotpotqa/\nreact->cot-\nsc");
        assert_eq!(wrapped("exceptionally/long", 4), "exceptionally/\nlong");
        assert_eq!(wrapped("", 4), "");
        assert_eq!(wrapped("gold\npages", 20), "gold\npages");
    }

    #[test]
    fn a_table_is_as_wide_as_a_terminal_or_as_its_words() {
        let short = text(&["name", "n"], &[&["one/two", "1"]]);
        assert!(short.contains(" one/two "), "{short}");
        let name = "prompts-by-protocol/react-paper/temperature=0.7/react->cot-sc";
        let long = text(&["variant", "max_steps", "model"], &[&[name, "7", "openai:gpt-4o-mini-2024-07-18"]]);
        assert!(long.lines().all(|line| line.width() <= 80), "{long}");
        for word in ["prompts-", "protocol/", "paper/", "temperature=0.7/", "max_steps", "openai:gpt-"] {
            assert!(long.contains(word), "{word}\n{long}");
        }
        let unbroken = "x".repeat(90);
        assert!(text(&["variant", "n"], &[&[&unbroken, "1"]]).contains(&unbroken));
    }

    #[test]
    fn figures_stay_whole_and_headings_give_way() {
        let header = [Heading::words("column"), Heading::numbers("EM % [95 %]"), Heading::numbers("n")];
        let row = ["react/robust and/file", "27.5 [23.7, 31.5]", "3,500"].map(str::to_owned).to_vec();
        let text = fitted(OPEN, &header, &[row], 40);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(lines[1], " column           EM % [95 %]       n");
        assert_eq!(lines[3..5], [" react/     27.5 [23.7, 31.5]   3,500", " robust"], "{text}");
    }
}
