//! Runs in a browser: the list of a folder, the page of each run, how far a run is, and judgements for its folder.
//!
//! Only this machine is answered, and only at addresses that begin with a random word, so that neither pages of other
//! sites nor other users of the machine read a run or write to it.

use crate::analysis::annotations::{self, Annotation};
use crate::analysis::report::console::{duration, rate};
use crate::analysis::report::leaderboard::{Entry, entries};
use crate::analysis::report::page::{Episodes, Limits, Listing, Live, Stopped, encoded, index, page, unknown_address};
use crate::analysis::report::progress::Bar;
use crate::analysis::results::follow::{Follower, Progress, version};
use crate::analysis::results::{Results, RunRef, Source, folder_name, runs};
use crate::base::{Manifest, json_error, sha256_hex};
use crate::net::recording::{create_private_beside, read_own};
use crate::net::server::reply::{self, body};
use crate::net::server::{Hosts, LONGEST_ANSWER, Refusal, ServeError, Server, Settings};
use crate::runner::store::RunFolder;
use crate::runner::{RunError, state_folder};
use crate::scoring::float;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use futures_util::stream::unfold;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

const STREAMS: usize = 16;

const LOOK: Duration = Duration::from_secs(1);

/// How often a page hears of a run that is going and records nothing.
const HEARTBEAT: Duration = Duration::from_secs(10);

const MAX_COMPARED: usize = 30;

/// Pages that are kept; one has up to 50 MB.
const MAX_PAGES: usize = 8;

/// The age from which on a file's time tells it from a later version.
const SETTLED: Duration = Duration::from_secs(2);

/// How much a page has that is read from this machine.
const LIMITS: Limits = Limits { episodes: Episodes::All, most: 50_000_000 };

#[derive(Debug, Clone)]
pub(crate) struct ViewSettings {
    pub(crate) folders: Vec<String>,
    pub(crate) bind: SocketAddr,
    /// Whether judgements are written to the runs' folders.
    pub(crate) annotate: bool,
    /// The random word of the addresses.
    pub(crate) token: String,
}

#[derive(Debug, Clone)]
struct Viewer {
    settings: Arc<ViewSettings>,
    /// Becomes true when the server ends, so that streams end too.
    ended: watch::Receiver<bool>,
    streams: Arc<Semaphore>,
    /// Held while a judgement is written: the file's own lock is tried a few times only, and would refuse some of many.
    writing: Arc<Mutex<()>>,
    pages: Arc<Mutex<Pages>>,
}

/// Pages by the name of their run, and the index under an empty name; each with the state of the folders that it shows.
type Pages = HashMap<String, (FolderState, Bytes)>;

/// What a page is computed once for: length and time of change of each file, and which runs are going.
#[derive(Debug, Default, PartialEq, Eq)]
struct FolderState {
    files: BTreeMap<PathBuf, (u64, Option<SystemTime>)>,
    going: Vec<PathBuf>,
}

impl FolderState {
    fn of(runs: &[RunRef]) -> Self {
        let mut state = Self::default();
        let mut paths: Vec<PathBuf> = runs.iter().map(|run| run.path.clone()).collect();
        state.going = paths.iter().filter(|path| RunFolder::at(*path).is_going()).cloned().collect();
        while let Some(path) = paths.pop() {
            if let Ok(entries) = fs::read_dir(&path) {
                // A link to a folder may lead in a circle.
                let entries = entries
                    .flatten()
                    .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink() || entry.path().is_file()));
                paths.extend(entries.map(|entry| entry.path()));
            } else if let Ok(found) = path.metadata() {
                state.files.insert(path, (found.len(), found.modified().ok()));
            }
        }
        state
    }

    /// Whether a later change would have another time: file systems round times.
    fn is_settled(&self) -> bool {
        let old = |time: &SystemTime| time.elapsed().is_ok_and(|age| age >= SETTLED);
        !self.files.is_empty() && self.files.values().all(|(_, time)| time.as_ref().is_some_and(old))
    }
}

