//! The end of an episode's processes, and the removal of its scratch folder.

use crate::base::sha256_hex;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What is left of each running episode at its end, by its key.
static RESOURCES: Mutex<BTreeMap<String, Resources>> = Mutex::new(BTreeMap::new());

struct Resources {
    /// The process group of the program.
    group: Option<u32>,
    scratch: PathBuf,
}

/// Kills the processes of an episode and removes its scratch folder when it is dropped.
pub(super) struct Cleanup {
    key: String,
    scratch: PathBuf,
}

impl Cleanup {
    /// Makes the scratch folder of the episode with this key.
    pub(super) fn new(key: &str) -> io::Result<Self> {
        let (key, scratch) = (key.to_owned(), make_scratch(key)?);
        resources().insert(key.clone(), Resources { group: None, scratch: scratch.clone() });
        Ok(Self { key, scratch })
    }

    pub(super) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Says which process group the program has.
    pub(super) fn set_group(&self, group: Option<u32>) {
        if let Some(resources) = resources().get_mut(&self.key) {
            resources.group = group;
        }
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        let resources = resources().remove(&self.key);
        if let Some(resources) = resources {
            clean_up(&self.key, &resources);
        }
    }
}

/// Kills the programs of all running episodes, as the run ends without waiting for them.
pub(crate) fn clean_up_all() {
    let all = std::mem::take(&mut *resources());
    for (key, resources) in &all {
        clean_up(key, resources);
    }
}

fn resources() -> MutexGuard<'static, BTreeMap<String, Resources>> {
    // An entry is there or not.
    RESOURCES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn clean_up(key: &str, Resources { group, scratch }: &Resources) {
    const TRIES: usize = 5;
    const PAUSE: Duration = Duration::from_millis(5);
    kill_group(*group);
    kill_by_key(key);
    for _ in 0..TRIES {
        // A process that was just killed may still have written.
        match std::fs::remove_dir_all(scratch) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(PAUSE),
            _ => return,
        }
    }
}

/// Makes a folder that only this user can read. Its name is a digest of the random key.
fn make_scratch(key: &str) -> io::Result<PathBuf> {
    let name = sha256_hex([b"scratch", key.as_bytes()]);
    let path = std::env::temp_dir().join(format!("wikitrail-agent-{}", &name[..16]));
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&path).map_err(|error| {
        io::Error::new(error.kind(), format!("the folder `{}` cannot be made: {error}", path.display()))
    })?;
    Ok(path)
}

/// Ends the processes of a group.
#[cfg(unix)]
fn kill_group(group: Option<u32>) {
    let group = group.and_then(|group| i32::try_from(group).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // The group is gone where all its processes have ended.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_group: Option<u32>) {}

/// Ends the processes that left their group, which still have the key of the episode in their environment. Those that
/// start others meanwhile are looked for again.
#[cfg(target_os = "linux")]
fn kill_by_key(key: &str) {
    const PASSES: usize = 3;
    for _ in 0..PASSES {
        let mut found = false;
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
            // Processes of other people cannot be read.
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.windows(key.len()).any(|part| part == key.as_bytes())
                && let Some(id) = rustix::process::Pid::from_raw(id)
            {
                found = true;
                let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
            }
        }
        if !found {
            return;
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn kill_by_key(_key: &str) {}
