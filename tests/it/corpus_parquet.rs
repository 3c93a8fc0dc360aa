//! `corpus build` from Parquet files in the layout of `wikimedia/wikipedia`.

use crate::common::WorkDir;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
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
            "id" | "_id" => row.0.to_string().into_bytes(),
            "title" => row.1.as_bytes().to_vec(),
            "text" => row.2.to_vec(),
            _ => b"https://example.org".to_vec(),
        };
        let texts: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(text(row))).collect();
        column.typed::<ByteArrayType>().write_batch(&texts, None, None).expect("written");
    }
    column.close().expect("closed");
}

fn compressions() -> [Compression; 7] {
    [
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::UNCOMPRESSED,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ]
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
    let [one, other, others @ ..] = compressions();
    write(&dir.path("20231101.en/train-00000-of-00002.parquet"), &COLUMNS, &ROWS[..3], one, true);
    write(&dir.path("20231101.en/train-00001-of-00002.parquet"), &COLUMNS, &ROWS[3..], other, true);
    let mut inputs = vec![("pages.jsonl".to_owned(), "jsonl"), ("20231101.en".to_owned(), "parquet")];
    for (at, compression) in others.into_iter().enumerate() {
        let name = format!("{at}.parquet");
        write(&dir.path(&name), &["text", "title", "id"], &ROWS, compression, false);
        inputs.push((name, "parquet"));
    }
    let mut ids = Vec::new();
    for (from, format) in &inputs {
        let name = &format!("c{}", ids.len());
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
    assert!(ids.len() == 7 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

/// A table that may have nothing in its cells, as pandas and Hugging Face write them.
fn write_with_gaps(path: &Path, rows: &[(Option<f64>, Option<&str>, Option<&str>)]) {
    let schema = "message m { optional double id; optional binary title (UTF8); optional binary text (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let file = fs::File::create(path).expect("a file");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).expect("begun");
    let mut group = writer.next_row_group().expect("a group");
    let levels = |there: Vec<bool>| there.into_iter().map(i16::from).collect::<Vec<_>>();
    let ids: Vec<f64> = rows.iter().filter_map(|row| row.0).collect();
    let mut column = group.next_column().expect("a column").expect("one more");
    let there = levels(rows.iter().map(|row| row.0.is_some()).collect());
    column.typed::<DoubleType>().write_batch(&ids, Some(&there), None).expect("written");
    column.close().expect("closed");
    for texts in [rows.iter().map(|row| row.1).collect::<Vec<_>>(), rows.iter().map(|row| row.2).collect()] {
        let mut column = group.next_column().expect("a column").expect("one more");
        let there = levels(texts.iter().map(Option::is_some).collect());
        let texts: Vec<ByteArray> = texts.into_iter().flatten().map(ByteArray::from).collect();
        column.typed::<ByteArrayType>().write_batch(&texts, Some(&there), None).expect("written");
        column.close().expect("closed");
    }
    group.close().expect("closed");
    writer.close().expect("closed");
}

#[test]
fn rows_without_a_text_are_empty_and_ids_that_are_not_read_are_named() {
    let dir = WorkDir::new();
    let rows = [
        (Some(1.0), Some("A"), Some("An article.")),
        (None, Some("B"), None),
        (Some(3.0), None, Some("Without a title.")),
    ];
    write_with_gaps(&dir.path("gaps.parquet"), &rows);
    let built = dir.wikitrail(&["corpus", "build", "c", "--from", "gaps.parquet"]).ok();
    for said in [
        "warning: `gaps.parquet`: its column `id` is DOUBLE, and not read",
        "left out: `gaps.parquet`, line 2: `B` has no text",
        "left out: `gaps.parquet`, line 3: `title` is empty",
    ] {
        assert!(built.stderr.contains(said), "{}", built.stderr);
    }
    let skipped = dir.wikitrail(&["corpus", "info", "c", "--json"]).json()["source"][0]["skipped"].clone();
    assert_eq!((&skipped["empty"], &skipped["bad"]), (&1.into(), &1.into()));
    let built = dir.wikitrail(&["corpus", "build", "d", "--from", "beir:gaps.parquet"]).ok();
    assert!(built.stderr.contains("line 2: `id` is empty") && !built.stderr.contains("warning"), "{}", built.stderr);
}

#[test]
fn passages_in_a_table_are_those_of_lines_and_other_tables_of_them_get_a_hint() {
    let dir = WorkDir::new();
    let rows: Vec<Row<'_>> =
        (1..40).map(|id| (id, if id % 2 == 0 { "Ada" } else { "London" }, &b"a text"[..])).collect();
    let line = |row: &Row<'_>| {
        let text = std::str::from_utf8(row.2).expect("text");
        serde_json::json!({ "_id": row.0.to_string(), "title": row.1, "text": text }).to_string() + "\n"
    };
    dir.write("corpus.jsonl", rows.iter().map(line).collect::<String>());
    dir.write("other.jsonl", rows.iter().map(line).collect::<String>().replace("_id", "id"));
    fs::create_dir(dir.path("folder")).expect("a folder");
    let gzip = Compression::GZIP(GzipLevel::default());
    write(&dir.path("corpus.parquet"), &["_id", "title", "text"], &rows, gzip, true);
    write(&dir.path("folder/0.parquet"), &["title", "text", "_id"], &rows, gzip, true);
    write(&dir.path("other.parquet"), &["id", "title", "text"], &rows, gzip, false);
    let build = |from: &str| {
        let ran = dir.wikitrail(&["corpus", "build", "c", "--from", from]).ok();
        let info = dir.wikitrail(&["corpus", "info", "c", "--json"]).json();
        fs::remove_dir_all(dir.path("c")).expect("removed");
        (info["id"].clone(), ran.stderr)
    };
    let (id, _) = build("corpus.jsonl");
    for from in ["corpus.parquet", "folder"] {
        let (other, said) = build(from);
        assert!(other == id && said.starts_with(&format!("reading `{from}` as beir\n")), "{said}");
    }
    for from in ["other.parquet", "other.jsonl"] {
        assert_eq!(build(&format!("beir:{from}")).0, id, "{from}");
        let (other, said) = build(from);
        let hint =
            format!("`{from}`: many rows have the title of another; if they are passages, read it as beir:{from}");
        assert!(other != id && said.contains(&hint), "{said}");
    }
    let (other, said) = build("parquet:corpus.parquet");
    assert!(other != id && said.contains("its column `_id` is the id of a passage, and not read"), "{said}");
    write(&dir.path("none.parquet"), &["title", "text"], &rows, gzip, true);
    dir.wikitrail(&["corpus", "build", "c", "--from", "beir:none.parquet"])
        .refused(3, &["it has no column `id`; its columns are `title`, `text`"]);
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
    for (at, compression) in (0..whole.len()).step_by(step).zip(compressions().into_iter().cycle()) {
        fs::write(dir.path("cut.parquet"), &whole[..at]).expect("written");
        dir.wikitrail(&["corpus", "build", "c", "--from", "parquet:cut.parquet"])
            .refused(3, &["cannot read `cut.parquet` to its end"]);
        write(&dir.path("damaged.parquet"), &COLUMNS, &ROWS, compression, true);
        let mut damaged = fs::read(dir.path("damaged.parquet")).expect("a file");
        let at = at * damaged.len() / whole.len();
        damaged[at] ^= 0x55;
        fs::write(dir.path("damaged.parquet"), damaged).expect("written");
        let ran = dir.wikitrail(&["corpus", "build", &format!("d{at}"), "--from", "parquet:damaged.parquet"]);
        assert!(matches!(ran.code, Some(0 | 3)), "{at}: {:?} {}", ran.code, ran.stderr);
    }
}
