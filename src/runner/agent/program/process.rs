//! The process of one episode: its start, its environment, its output, its end, and the removal of its scratch folder.

use super::definition::Addresses;
use super::request::MAX_ANSWER;
use crate::base::{locked, sha256_hex};
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// Bytes of the end of standard error that are kept.
const MAX_ERRORS: usize = 4 << 10;
/// A program that writes more than this, in bytes, to one of its outputs is ended.
const MAX_OUTPUT: u64 = 64 << 20;
/// How long the outputs may stay open after the process has ended, as a child of its may hold them.
const DRAIN: Duration = Duration::from_millis(500);

/// Names of variables that a program gets from the person's environment, and how such names begin. Everything else may
/// hold a key.
const INHERITED: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "TMPDIR",
    "TEMP",
    "TMP",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CUDA_VISIBLE_DEVICES",
    "SYSTEMROOT",
    "JAVA_HOME",
    "COMSPEC",
    "PATHEXT",
    "USERPROFILE",
    "APPDATA",
];
const INHERITED_BEGINNINGS: [&str; 5] = ["LC_", "PYTHON", "CONDA_", "XDG_", "NODE_"];

fn is_inherited(name: &str, value: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let secret = ["KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CRED"].iter().any(|word| upper.contains(word));
    let named =
        INHERITED.contains(&upper.as_str()) || INHERITED_BEGINNINGS.iter().any(|begin| upper.starts_with(begin));
    let value = value.to_ascii_lowercase();
    let with_secret = ["password=", "token=", "secret=", "key="].iter().any(|word| value.contains(word));
    // An address may hold a user's password.
    let with_user = value.contains("://") && value.contains('@');
    named && !(secret || with_secret || with_user)
}

/// The end of a text that arrives in pieces.
#[derive(Debug)]
struct Tail {
    kept: Vec<u8>,
    most: usize,
    total: u64,
}

impl Tail {
    fn new(most: usize) -> Self {
        Self { kept: Vec::new(), most, total: 0 }
    }

    fn push(&mut self, piece: &[u8]) {
        self.total += piece.len() as u64;
        self.kept.extend_from_slice(piece);
        // Cut rarely: each cut moves what is kept.
        if self.kept.len() > 4 * self.most {
            self.kept.drain(..self.kept.len() - self.most);
        }
    }

    fn text(&self) -> String {
        let from = self.kept.len().saturating_sub(self.most);
        String::from_utf8_lossy(&self.kept[from..]).trim().to_owned()
    }

    /// The last line with text; an error if it is longer than what is kept.
    fn last_line(&self) -> Result<Option<String>, String> {
        let end = self.kept.trim_ascii_end();
        let begin = end.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        let line = &end[begin.unwrap_or(0)..];
        if line.len() > self.most || begin.is_none() && self.total > self.kept.len() as u64 {
            return Err(format!("the last line of its output has more than {} bytes", self.most));
        }
        let line = String::from_utf8_lossy(line).trim().to_owned();
        Ok(Some(line).filter(|line| !line.is_empty()))
    }
}

/// A program that answers one question. Dropped, it ends with all its children.
pub(super) struct Process {
    child: Child,
    /// The key of the episode, which the environment of every descendant has.
    key: String,
    output: Arc<Mutex<Tail>>,
    errors: Arc<Mutex<Tail>>,
    readers: Vec<JoinHandle<()>>,
    too_much: Arc<Notify>,
    /// Ends all processes of the episode when this is dropped.
    _cleanup: Cleanup,
}

impl Process {
    /// Starts the words of a command in a scratch folder of its own, and writes `line` to its standard input.
    pub(super) fn start(words: &[String], folder: &Path, key: &str, line: &str, given: &Addresses) -> io::Result<Self> {
        let cleanup = Cleanup::new(key)?;
        let (program, arguments) = words.split_first().ok_or_else(|| io::Error::other("the command has no words"))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&cleanup.scratch).env_clear();
        let inherited = std::env::vars_os().filter(|(name, value)| {
            name.to_str().zip(value.to_str()).is_some_and(|(name, value)| is_inherited(name, value))
        });
        command.envs(inherited);
        command.env("WIKITRAIL_CALLED_FROM", folder).envs(given.variables());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        hide_environment();
        let mut child = command.spawn()?;
        cleanup.set_group(child.id());
        if let Some(mut input) = child.stdin.take() {
            let line = format!("{line}\n");
            tokio::spawn(async move {
                // A program need not read its input.
                let _ = input.write_all(line.as_bytes()).await;
            });
        }
        let too_much = Arc::new(Notify::new());
        let (output, errors) =
            (Arc::new(Mutex::new(Tail::new(MAX_ANSWER))), Arc::new(Mutex::new(Tail::new(MAX_ERRORS))));
        let mut readers = Vec::new();
        readers.extend(child.stdout.take().map(|pipe| read(pipe, Arc::clone(&output), Arc::clone(&too_much))));
        readers.extend(child.stderr.take().map(|pipe| read(pipe, Arc::clone(&errors), Arc::clone(&too_much))));
        Ok(Self { child, key: key.to_owned(), output, errors, readers, too_much, _cleanup: cleanup })
    }

    /// Waits for the end of the program. The error says what it did that it is to be ended for.
    pub(super) async fn exited(&mut self) -> Result<ExitStatus, String> {
        tokio::select! {
            status = self.child.wait() => status.map_err(|error| format!("it cannot be waited for: {error}")),
            () = self.too_much.notified() => Err(format!("it wrote more than {} MiB of output", MAX_OUTPUT >> 20)),
        }
    }

    /// The last line of the standard output, if there is one, once the program has ended. The error says that it is too long.
    pub(super) async fn answer(&mut self) -> Result<Option<String>, String> {
        // A child that still runs may hold the output open.
        let drained = futures_util::future::join_all(self.readers.drain(..));
        let _ = tokio::time::timeout(DRAIN, drained).await;
        locked(&self.output).last_line()
    }

    /// The end of standard error so far, without the key, which addresses in it have.
    pub(super) fn errors(&self) -> String {
        locked(&self.errors).text().replace(&self.key, "KEY").replace('\0', "")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.readers.iter().for_each(JoinHandle::abort);
    }
}

