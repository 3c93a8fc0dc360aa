//! Headers of tables and keys of records: what separates cells, which names are ours, and whether answers are among them.

use super::Columns;
use super::fields::Layout;
use crate::base::excerpt;
use serde_json::{Map, Value};

/// Names of columns that we read; other cases of their letters are read too.
const OURS: [&str; 7] = ["question", "answer", "answers", "id", "type", "level", "aliases"];
/// What other datasets call the question. Where there is a column `question`, these are not it.
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

/// The separator of a table without a column of the question, for a person to see the columns: that of the layout, unless the
/// line has only one cell by it.
pub(super) fn likely_separator(header: &str, layout: Layout) -> u8 {
    let separators = std::iter::once(of_layout(layout)).chain(SEPARATORS.map(|(separator, _)| separator));
    let mut several = separators.filter(|separator| cells(header, *separator).len() > 1);
    several.next().unwrap_or(of_layout(layout))
}

fn cells(header: &str, separator: u8) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(header.as_bytes());
    reader.headers().map(|cells| cells.iter().map(|cell| cell.trim().to_owned()).collect()).unwrap_or_default()
}

/// Where a table's header begins, after blank lines, rows of empty cells and the line `sep=;` of spreadsheets, and which
/// separator that line names.
pub(super) fn begin(text: &str) -> (usize, Option<u8>) {
    let (mut begin, mut declared) = (0, None);
    for line in text.split_inclusive('\n') {
        let row = line.trim_end_matches(['\r', '\n']).trim_matches('"');
        let named = row.get(..4).filter(|start| same("sep=", start)).map(|_| &row.as_bytes()[4..]);
        match named {
            Some([separator, rest @ ..]) if is_separator(*separator) && rest.iter().all(|byte| byte == separator) => {
                declared = Some(*separator);
            }
            _ if row.bytes().all(|byte| byte == b'"' || byte.is_ascii_whitespace() || is_separator(byte)) => {}
            _ => break,
        }
        begin += line.len();
    }
    (begin, declared)
}

fn is_separator(byte: u8) -> bool {
    SEPARATORS.iter().any(|(separator, _)| *separator == byte)
}

/// The names of the columns. Cells without a name at the end of a header are none; of others all but the first are
/// numbered.
pub(super) fn names(cells: &csv::StringRecord) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(cells.len());
    for (n, cell) in cells.iter().enumerate() {
        let repeated = cell.trim().is_empty() && names.iter().any(String::is_empty);
        names.push(if repeated { format!("column {}", n + 1) } else { cell.trim().to_owned() });
    }
    let unnamed = cells.iter().collect::<Vec<_>>().into_iter().rev().take_while(|cell| cell.trim().is_empty()).count();
    names.truncate(cells.len() - unnamed);
    names
}

/// What is said of a separator that the layout does not have.
pub(super) fn separator_note(separator: u8, layout: Layout) -> Option<String> {
    let (_, name) = SEPARATORS.into_iter().find(|(one, _)| *one == separator && separator != of_layout(layout))?;
    Some(format!("the cells are separated by {name}"))
}

/// The separator that a layout has by its name.
pub(super) fn of_layout(layout: Layout) -> u8 {
    if layout == Layout::Tsv { b'\t' } else { b',' }
}

/// Gives columns such as `Question` our names. Returns what was renamed, in sentences.
pub(super) fn rename(header: &mut [String], columns: &Columns) -> Vec<String> {
    let names: Vec<&str> = header.iter().map(String::as_str).collect();
    let renamed = renamed(&names, columns);
    let notes = sentences(&names, &renamed, "columns");
    for (at, ours) in renamed {
        ours.clone_into(&mut header[at]);
    }
    notes
}

/// The same for the keys of a JSON record.
pub(super) fn rename_keys(fields: &mut Map<String, Value>, columns: &Columns) -> Vec<String> {
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    let renamed = renamed(&names, columns);
    if renamed.is_empty() {
        return Vec::new();
    }
    let notes = sentences(&names, &renamed, "keys");
    let name = |(at, (key, value))| {
        let ours = renamed.iter().find(|(renamed, _)| *renamed == at);
        (ours.map_or(key, |(_, ours)| (*ours).to_owned()), value)
    };
    *fields = std::mem::take(fields).into_iter().enumerate().map(name).collect();
    notes
}

/// Whether keys of these names are a question's or an answer's.
pub(super) fn has_ours(fields: &Map<String, Value>, columns: &Columns) -> bool {
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    let wanted = |name: &str| matches!(name, "question" | "answer");
    names.iter().any(|name| wanted(name)) || renamed(&names, columns).iter().any(|(_, ours)| wanted(ours))
}

