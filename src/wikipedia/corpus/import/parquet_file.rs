//! Parquet files with a row for each article, as Hugging Face has `wikimedia/wikipedia`: one, or a folder of them.
//!
//! A file is read in batches of rows on a thread of its own, because the library panics on some damaged bytes.

use super::lines::{READER_FAILED, on_thread};
use super::{Found, ImportError, Place, Records, files_below, is_table};
use crate::base::text::printable;
use crate::net::recording::Inside;
use crate::wikipedia::corpus::record::{Article, Record, check_title, paragraphs};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// Rows between this thread and the reader, and in a batch of it.
const WAITING: usize = 64;
/// Columns that are taken; those that must be there come last.
const COLUMNS: [&str; 3] = ["id", "title", "text"];
/// So many columns of a file are named.
const MAX_LISTED: usize = 20;

pub(super) fn open(path: &Path) -> Result<Records, ImportError> {
    let files = if path.is_dir() { files_below(path, is_table)? } else { vec![path.to_owned()] };
    if files.is_empty() {
        return Err(ImportError::Broken { reason: "there is no .parquet file in it".to_owned() });
    }
    let folder = if path.is_dir() { Some(Inside::of(path)?) } else { None };
    Ok(on_thread(WAITING, move |send| {
        for file in &files {
            let member = folder.as_ref().map(|_| Arc::from(file.file_name().unwrap_or_default().to_string_lossy()));
            let opened = folder.as_ref().map_or_else(|| File::open(file), |inside| inside.open(file));
            let opened = opened.map_err(|error| error.to_string());
            if let Err(reason) = opened.and_then(|file| read(file, member.as_ref(), send)) {
                let place = Place { member, line: 0 };
                return Err(ImportError::Broken { reason: format!("{reason}{place}") });
            }
        }
        Ok(())
    }))
}

/// Sends the rows of a file; nobody listens after an error.
fn read(file: File, member: Option<&Arc<str>>, send: &SyncSender<Found>) -> Result<(), String> {
    let rows = || -> Result<(), String> {
        let said = |error: ParquetError| error.to_string();
        let reader = SerializedFileReader::new(file).map_err(said)?;
        let columns = columns(reader.metadata().file_metadata().schema())?;
        let mut line = 0;
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(said)?;
            let rows = RowIter::from_row_group(Some(columns.clone()), &*group).map_err(said)?;
            for row in rows.with_batch_size(WAITING) {
                line += 1;
                let place = Place { member: member.cloned(), line };
                if send.send(place.found(article(&row.map_err(said)?))).is_err() {
                    return Ok(());
                }
            }
        }
        if i64::try_from(line) == Ok(reader.metadata().file_metadata().num_rows()) {
            Ok(())
        } else {
            Err("rows are missing".to_owned())
        }
    };
    catch_unwind(AssertUnwindSafe(rows)).unwrap_or_else(|_| Err(READER_FAILED.to_owned()))
}

fn columns(schema: &Type) -> Result<Type, String> {
    let there = schema.get_fields();
    let taken: Vec<_> = there.iter().filter(|column| COLUMNS.contains(&column.name())).cloned().collect();
    if let Some(missing) = COLUMNS[1..].iter().find(|name| !taken.iter().any(|column| column.name() == **name)) {
        let names: Vec<String> =
            there.iter().take(MAX_LISTED).map(|column| format!("`{}`", printable(column.name(), 40))).collect();
        let more = if there.len() > MAX_LISTED { " and more" } else { "" };
        return Err(format!("it has no column `{missing}`; its columns are {}{more}", names.join(", ")));
    }
    Type::group_type_builder(schema.name()).with_fields(taken).build().map_err(|error| error.to_string())
}

fn article(row: &Row) -> Result<Record, String> {
    let field = |name: &str| row.get_column_iter().find(|(column, _)| *column == name).map(|(_, field)| field);
    let text = |name: &str| match field(name) {
        Some(Field::Str(text)) => Ok(text.clone()),
        Some(Field::Bytes(bytes)) => {
            String::from_utf8(bytes.data().to_vec()).map_err(|_| format!("`{name}` is not UTF-8 text"))
        }
        _ => Err(format!("`{name}` is not a text")),
    };
    let (title, blocks) = (text("title")?, paragraphs(&text("text")?));
    check_title("title", &title)?;
    let pageid = match field("id") {
        Some(Field::Long(id)) => u64::try_from(*id).ok(),
        Some(Field::Int(id)) => u64::try_from(*id).ok(),
        _ => text("id").ok().and_then(|id| id.parse().ok()),
    };
    Ok(Record::Article(Article::of_blocks(title, pageid, blocks)))
}