fn read(
    mut pipe: impl AsyncRead + Unpin + Send + 'static,
    tail: Arc<Mutex<Tail>>,
    full: Arc<Notify>,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut piece = vec![0; 16 << 10];
        while let Ok(read @ 1..) = pipe.read(&mut piece).await {
            let mut tail = locked(&tail);
            tail.push(&piece[..read]);
            if tail.total > MAX_OUTPUT {
                full.notify_one();
                return;
            }
        }
    })
}

/// Keeps other processes of the same user from reading this one's environment, which may hold the person's keys.
#[cfg(target_os = "linux")]
fn hide_environment() {
    // A system that refuses it leaves things as they are; docs/security.md says what a program may read.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

#[cfg(not(target_os = "linux"))]
fn hide_environment() {}

/// What is left of each running episode at its end, by its key.
static RESOURCES: Mutex<BTreeMap<String, Resources>> = Mutex::new(BTreeMap::new());

struct Resources {
    group: Option<u32>,
    scratch: PathBuf,
}

/// Kills the processes of an episode and removes its scratch folder when it is dropped.
struct Cleanup {
    key: String,
    scratch: PathBuf,
}

impl Cleanup {
    /// Makes the scratch folder of the episode with this key.
    fn new(key: &str) -> io::Result<Self> {
        let (key, scratch) = (key.to_owned(), make_scratch(key)?);
        locked(&RESOURCES).insert(key.clone(), Resources { group: None, scratch: scratch.clone() });
        Ok(Self { key, scratch })
    }

    fn set_group(&self, group: Option<u32>) {
        if let Some(resources) = locked(&RESOURCES).get_mut(&self.key) {
            resources.group = group;
        }
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        let resources = locked(&RESOURCES).remove(&self.key);
        if let Some(resources) = &resources {
            clean_up(&self.key, resources);
        }
    }
}

/// Kills the programs of all running episodes, as the run ends without waiting for them.
pub(crate) fn clean_up_all() {
    let all = std::mem::take(&mut *locked(&RESOURCES));
    for (key, resources) in &all {
        clean_up(key, resources);
    }
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

#[cfg(test)]
mod tests {
    use super::{Tail, is_inherited};

    #[test]
    fn the_last_line_with_text_is_the_answer() {
        let last = |pieces: &[&str]| {
            let mut tail = Tail::new(8);
            for piece in pieces {
                tail.push(piece.as_bytes());
            }
            tail.last_line()
        };
        assert_eq!(last(&[]), Ok(None));
        assert_eq!(last(&["\n \n"]), Ok(None));
        assert_eq!(last(&["log\nPa", "ris\n\n"]), Ok(Some("Paris".to_owned())));
        assert_eq!(last(&[&"x\n".repeat(100), "Paris"]), Ok(Some("Paris".to_owned())));
        assert!(last(&["123456789"]).is_err());
        assert!(last(&[&"x".repeat(100), "\n"]).is_err());
    }

    #[test]
    fn nothing_that_may_be_a_key_is_inherited() {
        for name in ["PATH", "LC_ALL", "PYTHONPATH", "Path"] {
            assert!(is_inherited(name, "x"), "{name}");
        }
        for name in ["OPENAI_API_KEY", "HF_TOKEN", "PYTHON_KEYRING", "HTTPS_PROXY", "ANYTHING", "NODE_AUTH_TOKEN"] {
            assert!(!is_inherited(name, "x"), "{name}");
        }
        assert!(!is_inherited("NODE_MIRROR", "https://me:word@example.org"));
        assert!(!is_inherited("NODE_OPTIONS", "-DproxyPassword=word"));
    }
}
