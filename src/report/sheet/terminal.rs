//! A report on a terminal.

use super::{Block, Grid, Row, Sheet};
use crate::report::escape::visible_line;
use crate::report::fitted::{OPEN, fitted};
use std::fmt::Write as _;

/// A name longer than this many characters is cut; the other formats have it whole.
const CELL: usize = 60;

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
    let row = |row: &Row| row.cells.iter().map(|cell| visible_line(&cell.text, CELL)).collect();
    let rows: Vec<Vec<String>> = grid.rows.iter().map(row).collect();
    let title = if grid.title.is_empty() { String::new() } else { wrapped(&format!("{}:", grid.title), width, "") };
    format!("{title}{}\n", fitted(OPEN, &grid.header, &rows, width))
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