/// A server of runs, its address with the random word, and what ends its streams.
pub(crate) async fn view(settings: ViewSettings) -> Result<(Server, String, watch::Sender<bool>), ServeError> {
    let (bind, token) = (settings.bind, settings.token.clone());
    let (end, ended) = watch::channel(false);
    let viewer = Viewer {
        settings: Arc::new(settings),
        ended,
        streams: Arc::new(Semaphore::new(STREAMS)),
        writing: Arc::default(),
        pages: Arc::default(),
    };
    let router = Router::new()
        .route(&format!("/{token}/"), get(list_page))
        .route(&format!("/{token}/run/{{run}}"), get(run_page))
        .route(&format!("/{token}/run/{{run}}/events"), get(events))
        .route(&format!("/{token}/run/{{run}}/annotations"), post(post_annotation))
        .route(&format!("/{token}/compare/{{runs}}"), get(comparison_page))
        .route("/proof/{nonce}", get(proof))
        .fallback(async || (StatusCode::NOT_FOUND, page_answer(unknown_address().into())))
        .with_state(viewer);
    let settings = Settings {
        bind,
        hosts: Hosts::default(),
        log: None,
        per_client: None,
        longest_answer: LONGEST_ANSWER,
        keep_alive: true,
    };
    let server = Server::bind(router, settings).await?;
    let url = format!("{}/{token}/", server.url());
    Ok((server, url, end))
}

/// The random word of the addresses, and whether the next start at this port has the same one.
///
/// A port that was chosen keeps its word in a file that only its owner reads, so that open pages and bookmarks stay valid.
pub(crate) fn token(port: u16) -> io::Result<(String, bool)> {
    let file = state_folder().filter(|_| port != 0).map(|folder| folder.join("view").join(port.to_string()));
    if let Some(known) = file.as_deref().and_then(known_token) {
        return Ok((known, true));
    }
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let token = format!("{:032x}", u128::from_ne_bytes(random));
    let is_kept = file.is_some_and(|file| keep_token(&file, &token).is_ok());
    Ok((token, is_kept))
}

/// The word in that file, unless others may have read or written it.
fn known_token(path: &FilePath) -> Option<String> {
    let file = read_own(path).ok()?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&file.metadata().ok()?.permissions()) & 0o077 != 0 {
        return None;
    }
    let mut text = String::new();
    file.take(64).read_to_string(&mut text).ok()?;
    let token = text.trim();
    let is_token = token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_token.then(|| token.to_owned())
}

fn keep_token(path: &FilePath, token: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let (mut file, beside) = create_private_beside(path)?;
    let written = writeln!(file, "{token}").and_then(|()| fs::rename(&beside, path));
    written.inspect_err(|_| {
        // The first error is the one to report.
        let _ = fs::remove_file(&beside);
    })
}

impl Viewer {
    fn runs(&self) -> Vec<RunRef> {
        // A folder may get its first run later.
        self.settings.folders.iter().flat_map(|folder| runs(std::slice::from_ref(folder)).unwrap_or_default()).collect()
    }

    /// The run of this name, if it is served: nothing else of the disk is read.
    fn run(&self, name: &str) -> Result<RunRef, Refusal> {
        let found = self.runs().into_iter().find(|run| run.path.display().to_string() == name);
        found.ok_or_else(|| Refusal(StatusCode::NOT_FOUND, "no run of this name is served".to_owned()))
    }

    /// A page that is computed unless the folders of its runs are as they were the last time.
    fn once(
        &self,
        name: &str,
        runs: &[RunRef],
        compute: impl FnOnce() -> Result<String, Refusal>,
    ) -> Result<Bytes, Refusal> {
        let pages = || self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken before the page is computed, so that what is written meanwhile makes a new one.
        let state = FolderState::of(runs);
        if let Some((_, page)) = pages().get(name).filter(|(known, _)| *known == state) {
            return Ok(page.clone());
        }
        let page = Bytes::from(compute()?);
        let mut pages = pages();
        if pages.len() >= MAX_PAGES {
            pages.clear();
        }
        if state.is_settled() {
            pages.insert(name.to_owned(), (state, page.clone()));
        }
        Ok(page)
    }

    fn index(&self) -> Result<Bytes, Refusal> {
        let runs = self.runs();
        self.once("", &runs, || self.compute_index(&runs))
    }

    fn compute_index(&self, runs: &[RunRef]) -> Result<String, Refusal> {
        let results = Results::of(runs, false).map_err(failed)?;
        let notes = |source: &Source| RunFolder::at(&source.run.path).notes().unwrap_or_default();
        let mut groups = entries(&results, notes);
        for entries in &mut groups {
            entries.sort_by(|a, b| b.em.unwrap_or(-1.0).total_cmp(&a.em.unwrap_or(-1.0)));
        }
        let is_going = |run: &&RunRef| RunFolder::at(&run.path).is_going();
        let going = runs.iter().filter(is_going).map(|run| run.path.display().to_string()).collect();
        let stopped = runs.iter().filter_map(|run| {
            let own = || groups.iter().flatten().filter(|entry| FilePath::new(&entry.path) == run.path);
            let is_decided = own().any(|entry| entry.stopping.as_ref().is_some_and(|found| found.decided));
            let done = own().map(|entry| entry.episodes).sum();
            stopped(run, &RunFolder::at(&run.path).manifest().ok()?, done).filter(|_| !is_decided)
        });
        let stopped = stopped.collect();
        let link = |entry: &Entry| {
            let alone = entry.run == entry.path;
            let called = entry.short.strip_prefix(&entry.path).and_then(|rest| rest.strip_prefix('@'));
            let called = called.unwrap_or(&entry.variant);
            let at = if alone { String::new() } else { format!("#/?variant={}", encoded(called)) };
            format!("run/{}{at}", encoded(&entry.path))
        };
        let title = self.settings.folders.join(", ");
        Ok(index(&Listing { groups, notes: results.notes, title, going, stopped }, link))
    }

