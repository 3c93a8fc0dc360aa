//! Recordings and caches of a made-up model, and of a server that echoes secrets.

use super::{Cached, ModelIdentity, Recording, Replaying, is_worth_keeping};
use crate::base::{Completion, Decoding, FunctionCall, Message, Prompt, Request, Usage};
use crate::models::openai::{self, OpenAiSettings};
use crate::models::{
    CompletionFuture, Model, ModelError, OnEvent, RemoteSettings, StreamEvent, anthropic, in_episode, report,
};
use crate::net::ClientSettings;
use crate::net::recording::Why;
use crate::net::recording::{Cache, Player, Recorder, TapeError};
use crate::net::testing::{Server, quick, reply};
use futures_util::FutureExt as _;
use secrecy::SecretString;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Answers with the number of the request, as its prompt wants it.
#[derive(Default)]
struct Made {
    asked: AtomicU32,
}

impl Model for Made {
    fn complete<'a>(&'a self, request: &'a Request, on_event: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let completion = |text: String, finish_reason: Option<&str>| Completion {
            text,
            finish_reason: finish_reason.map(str::to_owned),
            usage: Some(Usage::new(7, u64::from(number))),
            latency_ms: 1000 + u64::from(number),
            attempts: 2,
            ..Completion::default()
        };
        let answer = match request.prompt.to_text().as_str() {
            "fail" => Err(ModelError::Refused {
                status: 400,
                message: "no".to_owned(),
                cause: crate::base::Cause::BadRequest,
                body: None,
            }),
            "empty" => Ok(completion(" \n".to_owned(), Some("stop"))),
            "too long" => Ok(completion(String::new(), Some("length"))),
            "cut" => Ok(completion("half".to_owned(), Some("length"))),
            "filtered" => Ok(completion("I will".to_owned(), Some("content_filter"))),
            _ => Ok(completion(format!(" \"é\u{0}\u{1f600}\r\n{number}"), None)),
        };
        let answer = answer.inspect(|completion| report(completion, on_event));
        std::future::ready(answer).boxed()
    }
}

fn identity() -> ModelIdentity {
    ModelIdentity::new("openai", "m", "chat", Some("http://user:password@host/v1?key=k"))
}

fn request(prompt: &str) -> Request {
    Request::new(Prompt::text("".into(), prompt), vec!["\n".to_owned()], Decoding::default())
}

/// What is answered to each prompt, one after the other.
async fn answers(model: &dyn Model, prompts: &[&str]) -> Vec<Result<Completion, ModelError>> {
    let mut answers = Vec::new();
    for prompt in prompts {
        answers.push(model.complete(&request(prompt), None).await);
    }
    answers
}

/// What is shown of a streamed answer.
async fn shown(model: &dyn Model, prompt: &str) -> String {
    let text = Mutex::new(String::new());
    let show = |piece: StreamEvent<'_>| match piece {
        StreamEvent::Text(piece) => text.lock().expect("sound").push_str(piece),
        StreamEvent::Restarted => text.lock().expect("sound").clear(),
    };
    let completion = model.complete(&request(prompt), Some(&show)).await.expect("an answer");
    let text = text.into_inner().expect("sound");
    assert_eq!(text, completion.text);
    text
}

fn recording(path: &Path) -> Recording {
    let recorder = Arc::new(Recorder::open(path).expect("opens"));
    Recording::new(Arc::new(Made::default()), identity(), recorder)
}

fn replaying(path: &Path) -> Replaying {
    Replaying::new(identity(), Player::open(path).expect("opens"))
}

#[tokio::test]
async fn a_replay_gives_the_same_completions_in_the_same_order() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("t.jsonl");
    let model = recording(&path);
    let recorded = answers(&model, &["a", "b", "a", "empty", "filtered", "a"]).await;
    let streamed = shown(&model, "streamed").await;
    drop(model);
    let replay = replaying(&path);
    assert_eq!(answers(&replay, &["a", "b", "a", "empty", "filtered", "a"]).await, recorded);
    assert_eq!(shown(&replay, "streamed").await, streamed);
    let Err(ModelError::Tape(error @ TapeError::Miss { .. })) = replay.complete(&request("a"), None).await else {
        panic!("the answers have run out")
    };
    assert!(error.to_string().contains("3 times"), "{error}");
}

#[tokio::test]
async fn failures_are_not_recorded_and_miss_when_replayed() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("t.jsonl");
    assert!(answers(&recording(&path), &["fail"]).await[0].is_err());
    let error = answers(&replaying(&path), &["fail"]).await.remove(0).expect_err("a miss");
    assert!(matches!(&error, ModelError::Tape(TapeError::Miss { why: Why::Unknown { nearest: None }, .. })));
    assert!(error.hint().expect("a hint").contains("--record"));
}

