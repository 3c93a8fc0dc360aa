//! Tables for a terminal: comfy-table arranges the columns, this module says where a line may end and what stays whole.

use super::sheet::Heading;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};
use unicode_width::UnicodeWidthStr as _;

/// Rules above, below and under the header. One after every row would make long tables twice as long.
const STYLE: TableStyle = {
    let line = LineStyle::none().fill('─').junction('─');
    TableStyle::new().top_border(line).header_separator(line).bottom_border(line)
};

/// A place where a line of text may end. It takes no room, and is not printed: comfy-table breaks lines at one
/// character only, and drops it there.
const BREAK: char = '\u{200b}';

/// A table of these rows, without a line break at its end. If it is too wide for the terminal, headings and text wrap.
/// Figures and words stay whole, so where even that is too wide, the last columns become a table of their own below, under
/// the same names in front.
pub(super) fn table(header: &[Heading], rows: &[Vec<String>], width: usize) -> String {
    // A space before each column, and another one between two.
    let column = |at: usize| usize::from(least(&header[at], rows.iter().filter_map(|row| row.get(at)))) + 2;
    let needed: Vec<usize> = (0..header.len()).map(column).collect();
    let names = needed.first().copied().unwrap_or_default();
    // Names that fill half a line would stand before one column each.
    if needed.iter().sum::<usize>() <= width + 1 || needed.len() < 3 || names > width / 2 {
        return one_table(header, rows, width);
    }
    let (mut sum, mut fit) = (names, 1);
    while fit < needed.len() && sum + needed[fit] <= width + 1 {
        sum += needed[fit];
        fit += 1;
    }
    let fit = fit.clamp(2, needed.len() - 1);
    let columns = |keep: &dyn Fn(usize) -> bool| {
        let cells = |row: &Vec<String>| {
            row.iter().enumerate().filter(|(at, _)| keep(*at)).map(|(_, cell)| cell.clone()).collect()
        };
        let header: Vec<Heading> =
            header.iter().enumerate().filter(|(at, _)| keep(*at)).map(|(_, cell)| cell.clone()).collect();
        (header, rows.iter().map(cells).collect::<Vec<Vec<String>>>())
    };
    let (first, last) = (columns(&|at| at < fit), columns(&|at| at == 0 || at >= fit));
    format!("{}\n{}", one_table(&first.0, &first.1, width), table(&last.0, &last.1, width))
}

fn one_table(header: &[Heading], rows: &[Vec<String>], width: usize) -> String {
    let shown = |text: &str, heading: &Heading| if heading.right { text.to_owned() } else { breakable(text) };
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_header(header.iter().map(|heading| shown(&heading.text, heading)));
    for row in rows {
        table.add_row(row.iter().zip(header).map(|(text, heading)| shown(text, heading)));
    }
    for (column, heading) in table.column_iter_mut().zip(header) {
        if heading.right {
            column.set_cell_alignment(CellAlignment::Right);
        } else {
            column.set_delimiter(BREAK);
        }
    }
    // A space before and after each column, and another one between two.
    let whole = table.column_max_content_widths().iter().map(|width| usize::from(*width) + 3).sum::<usize>();
    if whole > width + 1 {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(u16::try_from(width).unwrap_or(u16::MAX));
        for (at, (column, heading)) in table.column_iter_mut().zip(header).enumerate() {
            let least = least(heading, rows.iter().filter_map(|row| row.get(at)));
            let least = Width::Fixed(least.saturating_add(1));
            // The width of figures is set aside first; columns of text share the rest.
            let constraint = if heading.right { ColumnConstraint::Absolute } else { ColumnConstraint::LowerBoundary };
            column.set_padding((1, 0)).set_constraint(constraint(least));
        }
    }
    table.trim_fmt().replace(BREAK, "")
}

/// The headings of a column of names and of columns of figures.
pub(super) fn headings(names: &str, figures: &[&str]) -> Vec<Heading> {
    let figures = figures.iter().copied().map(Heading::numbers);
    std::iter::once(Heading::words(names)).chain(figures).collect()
}

