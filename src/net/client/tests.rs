//! The client against servers that answer, fail and do not answer.

use super::{
    Answer, Arc, Balance, Client, ClientSettings, Credential, Keep, Limiter, Listener, NetError, Settings, is_loopback,
};
use crate::net::MemoryBudget;
use crate::net::is_private;
use crate::net::testing::{Reply, Server, quick, reply, short};
use secrecy::SecretString;
use std::io::Write as _;
use std::time::{Duration, Instant};

fn client(attempts: u32) -> Client {
    settings(attempts, |_| {})
}

fn settings(attempts: u32, change: impl FnOnce(&mut ClientSettings)) -> Client {
    let mut settings = ClientSettings { retry: quick(attempts), max_body: 10_000, ..ClientSettings::default() };
    change(&mut settings);
    Client::new(settings).expect("a client")
}

/// One request at once; a `Retry-After` pauses all.
fn one() -> Arc<Limiter> {
    Arc::new(Limiter::new(&Settings { pause_all: true, ..Settings::fixed(1) }))
}

async fn get(client: &Client, replies: Vec<Reply>) -> (Result<Answer, NetError>, Server) {
    let server = Server::start(replies).await;
    let answer = client.get(&format!("{}/x?key=SECRET", server.url), &[("accept", "text/html")]).await;
    (answer, server)
}

#[tokio::test]
async fn an_answer_is_returned_whole() {
    let headers = "content-type: text/html; charset=UTF-8\r\nretry-after: 7\r\n";
    let (answer, server) = get(&client(1), vec![reply(200, headers, b"hello")]).await;
    let answer = answer.expect("an answer");
    assert_eq!((answer.status, answer.attempts, answer.body.as_slice()), (200, 1, b"hello".as_slice()));
    assert_eq!(answer.content_type.as_deref(), Some("text/html; charset=UTF-8"));
    assert_eq!(answer.retry_after, Some(Duration::from_secs(7)));
    assert_eq!((answer.url, answer.redirects), (format!("{}/x?key=SECRET", server.url), vec![]));
    let head = server.requests()[0].to_ascii_lowercase();
    assert!(head.starts_with("get /x?key=secret http/1.1\r\n"), "{head}");
    assert!(head.contains("\r\naccept: text/html\r\n") && head.contains("\r\nuser-agent: wikitrail/"), "{head}");
}

#[tokio::test]
async fn retry_after_pauses_every_request_of_the_client() {
    for status in [429, 503] {
        let one = settings(1, |s| s.limiter = one());
        let server = Server::start(vec![reply(status, "retry-after: 1\r\n", b""), reply(200, "", b"")]).await;
        let started = Instant::now();
        let statuses = tokio::join!(one.get(&server.url, &[]), one.get(&server.url, &[]), one.get(&server.url, &[]));
        let of = |answer: Result<Answer, NetError>| answer.expect("an answer").status;
        let mut statuses = [of(statuses.0), of(statuses.1), of(statuses.2)];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 200, status]);
        assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
    }
}

#[tokio::test]
async fn bodies_stop_at_the_limit_announced_streamed_or_compressed() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&vec![b'a'; 5_000_000]).expect("memory");
    let bomb = packed.finish().expect("memory");
    assert!(bomb.len() < 10_000);
    let chunked = {
        let piece = format!("1000\r\n{}\r\n", "a".repeat(0x1000));
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}0\r\n\r\n", piece.repeat(9)).into_bytes()
    };
    for large in [
        reply(200, "", &[b'a'; 10_001]),
        short(200, 1 << 40, b"lie"),
        reply(200, "content-encoding: gzip\r\n", &bomb),
        Reply::Raw(chunked),
    ] {
        let (answer, server) = get(&client(3), vec![large]).await;
        assert!(matches!(answer.expect_err("too large"), NetError::TooLarge { limit: 10_000, .. }));
        assert_eq!(server.requests().len(), 1, "a large answer would be as large again");
    }
    let (answer, _) = get(&client(1), vec![reply(200, "", &[b'a'; 10_000])]).await;
    assert_eq!(answer.expect("just fits").body.len(), 10_000);
}

