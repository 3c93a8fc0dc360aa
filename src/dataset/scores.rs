//! Tables that other programs write: figures by question (`id`, `em`, `f1`, and any further numbers), and values of one metric by
//! episode (`id`, `variant`, `repeat` and the value).

use super::error::Problem;
use super::fields::{Fault, Layout, Record};
use super::table::{self, Records, unguarded};
use super::{DatasetError, bytes, records};
use crate::base::{excerpt, unique};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreTable {
    /// Names of the figures: `em`, `f1`, and every other column that holds nothing but numbers.
    pub figures: Vec<String>,
    pub rows: Vec<ScoreRow>,
    /// Columns that are not figures, and why: the first cell that is not a number.
    pub others: Vec<NotNumeric>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreRow {
    pub id: String,
    /// Which repeat of the question, from 0.
    pub repeat: u32,
    /// The variant, where the table has such a column.
    pub variant: Option<String>,
    /// The cells of the columns that were asked for as texts.
    pub texts: HashMap<String, String>,
    /// Value of each figure, in the order of [`ScoreTable::figures`]; absent if the cell is empty or `nan`: not measured.
    pub values: Vec<Option<f64>>,
}

/// A cell because of which a column is not a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotNumeric {
    pub column: String,
    /// Line of the cell, from 1.
    pub line: usize,
    /// The value found, cut.
    pub value: String,
}

/// Columns that are not figures.
const NAMES: [&str; 4] = ["id", "cluster", "repeat", "variant"];

/// Columns that must hold shares.
const SHARES: [&str; 2] = ["em", "f1"];

/// Reads a table of figures; a file whose name ends in `.tsv` has tabs between its cells, any other commas.
///
/// The column `id` is needed. `em` and `f1` are shares from 0 to 1, and `repeat` is a whole number: another value
/// there is an error that names file, line, column and value. A repeated question of a variant is an error, too. The cells
/// of the columns `texts` are kept as they are.
pub fn read_scores(file: &str, raw: &[u8], texts: &[String]) -> Result<ScoreTable, DatasetError> {
    let text = bytes::text_of(file, raw)?;
    if text.trim().is_empty() {
        return Err(DatasetError::of_file(file, Problem::Empty));
    }
    let layout =
        if file.trim_end_matches(".gz").to_ascii_lowercase().ends_with(".tsv") { Layout::Tsv } else { Layout::Csv };
    let records = Records::with_key("id", |options| table::read(file, &text, layout, options, &mut Records::keep))?;
    let (figures, others) = figures(&records.list);
    let ids: HashSet<&str> = records.list.iter().filter_map(|record| record.get("id")?.as_str()).collect();
    let plain = |id: String| {
        let plain = unguarded(&id);
        if ids.contains(plain) { id } else { plain.to_owned() }
    };
    let row = |record: &Record| row(record, &figures, texts).map(|row| Some(ScoreRow { id: plain(row.id), ..row }));
    let rows = rows(file, &records.list, row, |row| (row.id.clone(), (row.variant.clone(), row.repeat)))?;
    Ok(ScoreTable { figures, rows, others })
}

/// The rows of a table, at least one; `key` begins with the id, and is that of one row only.
fn rows<R, K: Hash + Eq>(
    file: &str,
    records: &[Record],
    row: impl Fn(&Record) -> Result<Option<R>, Fault>,
    key: impl Fn(&R) -> (String, K),
) -> Result<Vec<R>, DatasetError> {
    let (mut rows, mut seen) = (Vec::with_capacity(records.len()), HashMap::new());
    for record in records {
        let Some(row) = row(record).map_err(|fault| fault.at(file, record.place))? else { continue };
        let key = key(&row);
        let id = excerpt(&key.0);
        if let Some(first) = seen.insert(key, record.place) {
            return Err(DatasetError::at(file, record.place, Problem::Duplicate(id, first)));
        }
        rows.push(row);
    }
    if rows.is_empty() { Err(DatasetError::of_file(file, Problem::Empty)) } else { Ok(rows) }
}

