//! Downloads from servers that break off, fail and change the file.

use super::{DownloadError, Sink};
use crate::net::testing::{Reply, Server, quick, reply, short};
use crate::net::{Client, ClientSettings, NetError};
use std::io;

/// A sink in memory that records its starts.
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
    Client::new(ClientSettings { retry: quick(3), ..ClientSettings::default() }).expect("a client")
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
async fn a_broken_download_is_resumed() {
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
async fn a_changed_file_and_a_server_without_ranges_start_over() {
    let mut sink = Memory::default();
    let (result, _) = download(vec![half(), reply(200, "", b"another")], &mut sink).await;
    result.expect("complete");
    assert_eq!((sink.bytes.as_slice(), &sink.begun[1]), (&b"another"[..], &(0, Some(7))));
    // Another range than requested is not appended.
    let mut sink = Memory::default();
    let wrong = reply(206, "content-range: bytes 3-9/10\r\n", b"3456789");
    let (result, requests) = download(vec![half(), wrong, reply(200, "", b"0123456789")], &mut sink).await;
    result.expect("complete");
    assert_eq!((sink.bytes.as_slice(), requests.len()), (&b"0123456789"[..], 3));
    assert_eq!(header(&requests[2], "range"), None);
}

#[tokio::test]
async fn a_complete_file_is_not_downloaded_again() {
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
async fn after_the_last_attempt_the_received_part_is_kept() {
    let mut sink = Memory::default();
    let rest = "HTTP/1.1 206 X\r\ncontent-length: 5\r\ncontent-range: bytes 5-9/10\r\nconnection: close\r\n\r\n";
    let (result, requests) = download(vec![half(), Reply::Raw(rest.into())], &mut sink).await;
    let error = result.expect_err("given up");
    assert!(matches!(&error, DownloadError::Net(NetError::Exhausted { attempts: 3, .. })), "{error:?}");
    assert_eq!((sink.bytes.as_slice(), requests.len()), (&b"01234"[..], 3));
}

#[tokio::test]
async fn errors_pages_and_large_files_are_final() {
    let page = reply(200, "content-type: text/html; charset=utf-8\r\n", b"<html>");
    let endless = [b"HTTP/1.1 200 X\r\nconnection: close\r\n\r\n".as_slice(), &[b'x'; 1001]].concat();
    for (first, full, message) in [
        (reply(404, "", b"none"), false, "/data.json` answered with status 404"),
        (page, false, "/data.json` is a web page, not a data file"),
        (short(200, 2000, b"x"), false, "/data.json` is larger than 1000 bytes"),
        (Reply::Raw(endless), false, "/data.json` is larger than 1000 bytes"),
        (reply(200, "", b"x"), true, "cannot write the download: no storage space"),
        (reply(302, "location: ftp://h/\r\n", b""), false, "leads to another scheme"),
    ] {
        let mut sink = Memory { full, ..Memory::default() };
        let (result, requests) = download(vec![first, reply(200, "", b"ok")], &mut sink).await;
        let error = result.expect_err(message).to_string();
        assert!(error.ends_with(message), "{error}");
        assert!(requests.len() == 1 && sink.bytes.len() <= 1000);
    }
    let mut sink = Memory::default();
    let (result, _) = download(vec![reply(302, "location: /other\r\n", b"")], &mut sink).await;
    assert!(matches!(result, Err(DownloadError::Net(NetError::Redirects { .. }))), "{result:?}");
    for first in [reply(503, "", b""), reply(302, "location: /other\r\n", b"")] {
        download(vec![first, reply(200, "", b"ok")], &mut sink).await.0.expect("the second answer");
        assert_eq!(sink.bytes, b"ok");
        sink = Memory::default();
    }
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
