//! `corpus build` from Parquet files in the layout of `wikimedia/wikipedia`.

use crate::common::WorkDir;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Page number, title and text.
type Row<'a> = (i64, &'a str, &'a [u8]);

const ROWS: [Row<'static>; 4] = [
    (12, "Ada Byron", b"Ada wrote programs.\n\nShe lived in London.\nFor years."),
    (7, "London", b"London is a city."),
    (9, "Mercury", b"Mercury may refer to:\n\nMercury (planet), a planet\nMercury (element)"),
    (10, "Empty", b"\n"),
];

/// A file with groups of two rows. Page numbers are texts, or numbers.
fn write(path: &Path, columns: &[&str], rows: &[Row<'_>], compression: Compression, texts: bool) {
    let column = |name: &&str| {
        let number = *name == "id" && !texts;
        let physical = if number { Physical::INT64 } else { Physical::BYTE_ARRAY };
        let text = (!number).then_some(LogicalType::String);
        let column = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        Arc::new(column.with_logical_type(text).build().expect("a column"))
    };
    let schema = Type::group_type_builder("schema").with_fields(columns.iter().map(column).collect()).build();
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let file = fs::File::create(path).expect("a file");
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema.expect("a schema")), properties).expect("begun");
    for rows in rows.chunks(2) {
        let mut group = writer.next_row_group().expect("a group");
        for name in columns {
            let column = group.next_column().expect("a column").expect("one more");
            fill(column, name, rows, texts);
        }
        group.close().expect("closed");
    }
    writer.close().expect("closed");
}

fn fill(mut column: SerializedColumnWriter<'_>, name: &str, rows: &[Row<'_>], texts: bool) {
    if name == "id" && !texts {
        let ids: Vec<i64> = rows.iter().map(|row| row.0).collect();
        column.typed::<Int64Type>().write_batch(&ids, None, None).expect("written");
    } else {
        let text = |row: &Row<'_>| match name {
            "id" => row.0.to_string().into_bytes(),
            "title" => row.1.as_bytes().to_vec(),
            "text" => row.2.to_vec(),
            _ => b"https://example.org".to_vec(),
        };
        let texts: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(text(row))).collect();
        column.typed::<ByteArrayType>().write_batch(&texts, None, None).expect("written");
    }
    column.close().expect("closed");
}

const COLUMNS: [&str; 4] = ["id", "url", "title", "text"];

#[test]
fn rows_are_the_articles_that_lines_of_json_would_be() {
    let dir = WorkDir::new();
    let line = |row: &Row<'_>| {
        let text = std::str::from_utf8(row.2).expect("text");
        serde_json::json!({ "id": row.0, "title": row.1, "text": text }).to_string() + "\n"
    };
    dir.write("pages.jsonl", ROWS.iter().map(line).collect::<String>());
    fs::create_dir(dir.path("20231101.en")).expect("a folder");
    let zstd = Compression::ZSTD(ZstdLevel::default());
    write(&dir.path("20231101.en/train-00000-of-00002.parquet"), &COLUMNS, &ROWS[..3], Compression::SNAPPY, true);
    write(&dir.path("20231101.en/train-00001-of-00002.parquet"), &COLUMNS, &ROWS[3..], zstd, true);
    write(&dir.path("one.parquet"), &["text", "title", "id"], &ROWS, Compression::UNCOMPRESSED, false);
    let mut ids = Vec::new();
    for (name, from, format) in
        [("a", "pages.jsonl", "jsonl"), ("b", "20231101.en", "parquet"), ("c", "one.parquet", "parquet")]
    {
        let built = dir.wikitrail(&["corpus", "build", name, "--from", from]).ok();
        assert!(built.stderr.starts_with(&format!("reading `{from}` as {format}\n")), "{}", built.stderr);
        assert!(built.stderr.contains("`Empty` has no text"), "{}", built.stderr);
        let info = dir.wikitrail(&["corpus", "info", name, "--json"]).json();
        assert_eq!(
            (&info["articles"], &info["disambiguations"], &info["source"][0]["rows"]),
            (&3.into(), &1.into(), &4.into())
        );
        ids.push(info["id"].clone());
    }
    assert_eq!((&ids[0], &ids[0]), (&ids[1], &ids[2]));
}

#[test]
fn other_tables_and_damaged_files_are_refused_in_words() {
    let dir = WorkDir::new();
    let build = |from: &str| dir.wikitrail(&["corpus", "build", "c", "--from", from]);
    write(&dir.path("other.parquet"), &["id", "title", "contents\u{1b}"], &ROWS, Compression::SNAPPY, true);
    build("other.parquet").refused(3, &["it has no column `text`; its columns are `id`, `title`, `contents\\u{1b}`"]);
    let rows = [ROWS[0], (8, "Latin", &b"caf\xe9"[..]), ROWS[1]];
    write(&dir.path("bytes.parquet"), &COLUMNS, &rows, Compression::SNAPPY, true);
    let refused = build("bytes.parquet");
    assert!(!dir.path("c").exists() && refused.code == Some(3), "{}", refused.stderr);
    fs::create_dir(dir.path("empty")).expect("a folder");
    build("parquet:empty").refused(3, &["there is no .parquet file in it"]);
    fs::create_dir(dir.path("two")).expect("a folder");
    write(&dir.path("two/a.parquet"), &COLUMNS, &ROWS, Compression::SNAPPY, true);
    let whole = fs::read(dir.path("two/a.parquet")).expect("a file");
    fs::write(dir.path("two/b.parquet"), &whole[..whole.len() - 9]).expect("written");
    build("two").refused(3, &["cannot read `two` to its end: ", ", `b.parquet`"]);
    let step = whole.len().div_ceil(60);
    for at in (0..whole.len()).step_by(step) {
        fs::write(dir.path("cut.parquet"), &whole[..at]).expect("written");
        dir.wikitrail(&["corpus", "build", "c", "--from", "parquet:cut.parquet"])
            .refused(3, &["cannot read `cut.parquet` to its end"]);
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        fs::write(dir.path("damaged.parquet"), damaged).expect("written");
        let ran = dir.wikitrail(&["corpus", "build", &format!("d{at}"), "--from", "parquet:damaged.parquet"]);
        assert!(matches!(ran.code, Some(0 | 3)), "{at}: {:?} {}", ran.code, ran.stderr);
    }
}