/// The columns of numbers, and the others. Those that must hold shares are judged row by row.
fn figures(records: &[Record]) -> (Vec<String>, Vec<NotNumeric>) {
    let (mut figures, mut others): (Vec<String>, Vec<NotNumeric>) = (Vec::new(), Vec::new());
    for record in records {
        for (name, value) in record.fields.iter().filter(|(name, _)| !NAMES.contains(&name.as_str())) {
            let cell = value.as_str().unwrap_or_default();
            if others.iter().any(|other| other.column == *name) {
                continue;
            }
            if !figures.contains(name) {
                figures.push(name.clone());
            }
            if !SHARES.contains(&name.as_str()) && number(cell).is_none() && !is_nan(cell) {
                figures.retain(|figure| figure != name);
                others.push(NotNumeric { column: name.clone(), line: record.place.line, value: excerpt(cell) });
            }
        }
    }
    (figures, others)
}

fn row(record: &Record, figures: &[String], texts: &[String]) -> Result<ScoreRow, Fault> {
    let cell = |name: &str| record.get(name).and_then(Value::as_str);
    let id = cell("id").ok_or_else(|| Fault::missing("id"))?.to_owned();
    let repeat = cell("repeat").map_or(Ok(0), repeat)?;
    let value = |figure: &String| {
        let Some(text) = cell(figure).filter(|cell| !is_nan(cell)) else { return Ok(None) };
        let share = SHARES.contains(&figure.as_str());
        let what = if share { "a number from 0 to 1" } else { "a number" };
        let value = number(text).filter(|value| !share || (0.0..=1.0).contains(value));
        value.map(Some).ok_or_else(|| Fault::expected_of_cell(figure, what, text))
    };
    let values = figures.iter().map(value).collect::<Result<_, _>>()?;
    let texts = texts.iter().filter_map(|name| Some((name.clone(), cell(name)?.to_owned()))).collect();
    Ok(ScoreRow { id, repeat, variant: cell("variant").map(str::to_owned), texts, values })
}

fn repeat(cell: &str) -> Result<u32, Fault> {
    cell.trim().parse().map_err(|_| Fault::expected_of_cell("repeat", "a whole number from 0", cell))
}

/// Whether a cell says that it holds no number, as numpy and pandas write it. It counts as an empty one.
pub(super) fn is_nan(cell: &str) -> bool {
    cell.trim().eq_ignore_ascii_case("nan")
}

fn number(cell: &str) -> Option<f64> {
    cell.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

/// Fields that say which episode a value is of.
const KEYS: [&str; 4] = ["id", "run", "variant", "repeat"];

/// The field of the value, where the file names the metric otherwise.
const VALUE: &str = "value";

#[derive(Debug, Clone, PartialEq)]
pub struct ValueTable {
    pub name: String,
    pub rows: Vec<ValueRow>,
}

/// One value, and which episodes it is of: what is absent means all.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueRow {
    pub id: String,
    pub run: Option<String>,
    pub variant: Option<String>,
    pub repeat: Option<u32>,
    pub value: f64,
    pub line: usize,
}

/// Reads the values of a metric from a table (`.csv`, `.tsv`) or JSON Lines.
///
/// The value is in the field `value`, or in one of the metric's name: `name`, else the only field beside the keys. Without
/// a value, or with `nan`, a row is passed over. Anything else than a finite number is an error that names file, line, field and value,
/// and so is a second value of the same episodes.
pub fn read_values(file: &str, raw: &[u8], name: Option<&str>) -> Result<ValueTable, DatasetError> {
    let text = bytes::text_of(file, raw)?;
    let records = Records::with_key("id", |options| records::split(file, &text, options))?;
    let (name, field) = field_of(file, &records.list, name)?;
    let key = |row: &ValueRow| (row.id.clone(), (row.run.clone(), row.variant.clone(), row.repeat));
    let rows = rows(file, &records.list, |record| value_row(record, &field), key)?;
    Ok(ValueTable { name, rows })
}

