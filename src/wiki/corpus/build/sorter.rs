//! Sorting more than fits into memory: sorted runs in files, merged while they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::mem;
use std::path::PathBuf;

/// How many runs are read at once; each is an open file.
const MAX_RUNS: usize = 64;

/// Pairs of bytes, to be sorted by key, then by value.
pub(super) struct Sorter {
    /// Where runs are written, and how they are called.
    folder: PathBuf,
    name: String,
    /// How many bytes may be in memory.
    most: usize,
    bytes: Vec<u8>,
    entries: Vec<PairPlace>,
    runs: Vec<PathBuf>,
    made: usize,
}

#[derive(Clone, Copy)]
pub(super) struct PairPlace {
    at: usize,
    key: u32,
    value: u32,
}

impl PairPlace {
    fn of(self, bytes: &[u8]) -> (&[u8], &[u8]) {
        let (key, value) = (self.key as usize, self.value as usize);
        bytes[self.at..self.at + key + value].split_at(key)
    }
}

impl Sorter {
    pub(super) fn new(folder: PathBuf, name: String, most: usize) -> Self {
        Self { folder, name, most, bytes: Vec::new(), entries: Vec::new(), runs: Vec::new(), made: 0 }
    }

    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let length = |part: &[u8]| u32::try_from(part.len()).map_err(|_| io::ErrorKind::FileTooLarge);
        let entry = PairPlace { at: self.bytes.len(), key: length(key)?, value: length(value)? };
        let taken = self.bytes.len() + (self.entries.len() + 1) * size_of::<PairPlace>();
        if taken + key.len() + value.len() > self.most && !self.entries.is_empty() {
            self.spill()?;
            return self.push(key, value);
        }
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.entries.push(entry);
        Ok(())
    }

    /// Writes what is in memory as a run.
    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let mut run = self.next_run()?;
        for entry in self.entries.drain(..) {
            let (key, value) = entry.of(&self.bytes);
            write_pair(&mut run, key, value)?;
        }
        run.flush()?;
        self.bytes.clear();
        if self.runs.len() == MAX_RUNS {
            let runs = mem::take(&mut self.runs);
            let (mut merge, mut whole) = (Merge::over(&runs)?, self.next_run()?);
            let (mut key, mut value) = (Vec::new(), Vec::new());
            while merge.next(&mut key, &mut value)? {
                write_pair(&mut whole, &key, &value)?;
            }
            whole.flush()?;
            runs.iter().try_for_each(fs::remove_file)?;
        }
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.entries.sort_unstable_by(|a, b| a.of(bytes).cmp(&b.of(bytes)));
    }

    fn next_run(&mut self) -> io::Result<BufWriter<File>> {
        let path = self.folder.join(format!("{}.{}.run", self.name, self.made));
        self.made += 1;
        let file = File::create_new(&path)?;
        self.runs.push(path);
        Ok(BufWriter::with_capacity(1 << 18, file))
    }

    /// Everything, in order.
    pub(super) fn sorted(mut self) -> io::Result<Sorted> {
        if self.runs.is_empty() {
            self.sort();
            return Ok(Sorted::InMemory { bytes: self.bytes, entries: self.entries, at: 0 });
        }
        if !self.entries.is_empty() {
            self.spill()?;
        }
        Merge::over(&self.runs).map(Sorted::Merged)
    }
}

pub(super) enum Sorted {
    InMemory { bytes: Vec<u8>, entries: Vec<PairPlace>, at: usize },
    Merged(Merge),
}

