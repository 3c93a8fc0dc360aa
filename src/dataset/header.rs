//! The header of a table: which character separates its cells, and which columns are ours.

use super::Columns;
use super::fields::Layout;
use crate::types::excerpt;

/// Names of columns that we read; other cases of their letters are read too.
const OURS: [&str; 7] = ["question", "answer", "answers", "id", "type", "level", "aliases"];
/// What other datasets call the question. Their readers know the names of their other columns.
const OF_DATASETS: [&str; 2] = ["Prompt", "problem"];
/// Separators that are tried, the usual one first, and how they are called.
const SEPARATORS: [(u8, &str); 4] = [(b',', "`,`"), (b'\t', "tabs"), (b';', "`;`"), (b'|', "`|`")];

/// The separator of a table whose first line this is, if it is one: that under which the column of the question appears.
pub(super) fn separator(header: &str, columns: &Columns) -> Option<u8> {
    let wanted =
        columns.question.as_deref().map_or_else(|| [&["question"], &OF_DATASETS[..]].concat(), |name| vec![name]);
    let has = |separator: u8| cells(header, separator).iter().any(|cell| wanted.iter().any(|name| same(name, cell)));
    SEPARATORS.into_iter().map(|(separator, _)| separator).find(|separator| has(*separator))
}

/// The names of the columns.
fn cells(header: &str, separator: u8) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(header.as_bytes());
    reader.headers().map(|cells| cells.iter().map(|cell| cell.trim().to_owned()).collect()).unwrap_or_default()
}

/// What is said of a separator that the layout does not have.
pub(super) fn said(separator: u8, layout: Layout) -> Option<String> {
    let (_, name) = SEPARATORS.into_iter().find(|(one, _)| *one == separator && separator != of_layout(layout))?;
    Some(format!("the cells are separated by {name}"))
}

/// The separator that a layout has by its name.
pub(super) fn of_layout(layout: Layout) -> u8 {
    if layout == Layout::Tsv { b'\t' } else { b',' }
}

/// Whether a dataset has its own names for the columns.
pub(super) fn is_of_dataset(header: &[String], columns: &Columns) -> bool {
    columns.question.is_none() && OF_DATASETS.iter().any(|name| header.iter().any(|cell| cell == name))
}

/// Gives columns such as `Question` our names. Returns what was renamed, in a sentence.
pub(super) fn rename(header: &mut [String], columns: &Columns) -> Option<String> {
    let named = |ours: &str| match ours {
        "question" => columns.question.is_some(),
        "answer" | "answers" => columns.answer.is_some(),
        "id" => columns.id.is_some(),
        _ => false,
    };
    let mut renamed = Vec::new();
    for ours in OURS.into_iter().filter(|ours| !named(ours)) {
        let alike: Vec<usize> = (0..header.len()).filter(|at| same(ours, &header[*at])).collect();
        if let ([at], false) = (&alike[..], header.iter().any(|cell| cell == ours)) {
            renamed.push(format!("`{}` is `{ours}`", header[*at]));
            ours.clone_into(&mut header[*at]);
        }
    }
    (!renamed.is_empty()).then(|| format!("case is ignored in the names of columns: {}", renamed.join(", ")))
}

/// What is said of a table without a column of answers.
pub(super) fn without_answers(header: &[String], columns: &Columns) -> Option<String> {
    let known = ["answer", "answers", "possible_answers", "aliases"];
    if columns.answer.is_some() || header.iter().any(|cell| known.contains(&cell.as_str())) {
        return None;
    }
    let question = columns.question.as_deref().unwrap_or("question");
    let used = |cell: &str| cell == question || Some(cell) == columns.id.as_deref() || OURS.contains(&cell);
    let others: Vec<String> =
        header.iter().filter(|cell| !used(cell)).take(8).map(|cell| format!("`{}`", excerpt(cell))).collect();
    let unused = if others.is_empty() { String::new() } else { format!("; unused columns: {}", others.join(", ")) };
    Some(format!("no column `answer`: nothing can be scored unless --answer-column names it{unused}"))
}

fn same(name: &str, cell: &str) -> bool {
    name.eq_ignore_ascii_case(cell)
}
