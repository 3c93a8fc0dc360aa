//! Downloads from a server that cuts, lies, refuses and changes its mind.

use super::{DownloadError, Sink};
use crate::net::testing::{Reply, Server, reply, short};
use crate::net::{Client, ClientSettings, NetError, RetrySettings};
use std::io;
use std::time::Duration;

/// A sink in memory that notes where it was told to begin.
#[derive(Default)]
struct Memory {
    bytes: Vec<u8>,
    version: Option<String>,
    begun: Vec<(u64, Option<u64>)>,
    full: bool,
}

impl Sink for Memory {
    fn position(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn version(&self) -> Option<String> {
        self.version.clone()
    }

    fn begin(&mut self, position: u64, total: Option<u64>, version: Option<&str>) -> io::Result<()> {
        self.bytes.truncate(usize::try_from(position).expect("small"));
        self.version = version.map(str::to_owned);
        self.begun.push((position, total));
        Ok(())
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }
}

fn client() -> Client {
    let retry =
        RetrySettings { attempts: 3, first_wait: Duration::from_millis(1), longest_wait: Duration::from_millis(1) };
    Client::new(ClientSettings { retry, ..ClientSettings::default() }).expect("a client")
}

async fn download(replies: Vec<Reply>, sink: &mut Memory) -> (Result<(), DownloadError>, Vec<String>) {
    let server = Server::start(replies).await;
    let result = client().download(&format!("{}/data.json", server.url), 1000, sink).await;
    (result, server.requests())
}

fn header(request: &str, name: &str) -> Option<String> {
    request.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })
}

/// The first half of `0123456789` under a version, then nothing.
fn half() -> Reply {
    let head = "HTTP/1.1 200 X\r\ncontent-length: 10\r\netag: \"v1\"\r\nconnection: close\r\n\r\n01234";
    Reply::Raw(head.as_bytes().to_vec())
}

#[tokio::test]
async fn a_cut_connection_is_taken_up_where_it_broke_off() {
    let rest = reply(206, "content-range: bytes 5-9/10\r\netag: \"v1\"\r\n", b"56789");
    let mut sink = Memory::default();
    let (result, requests) = download(vec![half(), rest], &mut sink).await;
    result.expect("complete");
    assert_eq!(sink.bytes, b"0123456789");
    assert_eq!(sink.begun, [(0, Some(10)), (5, Some(10))]);
    assert_eq!(
        (header(&requests[0], "range"), header(&requests[0], "accept-encoding")),
        (None, Some("identity".into()))
    );
    assert_eq!(header(&requests[1], "range").as_deref(), Some("bytes=5-"));
    assert_eq!(header(&requests[1], "if-range").as_deref(), Some("\"v1\""));
}

#[tokio::test]
async fn a_file_that_changed_or_a_server_without_ranges_begins_anew() {
    let mut sink = Memory::default();
    let (result, _) = download(vec![half(), reply(200, "", b"another")], &mut sink).await;
    result.expect("complete");
    assert_eq!((sink.bytes.as_slice(), &sink.begun[1]), (&b"another"[..], &(0, Some(7))));
    // A range that was not asked for is not stitched to what is here.
    let mut sink = Memory::default();
    let wrong = reply(206, "content-range: bytes 3-9/10\r\n", b"3456789");
    let (result, requests) = download(vec![half(), wrong, reply(200, "", b"0123456789")], &mut sink).await;
    result.expect("complete");
    assert_eq!((sink.bytes.as_slice(), requests.len()), (&b"0123456789"[..], 3));
    assert_eq!(header(&requests[2], "range"), None);
}

#[tokio::test]
async fn what_is_complete_already_is_not_sent_again() {
    let mut sink = Memory { bytes: b"0123456789".to_vec(), ..Memory::default() };
    let (result, _) = download(vec![reply(416, "content-range: bytes */10\r\n", b"")], &mut sink).await;
    result.expect("complete");
    assert_eq!(sink.bytes.len(), 10);
    let mut sink = Memory { bytes: b"01234567890".to_vec(), ..Memory::default() };
    let replies = vec![reply(416, "content-range: bytes */10\r\n", b""), reply(200, "", b"0123456789")];
    download(replies, &mut sink).await.0.expect("complete");
    assert_eq!(sink.bytes, b"0123456789");
}