#[tokio::test]
async fn large_answers_wait_until_others_were_used_and_small_ones_do_not() {
    static BUDGET: MemoryBudget = MemoryBudget::new(2);
    let client = settings(1, |s| {
        s.max_body = 3 << 20;
        s.memory = Some(&BUDGET);
        s.timeout = Duration::from_secs(5);
    });
    // An answer that is larger than the budget takes all of it.
    let large = reply(200, "", &vec![b'a'; (2 << 20) + 1]);
    let server = Server::start(vec![large.clone(), large, reply(200, "", &vec![b'a'; 1 << 20])]).await;
    let first = client.get(&server.url, &[]).await.expect("an answer");
    let (second, ()) = tokio::join!(client.get(&server.url, &[]), async {
        while server.requests().len() < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let small = client.get(&server.url, &[]).await.expect("reserves nothing");
        assert_eq!(small.body.len(), 1 << 20);
        // The wait is longer than an answer may take, and counts for nothing.
        let kept = first.memory.clone();
        drop(first);
        tokio::time::sleep(Duration::from_secs(6)).await;
        drop(kept);
    });
    assert_eq!(second.expect("there is memory").body.len(), (2 << 20) + 1);
}

#[tokio::test]
async fn a_request_that_waits_for_its_retry_holds_no_permit() {
    let slow = settings(2, |s| {
        s.limiter = one();
        s.retry.first_wait = Duration::from_hours(1);
        s.retry.longest_wait = Duration::from_hours(1);
    });
    let server = Server::start(vec![reply(500, "", b""), reply(200, "", b"ok")]).await;
    tokio::select! {
        _ = slow.get(&server.url, &[]) => panic!("an hour cannot have passed"),
        second = async {
            while server.requests().is_empty() {
                tokio::task::yield_now().await;
            }
            slow.get(&server.url, &[]).await
        } => assert_eq!(second.expect("an answer").body, b"ok"),
    }
}

#[test]
fn loopback_urls() {
    for (address, near) in [
        ("http://127.0.0.1:1/", true),
        ("http://127.8.9.1/", true),
        ("http://[::1]:8000/", true),
        ("http://localhost/", true),
        ("http://localhost.example.org/", false),
        ("http://10.0.0.1/", false),
    ] {
        assert_eq!(is_loopback(&address.parse().expect("a URL")), near, "{address}");
    }
}

/// Accepts bodies that end in `}`.
struct Whole;

impl Listener for Whole {
    fn end(&mut self, answer: &Answer) -> bool {
        answer.body.ends_with(b"}")
    }
}

#[tokio::test]
async fn temporary_failures_are_retried_and_the_last_answer_is_returned() {
    for first in
        [reply(429, "retry-after: 0\r\n", b""), reply(500, "", b"<html>"), Reply::Close, short(200, 100, b"only this")]
    {
        let shown = format!("{first:?}");
        let (answer, _) = get(&client(3), vec![first, reply(200, "", b"ok")]).await;
        let answer = answer.expect(&shown);
        assert_eq!((answer.status, answer.attempts, answer.body.as_slice()), (200, 2, b"ok".as_slice()), "{shown}");
    }
    for (status, attempts) in [(404, 1), (503, 3)] {
        let (answer, server) = get(&client(3), vec![reply(status, "", b"no")]).await;
        let answer = answer.expect("any status is an answer");
        assert_eq!((answer.status, answer.attempts, server.requests().len()), (status, attempts, attempts as usize));
    }
    let post = async |server: &Server| {
        client(3).post_json(std::slice::from_ref(&server.url), &Balance::new(1), &[], &[], vec![], &mut Whole).await
    };
    for (replies, attempts) in [(vec!["{\"cut", "{}"], 2), (vec!["{\"cut"], 3)] {
        let server = Server::start(replies.iter().map(|body| reply(200, "", body.as_bytes())).collect()).await;
        let answer = post(&server).await.expect("an answer");
        assert_eq!((answer.attempts, answer.body.as_slice()), (attempts, replies[replies.len() - 1].as_bytes()));
        assert!(!server.requests()[0].to_ascii_lowercase().contains("authorization"));
    }
}