    fn page(&self, name: &str) -> Result<Bytes, Refusal> {
        let run = self.run(name)?;
        self.once(name, std::slice::from_ref(&run), || self.compute_page(name, &run))
    }

    fn compute_page(&self, name: &str, run: &RunRef) -> Result<String, Refusal> {
        let folder = RunFolder::at(&run.path);
        let manifest = folder.manifest().map_err(failed)?;
        // Before the records are read: what is appended meanwhile makes a new one.
        let version = version(&folder).map_err(failed)?;
        let results = Results::of(std::slice::from_ref(run), true).map_err(failed)?;
        let mut rules = results.groups.iter().flat_map(|group| &group.stopped);
        let is_decided = rules.any(|rule| rule.found.as_ref().is_some_and(|found| found.decided));
        let done = results.variants().map(|(source, _)| source.episodes.len()).sum();
        let stopped = stopped(run, &manifest, done).filter(|_| !is_decided);
        let follows = stopped.is_some() || folder.is_going();
        let live = Live {
            name: folder_name(&run.path),
            token: if self.settings.annotate { self.settings.token.clone() } else { String::new() },
            annotations: format!("{}/annotations", encoded(name)),
            events: if follows { format!("{}/events", encoded(name)) } else { String::new() },
            version,
            stopped,
        };
        Ok(page(&results, &LIMITS, Some(&live), &Bar::hidden()).map_err(failed)?.html)
    }

    /// The page of several runs or variants (`RUN@VARIANT`), a line each.
    fn comparison(&self, names: &str) -> Result<Bytes, Refusal> {
        let served = self.runs();
        let find = |name: &str| {
            let run = served.iter().find(|run| run.typed() == name).cloned();
            run.or_else(|| served.iter().find_map(|run| variant_of(run, name)))
        };
        let runs: Option<Vec<RunRef>> = names.lines().take(MAX_COMPARED + 1).map(find).collect();
        let absent = || Refusal(StatusCode::NOT_FOUND, "no run or variant of this name is served".to_owned());
        let mut runs = runs.ok_or_else(absent)?;
        if runs.len() > MAX_COMPARED {
            let sentence = format!("at most {MAX_COMPARED} runs or variants are compared on one page");
            return Err(Refusal(StatusCode::BAD_REQUEST, sentence));
        }
        runs.sort_by(|a, b| a.path.cmp(&b.path));
        self.once(&format!("compare {names}"), &runs, || {
            let results = Results::of(&runs, true).map_err(failed)?;
            Ok(page(&results, &LIMITS, Some(&Live::default()), &Bar::hidden()).map_err(failed)?.html)
        })
    }

    fn annotate(&self, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
        let bad = |sentence: String| Refusal(StatusCode::BAD_REQUEST, sentence);
        let run = self.run(name)?;
        let annotation: Annotation = serde_json::from_slice(bytes)
            .map_err(|error| bad(format!("not a judgement: {}", json_error::in_line(&error))))?;
        if let Some(fault) = annotation.fault() {
            return Err(bad(fault));
        }
        let folder = RunFolder::at(&run.path);
        let records = folder.records().map_err(failed)?;
        let at = records.keys().position(|(key, ..)| key == annotation.key);
        let at = at.ok_or_else(|| bad("the run has no episode with this key".to_owned()))?;
        // The record identifies the episode; the request that carries a judgement does not.
        let episode = records.trajectory(at).map_err(failed)?;
        if annotation.step.is_some_and(|step| step as usize > episode.steps.len()) {
            return Err(bad(format!("the episode has {} steps", episode.steps.len())));
        }
        if annotation.started_at.as_ref().is_some_and(|judged| *judged != episode.started_at) {
            return Err(bad("the episode was run again since the page was read: load it again".to_owned()));
        }
        let Annotation { id, variant, repeat, started_at, .. } = Annotation::of(&episode);
        let annotation = Annotation { id, variant, repeat, started_at, ..annotation };
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        annotations::append(&folder, &[annotation]).map_err(failed)
    }
}

