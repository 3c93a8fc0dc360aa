//! A report on a terminal.

use super::{Block, Grid, Row, Sheet};
use crate::report::{layout, wrapped};
use crate::types::text::visible_line;
use std::fmt::Write as _;

/// A longer cell is cut after this many characters; the other formats show it whole.
const MAX_CELL_CHARS: usize = 60;

/// A narrower terminal is treated as one of this width.
const MIN_WIDTH: usize = 60;

/// The report for a terminal of that width, ending in a line break. Control characters in its texts are escaped.
pub(crate) fn to_terminal(sheet: &Sheet, width: usize) -> String {
    let width = width.clamp(MIN_WIDTH, 200);
    let mut text = wrapped(&sheet.title, width, "");
    for block in &sheet.blocks {
        text.push('\n');
        match block {
            Block::Table(grid) => text.push_str(&terminal_table(grid, width)),
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

fn terminal_table(grid: &Grid, width: usize) -> String {
    let row = |row: &Row| row.cells.iter().map(|cell| visible_line(&cell.text, MAX_CELL_CHARS)).collect();
    let rows: Vec<Vec<String>> = grid.rows.iter().map(row).collect();
    let title = if grid.title.is_empty() { String::new() } else { wrapped(&format!("{}:", grid.title), width, "") };
    format!("{title}{}\n", layout::table(&grid.header, &rows, width))
}
