//! Values of one metric by episode, as a judge or a person gave them: `id`, `variant`, `repeat` and the value.

use super::error::Problem;
use super::fields::Record;
use super::scores::is_nan;
use super::{Columns, DatasetError, ReadOptions, bytes, records};
use crate::base::excerpt;
use serde_json::Value;
use std::collections::HashMap;

/// Fields that say which episode a value is of.
const KEYS: [&str; 4] = ["id", "run", "variant", "repeat"];

/// The field of the value, where the file names the metric otherwise.
const VALUE: &str = "value";

#[derive(Debug, Clone, PartialEq)]
pub struct ValueTable {
    /// The metric's name.
    pub name: String,
    /// The rows that have a value, in file order.
    pub rows: Vec<ValueRow>,
}

/// One value, and which episodes it is of: what is absent means all.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueRow {
    pub id: String,
    pub run: Option<String>,
    pub variant: Option<String>,
    pub repeat: Option<u32>,
    /// A finite number.
    pub value: f64,
    /// Its line, from 1.
    pub line: usize,
}

/// Reads the values of a metric from a table (`.csv`, `.tsv`) or JSON Lines.
///
/// The value is in the field `value`, or in one of the metric's name: `name`, else the only field beside the keys. Without
/// a value, or with `nan`, a row is passed over. Anything else than a finite number is an error that names file, line, field and value,
/// and so is a second value of the same episodes.
pub fn read_values(file: &str, raw: &[u8], name: Option<&str>) -> Result<ValueTable, DatasetError> {
    let text = bytes::text_of(file, raw)?;
    let columns = Columns { question: Some("id".to_owned()), ..Columns::default() };
    let records = records::split(file, &text, &ReadOptions { columns, ..ReadOptions::default() })?;
    if let Some(fault) = records.faults.into_iter().next() {
        return Err(fault);
    }
    let (name, field) = field_of(file, &records.list, name)?;
    let mut read = ValueTable { name, rows: Vec::with_capacity(records.list.len()) };
    let mut seen = HashMap::new();
    for record in &records.list {
        let Some(row) = row(file, record, &field)? else { continue };
        let key = (row.id.clone(), row.run.clone(), row.variant.clone(), row.repeat);
        if let Some(first) = seen.insert(key, record.place) {
            return Err(DatasetError::at(file, record.place, Problem::Duplicate(excerpt(&row.id), first)));
        }
        read.rows.push(row);
    }
    if read.rows.is_empty() { Err(DatasetError::of_file(file, Problem::Empty)) } else { Ok(read) }
}

/// The metric's name, and the field that holds its values.
fn field_of(file: &str, records: &[Record], name: Option<&str>) -> Result<(String, String), DatasetError> {
    let mut others: Vec<&String> = Vec::new();
    for field in records.iter().flat_map(|record| record.fields.keys()) {
        if !KEYS.contains(&field.as_str()) && !others.contains(&field) {
            others.push(field);
        }
    }
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

fn row(file: &str, record: &Record, field: &str) -> Result<Option<ValueRow>, DatasetError> {
    let fault = |field: &str, what: &str, found: &Value| {
        let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        let problem = format!("expected {what}, found `{}`", excerpt(&found));
        DatasetError::at(file, record.place, Problem::Field(field.to_owned(), problem))
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
    let missing = || DatasetError::at(file, record.place, Problem::Field("id".to_owned(), "missing".to_owned()));
    let repeat = text("repeat")?.map(|repeat| repeat.trim().parse().map_err(|_| repeat)).transpose();
    let repeat = repeat.map_err(|found| fault("repeat", "a whole number from 0", &Value::String(found)))?;
    Ok(Some(ValueRow {
        id: text("id")?.ok_or_else(missing)?,
        run: text("run")?,
        variant: text("variant")?,
        repeat,
        value: number,
        line: record.place.line,
    }))
}

#[cfg(test)]
mod tests {
    use super::read_values;

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