#[tokio::test]
async fn after_too_long_a_retry_after_nothing_is_sent() {
    let patient = client(3);
    let server = Server::start(vec![reply(429, "retry-after: 601\r\n", b""), reply(200, "", b"")]).await;
    for _ in 0..4 {
        let error = patient.get(&server.url, &[]).await.expect_err("held off");
        assert!(matches!(error, NetError::HeldOff { status: 429, .. }), "{error:?}");
        let host = server.url.trim_start_matches("http://");
        assert_eq!(error.to_string(), format!("`{host}` asked with status 429 to wait 11 minutes"));
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn failures_are_typed_and_counted_and_name_no_secret() {
    let impatient = settings(2, |s| s.timeout = Duration::from_millis(60));
    let stall = Reply::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_vec());
    for (reply, expected) in [
        (Reply::Hang, "Timeout"),
        (stall, "Timeout"),
        (Reply::Close, "Broken"),
        (short(200, 100, b"half"), "Truncated"),
    ] {
        let (answer, server) = get(&impatient, vec![reply]).await;
        let error = answer.expect_err("no answer");
        assert!(format!("{:?}", error.last()).starts_with(expected), "{error:?}");
        assert_eq!((error.attempts(), server.requests().len()), (2, 2));
        let (text, host) = (error.to_string(), server.url.trim_start_matches("http://"));
        assert!(text.contains(&format!("`{host}`")) && text.ends_with("(after 2 attempts)"), "{text}");
        assert!(!text.contains("SECRET"), "{text}");
    }
    let address = closed().replace("://", "://user:SECRET@");
    let error = client(2).get(&address, &[]).await.expect_err("closed");
    assert!(matches!(error.last(), NetError::Connect { refused: true, .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("SECRET"));
    assert!(error.hint().is_some_and(|h| h.contains("is the server up")));
    for (address, shown) in [
        ("ftp://u:SECRET@h/x", "`ftp://h/x` is not a usable URL: the scheme is `ftp`, not http or https"),
        ("nonsense", "`nonsense` is not a usable URL: relative URL without a base"),
        ("http://", "`http://` is not a usable URL: empty host"),
        (&format!("http://h/?{}", "x".repeat(70_000)), "`h` is not a usable URL: "),
    ] {
        let error = client(3).get(address, &[]).await.expect_err("not a URL");
        assert!(error.to_string().starts_with(shown) && error.to_string().len() < 200, "{error}");
        assert_eq!(error.attempts(), 0);
    }
}

/// The URL of a port where nothing listens.
fn closed() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    format!("http://{}", listener.local_addr().expect("bound"))
}

#[tokio::test]
async fn redirects_are_followed_listed_and_limited() {
    let hops = vec![reply(302, "location: /y?q='\r\n", b""), reply(301, "location: z's\r\n", b""), reply(200, "", b"")];
    let (answer, server) = get(&client(1), hops.clone()).await;
    let answer = answer.expect("an answer");
    let base = &server.url;
    // An apostrophe is encoded in a query, and not in a path.
    assert_eq!(answer.url, format!("{base}/z's"));
    assert_eq!(answer.redirects, [format!("{base}/x?key=SECRET"), format!("{base}/y?q=%27")]);
    let (answer, _) = get(&settings(1, |s| s.max_redirects = 1), hops.clone()).await;
    assert!(matches!(answer.expect_err("one too many"), NetError::Redirects { limit: 1, .. }));
    let (answer, _) = get(&client(1), vec![reply(302, "location: file:///etc/passwd\r\n", b"")]).await;
    assert!(matches!(answer.expect_err("no file"), NetError::BadUrl { .. }));
    for (max_redirects, reply, status) in [(0, hops[0].clone(), 302), (5, reply(304, "", b""), 304)] {
        let (answer, _) = get(&settings(1, |s| s.max_redirects = max_redirects), vec![reply]).await;
        assert_eq!(answer.expect("the redirect itself").status, status);
    }
}

#[tokio::test]
async fn credentials_go_to_their_own_host_only() {
    let key = SecretString::from("sk-0123456789");
    for (user, credential, header) in [
        ("", Some(Credential::Bearer(&key)), "authorization: Bearer sk-0123456789\r\n"),
        ("", Some(Credential::Header("x-api-key", &key)), "x-api-key: sk-0123456789\r\n"),
        // `user:SE@CRET`.
        ("user:SE%40CRET@", None, "authorization: Basic dXNlcjpTRUBDUkVU\r\n"),
        ("user:SECRET@", Some(Credential::Bearer(&key)), "authorization: Bearer sk-0123456789\r\n"),
    ] {
        let other = Server::start(vec![reply(200, "", b"{}")]).await;
        let away = reply(307, &format!("location: {}/take\r\n", other.url.replace("://", "://mallory:x@")), b"");
        let server = Server::start(vec![reply(307, "location: /y\r\n", b""), away]).await;
        let urls = [server.url.replace("://", &format!("://{user}"))];
        let body = b"{\"a\":1}".to_vec();
        let answer = client(1).post_json(&urls, &Balance::new(1), &[], credential.as_slice(), body, &mut Keep).await;
        let answer = answer.expect("an answer");
        let (requests, taken) = (server.requests(), &other.requests()[0]);
        assert_eq!(requests.len(), 2);
        for request in &requests {
            assert!(request.contains(header), "{request}");
            assert!(request.matches("authorization").count() < 2, "{request}");
        }
        assert!(taken.starts_with("POST /take") && taken.ends_with("{\"a\":1}"), "{taken}");
        assert!(!taken.contains("authorization") && !taken.contains("x-api-key"), "{taken}");
        assert_eq!(answer.redirects, [format!("{}/", server.url), format!("{}/y", server.url)]);
        assert_eq!(answer.url, format!("{}/take", other.url));
    }
    let server = Server::start(vec![reply(200, "", b"")]).await;
    let odd = server.url.replace("://", "://%FF:SECRET@");
    assert_eq!(client(1).get(&odd, &[]).await.expect("an answer").url, format!("{}/", server.url));
    let bad = SecretString::from("two\nlines");
    let credential = Some(Credential::Bearer(&bad));
    let urls = [server.url.clone()];
    let error = client(1).post_json(&urls, &Balance::new(1), &[], credential.as_slice(), vec![], &mut Keep).await;
    assert_eq!(error.expect_err("no header"), NetError::BadHeader { name: "authorization".into() });
}

#[tokio::test]
async fn requests_and_retries_go_to_the_servers_that_answer() {
    let there = Server::start(vec![reply(200, "", b"{}")]).await;
    let busy = Server::start(vec![reply(503, "", b"")]).await;
    let client = client(3);
    let post = async |urls: [String; 2], balance: &Balance| {
        client.post_json(&urls, balance, &[], &[], vec![], &mut Keep).await
    };
    let (gone, balance) = (closed(), Balance::new(2));
    for attempts in [2, 1, 1] {
        let answer = post([gone.clone(), there.url.clone()], &balance).await;
        assert_eq!(answer.expect("an answer").attempts, attempts);
    }
    let answer = post([busy.url.clone(), there.url.clone()], &Balance::new(2)).await;
    assert_eq!(answer.expect("an answer").attempts, 2);
    assert_eq!((busy.requests().len(), there.requests().len()), (1, 4));
    for status in 401..=404 {
        let refuses = Server::start(vec![reply(status, "", b"")]).await;
        let balance = Balance::new(2);
        for attempts in [2, 1, 1] {
            let answer = post([refuses.url.clone(), there.url.clone()], &balance).await.expect("an answer");
            assert_eq!((answer.status, answer.attempts), (200, attempts), "{status}");
        }
        let answer = post([refuses.url.clone(), refuses.url.clone()], &Balance::new(2)).await.expect("an answer");
        assert_eq!((answer.status, answer.attempts, refuses.requests().len()), (status, 2, 3), "each is asked once");
    }
    let error = post([gone.clone(), gone], &Balance::new(2)).await.expect_err("nobody is there");
    assert!(matches!(error.last(), NetError::Connect { refused: true, .. }), "{error:?}");
}

#[test]
fn private_hosts_are_known() {
    for host in ["localhost", "127.0.0.2", "[::1]", "10.1.2.3", "192.168.0.1", "wiki", "a.local", "[fd00::1]"] {
        assert!(is_private(host), "{host}");
    }
    for host in ["en.wikipedia.org", "8.8.8.8", "[2001:db8::1]", "evil.localhost.example.org"] {
        assert!(!is_private(host), "{host}");
    }
}