#[tokio::test]
async fn every_setting_makes_another_request_and_a_miss_names_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("t.jsonl");
    let asked = || request("Question: Who?");
    answers(&recording(&path), &["Question: Who?"]).await;
    let replayed = async |identity: ModelIdentity, request: Request| {
        Replaying::new(identity, Player::open(&path).expect("opens")).complete(&request, None).await
    };
    let decoding = Decoding { temperature: 0.7, ..Decoding::default() };
    let messages = Prompt::Messages(vec![Message::user("Question: Who?")]);
    let other = |model, endpoint| ModelIdentity::new("openai", model, endpoint, None);
    for (identity, request, difference) in [
        (identity(), request("Question: When?"), "prompt, character 13: "),
        (identity(), Request { prompt: messages, ..asked() }, r#"prompt: recorded "Question: Who?", asked [{"role":"#),
        (identity(), Request { stop: Vec::new(), ..asked() }, r#"stop[0]: recorded "\n", asked nothing"#),
        (identity(), Request { decoding, ..asked() }, "decoding.temperature: recorded 0.0, asked 0.7"),
        (other("n", "chat"), asked(), r#"model, character 1: recorded "m", asked "n""#),
        (other("m", "completions"), asked(), "endpoint, character 2: "),
    ] {
        let error = replayed(identity, request).await.expect_err("a miss").to_string();
        let (_, found) = error.split_once("differs in ").expect("a difference");
        assert!(found.starts_with(difference), "{found}");
    }
    // Neither the split of a prompt nor the server of a replay makes a difference.
    let split = Request { prompt: Prompt::text("Question: ".into(), "Who?"), ..asked() };
    let elsewhere = ModelIdentity::new("openai", "m", "chat", Some("http://elsewhere/v1"));
    assert!(replayed(elsewhere, split).await.is_ok());
}

#[tokio::test]
async fn a_later_run_finds_what_was_worth_keeping() {
    let dir = tempfile::tempdir().expect("a folder");
    let prompts = ["a", "a", "cut", "empty", "too long", "filtered", "fail"];
    let inner = Arc::new(Made::default());
    let cached = || {
        let cache = Arc::new(Cache::open(dir.path()).expect("opens"));
        (Cached::new(inner.clone(), identity(), cache.clone()), cache)
    };
    let (model, cache) = cached();
    let first = answers(&model, &prompts).await;
    assert_eq!((inner.asked.load(Ordering::Relaxed), cache.counts().stored), (7, 3));
    drop((model, cache));
    let (model, cache) = cached();
    let second = answers(&model, &prompts).await;
    assert_eq!((inner.asked.load(Ordering::Relaxed), cache.counts().hits), (7 + 4, 3));
    for (first, second) in first.iter().zip(&second).take(3) {
        let first = first.clone().expect("an answer");
        assert_eq!(second, &Ok(Completion { cached: true, attempts: 0, ..first }));
    }
    assert!(second[3..6].iter().flatten().all(|completion| !completion.cached));
    drop((model, cache));
    let (model, _cache) = cached();
    assert_eq!(shown(&model, "a").await, first[0].as_ref().expect("an answer").text, "a hit is shown, too");
    shown(&model, "streamed").await;
    assert_eq!(inner.asked.load(Ordering::Relaxed), 7 + 4 + 1);
}

#[tokio::test]
async fn failures_that_an_earlier_version_kept_as_answers_are_asked_for_again_and_replayed_as_they_are() {
    let failed = |text: &str| Completion {
        text: text.to_owned(),
        finish_reason: Some("abort".to_owned()),
        ..Completion::default()
    };
    let dir = tempfile::tempdir().expect("a folder");
    let inner = Arc::new(Made::default());
    let cache = Arc::new(Cache::open(dir.path()).expect("opens"));
    let asked = identity().request(&request("a"), identity().server.as_deref());
    cache.put(cache.slot(&asked), &failed("Thought 1: I")).await;
    drop(cache);
    for requests in [1, 1] {
        let cache = Arc::new(Cache::open(dir.path()).expect("opens"));
        let model = Cached::new(inner.clone(), identity(), cache);
        let answer = answers(&model, &["a"]).await.remove(0).expect("an answer");
        assert!(!answer.is_failure() && answer.text.contains('é'), "{answer:?}");
        assert_eq!(inner.asked.load(Ordering::Relaxed), requests, "what was asked for again is kept");
    }
    assert!(failed("x").is_failure() && !is_worth_keeping(&failed("x")));
}

#[tokio::test]
async fn a_cache_distinguishes_servers_and_repeats_but_not_variants() {
    let dir = tempfile::tempdir().expect("a folder");
    let cache = Arc::new(Cache::open(dir.path()).expect("opens"));
    let inner = Arc::new(Made::default());
    let at = |server: &str| {
        Cached::new(inner.clone(), ModelIdentity::new("openai", "m", "chat", Some(server)), cache.clone())
    };
    let (model, other) = (at("http://one/v1"), at("http://two/v1"));
    let ask = |model, episode: &str, repeat| in_episode(episode.to_owned(), repeat, answers(model, &["a"]));
    for (model, episode, repeat, requests) in [
        (&model, "main/q", 0, 1),
        (&model, "main/q", 1, 2),
        (&other, "main/q", 0, 3),
        (&model, "other/q", 0, 3),
        (&model, "other/q", 1, 3),
    ] {
        ask(model, episode, repeat).await;
        assert_eq!(inner.asked.load(Ordering::Relaxed), requests, "{episode} {repeat}");
    }
}

#[tokio::test]
async fn neither_recording_nor_cache_holds_a_secret() {
    const KEY: &str = "sk-0123456789abcdef";
    // A bad server: it sends back what it was sent.
    let echo = format!(
        r#"{{"choices":[{{"message":{{"content":"your key is {KEY}, Authorization: Bearer {KEY}"}},"finish_reason":"stop"}}]}}"#
    );
    let server = Server::start(vec![reply(200, "content-type: application/json\r\n", echo.as_bytes())]).await;
    let base_url =
        format!("{}/v1?token=hidden-token", server.url.replace("http://", "http://hidden-user:hidden-word@"));
    let settings = RemoteSettings {
        model: "m".to_owned(),
        base_urls: vec![base_url.clone()],
        key: Some(SecretString::from(KEY)),
        client: ClientSettings { retry: quick(1), ..ClientSettings::default() },
        ..RemoteSettings::default()
    };
    let model: Arc<dyn Model> = Arc::new(openai::model(settings, OpenAiSettings::default()).expect("a model"));
    let dir = tempfile::tempdir().expect("a folder");
    let identity = ModelIdentity::new("openai", "m", "chat", Some(&base_url));
    let cache = Arc::new(Cache::open(&dir.path().join("cache")).expect("opens"));
    let cached = Arc::new(Cached::new(model, identity.clone(), cache.clone()));
    let path = dir.path().join("t.jsonl");
    let recorder = Arc::new(Recorder::open(&path).expect("opens"));
    let model = Recording::new(cached, identity, recorder);
    let answer = model.complete(&request("a"), None).await.expect("an answer");
    assert!(server.requests()[0].contains(KEY), "the server was sent the key");
    assert!(answer.text.contains("your key is"));
    assert_eq!(cache.counts().stored, 1);
    drop((model, cache));
    for file in [path, dir.path().join("cache/cache.redb")] {
        let bytes = std::fs::read(&file).expect("reads");
        assert!(bytes.windows(11).any(|window| window == b"your key is"), "{}", file.display());
        for secret in [KEY, "0123456789", "hidden-user", "hidden-word", "hidden-token"] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "`{secret}` is in {}", file.display());
        }
    }
}