/// A run that no process is at work on and that has `done` of more episodes.
fn stopped(run: &RunRef, manifest: &Manifest, done: usize) -> Option<Stopped> {
    let (folder, total) = (RunFolder::at(&run.path), manifest.planned_in_all());
    // A variant that was named alone is not the whole run.
    if done >= total || run.variant.is_some() || manifest.is_imported() || folder.is_going() {
        return None;
    }
    let at = folder.last_written().and_then(|time| Timestamp::try_from(time).ok());
    let begun = || manifest.started_at.parse().ok();
    let path = run.path.display().to_string();
    Some(Stopped { path, done, total, at: at.or_else(begun), resume: manifest.resume_command(&run.path) })
}

/// The variant of this run that is typed so.
fn variant_of(run: &RunRef, name: &str) -> Option<RunRef> {
    let variant = name.strip_prefix(run.path.to_str()?)?.strip_prefix('@')?;
    let manifest = RunFolder::at(&run.path).manifest().ok()?;
    let is_known = run.variant.is_none() && manifest.variants.iter().any(|known| known.name == variant);
    is_known.then(|| RunRef { variant: Some(variant.to_owned()), ..run.clone() })
}

fn failed(error: impl Into<RunError>) -> Refusal {
    Refusal(StatusCode::INTERNAL_SERVER_ERROR, error.into().to_string())
}

/// Runs are read on a thread that may wait.
async fn read<T: Send + 'static>(work: impl FnOnce() -> Result<T, Refusal> + Send + 'static) -> Result<T, Refusal> {
    let lost = |_| Refusal(StatusCode::INTERNAL_SERVER_ERROR, "the run could not be read".to_owned());
    spawn_blocking(work).await.map_err(lost)?
}

async fn list_page(State(viewer): State<Viewer>) -> Result<Response, Refusal> {
    read(move || viewer.index()).await.map(page_answer)
}

async fn run_page(State(viewer): State<Viewer>, Path(run): Path<String>) -> Result<Response, Refusal> {
    read(move || viewer.page(&run)).await.map(page_answer)
}

async fn comparison_page(State(viewer): State<Viewer>, Path(runs): Path<String>) -> Result<Response, Refusal> {
    read(move || viewer.comparison(&runs)).await.map(page_answer)
}

/// What only a server with the page's own word can say. A page asks for it before it names its word again: another
/// program may have taken the port meanwhile.
async fn proof(State(viewer): State<Viewer>, Path(nonce): Path<String>) -> Response {
    reply::text(StatusCode::OK, &sha256_hex([viewer.settings.token.as_bytes(), nonce.as_bytes()]))
}

/// A page; what it may load and run is in its own policy.
fn page_answer(page: Bytes) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=UTF-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
    ];
    (headers, page).into_response()
}

/// How far the run is, once a second while it changes, until the server ends or the run does.
async fn events(State(viewer): State<Viewer>, Path(run): Path<String>) -> Result<Response, Refusal> {
    let (ended, streams) = (viewer.ended.clone(), Arc::clone(&viewer.streams));
    let run = read(move || viewer.run(&run)).await?;
    let busy = |_| Refusal(StatusCode::SERVICE_UNAVAILABLE, "too many pages follow runs; close some".to_owned());
    let place = streams.try_acquire_owned().map_err(busy)?;
    let events = Events { follower: Follower::new(&run.path), ended, last: None, _place: place };
    let stream = unfold(Some(events), async |events| events?.next().await);
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(stream)).into_response())
}

struct Events {
    follower: Follower,
    ended: watch::Receiver<bool>,
    last: Option<(String, Instant)>,
    _place: OwnedSemaphorePermit,
}

impl Events {
    /// The next message, when something has changed. The stream ends with the server, and if the run cannot be read.
    async fn next(mut self) -> Option<(Result<String, io::Error>, Option<Self>)> {
        loop {
            if *self.ended.borrow() {
                return None;
            }
            let (follower, progress) = spawn_blocking(move || {
                let progress = self.follower.look();
                (self.follower, progress)
            })
            .await
            .ok()?;
            self.follower = follower;
            let progress = progress.ok()?;
            let is_known = self.last.as_ref().is_some_and(|(version, sent)| {
                *version == progress.version && (!progress.going || sent.elapsed() < HEARTBEAT)
            });
            if !is_known {
                let message = message(&progress);
                self.last = Some((progress.version, Instant::now()));
                return Some((Ok(format!("data: {message}\n\n")), Some(self)));
            }
            tokio::select! {
                () = sleep(LOOK) => {}
                _ = self.ended.changed() => return None,
            }
        }
    }
}

