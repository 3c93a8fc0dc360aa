//! Batches of messages, which version 2025-03-26 of the Model Context Protocol has, and no other. The SDK reads single
//! messages, so those of a batch are handed to it one after the other, and its answers are put together again.

use crate::base::locked;
use crate::net::server::reply::{self, body};
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::oneshot;

const VERSION: &str = "2025-03-26";
const MAX_MESSAGES: usize = 100;
/// The longest line that may be a batch, in bytes. The SDK skips longer ones.
const MAX_LINE: u64 = 16 << 20;
/// The answers to a batch over HTTP, in bytes.
const MAX_ANSWER: usize = 16 << 20;
/// What the ids of messages begin with while they are with the SDK, so that two of them are never the same.
const PREFIX: &str = "wikitrail-batch-";

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INTERNAL_ERROR: i32 = -32603;

/// The fields of a message as they were written: an id may be a number of any length.
type Message = BTreeMap<String, Box<RawValue>>;

enum Item {
    /// It has to be answered under this id.
    Request(Box<RawValue>, Message),
    /// A notification, or an answer.
    Other(Message),
    /// What is answered with this error.
    Bad(String),
}

/// The messages of a batch; or errors, one for each request in it, so that none waits for an answer.
fn batch(bytes: &[u8], allowed: bool) -> Result<Vec<Item>, Vec<String>> {
    let Ok(messages) = serde_json::from_slice::<Vec<&RawValue>>(bytes) else {
        return Err(vec![error(None, PARSE_ERROR, "the batch is not a JSON array")]);
    };
    let refused = match messages.len() {
        0 => Some("the batch is empty".to_owned()),
        _ if !allowed => Some(format!("only protocol version {VERSION} has batches")),
        MAX_MESSAGES.. if messages.len() > MAX_MESSAGES => Some(format!("a batch has at most {MAX_MESSAGES} messages")),
        _ => None,
    };
    let items = messages.iter().map(|message| item(message));
    let Some(why) = refused else { return Ok(items.collect()) };
    let answered = |item| match item {
        Item::Request(id, _) => Some(error(Some(&id), INVALID_REQUEST, &why)),
        Item::Bad(error) => Some(error),
        Item::Other(_) => None,
    };
    let errors: Vec<String> = items.filter_map(answered).collect();
    Err(if errors.is_empty() { vec![error(None, INVALID_REQUEST, &why)] } else { errors })
}

fn item(text: &RawValue) -> Item {
    let bad = |id: Option<&RawValue>, why: &str| Item::Bad(error(id, INVALID_REQUEST, why));
    let Ok(message) = serde_json::from_str::<Message>(text.get()) else { return bad(None, "not a message") };
    let is_id = |id: &str| id.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit());
    let id = message.get("id").filter(|id| is_id(id.get())).cloned();
    let method: Option<String> = message.get("method").and_then(|method| serde_json::from_str(method.get()).ok());
    match (id, method.as_deref()) {
        (Some(id), Some("initialize")) => bad(Some(&id), "`initialize` may not be part of a batch"),
        (Some(id), Some(method)) if method.starts_with("notifications/") => bad(Some(&id), "a notification has no id"),
        (Some(id), Some(_)) => Item::Request(id, message),
        (None, Some(_)) if !message.contains_key("id") => Item::Other(message),
        (Some(_), None) if message.contains_key("result") || message.contains_key("error") => Item::Other(message),
        (id, _) => bad(id.as_deref(), "not a message"),
    }
}

fn error(id: Option<&RawValue>, code: i32, message: &str) -> String {
    let id = id.map_or("null", RawValue::get);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{}}}}}"#, json!(message))
}

fn with_id(mut message: Message, id: Box<RawValue>) -> String {
    message.insert("id".to_owned(), id);
    text(&message)
}

/// The id of a message of a batch while it is with the SDK.
fn own_id(number: u64) -> Box<RawValue> {
    RawValue::from_string(format!("\"{PREFIX}{number}\"")).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn text(message: &Message) -> String {
    // Raw values are JSON already.
    serde_json::to_string(message).unwrap_or_default()
}

fn is_batch(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().first() == Some(&b'[')
}

/// The message with this id that waits for its answer.
type Waiting = Arc<Mutex<Option<(String, oneshot::Sender<Message>)>>>;

/// Two ends of standard input and output, between which batches are taken apart: what the SDK reads and writes.
pub(super) fn between<R, W>(
    input: R,
    output: W,
) -> (impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin, impl Future<Output = ()> + Send)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    const BUFFER: usize = 64 << 10;
    let (to_service, service_in) = tokio::io::duplex(BUFFER);
    let (service_out, from_service) = tokio::io::duplex(BUFFER);
    let (output, waiting) = (Arc::new(tokio::sync::Mutex::new(output)), Waiting::default());
    let inbound = tokio::spawn(inbound(input, to_service, Arc::clone(&output), Arc::clone(&waiting)));
    let outbound = tokio::spawn(outbound(from_service, output, waiting));
    let ended = async move {
        // It ends with the service, after the last answer.
        let _ = outbound.await;
        inbound.abort();
    };
    (service_in, service_out, ended)
}