impl Sorted {
    /// Reads the next pair; `false` at the end.
    pub(super) fn next(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> io::Result<bool> {
        match self {
            Self::Merged(merge) => merge.next(key, value),
            Self::InMemory { bytes, entries, at } => {
                let Some(entry) = entries.get(*at) else { return Ok(false) };
                *at += 1;
                let (from_key, from_value) = entry.of(bytes);
                for (to, from) in [(key, from_key), (value, from_value)] {
                    to.clear();
                    to.extend_from_slice(from);
                }
                Ok(true)
            }
        }
    }
}

/// The next pair of a run, and which run it is.
type Head = (Vec<u8>, Vec<u8>, usize);

/// Runs that are read together. The least pair comes first; of equal ones, that of the first run.
pub(super) struct Merge {
    runs: Vec<BufReader<File>>,
    heads: BinaryHeap<Reverse<Head>>,
}

impl Merge {
    fn over(paths: &[PathBuf]) -> io::Result<Self> {
        let mut runs = Vec::with_capacity(paths.len());
        let mut heads = BinaryHeap::with_capacity(paths.len());
        for (at, path) in paths.iter().enumerate() {
            let mut run = BufReader::with_capacity(1 << 16, File::open(path)?);
            let (mut key, mut value) = (Vec::new(), Vec::new());
            if read_pair(&mut run, &mut key, &mut value)? {
                heads.push(Reverse((key, value, at)));
            }
            runs.push(run);
        }
        Ok(Self { runs, heads })
    }

    fn next(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> io::Result<bool> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(false) };
        let Reverse((next_key, next_value, run)) = &mut *head;
        mem::swap(key, next_key);
        mem::swap(value, next_value);
        if !read_pair(&mut self.runs[*run], next_key, next_value)? {
            PeekMut::pop(head);
        }
        Ok(true)
    }
}

fn write_pair(out: &mut impl Write, key: &[u8], value: &[u8]) -> io::Result<()> {
    // Their lengths were those of an entry.
    let length = |part: &[u8]| u32::try_from(part.len()).unwrap_or_default().to_le_bytes();
    out.write_all(&length(key))?;
    out.write_all(&length(value))?;
    out.write_all(key)?;
    out.write_all(value)
}

/// Reads a pair; `false` at the end.
fn read_pair(run: &mut impl Read, key: &mut Vec<u8>, value: &mut Vec<u8>) -> io::Result<bool> {
    let mut lengths = [[0; 4]; 2];
    let first = run.read(&mut lengths[0][..1])?;
    if first == 0 {
        return Ok(false);
    }
    run.read_exact(&mut lengths[0][1..])?;
    run.read_exact(&mut lengths[1])?;
    for (part, length) in [key, value].into_iter().zip(lengths) {
        part.resize(u32::from_le_bytes(length) as usize, 0);
        run.read_exact(part)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::{MAX_RUNS, Sorter};

    #[test]
    fn little_memory_makes_runs_and_the_same_order() {
        let dir = tempfile::tempdir().expect("a folder");
        let pairs: Vec<(String, String)> = (0..3_000u32)
            .map(|n| (format!("{}", n.wrapping_mul(2_654_435_761) % 701), "v".repeat((n % 7) as usize)))
            .collect();
        let mut expected: Vec<(Vec<u8>, Vec<u8>)> =
            pairs.iter().map(|(key, value)| (key.clone().into(), value.clone().into())).collect();
        expected.sort();
        for (most, runs) in [(1 << 20, 0), (4 << 10, 2), (200, MAX_RUNS)] {
            let mut sorter = Sorter::new(dir.path().to_owned(), "test".to_owned(), most);
            for (key, value) in &pairs {
                sorter.push(key.as_bytes(), value.as_bytes()).expect("a run");
            }
            assert!(sorter.made >= runs, "{most}: {}", sorter.made);
            let mut all = sorter.sorted().expect("runs");
            let (mut key, mut value, mut found) = (Vec::new(), Vec::new(), Vec::new());
            while all.next(&mut key, &mut value).expect("a run") {
                found.push((key.clone(), value.clone()));
            }
            assert_eq!(found, expected, "{most}");
            for run in std::fs::read_dir(dir.path()).expect("a folder") {
                std::fs::remove_file(run.expect("a run").path()).expect("removed");
            }
        }
    }
}
