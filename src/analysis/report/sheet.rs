//! A report as blocks of tables and lines, and its layout for a terminal, in Markdown and in LaTeX.
//!
//! A cell holds its text and the figures in it. The terminal, Markdown and LaTeX print the text; CSV prints the
//! figures.

use super::wrapped;
use crate::base::short_names::ShortNames;
use crate::base::text::visible_line;
use crate::scoring::float;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// Tables and lines, in reading order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sheet {
    pub title: String,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    Table(Grid),
    Lines {
        /// Their title; may be empty.
        title: String,
        lines: Vec<String>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    /// Name of the table in CSV.
    pub id: &'static str,
    pub title: String,
    pub header: Vec<Heading>,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub text: String,
    /// Whether the column holds numbers, which are aligned right and never wrapped.
    pub right: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Row {
    pub key: Key,
    pub cells: Vec<Cell>,
}

/// What a figure describes; fields that do not apply are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Key {
    pub metric: String,
    /// The group of questions, such as `type=bridge`.
    pub group: String,
    /// The variant, or the first of two.
    pub a: String,
    /// The second of two.
    pub b: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cell {
    pub text: String,
    /// The figures in it by name, in full precision.
    pub figures: Vec<(&'static str, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure<'a> {
    pub table: &'static str,
    pub key: &'a Key,
    pub name: &'static str,
    pub value: f64,
}

impl<'a> Figure<'a> {
    /// What it describes: its table, metric, group, one or two variants, and its name.
    pub(crate) fn texts(&self) -> [&'a str; 6] {
        let Key { metric, group, a, b } = self.key;
        [self.table, metric, group, a, b, self.name]
    }
}

impl Block {
    /// Sentences below a title, which may be empty; nothing where there are none.
    pub(in crate::analysis) fn lines(title: impl Into<String>, lines: Vec<String>) -> Option<Self> {
        (!lines.is_empty()).then(|| Self::Lines { title: title.into(), lines })
    }
}

impl Key {
    /// What a figure of a variant describes.
    pub(in crate::analysis) fn of(metric: &str, variant: &str) -> Self {
        Self { metric: metric.to_owned(), a: variant.to_owned(), ..Self::default() }
    }

    pub(super) fn of_pair(metric: &str, a: &str, b: &str) -> Self {
        Self { b: b.to_owned(), ..Self::of(metric, a) }
    }
}

impl Heading {
    pub(crate) fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), right: false }
    }

    pub(crate) fn numbers(text: impl Into<String>) -> Self {
        Self { text: text.into(), right: true }
    }
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), figures: Vec::new() }
    }

    pub(crate) fn figure(name: &'static str, value: f64, text: impl Into<String>) -> Self {
        Self { text: text.into(), figures: vec![(name, value)] }
    }

    /// A count, written without separators.
    pub(crate) fn count(name: &'static str, n: impl TryInto<u64>) -> Self {
        let n = n.try_into().unwrap_or(u64::MAX);
        Self::figure(name, float(n), n.to_string())
    }

    /// A dash, in place of a figure that does not exist.
    pub(crate) fn nothing() -> Self {
        Self::text("–")
    }
}

type CellOf<'a, R, C> = Box<dyn Fn(&R) -> C + 'a>;

/// The columns of a table: the heading of each, and what writes its cell in a row.
pub(crate) struct Columns<'a, R, C>(Vec<(Heading, CellOf<'a, R, C>)>);

impl<'a, R, C> Columns<'a, R, C> {
    /// The names of the rows.
    pub(crate) fn of(heading: impl Into<String>, cell: impl Fn(&R) -> C + 'a) -> Self {
        Self(Vec::new()).words(heading, cell)
    }

    pub(crate) fn words(self, heading: impl Into<String>, cell: impl Fn(&R) -> C + 'a) -> Self {
        self.only_if(true, Heading::words(heading), cell)
    }

    pub(crate) fn numbers(self, heading: impl Into<String>, cell: impl Fn(&R) -> C + 'a) -> Self {
        self.only_if(true, Heading::numbers(heading), cell)
    }

