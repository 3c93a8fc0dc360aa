//! The Parquet export, read by pyarrow and held against the CSV export cell by cell.

use crate::common::{WorkDir, repository, table_rows, wikitrail};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::RowAccessor as _;
use std::fs::File;
use std::process::Command;

const READ_BACK: &str = r#"
import csv, json, sys
try:
    import pyarrow.parquet
except ImportError:
    sys.exit(77)
path, table, columns = sys.argv[1:]
columns = dict(json.loads(columns))
names = {"text": "string", "int": "int64", "real": "double", "bool": "bool"}
read = pyarrow.parquet.read_table(path)
found = {field.name: str(field.type) for field in read.schema}
assert list(found) == list(columns), found
assert found == {name: names[kind] for name, kind in columns.items()}, found
assert all(field.nullable for field in read.schema)
csv.field_size_limit(sys.maxsize)
rows = list(csv.DictReader(open(table, newline="", encoding="utf-8"), strict=True))
assert read.num_rows == len(rows) > 0, read.num_rows
filled = set()
for at, (row, cells) in enumerate(zip(rows, read.to_pylist())):
    for name, kind in columns.items():
        cell, text = cells[name], row[name]
        if cell is None:
            assert text == "", (at, name, text)
            continue
        filled.add(kind)
        if kind == "text":
            same = text == cell
        elif kind == "int":
            same = text == str(cell)
        elif kind == "real":
            same = float(text) == cell
        else:
            same = text == str(int(cell))
        assert same, (at, name, text, cell)
print(len(rows), *sorted(filled))
"#;

#[test]
#[expect(clippy::print_stderr, reason = "a skipped check says so")]
fn pyarrow_reads_the_cells_of_the_csv_export_with_their_types() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    for (run, flags) in [
        ("e/one", &["--method", "react,cot-sc", "--samples", "3"][..]),
        ("e/two", &["--protocol", "lagent", "--option", "labels=v0.1", "--seed", "18446744073709551615"]),
    ] {
        wikitrail(path, &[&["run", "--quiet", "--limit", "20", "--out", run], flags].concat()).ok();
    }
    let documented = table_rows(&repository("docs/columns.md"), &["column", "type", "meaning"]);
    for (rows, section, least, kinds) in
        [("questions", "Questions", 60, "bool int real text"), ("steps", "Steps", 100, "int real text")]
    {
        for (format, more) in [("parquet", &[][..]), ("csv", &["--raw"])] {
            let out = format!("{rows}.{format}");
            wikitrail(path, &[&["export", "e", "--format", format, "--rows", rows, "--out", &out], more].concat()).ok();
        }
        let of_table = |section: &str| {
            let rows = documented.iter().filter(|(headings, _)| headings[0].starts_with(section));
            rows.map(|(_, row)| (row[0].trim_matches('`'), row[1].as_str())).collect::<Vec<_>>()
        };
        let columns = [of_table(section), of_table("Origin")].concat();
        let output = Command::new("python3")
            .args(["-c", READ_BACK, &format!("{rows}.parquet"), &format!("{rows}.csv")])
            .arg(serde_json::to_string(&columns).expect("JSON"))
            .current_dir(path)
            .output()
            .expect("python3 runs");
        if output.status.code() == Some(77) {
            eprintln!("skipped: pyarrow is not installed");
            return;
        }
        assert!(output.status.success(), "{rows}: {}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        let (count, filled) = said.trim().split_once(' ').expect("a count and the kinds");
        assert!(count.parse::<usize>().expect("a count") >= least, "{said}");
        assert_eq!(filled, kinds, "{rows}");
    }
}

/// Half a file is no Parquet file, so nothing is left where the export fails.
#[test]
fn a_file_has_its_end_or_is_not_there() {
    let folder = tempfile::tempdir().expect("a folder");
    wikitrail(folder.path(), &["run", "--quiet", "--limit", "1", "--out", "r"]).ok();
    wikitrail(folder.path(), &["export", "r", "--format", "parquet", "--outcome", "budget", "--out", "none.parquet"])
        .ok();
    let bytes = std::fs::read(folder.path().join("none.parquet")).expect("a file");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "without rows there is a schema still");
    let mut command = crate::common::command(folder.path(), &["export", "r", "--format", "parquet"]);
    let output = command.output().expect("wikitrail runs");
    assert!(output.stdout.starts_with(b"PAR1") && output.stdout.ends_with(b"PAR1"), "a pipe takes it too");
}

/// Rows are written in groups, so that long texts are not held until the end; nothing is changed on the way.
#[test]
fn long_texts_are_written_in_groups_and_whole() {
    const LONG: usize = 40 << 20;
    let dir = WorkDir::new();
    dir.run(&["--quiet", "--limit", "3", "--out", "r"]).ok();
    let mut records = dir.records("r");
    records.sort_by_key(|record| record["index"].as_u64());
    for (record, question) in records.iter_mut().zip(["x".repeat(LONG), "=who\0".to_owned(), String::new()]) {
        record["question"] = question.into();
    }
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    dir.write("r/trajectories.jsonl", lines.concat());
    let path = dir.path("q.parquet");
    dir.wikitrail(&["export", "r", "--format", "parquet", "--rows", "questions", "--out", "q.parquet"]).ok();
    let file = SerializedFileReader::new(File::open(&path).expect("a file")).expect("a Parquet file");
    let groups: Vec<i64> =
        file.metadata().row_groups().iter().map(parquet::file::metadata::RowGroupMetaData::num_rows).collect();
    assert_eq!(groups, [1, 2]);
    let rows: Vec<_> = file.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
    let schema = file.metadata().file_metadata().schema();
    let at = |name: &str| schema.get_fields().iter().position(|column| column.name() == name).expect("a column");
    assert_eq!(rows[0].get_string(at("question")).expect("a text").len(), LONG);
    assert_eq!(rows[1].get_string(at("question")).expect("a text"), "=who\0");
    assert_eq!(rows[2].get_string(at("question")).expect("an empty text, which is no null"), "");
    for (row, record) in rows.iter().zip(&records) {
        assert_eq!(row.get_string(at("prediction")).ok().map(String::as_str), record["answer"].as_str());
        let tokens = record["usage"]["prompt_tokens"].as_i64().expect("a number");
        assert_eq!(row.get_long(at("prompt_tokens")).expect("a number"), tokens);
        assert_eq!(row.get_string(at("run")).expect("a text"), "r");
    }
}
