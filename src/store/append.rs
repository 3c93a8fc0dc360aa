//! Appending trajectories so that a crash loses at most the line being written.

use super::read::only_trajectories;
use super::{Journal, StoreError};
use crate::tape::LineFile;
use crate::types::Trajectory;
use std::path::Path;
use std::sync::Arc;

/// A run's trajectory file, open for appending by one process.
#[derive(Debug)]
pub(crate) struct Appender {
    lines: LineFile,
    dropped: Option<u64>,
    /// Which holds lines of episodes until they are appended here.
    journal: Option<Arc<Journal>>,
}

impl Appender {
    /// Opens or creates the file. An incomplete last line is removed; one that only lacks its line end is kept.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        Self::repair(LineFile::open(path)?)
    }

    /// Opens and locks a trajectory file outside any run folder, creating it and its parent folders if needed. A file
    /// with other content is refused and not changed.
    pub(crate) fn alone(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        }
        let mut lines = LineFile::open(path)?;
        if !lines.lock()? {
            return Err(StoreError::Locked { path: path.to_owned(), holder: None });
        }
        only_trajectories(path, lines.reader()?)?;
        Self::repair(lines)
    }

    /// A device that is full.
    #[cfg(all(test, unix))]
    pub(crate) fn full() -> Self {
        let path = Path::new("/dev/full");
        let file = std::fs::File::options().read(true).write(true).open(path).expect("a device");
        Self { lines: LineFile::over(file, path), dropped: None, journal: None }
    }

    fn repair(mut lines: LineFile) -> Result<Self, StoreError> {
        let tail = lines.tail()?;
        let dropped = lines.repair(&tail, serde_json::from_slice::<Trajectory>(&tail).is_ok())?;
        Ok(Self { lines, dropped, journal: None })
    }

    /// The same, which tells the journal what is recorded.
    pub(crate) fn with_journal(self, journal: Arc<Journal>) -> Self {
        Self { journal: Some(journal), ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.lines.path
    }

    /// Bytes of the incomplete last line that was removed on opening.
    pub(crate) fn dropped(&self) -> Option<u64> {
        self.dropped
    }

    /// Appends episodes and waits until they are on disk. On an error the file keeps none of them.
    pub(crate) fn append<'a>(
        &mut self,
        trajectories: impl IntoIterator<Item = &'a Trajectory>,
    ) -> Result<(), StoreError> {
        let (mut lines, mut measured) = (Vec::new(), Vec::new());
        for trajectory in trajectories {
            measured.extend(Some(&trajectory.key).filter(|_| trajectory.measured()));
            serde_json::to_writer(&mut lines, trajectory)
                .map_err(|error| StoreError::io("append to", &self.lines.path)(error.into()))?;
            lines.push(b'\n');
        }
        self.lines.append(&lines)?;
        if let Some(journal) = &self.journal {
            for key in measured {
                journal.ended(key);
            }
        }
        Ok(())
    }
}
