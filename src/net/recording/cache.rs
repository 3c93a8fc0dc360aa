//! Answers in a database, for reuse by later runs.
//!
//! An answer belongs to a request and to the repeat, sample and occurrence that made it, so that a second run finds every
//! answer of the first and no two requests of one run share an answer. Requests outside episodes count as repeat 0, and
//! their occurrences are counted per process.

use super::TapeError;
use super::line::{self, CanonicalRequest, Counter, Digest, sha256};
use super::own_file::open_own;
use super::recorder::Writer;
use crate::base::locked;
use crate::base::panics::caught;
use redb::backends::FileBackend;
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex};

const VERSION: u32 = 1;
const FILE: &str = "cache.redb";
/// The database's cache in bytes; its default is a gigabyte.
const MEMORY: usize = 64 << 20;
const FORMAT: TableDefinition<'_, &str, u32> = TableDefinition::new("format");
const ANSWERS: TableDefinition<'_, &[u8; 32], &[u8]> = TableDefinition::new("answers");

/// A cache in a folder, for one process at a time.
///
/// Errors after opening are reported by [`Cache::counts`] and otherwise ignored: the request was made and paid for.
#[derive(Debug)]
pub struct Cache {
    // Dropped before the database, so that everything is written before that is closed.
    writer: Writer<Put>,
    database: Arc<Database>,
    counter: Counter,
    counts: Mutex<CacheCounts>,
}

#[derive(Debug)]
struct Put {
    key: Digest,
    answer: Vec<u8>,
    /// Whether the stored answer can be read; otherwise it is replaced.
    readable: fn(&[u8]) -> bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(Digest);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheCounts {
    pub hits: u64,
    pub misses: u64,
    pub stored: u64,
    pub trouble: Option<String>,
}

impl Cache {
    pub fn open(folder: &Path) -> Result<Self, TapeError> {
        std::fs::create_dir_all(folder).map_err(TapeError::io("create", folder))?;
        let file = folder.join(FILE);
        let opened = open_own(&file).map_err(TapeError::io("open", &file))?;
        // The database panics on a cleanly closed file that was damaged since.
        let opened = caught(|| open(opened));
        let broken = |reason: String| TapeError::Cache { path: folder.to_owned(), reason };
        let database = match opened {
            Some(Ok(Ok(database))) => Arc::new(database),
            Some(Ok(Err(found))) => {
                return Err(TapeError::Newer { path: file, found: found.into(), known: VERSION });
            }
            Some(Err(redb::Error::DatabaseAlreadyOpen)) => return Err(TapeError::Locked { path: folder.to_owned() }),
            Some(Err(redb::Error::Io(error))) if error.kind() != std::io::ErrorKind::InvalidData => {
                return Err(TapeError::io("open", &file)(error));
            }
            Some(Err(error)) => return Err(broken(error.to_string())),
            None => return Err(broken("the database is damaged".to_owned())),
        };
        let (store, path) = (Arc::clone(&database), folder.to_owned());
        let puts = move |puts: Vec<Put>| {
            put(&store, &puts).map_err(|error| TapeError::Cache { path: path.clone(), reason: error.to_string() })
        };
        let writer = Writer::start(folder.to_owned(), puts)?;
        Ok(Self { writer, database, counter: Counter::default(), counts: Mutex::default() })
    }

    /// The key of an answer that is different each time the request is made, as repeats and samples need it.
    pub fn slot(&self, asked: &CanonicalRequest) -> Slot {
        let scope = line::current_scope();
        let name = scope.as_ref().map(ToString::to_string).unwrap_or_default();
        let n = self.counter.next(&asked.digest, &name);
        let scope = scope.unwrap_or_default();
        let sample = scope.sample.map_or_else(String::new, |sample| sample.to_string());
        // Without the episode's name: variants share answers to equal requests in the same repeat.
        Slot(sha256([asked.digest.as_slice(), format!("\n{} {sample} {n}", scope.repeat).as_bytes()]))
    }

    /// The key of an answer that is always the same.
    pub fn only_slot(asked: &CanonicalRequest) -> Slot {
        Slot(asked.digest)
    }

    /// The stored answer, if there is one that can be read.
    ///
    /// Reads on the calling thread: faster than another thread if the file is in memory, but a slow disk blocks the thread.
    pub fn get<A: DeserializeOwned>(&self, slot: Slot) -> Option<A> {
        // The database panics on a damaged file.
        let answer = match caught(|| read(&self.database, &slot.0)) {
            Some(Ok(answer)) => answer,
            Some(Err(error)) => self.troubled(&error.to_string()),
            None => self.troubled("the database is damaged"),
        };
        self.count(|counts| if answer.is_some() { counts.hits += 1 } else { counts.misses += 1 });
        answer
    }

    /// Stores an answer, unless the key has a readable one.
    pub async fn put<A: Serialize + DeserializeOwned>(&self, slot: Slot, answer: &A) {
        let readable = |bytes: &[u8]| serde_json::from_slice::<A>(bytes).is_ok();
        let stored = match serde_json::to_vec(answer) {
            Ok(answer) => self.writer.write(Put { key: slot.0, answer, readable }).await.map_err(|e| e.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match stored {
            Ok(()) => self.count(|counts| counts.stored += 1),
            Err(error) => self.troubled::<()>(&error).unwrap_or_default(),
        }
    }

    pub fn counts(&self) -> CacheCounts {
        self.count(|counts| counts.clone())
    }

    fn count<T>(&self, change: impl FnOnce(&mut CacheCounts) -> T) -> T {
        change(&mut locked(&self.counts))
    }

    fn troubled<A>(&self, reason: &str) -> Option<A> {
        self.count(|counts| _ = counts.trouble.get_or_insert_with(|| reason.to_owned()));
        None
    }
}

/// The database, or its version if that is too new.
fn open(file: File) -> Result<Result<Database, u32>, redb::Error> {
    let database = Database::builder().set_cache_size(MEMORY).create_with_backend(FileBackend::new(file)?)?;
    let writing = database.begin_write()?;
    {
        let mut format = writing.open_table(FORMAT)?;
        let found = format.get("v")?.map(|version| version.value());
        match found {
            Some(found) if found > VERSION => return Ok(Err(found)),
            Some(_) => {}
            None => drop(format.insert("v", VERSION)?),
        }
        writing.open_table(ANSWERS)?;
    }
    writing.commit()?;
    Ok(Ok(database))
}

fn read<A: DeserializeOwned>(database: &Database, key: &Digest) -> Result<Option<A>, redb::Error> {
    let answers = database.begin_read()?.open_table(ANSWERS)?;
    // An unreadable answer counts as missing, and is replaced.
    Ok(answers.get(key)?.and_then(|bytes| serde_json::from_slice(bytes.value()).ok()))
}

fn put(database: &Database, puts: &[Put]) -> Result<(), redb::Error> {
    let writing = database.begin_write()?;
    {
        let mut table = writing.open_table(ANSWERS)?;
        for Put { key, answer, readable } in puts {
            let kept = table.get(key)?.is_some_and(|kept| readable(kept.value()));
            if !kept {
                table.insert(key, answer.as_slice())?;
            }
        }
    }
    Ok(writing.commit()?)
}