#[test]
fn wrappers_report_unsupported_settings() {
    let dir = tempfile::tempdir().expect("a folder");
    let model: Arc<dyn Model> = Arc::new(anthropic::model(RemoteSettings::default(), false).expect("a model"));
    let identity = ModelIdentity::new("anthropic", "m", "messages", None);
    let cache = Arc::new(Cache::open(&dir.path().join("cache")).expect("opens"));
    let cached = Arc::new(Cached::new(model, identity.clone(), cache));
    let recorder = Arc::new(Recorder::open(&dir.path().join("t.jsonl")).expect("opens"));
    let warm = |temperature| Decoding { temperature, ..Decoding::default() };
    let model = Recording::new(cached, identity, recorder);
    assert!(model.unsupported(&warm(1.5), false).is_some() && model.unsupported(&warm(0.5), false).is_none());
}

/// A conversation whose calls, of an exemplar and of the model, have these ids.
fn calling(exemplar: &str, own: &str) -> Request {
    let call = |id: &str| FunctionCall { id: id.to_owned(), name: "search".to_owned(), arguments: "{}".to_owned() };
    let called = |id: &str| [Message { calls: vec![call(id)], ..Message::assistant("") }, Message::result(id, "a")];
    let messages = [called(exemplar), called(own)].into_iter().flatten().collect();
    Request::new(Prompt::Messages(messages), Vec::new(), Decoding::default())
}

#[tokio::test]
async fn what_was_asked_with_the_ids_of_an_earlier_version_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tape, made) = (folder.path().join("tape.jsonl"), Arc::new(Made::default()));
    let earlier = calling("example_1_call_2", "call_3_1");
    let recorder = Arc::new(Recorder::open(&tape).expect("a new file"));
    let model: Arc<dyn Model> = made.clone();
    let first = Recording::new(Arc::clone(&model), identity(), Arc::clone(&recorder));
    let answer = first.complete(&earlier, None).await.expect("an answer");
    drop((first, recorder));
    let replaying = Replaying::new(identity(), Player::open(&tape).expect("the recording"));
    let now = calling("x00010002", "c00030001");
    assert_eq!(replaying.complete(&now, None).await.expect("an answer").text, answer.text);
    assert!(replaying.complete(&calling("x00010003", "c00030001"), None).await.is_err());

    let cache = Arc::new(Cache::open(&folder.path().join("cache")).expect("a cache"));
    let cached = Cached::new(Arc::clone(&model), identity(), Arc::clone(&cache));
    let kept = cached.complete(&earlier, None).await.expect("an answer");
    drop(cached);
    let cached = Cached::new(model, identity(), cache);
    for (request, hit) in [(&now, true), (&calling("x00010002", "given"), false)] {
        let again =
            in_episode("q".to_owned(), 0, async { cached.complete(request, None).await }).await.expect("an answer");
        assert_eq!((again.cached, again.text == kept.text), (hit, hit));
    }
}