/// Which names get one of ours: those that differ from it in case only, and without a `question` what another dataset
/// calls it, if there are answers too. A name that is not unique, or that the user gave, is left as it is.
fn renamed(names: &[&str], columns: &Columns) -> Vec<(usize, &'static str)> {
    let Columns { question, answer, id, kind, level, answer_separator: _ } = columns;
    let given = [question, answer, id, kind, level].map(Option::as_deref);
    let replaced = |ours: &str| match ours {
        "question" => question.is_some(),
        "answer" | "answers" => answer.is_some(),
        "id" => id.is_some(),
        "type" => kind.is_some(),
        "level" => level.is_some(),
        _ => false,
    };
    let only = |wanted: &[&str]| {
        let alike = |name: &str| wanted.iter().any(|wanted| same(wanted, name)) && !given.contains(&Some(name));
        let mut alike = (0..names.len()).filter(|at| alike(names[*at]));
        alike.next().filter(|_| alike.next().is_none())
    };
    let mut found: Vec<(usize, &'static str)> = OURS
        .into_iter()
        .filter(|ours| !replaced(ours) && !names.contains(ours))
        .filter_map(|ours| Some((only(&[ours])?, ours)))
        .collect();
    let has = |ours: &str| names.iter().any(|name| same(ours, name));
    if question.is_none() && !has("question") && (answer.is_some() || has("answer") || has("answers")) {
        found.extend(only(&OF_DATASETS).map(|at| (at, "question")));
    }
    found
}

/// What is said of renamed columns or keys.
fn sentences(names: &[&str], renamed: &[(usize, &str)], what: &str) -> Vec<String> {
    let is_case = |(at, ours): &&(usize, &str)| same(names[*at], ours);
    let cases: Vec<String> =
        renamed.iter().filter(is_case).map(|(at, ours)| format!("`{}` is `{ours}`", names[*at])).collect();
    let case = (!cases.is_empty()).then(|| format!("case is ignored in the names of {what}: {}", cases.join(", ")));
    let other = renamed.iter().filter(|renamed| !is_case(renamed));
    let other = other.map(|(at, ours)| format!("no `{ours}`: `{}` is read as it", names[*at]));
    case.into_iter().chain(other).collect()
}

const ANSWERS: [&str; 4] = ["answer", "answers", "possible_answers", "aliases"];
/// What a column or a key of gold answers is often called.
const LIKE_ANSWERS: [&str; 4] = ["answer", "gold", "label", "target"];

/// A table or records without answers, under whatever name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutAnswers {
    what: &'static str,
    /// Columns or keys that nothing is read from, in the file's order.
    unused: Vec<String>,
}

impl WithoutAnswers {
    /// Of columns or keys with these names.
    pub(super) fn of<'n>(
        what: &'static str,
        names: impl Iterator<Item = &'n str> + Clone,
        known: &[&str],
        columns: &Columns,
    ) -> Option<Self> {
        if columns.answer.is_some() || names.clone().any(|name| ANSWERS.contains(&name)) {
            return None;
        }
        let question = columns.question.as_deref().unwrap_or("question");
        let used = |name: &str| {
            name == question || Some(name) == columns.id.as_deref() || OURS.contains(&name) || known.contains(&name)
        };
        Some(Self { what, unused: names.filter(|name| !used(name)).map(str::to_owned).collect() })
    }

    /// The one that probably holds the answers: the only unused one, or one that is called like them.
    pub fn guess(&self) -> Option<&str> {
        let is_like = |word: &str| self.unused.iter().find(|name| name.to_lowercase().contains(word));
        let only = self.unused.first().filter(|_| self.unused.len() == 1);
        only.or_else(|| LIKE_ANSWERS.iter().find_map(|word| is_like(word))).map(String::as_str)
    }

    /// What is missing, and what there is instead.
    pub fn missing_and_unused(&self) -> (String, String) {
        let unused: Vec<String> = self.unused.iter().take(8).map(|name| format!("`{}`", excerpt(name))).collect();
        let list =
            if unused.is_empty() { String::new() } else { format!("; unused {}s: {}", self.what, unused.join(", ")) };
        (format!("no {} `answer`", self.what), list)
    }

    /// The note on a file that is read all the same.
    pub(super) fn note(&self) -> String {
        let (what, unused) = self.missing_and_unused();
        format!("{what}: nothing can be scored unless --answer-column names it{unused}")
    }
}

pub(super) fn same(name: &str, cell: &str) -> bool {
    name.eq_ignore_ascii_case(cell)
}
