//! A report on a terminal.

use super::{Block, Grid, Sheet};
use crate::report::escape::visible_line;
use crate::report::table::{empty, right_aligned};
use comfy_table::{ColumnConstraint, LineStyle, TableStyle, Width};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// A name longer than this many characters is cut; the other formats have it whole.
const CELL: usize = 60;

/// No column of numbers takes more of a narrow terminal.
const MOST: u16 = 30;

/// Rules above, below and under the header: one after every row would make long tables twice as long.
const RULES: TableStyle = {
    let line = LineStyle::none().fill('─').junction('─');
    TableStyle::new().top_border(line).header_separator(line).bottom_border(line)
};

/// Sentences are broken at words, but not shorter than this.
const LEAST: usize = 60;

/// The report in that many columns, ending in a line break. No control character of its texts is left in it.
pub fn render(sheet: &Sheet, width: usize) -> String {
    let width = width.clamp(LEAST, 200);
    let mut text = format!("{}\n", visible_line(&sheet.title, 200));
    for block in &sheet.blocks {
        text.push('\n');
        match block {
            Block::Table(grid) => text.push_str(&table(grid, width)),
            Block::Lines { title, lines } => {
                if !title.is_empty() {
                    let _ = writeln!(text, "{}:", visible_line(title, 200));
                }
                for line in lines {
                    text.push_str(&wrapped(line, width, if title.is_empty() { "" } else { "  " }));
                }
            }
        }
    }
    text
}

fn table(grid: &Grid, width: usize) -> String {
    let header: Vec<&str> = grid.header.iter().map(|heading| heading.text.as_str()).collect();
    let mut table = empty(&header);
    table.load_style(RULES).set_width(u16::try_from(width).unwrap_or(u16::MAX));
    for row in &grid.rows {
        table.add_row(row.cells.iter().map(|cell| visible_line(&cell.text, CELL)));
    }
    for (at, _) in grid.header.iter().enumerate().filter(|(_, heading)| heading.right) {
        table = right_aligned(table, at..at + 1);
        // Names and headings give way, not numbers. Two columns are the padding.
        let widest = grid.rows.iter().filter_map(|row| Some(row.cells.get(at)?.text.width())).max().unwrap_or_default();
        let least = Width::Fixed(u16::try_from(widest + 2).unwrap_or(u16::MAX).min(MOST));
        if let Some(column) = table.column_mut(at) {
            column.set_constraint(ColumnConstraint::LowerBoundary(least));
        }
    }
    let title = if grid.title.is_empty() { String::new() } else { wrapped(&format!("{}:", grid.title), width, "") };
    format!("{title}{}\n", table.trim_fmt())
}

/// A command is left on one line, so that it can be copied.
fn wrapped(line: &str, width: usize, indent: &str) -> String {
    let line = visible_line(line, 2000);
    if line.trim_start().starts_with("wikitrail ") {
        return format!("{indent}{line}\n");
    }
    let after = format!("{indent}  ");
    let options = textwrap::Options::new(width)
        .initial_indent(indent)
        .subsequent_indent(&after)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(&line, options).iter().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}