fn message(progress: &Progress) -> Value {
    let Progress { done, total, going, version, newest, failed, reason, .. } = progress;
    let remaining = float(total.saturating_sub(*done));
    let left = progress.rate.filter(|_| remaining > 0.0).map(|rate| Duration::try_from_secs_f64(remaining / rate));
    let left = left.and_then(Result::ok).map(|left| duration(u64::try_from(left.as_millis()).unwrap_or(u64::MAX)));
    let age = progress.last.map(|last| last.elapsed().unwrap_or_default().as_secs());
    json!({
        "done": done,
        "total": total,
        "going": going,
        "version": version,
        "rate": progress.rate.map(rate),
        "left": left,
        "cost": progress.cost_usd.map(|cost| format!("{cost:.4} USD")),
        "age": age,
        "failed": failed,
        "reason": reason,
        "newest": newest,
    })
}

async fn post_annotation(
    State(viewer): State<Viewer>,
    Path(run): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let forbidden = |why: &str| Err(Refusal(StatusCode::FORBIDDEN, why.to_owned()));
    let (head, content) = request.into_parts();
    if !viewer.settings.annotate {
        return forbidden("this server writes nothing: start it with --annotate");
    }
    let named =
        head.headers.get("x-wikitrail-token").is_some_and(|token| token.as_bytes() == viewer.settings.token.as_bytes());
    let is_json =
        head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !named || !is_json {
        return forbidden("a judgement is JSON with the token of the page");
    }
    let bytes = body(content).await?;
    read(move || viewer.annotate(&run, &bytes)).await?;
    Ok(reply::text(StatusCode::OK, "written"))
}

#[cfg(test)]
mod tests {
    use super::{FolderState, ViewSettings, Viewer, keep_token, known_token};
    use crate::analysis::results::RunRef;
    use std::fs::{self, File};
    use std::net::{Ipv4Addr, SocketAddr};
    use std::path::Path;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_folder_that_is_written_to_has_another_state() {
        let dir = tempfile::tempdir().expect("a folder");
        let run = [RunRef { path: dir.path().to_owned(), variant: None }];
        let file = dir.path().join("part").join("lines");
        fs::create_dir(dir.path().join("part")).expect("a folder");
        let write = |text: &str, age: u64| {
            fs::write(&file, text).expect("written");
            let time = SystemTime::now() - Duration::from_secs(age);
            File::options().write(true).open(&file).and_then(|file| file.set_modified(time)).expect("a time");
        };
        write("a", 60);
        let first = FolderState::of(&run);
        assert!(first == FolderState::of(&run) && first.is_settled());
        write("ab", 60);
        assert!(first != FolderState::of(&run), "longer");
        write("b", 0);
        let last = FolderState::of(&run);
        assert!(first != last && !last.is_settled(), "just written");
    }

    #[test]
    fn a_word_that_others_may_know_is_not_used_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("view").join("8000");
        let word = "0123456789abcdef0123456789abcdef";
        keep_token(&path, word).expect("written");
        assert_eq!(known_token(&path).as_deref(), Some(word));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("changed");
            assert_eq!(known_token(&path), None);
        }
        keep_token(&path, "short").expect("written");
        assert_eq!(known_token(&path), None);
    }

    #[test]
    fn a_page_is_computed_once_for_a_state_of_its_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        let run = [RunRef { path: dir.path().to_owned(), variant: None }];
        let bind = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let settings = ViewSettings { folders: vec![], bind, annotate: false, token: String::new() };
        let viewer = Viewer {
            settings: Arc::new(settings),
            ended: tokio::sync::watch::channel(false).1,
            streams: Arc::new(tokio::sync::Semaphore::new(1)),
            writing: Arc::default(),
            pages: Arc::default(),
        };
        let mut computed = 0;
        let mut request = |text: &str| {
            let compute = || {
                computed += 1;
                Ok(String::new())
            };
            let path = dir.path().join("trajectories.jsonl");
            if fs::read_to_string(&path).ok().as_deref() != Some(text) {
                fs::write(&path, text).expect("written");
                let time = SystemTime::now() - Duration::from_mins(1);
                File::options().write(true).open(&path).and_then(|file| file.set_modified(time)).expect("a time");
            }
            assert!(viewer.once("run", &run, compute).is_ok());
            computed
        };
        assert_eq!(["a", "a", "a", "ab", "ab"].map(&mut request), [1, 1, 1, 2, 2]);
    }
}
