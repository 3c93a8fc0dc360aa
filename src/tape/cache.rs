//! Answers in a database, to be used again by later runs.
//!
//! An answer belongs to a request and to the repeat, the sample and the occurrence in which it was asked, so that a
//! second run finds every answer of the first and no two of one run are the same one. Requests that no episode makes
//! count as repeat 0, and their occurrences over the whole process.

use super::TapeError;
use super::asked::{Asked, Digest, sha256};
use super::scope::{self, Counter};
use super::writer::Writer;
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Version of the stored answers.
const VERSION: u32 = 1;
/// The database's name inside the cache's folder.
const FILE: &str = "cache.redb";
/// Memory that the database may use; its own default is a gigabyte.
const MEMORY: usize = 64 << 20;
const FORMAT: TableDefinition<'_, &str, u32> = TableDefinition::new("format");
const ANSWERS: TableDefinition<'_, &[u8; 32], &[u8]> = TableDefinition::new("answers");

/// A cache in a folder, which one process uses at a time.
///
/// What goes wrong after it was opened costs an answer its place in the cache and nothing else: the request was made
/// and paid for. [`Cache::counts`] tells of it.
#[derive(Debug)]
pub struct Cache {
    // Before the database, so that everything is written when that is closed.
    writer: Writer<Put>,
    database: Arc<Database>,
    counter: Counter,
    hits: AtomicU64,
    misses: AtomicU64,
    stored: AtomicU64,
    trouble: Mutex<Option<String>>,
}

/// An answer on its way into the database.
#[derive(Debug)]
struct Put {
    key: Digest,
    answer: Vec<u8>,
    /// Whether an answer that has the place already can be read.
    readable: fn(&[u8]) -> bool,
}

/// The place of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(Digest);

/// What a cache was good for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheCounts {
    /// Answers found.
    pub hits: u64,
    /// Answers not found.
    pub misses: u64,
    /// Answers put in.
    pub stored: u64,
    /// The first thing that went wrong with reading or writing.
    pub trouble: Option<String>,
}

impl Cache {
    /// Opens the cache in `folder`, which is made if need be.
    pub fn open(folder: &Path) -> Result<Self, TapeError> {
        std::fs::create_dir_all(folder).map_err(TapeError::io("create", folder))?;
        // The database trusts a file that was closed well, and panics where somebody else has changed it since.
        let opened = catch_unwind(AssertUnwindSafe(|| open(&folder.join(FILE))));
        let broken = |reason: String| TapeError::Cache { path: folder.to_owned(), reason };
        let database = match opened {
            Ok(Ok(Ok(database))) => Arc::new(database),
            Ok(Ok(Err(found))) => {
                return Err(TapeError::Newer { path: folder.join(FILE), found: found.into(), known: VERSION });
            }
            Ok(Err(redb::Error::DatabaseAlreadyOpen)) => return Err(TapeError::Locked { path: folder.to_owned() }),
            Ok(Err(redb::Error::Io(error))) if error.kind() != std::io::ErrorKind::InvalidData => {
                return Err(TapeError::io("open", &folder.join(FILE))(error));
            }
            Ok(Err(error)) => return Err(broken(error.to_string())),
            Err(_) => return Err(broken("the database is damaged".to_owned())),
        };
        let writer = Writer::start(folder.to_owned(), puts(Arc::clone(&database), folder.to_owned()))?;
        Ok(Self {
            writer,
            database,
            counter: Counter::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            stored: AtomicU64::new(0),
            trouble: Mutex::new(None),
        })
    }

    /// The place of a request's answer where each time that it is made is another: repeats and samples.
    pub fn slot(&self, asked: &Asked) -> Slot {
        let scope = scope::current();
        let name = scope.as_ref().map(ToString::to_string).unwrap_or_default();
        let n = self.counter.next(&asked.digest, &name);
        let scope = scope.unwrap_or_default();
        let sample = scope.sample.map_or_else(String::new, |sample| sample.to_string());
        // Not the episode's name: another variant's same request in the same repeat may have the same answer.
        Slot(sha256([asked.digest.as_slice(), format!("\n{} {sample} {n}", scope.repeat).as_bytes()]))
    }

    /// The place of a request's answer where one answer is as good as another.
    pub fn only_slot(asked: &Asked) -> Slot {
        Slot(asked.digest)
    }

    /// The answer in a place, if there is one that can be read.
    ///
    /// Read where it is asked for, which a file in the system's memory answers sooner than another thread would. A disk that
    /// must be waited for holds up whatever else this thread does.
    pub fn get<A: DeserializeOwned>(&self, slot: Slot) -> Option<A> {
        // The database panics where somebody else has changed its file.
        let answer = match catch_unwind(AssertUnwindSafe(|| read(&self.database, &slot.0))) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => self.troubled(&error.to_string()),
            Err(_) => self.troubled("the database is damaged"),
        };
        let count = if answer.is_some() { &self.hits } else { &self.misses };
        count.fetch_add(1, Ordering::Relaxed);
        answer
    }

    /// Keeps an answer, unless the place has one: what was given out once is given out again.
    pub async fn put<A: Serialize + DeserializeOwned>(&self, slot: Slot, answer: &A) {
        // Plain data with string keys always serialises.
        let answer = serde_json::to_vec(answer).unwrap_or_default();
        let readable = |bytes: &[u8]| serde_json::from_slice::<A>(bytes).is_ok();
        match self.writer.write(Put { key: slot.0, answer, readable }).await {
            Ok(()) => drop(self.stored.fetch_add(1, Ordering::Relaxed)),
            Err(error) => self.troubled::<()>(&error.to_string()).unwrap_or_default(),
        }
    }

    /// What the cache was good for so far.
    pub fn counts(&self) -> CacheCounts {
        CacheCounts {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            stored: self.stored.load(Ordering::Relaxed),
            trouble: self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    fn troubled<A>(&self, reason: &str) -> Option<A> {
        // A panic elsewhere cannot leave the reason half-written.
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| reason.to_owned());
        None
    }
}

/// The database, or its version where that is too new for us.
fn open(file: &Path) -> Result<Result<Database, u32>, redb::Error> {
    let database = Database::builder().set_cache_size(MEMORY).create(file)?;
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
    // An answer that cannot be read is none, and is replaced.
    Ok(answers.get(key)?.and_then(|bytes| serde_json::from_slice(bytes.value()).ok()))
}

fn puts(database: Arc<Database>, folder: PathBuf) -> impl FnMut(Vec<Put>) -> Result<(), TapeError> + Send + 'static {
    move |puts| {
        put(&database, &puts).map_err(|error| TapeError::Cache { path: folder.clone(), reason: error.to_string() })
    }
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
