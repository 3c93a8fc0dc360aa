//! Parquet files with a row for each article, as Hugging Face has `wikimedia/wikipedia`, or for each passage, as it has the corpora
//! of BEIR: one file, or a folder of them.
//!
//! A file is read in batches of rows on a thread of its own, because the library panics on some damaged bytes.

use super::lines::{READER_FAILED, on_thread};
use super::{Found, ImportError, Place, Records, Rows, passage, tables};
use crate::base::panics::caught;
use crate::base::text::printable;
use crate::net::recording::Inside;
use crate::wikipedia::corpus::record::{Article, Record, check_title, paragraphs};
use parquet::basic::{ConvertedType, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// Rows between this thread and the reader, and in a batch of it.
const WAITING: usize = 64;
/// Columns that must be there, and the one with the number of a page.
const TEXTS: [&str; 2] = ["title", "text"];
const ID: &str = "id";
/// The column that BEIR's passages have in its place.
const PASSAGE_ID: &str = "_id";
/// So many columns of a file are named.
const MAX_LISTED: usize = 20;

pub(super) fn open(path: &Path, rows: Rows) -> Result<Records, ImportError> {
    let files = files(path)?;
    let folder = if path.is_dir() { Some(Inside::of(path)?) } else { None };
    Ok(on_thread(WAITING, move |send| {
        for file in &files {
            let member = folder.as_ref().map(|_| Arc::from(file.file_name().unwrap_or_default().to_string_lossy()));
            let opened = folder.as_ref().map_or_else(|| File::open(file), |inside| inside.open(file));
            let opened = opened.map_err(|error| error.to_string());
            if let Err(reason) = opened.and_then(|file| read(file, rows, member.as_ref(), send)) {
                let place = Place { member, line: 0 };
                return Err(ImportError::Broken { reason: format!("{reason}{place}") });
            }
        }
        Ok(())
    }))
}

fn files(path: &Path) -> Result<Vec<PathBuf>, ImportError> {
    if path.is_dir() { tables(path) } else { Ok(vec![path.to_owned()]) }
}

/// The columns of a file, or of the first of a folder.
fn schema(path: &Path) -> Option<Type> {
    let file = File::open(files(path).ok()?.first()?).ok()?;
    let read = || Some(SerializedFileReader::new(file).ok()?.metadata().file_metadata().schema().clone());
    caught(read)?
}

fn column<'a>(schema: &'a Type, name: &str) -> Option<&'a Type> {
    schema.get_fields().iter().map(|column| &**column).find(|column| column.name() == name)
}

/// Whether the rows are passages by their columns.
pub(super) fn has_passages(path: &Path) -> bool {
    schema(path).is_some_and(|schema| {
        column(&schema, ID).is_none()
            && [PASSAGE_ID, TEXTS[0], TEXTS[1]].iter().all(|name| column(&schema, name).is_some())
    })
}

/// What a column of ids has that are no numbers of pages.
pub(super) fn unread_ids(path: &Path) -> Option<String> {
    let schema = schema(path)?;
    let Some(id) = column(&schema, ID) else {
        return column(&schema, PASSAGE_ID).map(|_| format!("its column `{PASSAGE_ID}` is the id of a passage"));
    };
    let physical = id.is_primitive().then(|| id.get_physical_type());
    let read = match physical {
        Some(Physical::BYTE_ARRAY) => true,
        Some(Physical::INT32 | Physical::INT64) => {
            let kind = id.get_basic_info().converted_type();
            matches!(kind, ConvertedType::NONE | ConvertedType::INT_32 | ConvertedType::INT_64)
        }
        _ => false,
    };
    let kind = physical.map_or_else(|| "a group of columns".to_owned(), |physical| format!("{physical}"));
    (!read).then(|| format!("its column `{ID}` is {kind}"))
}

/// Sends the rows of a file; nobody listens after an error.
fn read(file: File, kind: Rows, member: Option<&Arc<str>>, send: &SyncSender<Found>) -> Result<(), String> {
    let rows = || -> Result<(), String> {
        let message = |error: ParquetError| error.to_string();
        let reader = SerializedFileReader::new(file).map_err(message)?;
        let columns = columns(reader.metadata().file_metadata().schema(), kind)?;
        let mut line = 0;
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(message)?;
            let rows = RowIter::from_row_group(Some(columns.clone()), &*group).map_err(message)?;
            for row in rows.with_batch_size(WAITING) {
                line += 1;
                let place = Place { member: member.cloned(), line };
                if send.send(place.found(record(&row.map_err(message)?, kind))).is_err() {
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
    caught(rows).unwrap_or_else(|| Err(READER_FAILED.to_owned()))
}

fn columns(schema: &Type, kind: Rows) -> Result<Type, String> {
    let there = schema.get_fields();
    let has = |name: &str| column(schema, name).is_some();
    let id = if kind == Rows::Passages && has(PASSAGE_ID) { PASSAGE_ID } else { ID };
    let needed = if kind == Rows::Passages { [&[id][..], &TEXTS].concat() } else { TEXTS.to_vec() };
    if let Some(missing) = needed.into_iter().find(|name| !has(name)) {
        let names: Vec<String> =
            there.iter().take(MAX_LISTED).map(|column| format!("`{}`", printable(column.name(), 40))).collect();
        let more = if there.len() > MAX_LISTED { " and more" } else { "" };
        return Err(format!("it has no column `{missing}`; its columns are {}{more}", names.join(", ")));
    }
    let taken = there.iter().filter(|column| column.name() == id || TEXTS.contains(&column.name())).cloned().collect();
    Type::group_type_builder(schema.name()).with_fields(taken).build().map_err(|error| error.to_string())
}

fn record(row: &Row, kind: Rows) -> Result<Record, String> {
    let field = |name: &str| row.get_column_iter().find(|(column, _)| *column == name).map(|(_, field)| field);
    let text = |name: &str| match field(name) {
        Some(Field::Null) => Ok(String::new()),
        Some(Field::Str(text)) => Ok(text.clone()),
        Some(Field::Bytes(bytes)) => {
            String::from_utf8(bytes.data().to_vec()).map_err(|_| format!("`{name}` is not UTF-8 text"))
        }
        _ => Err(format!("`{name}` is not a text")),
    };
    let (title, body) = (text("title")?, text("text")?);
    if kind == Rows::Passages {
        let name = if field(PASSAGE_ID).is_some() { PASSAGE_ID } else { ID };
        let id = match field(name) {
            Some(Field::Null) | None => return Err(format!("`{name}` is empty")),
            // Tables with gaps have whole numbers as floating-point ones.
            Some(Field::Double(id)) => id.to_string(),
            Some(Field::Float(id)) => id.to_string(),
            Some(Field::Str(_) | Field::Bytes(_)) => text(name)?,
            Some(id) if id.is_primitive() => id.to_string(),
            Some(_) => return Err(format!("`{name}` is neither a text nor a number")),
        };
        return passage(&title, id, &body);
    }
    check_title("title", &title)?;
    let pageid = match field(ID) {
        Some(Field::Long(id)) => u64::try_from(*id).ok(),
        Some(Field::Int(id)) => u64::try_from(*id).ok(),
        _ => text(ID).ok().and_then(|id| id.parse().ok()),
    };
    Ok(Record::Article(Article::of_blocks(title, pageid, paragraphs(&body))))
}