/// The width of the widest part of a column that stays whole: a figure, or a word of a text or of the heading.
fn least<'a>(heading: &Heading, cells: impl Iterator<Item = &'a String>) -> u16 {
    let widest = |text: &str, breaks: &[char]| text.split(breaks).map(str::width).max().unwrap_or_default();
    let word = |text: &str| widest(&breakable(text), &[BREAK, '\n']);
    let (head, cells): (_, Option<usize>) = if heading.right {
        (widest(&heading.text, &[' ', '\n']), cells.map(|figure| widest(figure, &['\n'])).max())
    } else {
        (word(&heading.text), cells.map(|text| word(text)).max())
    };
    u16::try_from(cells.map_or(head, |cells| cells.max(head))).unwrap_or(u16::MAX)
}

/// The text with marks where a line may end: after a space, and after the punctuation of names such as
/// `react-paper/react->cot-sc` and `decoding.max_tokens`.
fn breakable(text: &str) -> String {
    let mut marked = String::with_capacity(text.len() + 8);
    let mut characters = text.chars().filter(|c| *c != BREAK).peekable();
    while let Some(c) = characters.next() {
        marked.push(c);
        let ends = characters.peek().is_some_and(|next| match c {
            ' ' => true,
            ',' | '/' | '>' => *next != ' ',
            // Neither inside the arrow of `react->cot-sc`, nor inside numbers, dates and ids such as `sample-003`.
            '-' | '.' => next.is_alphabetic(),
            _ => false,
        });
        if ends {
            marked.push(BREAK);
        }
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::report::sheet::Heading;
    use unicode_width::UnicodeWidthStr as _;

    fn text(header: &[&str], rows: &[&[&str]]) -> String {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        let header: Vec<Heading> = header.iter().copied().map(Heading::words).collect();
        table(&header, &rows, 80)
    }

    #[test]
    fn a_table_is_as_wide_as_a_terminal_or_as_its_words() {
        let short = text(&["name", "n"], &[&["one/two", "1"]]);
        assert!(short.contains(" one/two "), "{short}");
        let name = "prompts-by-protocol/react-paper/temperature=0.7/react->cot-sc";
        let long = text(&["variant", "max_steps", "model"], &[&[name, "7", "openai:gpt-4o-mini-2024-07-18"]]);
        assert!(long.lines().all(|line| line.width() <= 80), "{long}");
        for word in ["prompts-", "protocol/", "paper/", "temperature=0.7/", "max_steps", "openai:gpt-4o-"] {
            assert!(long.contains(word), "{word}\n{long}");
        }
        let unbroken = "x".repeat(90);
        assert!(text(&["variant", "n"], &[&[&unbroken, "1"]]).contains(&unbroken));
    }

    /// Eight columns of figures at widths in which three, five or all find room.
    #[test]
    fn columns_without_room_become_a_table_below() {
        let names = ["variant", "steps", "calls", "bad calls", "tokens in", "tokens out", "USD", "time"];
        let header: Vec<Heading> =
            std::iter::once(Heading::words(names[0])).chain(names[1..].iter().copied().map(Heading::numbers)).collect();
        let row = ["react->cot-sc", "7.25", "12,345", "1,234", "123,456,789", "98,765,432", "1234.5678", "2 h 7 min"];
        let rows = vec![row.map(str::to_owned).to_vec(); 2];
        for (width, tables) in [(120, 1), (80, 1), (60, 2), (40, 3)] {
            let text = table(&header, &rows, width);
            assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
            assert_eq!(text.matches("variant").count(), tables, "{width}:\n{text}");
            assert!(row[1..].iter().all(|figure| text.matches(figure).count() == 2), "{width}:\n{text}");
        }
    }

    #[test]
    fn figures_stay_whole_and_headings_give_way() {
        let header =
            [Heading::words("column"), Heading::numbers("difference found [95 %]"), Heading::numbers("not measured")];
        let row = ["react/robust and/file", "27.5 [23.7, 31.5]", "3,500"].map(str::to_owned).to_vec();
        for width in [40, 50] {
            let text = table(&header, std::slice::from_ref(&row), width);
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            assert!(text.contains(" 27.5 [23.7, 31.5]     3,500\n"), "{width}:\n{text}");
            assert!(lines[1].ends_with(" difference found       not"), "{width}:\n{text}");
            assert!(lines[2].ends_with("           [95 %]  measured"), "{width}:\n{text}");
        }
        let wide = table(&header, &[row], 120);
        assert!(wide.contains(" column                  difference found [95 %]   not measured\n"), "{wide}");
    }
}