    /// A column that some tables do not need.
    pub(crate) fn only_if(mut self, shown: bool, heading: Heading, cell: impl Fn(&R) -> C + 'a) -> Self {
        self.0.extend(shown.then(|| (heading, Box::new(cell) as CellOf<'a, R, C>)));
        self
    }

    fn header(&self) -> Vec<Heading> {
        self.0.iter().map(|(heading, _)| heading.clone()).collect()
    }

    pub(super) fn cells(&self, row: &R) -> Vec<C> {
        self.0.iter().map(|(_, cell)| cell(row)).collect()
    }
}

impl<'r, R: 'r> Columns<'_, R, String> {
    /// The table as text, without a line break at its end.
    pub(super) fn table(&self, rows: impl IntoIterator<Item = &'r R>, width: usize) -> String {
        table(&self.header(), &rows.into_iter().map(|row| self.cells(row)).collect::<Vec<_>>(), width)
    }
}

impl<'r, R: 'r> Columns<'_, R, Cell> {
    pub(crate) fn grid(
        &self,
        id: &'static str,
        title: impl Into<String>,
        rows: impl IntoIterator<Item = &'r R>,
        key: impl Fn(&R) -> Key,
    ) -> Grid {
        let rows = rows.into_iter().map(|row| Row { key: key(row), cells: self.cells(row) }).collect();
        Grid { id, title: title.into(), header: self.header(), rows }
    }
}

impl Sheet {
    /// The same with the short names of variants. Commands keep the whole ones.
    pub(crate) fn shortened(self, names: &ShortNames) -> Self {
        self.with_texts(|text| {
            let is_command = text.trim_start().starts_with("wikitrail ");
            if is_command { text.to_owned() } else { names.in_text(text) }
        })
    }

    /// The same with other texts in place of all that it shows.
    pub(super) fn with_texts(mut self, of: impl Fn(&str) -> String) -> Self {
        let change = |text: &mut String| *text = of(text);
        change(&mut self.title);
        for block in &mut self.blocks {
            match block {
                Block::Table(Grid { title, header, rows, .. }) => {
                    change(title);
                    for heading in header.iter_mut() {
                        change(&mut heading.text);
                    }
                    rows.iter_mut().flat_map(|row| &mut row.cells).for_each(|cell| change(&mut cell.text));
                }
                Block::Lines { title, lines } => {
                    change(title);
                    lines.iter_mut().for_each(change);
                }
            }
        }
        self
    }

    pub(crate) fn figures(&self) -> impl Iterator<Item = Figure<'_>> {
        let grids = self.blocks.iter().filter_map(|block| match block {
            Block::Table(grid) => Some(grid),
            Block::Lines { .. } => None,
        });
        grids.flat_map(|grid| {
            grid.rows.iter().flat_map(|row| {
                let figures = row.cells.iter().flat_map(|cell| &cell.figures);
                figures.map(|&(name, value)| Figure { table: grid.id, key: &row.key, name, value })
            })
        })
    }
}

/// Rules above, below and under the header. One after every row would make long tables twice as long.
const STYLE: TableStyle = {
    let line = LineStyle::none().fill('─').junction('─');
    TableStyle::new().top_border(line).header_separator(line).bottom_border(line)
};

/// A place where a line may end, without width: comfy-table breaks lines at one character only, and drops it there.
const BREAK: char = '\u{200b}';