/// The metric's name, and the field that holds its values.
fn field_of(file: &str, records: &[Record], name: Option<&str>) -> Result<(String, String), DatasetError> {
    let fields = records.iter().flat_map(|record| record.fields.keys());
    let others = unique(fields.filter(|field| !KEYS.contains(&field.as_str())));
    let has = |wanted: &str| others.iter().any(|field| *field == wanted);
    let stem = || {
        let base = file.rsplit(['/', '\\']).next().unwrap_or(file);
        base.split('.').next().unwrap_or(base).to_owned()
    };
    match (name, &others[..]) {
        // A column of the metric's own name comes before one that is called `value`, which another program may mean.
        (Some(name), _) if has(name) => Ok((name.to_owned(), name.to_owned())),
        (_, _) if has(VALUE) => Ok((name.map_or_else(stem, str::to_owned), VALUE.to_owned())),
        (None, [only]) => Ok(((*only).clone(), (*only).clone())),
        _ => {
            let found = others.into_iter().cloned().collect();
            Err(DatasetError::at_line(file, 1, Problem::NoColumn(name.unwrap_or(VALUE).to_owned(), found)))
        }
    }
}

fn value_row(record: &Record, field: &str) -> Result<Option<ValueRow>, Fault> {
    let fault = |field: &str, what: &str, found: &Value| {
        Fault::expected_of_cell(field, what, &found.as_str().map_or_else(|| found.to_string(), str::to_owned))
    };
    let none = |text: &str| text.trim().is_empty() || is_nan(text);
    let Some(value) = record.get(field).filter(|value| value.as_str().is_none_or(|text| !none(text))) else {
        return Ok(None);
    };
    let number =
        value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number: &f64| number.is_finite());
    let number = number.ok_or_else(|| fault(field, "a finite number", value))?;
    // Ids that are numbers are written without quotes by many programs.
    let text = |field: &str| match record.get(field) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(fault(field, "a text", other)),
    };
    let repeat = text("repeat")?.map(|cell| repeat(&cell)).transpose()?;
    Ok(Some(ValueRow {
        id: text("id")?.ok_or_else(|| Fault::missing("id"))?,
        run: text("run")?,
        variant: text("variant")?,
        repeat,
        value: number,
        line: record.place.line,
    }))
}

#[cfg(test)]
mod tests {
    use super::{NotNumeric, read_scores, read_values};

    #[test]
    fn figures_are_read_with_what_is_empty_left_open() {
        let text = "\u{feff}id,em,f1,cluster,repeat,seconds,note\r\nq1,1,0.5,c,0,3.25,fine\r\nq1,0,,c,1,-2e1,7\r\n\"q,2\",,,,,,\r\n";
        let table = read_scores("a.csv", text.as_bytes(), &["cluster".to_owned()]).expect("a table");
        assert_eq!(table.figures, ["em", "f1", "seconds"]);
        assert_eq!(table.others, [NotNumeric { column: "note".into(), line: 2, value: "fine".into() }]);
        let rows: Vec<_> = table
            .rows
            .iter()
            .map(|row| (row.id.as_str(), row.repeat, row.texts.get("cluster").map(String::as_str), row.values.clone()))
            .collect();
        assert_eq!(
            rows,
            [
                ("q1", 0, Some("c"), vec![Some(1.0), Some(0.5), Some(3.25)]),
                ("q1", 1, Some("c"), vec![Some(0.0), None, Some(-20.0)]),
                ("q,2", 0, None, vec![None, None, None]),
            ]
        );
    }

    #[test]
    fn texts_are_read_as_they_were_before_an_export_guarded_them() {
        let table = read_scores("a.csv", b"id,variant,em\n'-a,'=v,1\n'+b,'=v,1\n+b,'=v,0\n", &[]).expect("a table");
        let rows: Vec<_> = table.rows.iter().map(|row| (row.id.as_str(), row.variant.as_deref())).collect();
        // An id that another row has stays as it is written.
        assert_eq!(rows, [("-a", Some("=v")), ("'+b", Some("=v")), ("+b", Some("=v"))]);
    }

    #[test]
    fn a_cell_nan_is_empty_and_an_infinite_one_makes_its_column_no_figure() {
        let text = "id,em,seconds,odd\na,nan,NaN,1\nb,1,2,inf\n";
        let table = read_scores("a.csv", text.as_bytes(), &[]).expect("a table");
        assert_eq!(table.figures, ["em", "seconds"]);
        assert_eq!(table.others[0], NotNumeric { column: "odd".into(), line: 3, value: "inf".into() });
        assert_eq!(table.rows[0].values, [None, None]);
        assert_eq!(table.rows[1].values, [Some(1.0), Some(2.0)]);
    }