async fn inbound<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    input: R,
    mut service: impl AsyncWrite + Unpin,
    output: Arc<tokio::sync::Mutex<W>>,
    waiting: Waiting,
) -> io::Result<()> {
    let (mut reader, mut line) = (BufReader::new(input), Vec::new());
    let (mut version, mut inside, mut count) = (None, false, 0_u64);
    loop {
        line.clear();
        if (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let whole = !inside && line.ends_with(b"\n");
        inside = !line.ends_with(b"\n");
        if !whole || !is_batch(&line) {
            if version.is_none() {
                version = asked_version(&line);
            }
            service.write_all(&line).await?;
            continue;
        }
        let items = match batch(&line, version.as_deref() == Some(VERSION)) {
            Ok(items) => items,
            Err(errors) => {
                write_line(&output, &errors.join("\n")).await?;
                continue;
            }
        };
        let mut answers = Vec::new();
        for item in items {
            match item {
                Item::Bad(error) => answers.push(error),
                Item::Other(message) => service.write_all(format!("{}\n", text(&message)).as_bytes()).await?,
                Item::Request(id, message) => {
                    count += 1;
                    let own = own_id(count);
                    let (sender, answer) = oneshot::channel();
                    *locked(&waiting) = Some((own.get().to_owned(), sender));
                    let message = with_id(message, own);
                    service.write_all(format!("{message}\n").as_bytes()).await?;
                    let Ok(answer) = answer.await else { return Ok(()) };
                    answers.push(with_id(answer, id));
                }
            }
        }
        if !answers.is_empty() {
            write_line(&output, &format!("[{}]", answers.join(","))).await?;
        }
    }
}

async fn outbound<W: AsyncWrite + Unpin>(
    service: impl AsyncRead + Unpin,
    output: Arc<tokio::sync::Mutex<W>>,
    waiting: Waiting,
) {
    let (mut reader, mut line) = (BufReader::new(service), Vec::new());
    let own = format!("\"{PREFIX}");
    while matches!(reader.read_until(b'\n', &mut line).await, Ok(1..)) {
        if !take_answer(&line, &own, &waiting) {
            let mut output = output.lock().await;
            if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
                break;
            }
        }
        line.clear();
    }
    locked(&waiting).take();
}

/// Hands over the answer to a message of a batch; `false` for other messages. An answer without an id is that to the message
/// that waits: the SDK could not read it.
fn take_answer(line: &[u8], own: &str, waiting: &Waiting) -> bool {
    let mut waiting = locked(waiting);
    if waiting.is_none() && memchr::memmem::find(line, own.as_bytes()).is_none() {
        return false;
    }
    let answer = serde_json::from_slice(line).ok().filter(|answer: &Message| !answer.contains_key("method"));
    let Some(answer) = answer else { return false };
    let id = answer.get("id").map_or("null", |id| id.get());
    let Some((_, asked)) = waiting.take_if(|(waited, _)| *waited == id || id == "null") else {
        return id.starts_with(own);
    };
    // Nothing waits once the client has hung up.
    let _ = asked.send(answer);
    true
}

async fn write_line<W: AsyncWrite + Unpin>(output: &tokio::sync::Mutex<W>, line: &str) -> io::Result<()> {
    let mut output = output.lock().await;
    output.write_all(format!("{line}\n").as_bytes()).await?;
    output.flush().await
}

/// The version that a client asks for, if this is how it begins.
fn asked_version(line: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let version = message["params"]["protocolVersion"].as_str().filter(|_| message["method"] == "initialize");
    version.map(str::to_owned)
}

/// Answers a batch over HTTP; other requests go on as they are.
pub(super) async fn over_http(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (head, content) = request.into_parts();
    let bytes = match body(content).await {
        Ok(bytes) => bytes,
        Err(refusal) => return refusal.into_response(),
    };
    if !is_batch(&bytes) {
        return next.run(Request::from_parts(head, Body::from(bytes))).await;
    }
    // A client of the version with batches names no version in its requests.
    let allowed = head.headers.get("mcp-protocol-version").is_none_or(|version| version == VERSION);
    let items = match batch(&bytes, allowed) {
        Ok(items) => items,
        Err(errors) => return answered(StatusCode::BAD_REQUEST, &errors),
    };
    let (mut answers, mut room) = (Vec::new(), Some(MAX_ANSWER));
    for item in items {
        let (id, message) = match item {
            Item::Bad(error) => {
                answers.push(error);
                continue;
            }
            // The SDK does not take every id that a client may choose.
            Item::Request(id, message) => (Some(id), with_id(message, own_id(0))),
            Item::Other(message) => (None, text(&message)),
        };
        let Some(left) = room else {
            answers.extend(id.map(|id| too_large(&id)));
            continue;
        };
        let mut head = head.clone();
        head.headers.remove(header::CONTENT_LENGTH);
        let answer = next.clone().run(Request::from_parts(head, Body::from(message))).await;
        let Some(id) = id else { continue };
        let (head, content) = answer.into_parts();
        let Ok(bytes) = to_bytes(content, left).await else {
            room = None;
            answers.push(too_large(&id));
            continue;
        };
        room = left.checked_sub(bytes.len());
        answers.push(match serde_json::from_slice::<Message>(&bytes) {
            Ok(answer) => with_id(answer, id),
            // The SDK answers what it cannot read with words.
            Err(_) => error(Some(&id), INVALID_REQUEST, &format!("the message was refused with {}", head.status)),
        });
    }
    if answers.is_empty() { StatusCode::ACCEPTED.into_response() } else { answered(StatusCode::OK, &answers) }
}

fn too_large(id: &RawValue) -> String {
    error(Some(id), INTERNAL_ERROR, "the answers to a batch are larger than 16 MiB; send fewer messages in one")
}

fn answered(status: StatusCode, answers: &[String]) -> Response {
    reply::typed(status, "application/json", format!("[{}]", answers.join(",")))
}