#[tokio::test]
async fn a_connection_that_always_breaks_is_given_up_and_what_came_is_kept() {
    let mut sink = Memory::default();
    let rest = "HTTP/1.1 206 X\r\ncontent-length: 5\r\ncontent-range: bytes 5-9/10\r\nconnection: close\r\n\r\n";
    let (result, requests) = download(vec![half(), Reply::Raw(rest.into())], &mut sink).await;
    let error = result.expect_err("given up");
    assert!(matches!(&error, DownloadError::Net(NetError::Exhausted { attempts: 3, .. })), "{error:?}");
    assert_eq!((sink.bytes.as_slice(), requests.len()), (&b"01234"[..], 3));
}

#[tokio::test]
async fn refusals_pages_and_large_files_are_final() {
    let mut sink = Memory::default();
    let (result, requests) = download(vec![reply(404, "", b"none")], &mut sink).await;
    assert!(matches!(result, Err(DownloadError::Status { status: 404, .. })), "{result:?}");
    assert_eq!(requests.len(), 1);
    let (result, _) = download(vec![reply(503, "", b""), reply(200, "", b"ok")], &mut sink).await;
    result.expect("the second attempt");
    let page = reply(200, "content-type: text/html; charset=utf-8\r\n", b"<html>");
    let mut sink = Memory::default();
    let error = download(vec![page], &mut sink).await.0.expect_err("a page");
    assert!(error.to_string().ends_with("/data.json` is a web page, not a data file"), "{error}");
    let (result, _) = download(vec![short(200, 2000, b"x")], &mut sink).await;
    assert!(matches!(result, Err(DownloadError::TooLarge { limit: 1000, .. })), "{result:?}");
    let endless = [b"HTTP/1.1 200 X\r\nconnection: close\r\n\r\n".as_slice(), &[b'x'; 1001]].concat();
    let (result, _) = download(vec![Reply::Raw(endless)], &mut sink).await;
    assert!(matches!(result, Err(DownloadError::TooLarge { limit: 1000, .. })), "{result:?}");
    assert!(sink.bytes.len() <= 1000);
    let mut sink = Memory { full: true, ..Memory::default() };
    let (result, requests) = download(vec![reply(200, "", b"x")], &mut sink).await;
    assert!(matches!(result, Err(DownloadError::Write(_))), "{result:?}");
    assert_eq!(requests.len(), 1);
}

#[tokio::test]
async fn redirects_are_followed_and_counted() {
    let mut sink = Memory::default();
    let (result, _) = download(vec![reply(302, "location: /other\r\n", b""), reply(200, "", b"ok")], &mut sink).await;
    result.expect("followed");
    assert_eq!(sink.bytes, b"ok");
    let (result, _) = download(vec![reply(302, "location: /other\r\n", b"")], &mut sink).await;
    assert!(matches!(result, Err(DownloadError::Net(NetError::Redirects { .. }))), "{result:?}");
    let error = client().download("ftp://h/x", 10, &mut sink).await.expect_err("not http");
    assert!(matches!(error, DownloadError::Net(NetError::BadUrl { .. })));
}

#[test]
fn only_strong_tags_name_a_version() {
    use reqwest::header::{ETAG, HeaderMap, HeaderValue, LAST_MODIFIED};
    let mut headers = HeaderMap::new();
    assert_eq!(super::version(&headers), None);
    headers.insert(ETAG, HeaderValue::from_static("W/\"v1\""));
    headers.insert(LAST_MODIFIED, HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert_eq!(super::version(&headers).as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    headers.insert(ETAG, HeaderValue::from_static("\"v1\""));
    assert_eq!(super::version(&headers).as_deref(), Some("\"v1\""));
}