/// A table without a line break at its end. Where it is too wide, headings and text wrap; figures and words stay whole, so
/// that the last columns may become a table of their own below, under the same names in front.
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
pub(in crate::analysis) fn headings(names: &str, figures: &[&str]) -> Vec<Heading> {
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

/// A longer cell is cut after this many characters; the other formats show it whole.
const MAX_CELL_CHARS: usize = 60;

/// A narrower terminal is treated as one of this width.
const MIN_WIDTH: usize = 60;

/// The report for a terminal of that width, ending in a line break. Control characters in its texts are escaped.
pub(crate) fn to_terminal(sheet: &Sheet, width: usize) -> String {
    let width = width.clamp(MIN_WIDTH, 200);
    let lines = |title: &str, lines: &[String]| {
        let (begin, indent) =
            if title.is_empty() { (String::new(), "") } else { (visible_line(title, 200) + ":\n", "  ") };
        lines.iter().fold(begin, |text, line| text + &wrapped(line, width, indent))
    };
    blocks(wrapped(&sheet.title, width, ""), sheet, |grid| terminal_table(grid, width), lines)
}

/// The blocks of a report behind what it begins with, each below an empty line.
fn blocks(
    begin: String,
    sheet: &Sheet,
    table: impl Fn(&Grid) -> String,
    sentences: impl Fn(&str, &[String]) -> String,
) -> String {
    sheet.blocks.iter().fold(begin, |text, block| match block {
        Block::Table(grid) => text + "\n" + &table(grid),
        Block::Lines { title, lines } => text + "\n" + &sentences(title, lines),
    })
}

fn terminal_table(grid: &Grid, width: usize) -> String {
    let row = |row: &Row| row.cells.iter().map(|cell| visible_line(&cell.text, MAX_CELL_CHARS)).collect();
    let rows: Vec<Vec<String>> = grid.rows.iter().map(row).collect();
    let title = if grid.title.is_empty() { String::new() } else { wrapped(&format!("{}:", grid.title), width, "") };
    format!("{title}{}\n", table(&grid.header, &rows, width))
}

/// The report, ending in a line break. Names and ids are escaped, for Markdown and for HTML.
pub(crate) fn to_markdown(sheet: &Sheet) -> String {
    let lines = |title: &str, lines: &[String]| {
        lines.iter().fold(markdown_title(title), |text, line| text + "- " + &markdown_escaped(line) + "\n")
    };
    blocks(format!("## {}\n", markdown_escaped(&sheet.title)), sheet, markdown_table, lines)
}

fn markdown_title(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("**{}**\n\n", markdown_escaped(title)) }
}

fn markdown_table(grid: &Grid) -> String {
    let mut text = markdown_title(&grid.title);
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

/// The report; titles and sentences are comments, so that the tables can be copied into a document. A character that is
/// neither ASCII nor a letter of any script is written as its number, because few fonts have it.
pub(crate) fn to_latex(sheet: &Sheet) -> String {
    latex_after("", sheet)
}

/// The same below a table of its own; that is empty, or ends in a line break.
pub(crate) fn latex_after(first: &str, sheet: &Sheet) -> String {
    let first = if first.is_empty() { String::new() } else { format!("\n{first}") };
    let begin = format!("% \\usepackage{{booktabs}}\n{}{first}", comment(&sheet.title));
    let lines = |title: &str, lines: &[String]| lines.iter().fold(comment(title), |text, line| text + &comment(line));
    blocks(begin, sheet, latex_table, lines)
}

fn comment(line: &str) -> String {
    // A line end would end the comment, and `^^M` is one for TeX.
    if line.is_empty() { String::new() } else { format!("% {}\n", visible_line(line, 2000).replace('^', " ")) }
}

fn latex_table(grid: &Grid) -> String {
    let columns: String = grid.header.iter().map(|heading| if heading.right { 'r' } else { 'l' }).collect();
    let row = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let mut text = format!("{}\\begin{{tabular}}{{{columns}}}\n\\toprule\n", comment(&grid.title));
    text.push_str(&row(grid.header.iter().map(|heading| latex_escaped(&heading.text)).collect()));
    text.push_str("\\midrule\n");
    for line in &grid.rows {
        text.push_str(&row(line.cells.iter().map(latex_cell).collect()));
    }
    text + "\\bottomrule\n\\end{tabular}\n"
}

/// A cell. If it has figures, a hyphen before a number becomes a minus sign; names keep their hyphens.
pub(super) fn latex_cell(cell: &Cell) -> String {
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

pub(super) fn latex_escaped(text: &str) -> String {
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
            'λ' => shown.push_str("$\\lambda$"),
            '†' => shown.push_str("$\\dagger$"),
            '‡' => shown.push_str("$\\ddagger$"),
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
mod tests;