    #[test]
    fn a_bad_cell_is_named_with_file_line_column_and_value() {
        for (text, parts) in [
            ("id,em\na,1\nb,yes\n", &["`a.csv`", "line 3", "`em`", "`yes`", "0 to 1"][..]),
            ("id,em\na,1.5\n", &["line 2", "`em`", "`1.5`"]),
            ("id,f1\na,inf\n", &["line 2", "`f1`", "`inf`"]),
            ("id,em,repeat\na,1,x\n", &["line 2", "`repeat`", "`x`", "whole number"]),
            ("id,em\n,1\n", &["line 2", "`id`", "missing"]),
            ("id,em\na,1\na,0\n", &["line 3", "`a`", "line 2"]),
            ("em,f1\n1,1\n", &["no column `id`", "`em`, `f1`"]),
            ("id,em\na,1,2\n", &["line 2", "3 cells"]),
            ("id,em\n", &["has no questions"]),
            ("", &["has no questions"]),
        ] {
            let error = read_scores("a.csv", text.as_bytes(), &[]).expect_err(text).to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{text:?}: {error}");
        }
    }

    #[test]
    fn tabs_part_the_cells_of_a_tsv_file() {
        let table = read_scores("a.tsv", b"id\tem\nx\t1\n", &[]).expect("a table");
        assert_eq!((table.figures.len(), table.rows.len()), (1, 1));
    }

    #[test]
    fn the_metric_is_named_by_the_reader_the_header_or_the_file() {
        for (file, text, name, expected) in [
            ("a/grade.x.csv", "id,value\nq,1\n", None, "grade"),
            ("a.csv", "id,value\nq,1\n", Some("judge"), "judge"),
            ("a.csv", "id,variant,judge\nq,main,1\n", None, "judge"),
            ("a.csv", "id,judge,em,value\nq,1,0,9\n", Some("judge"), "judge"),
            ("a.tsv", "id\trepeat\tjudge\nq\t0\t1\n", None, "judge"),
            ("a.jsonl", "{\"id\": 7, \"value\": 1}\n{\"id\": 8, \"value\": null}\n", Some("judge"), "judge"),
            ("a.jsonl", "{\"id\": \"q\", \"judge\": 1}\n", None, "judge"),
        ] {
            let read = read_values(file, text.as_bytes(), name).expect(text);
            assert_eq!((read.name.as_str(), read.rows.len(), read.rows[0].value), (expected, 1, 1.0), "{text}");
        }
        let read = read_values("a.csv", b"id,judge\na,nan\nb,1\nc, NaN\n", None).expect("a table");
        assert_eq!((read.rows.len(), read.rows[0].id.as_str()), (1, "b"));
        let read = read_values("a.csv", b"id,run,variant,repeat,j\nq,r,main,2,-1e2\nq,,,,\n", None).expect("a table");
        let row = &read.rows[0];
        assert_eq!((row.run.as_deref(), row.variant.as_deref(), row.repeat), (Some("r"), Some("main"), Some(2)));
        assert_eq!((row.value, row.line, read.rows.len()), (-100.0, 2, 1));
    }

    #[test]
    fn what_is_no_value_is_named_with_file_and_line() {
        for (text, name, parts) in [
            ("id,judge\na,1\nb,good\n", None, &["`a.csv`", "line 3", "`judge`", "`good`", "finite"][..]),
            ("id,judge\na,inf\n", None, &["line 2", "`inf`"]),
            ("id,judge\na,1e999\n", None, &["line 2", "`1e999`"]),
            ("id,judge,repeat\na,1,x\n", None, &["line 2", "`repeat`", "`x`"]),
            ("id,judge\n,1\n", None, &["line 2", "`id`", "missing"]),
            ("id,judge\na,1\na,0\n", None, &["line 3", "`a`", "line 2"]),
            ("id,judge,other\na,1,2\n", None, &["no column `value`", "`judge`, `other`"]),
            ("id,judge\na,1\n", Some("grade"), &["no column `grade`", "`judge`"]),
            ("id,judge\na,\n", None, &["no column `value`"]),
        ] {
            let error = read_values("a.csv", text.as_bytes(), name).expect_err(text).to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{text:?}: {error}");
        }
    }
}
