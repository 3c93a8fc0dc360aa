//! The client against servers that answer well, badly and not at all.

use super::{
    Answer, Arc, Balance, Client, ClientSettings, Credential, Keep, Limiter, NetError, RetrySettings, Settings,
    is_loopback,
};
use crate::net::testing::{Reply, Server, reply, short};
use secrecy::SecretString;
use std::io::Write as _;
use std::time::{Duration, Instant};

fn client(attempts: u32) -> Client {
    settings(attempts, |_| {})
}

fn settings(attempts: u32, change: impl FnOnce(&mut ClientSettings)) -> Client {
    let retry =
        RetrySettings { attempts, first_wait: Duration::from_millis(1), longest_wait: Duration::from_millis(4) };
    let mut settings = ClientSettings { retry, max_body: 10_000, ..ClientSettings::default() };
    change(&mut settings);
    Client::new(settings).expect("a client")
}

/// One request at once, whose `Retry-After` binds all.
fn one() -> Arc<Limiter> {
    Arc::new(Limiter::new(&Settings { pause_all: true, ..Settings::fixed(1) }))
}

async fn get(client: &Client, replies: Vec<Reply>) -> (Result<Answer, NetError>, Server) {
    let server = Server::start(replies).await;
    let answer = client.get(&format!("{}/x?key=SECRET", server.url), &[("accept", "text/html")]).await;
    (answer, server)
}

#[tokio::test]
async fn an_answer_is_handed_over_whole() {
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
async fn passing_failures_of_every_kind_are_tried_again() {
    for first in [
        reply(429, "retry-after: 0\r\n", b""),
        reply(500, "", b"<html>"),
        reply(502, "content-type: text/html\r\n", b"<html>"),
        reply(529, "", b""),
        reply(408, "", b""),
        Reply::Close,
        short(200, 100, b"only this"),
    ] {
        let shown = format!("{first:?}");
        let (answer, server) = get(&client(3), vec![first, reply(200, "", b"ok")]).await;
        let answer = answer.expect(&shown);
        assert_eq!((answer.status, answer.attempts, answer.body.as_slice()), (200, 2, b"ok".as_slice()), "{shown}");
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn mistakes_are_final_at_once_and_overload_after_the_last_attempt() {
    for status in [400, 401, 403, 404] {
        let (answer, server) = get(&client(3), vec![reply(status, "", b"no")]).await;
        assert_eq!(answer.expect("an answer").status, status);
        assert_eq!(server.requests().len(), 1);
    }
    let (answer, server) = get(&client(3), vec![reply(503, "", b"busy")]).await;
    let answer = answer.expect("any status is an answer");
    assert_eq!((answer.status, answer.attempts, server.requests().len()), (503, 3, 3));
}

#[tokio::test]
async fn too_long_a_wait_is_not_waited_and_a_short_one_is() {
    let (answer, server) = get(&client(3), vec![reply(429, "retry-after: 301\r\n", b"")]).await;
    assert_eq!((answer.expect("an answer").status, server.requests().len()), (429, 1));
    let (answer, _) = get(&client(3), vec![reply(429, "retry-after: 1\r\n", b""), reply(200, "", b"")]).await;
    let answer = answer.expect("an answer");
    assert_eq!((answer.status, answer.attempts), (200, 2));
    assert!(answer.elapsed >= Duration::from_secs(1), "{:?}", answer.elapsed);
}

#[tokio::test]
async fn retry_after_binds_every_request_of_the_client() {
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
async fn after_too_long_a_retry_after_nothing_is_sent() {
    let patient = client(3);
    let server = Server::start(vec![reply(429, "retry-after: 3600\r\n", b""), reply(200, "", b"")]).await;
    assert_eq!(patient.get(&server.url, &[]).await.expect("an answer").status, 429);
    for _ in 0..3 {
        let error = patient.get(&server.url, &[]).await.expect_err("held off");
        assert!(matches!(error, NetError::HeldOff { status: 429, .. }), "{error:?}");
        assert_eq!((error.attempts(), error.hint().is_some()), (0, true));
        let host = server.url.trim_start_matches("http://");
        assert_eq!(error.to_string(), format!("`{host}` asked with status 429 not to be asked again, for 3600 s more"));
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn broken_connections_are_typed_and_counted() {
    let (answer, server) = get(&client(3), vec![Reply::Close]).await;
    let error = answer.expect_err("no answer");
    let host = server.url.trim_start_matches("http://").to_owned();
    assert!(matches!(error.last(), NetError::Broken { host: h, .. } if *h == host), "{error:?}");
    assert_eq!((error.attempts(), server.requests().len()), (3, 3));
    let text = error.to_string();
    assert!(text.ends_with("(after 3 attempts)") && !text.contains("SECRET"), "{text}");

    let (answer, _) = get(&client(2), vec![short(200, 100, b"half")]).await;
    assert!(matches!(answer.expect_err("no answer").last(), NetError::Truncated { .. }));
}

#[tokio::test]
async fn silence_ends_in_a_timeout() {
    let impatient = settings(2, |s| s.timeout = Duration::from_millis(60));
    let stall = Reply::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_vec());
    for silent in [Reply::Hang, stall] {
        let (answer, server) = get(&impatient, vec![silent]).await;
        let error = answer.expect_err("no answer");
        assert!(matches!(error.last(), NetError::Timeout { after, .. } if after.as_millis() == 60), "{error:?}");
        assert_eq!((error.attempts(), server.requests().len()), (2, 2));
        assert!(error.hint().is_some());
    }
}

#[tokio::test]
async fn a_port_where_nobody_listens() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("bound").port()
    };
    let error = client(2).get(&format!("http://user:SECRET@127.0.0.1:{port}/"), &[]).await.expect_err("closed");
    assert!(matches!(error.last(), NetError::Connect { refused: true, .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("SECRET"));
    assert!(error.hint().is_some_and(|h| h.contains("is the server up")));
}

#[tokio::test]
async fn bodies_stop_at_the_cap_announced_streamed_or_packed() {
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
async fn redirects_are_followed_listed_and_limited() {
    let hops = vec![reply(302, "location: /y?q=1\r\n", b""), reply(301, "location: z\r\n", b""), reply(200, "", b"z")];
    let (answer, server) = get(&client(1), hops.clone()).await;
    let answer = answer.expect("an answer");
    let base = &server.url;
    assert_eq!(answer.url, format!("{base}/z"));
    assert_eq!(answer.redirects, [format!("{base}/x?key=SECRET"), format!("{base}/y?q=1")]);

    let (answer, _) = get(&settings(1, |s| s.max_redirects = 1), hops.clone()).await;
    assert!(matches!(answer.expect_err("one too many"), NetError::Redirects { limit: 1, .. }));
    let (answer, _) = get(&settings(1, |s| s.max_redirects = 0), hops).await;
    assert_eq!(answer.expect("the redirect itself").status, 302);
    let (answer, _) = get(&client(1), vec![reply(302, "location: file:///etc/passwd\r\n", b"")]).await;
    assert!(matches!(answer.expect_err("no file"), NetError::BadUrl { .. }));
    let (answer, _) = get(&client(1), vec![reply(304, "", b"")]).await;
    assert_eq!(answer.expect("not a redirect").status, 304);
}

#[tokio::test]
async fn a_key_goes_to_its_own_host_and_nowhere_else() {
    let key = SecretString::from("sk-0123456789");
    let other = Server::start(vec![reply(200, "", b"{}")]).await;
    let away = reply(307, &format!("location: {}/take\r\n", other.url), b"");
    let server = Server::start(vec![away]).await;
    let answer =
        client(1).post_json(&server.url, &[], Some(&key), b"{\"a\":1}".to_vec(), &|_| true).await.expect("an answer");
    assert_eq!(answer.url, format!("{}/take", other.url));
    let (first, second) = (&server.requests()[0], &other.requests()[0]);
    assert!(first.contains("authorization: Bearer sk-0123456789\r\n"), "{first}");
    assert!(second.starts_with("POST /take") && second.ends_with("{\"a\":1}"), "{second}");
    assert!(!second.contains("sk-0123456789"), "{second}");

    let bad = SecretString::from("two\nlines");
    let error = client(1).post_json(&server.url, &[], Some(&bad), vec![], &|_| true).await.expect_err("no header");
    assert_eq!(error, NetError::BadHeader { name: "authorization".into() });
}

#[tokio::test]
async fn the_user_part_of_an_address_is_sent_to_its_own_host_and_kept_nowhere() {
    let other = Server::start(vec![reply(200, "", b"")]).await;
    let away = reply(302, &format!("location: {}/z\r\n", other.url.replace("://", "://mallory:x@")), b"");
    let server = Server::start(vec![reply(302, "location: /y\r\n", b""), away]).await;
    let address = server.url.replace("://", "://user:SE%40CRET@");
    let answer = client(1).get(&address, &[]).await.expect("an answer");
    let requests = server.requests();
    for request in &requests {
        // `user:SE@CRET`.
        assert!(request.contains("authorization: Basic dXNlcjpTRUBDUkVU\r\n"), "{request}");
    }
    assert_eq!(requests.len(), 2);
    assert!(!other.requests()[0].contains("authorization"), "{}", other.requests()[0]);
    assert_eq!(answer.redirects, [format!("{}/", server.url), format!("{}/y", server.url)]);
    assert_eq!(answer.url, format!("{}/z", other.url));

    let odd = other.url.replace("://", "://%FF:SECRET@");
    assert_eq!(client(1).get(&odd, &[]).await.expect("an answer").url, format!("{}/", other.url));

    let key = SecretString::from("sk-0123456789");
    let server = Server::start(vec![reply(200, "", b"")]).await;
    let address = server.url.replace("://", "://user:SECRET@");
    client(1).post_json(&address, &[], Some(&key), vec![], &|_| true).await.expect("an answer");
    let request = &server.requests()[0];
    assert_eq!(request.matches("authorization").count(), 1, "{request}");
    assert!(request.contains("authorization: Bearer sk-0123456789\r\n"), "{request}");
}

#[tokio::test]
async fn an_answer_that_the_caller_refuses_is_tried_again_and_at_last_returned() {
    let replies = vec![reply(200, "", b"{\"cut"), reply(200, "", b"{}")];
    let server = Server::start(replies).await;
    let whole = |a: &Answer| a.body.ends_with(b"}");
    let answer = client(3).post_json(&server.url, &[], None, vec![], &whole).await.expect("an answer");
    assert_eq!((answer.attempts, answer.body.as_slice()), (2, b"{}".as_slice()));
    assert!(!server.requests()[0].to_ascii_lowercase().contains("authorization"));
    let server = Server::start(vec![reply(200, "", b"{\"cut")]).await;
    let answer = client(3).post_json(&server.url, &[], None, vec![], &whole).await.expect("the last one");
    assert_eq!((answer.attempts, answer.body.as_slice()), (3, b"{\"cut".as_slice()));
}

#[tokio::test]
async fn a_request_that_waits_for_its_retry_leaves_its_slot() {
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

#[tokio::test]
async fn an_apostrophe_arrives_quoted_in_a_query_and_plain_in_a_path() {
    let server = Server::start(vec![reply(200, "", b"")]).await;
    client(1).get(&format!("{}/it's?search=Bein'+Green&x=%27", server.url), &[]).await.expect("an answer");
    assert!(server.requests()[0].starts_with("GET /it's?search=Bein%27+Green&x=%27 HTTP/1.1\r\n"));
}

#[tokio::test]
async fn addresses_that_cannot_be_asked() {
    for (address, shown) in [
        ("ftp://u:SECRET@h/x", "`ftp://h/x` is not a usable URL: the scheme is `ftp`, not http or https"),
        ("nonsense", "`nonsense` is not a usable URL: relative URL without a base"),
        ("http://", "`http://` is not a usable URL: empty host"),
    ] {
        let error = client(3).get(address, &[]).await.expect_err("not a URL");
        assert_eq!((error.to_string().as_str(), error.attempts()), (shown, 0));
    }
}

#[tokio::test]
async fn an_address_beyond_the_librarys_measure_is_a_typed_error() {
    let server = Server::start(vec![reply(200, "", b"")]).await;
    let error = client(3).get(&format!("{}/?{}", server.url, "x".repeat(70_000)), &[]).await.expect_err("too long");
    assert!(matches!(error, NetError::BadUrl { .. }), "{error:?}");
    assert!(error.to_string().len() < 200, "{error}");
}

#[test]
fn this_machine_is_known_by_its_names() {
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

#[tokio::test]
async fn a_key_in_a_header_of_its_own_stays_at_its_host_too() {
    let key = SecretString::from("sk-0123456789");
    let other = Server::start(vec![reply(200, "", b"{}")]).await;
    let server = Server::start(vec![reply(307, &format!("location: {}/take\r\n", other.url), b"")]).await;
    let credential = Some(Credential::Header("x-api-key", &key));
    let post = |urls: Vec<String>| async move {
        let balance = Balance::new(urls.len());
        client(1).post_json_to(&urls, &balance, &[], credential, b"{}".to_vec(), &mut Keep(&|_| true)).await
    };
    post(vec![server.url.clone()]).await.expect("an answer");
    assert!(server.requests()[0].contains("x-api-key: sk-0123456789\r\n"), "{}", server.requests()[0]);
    assert!(!other.requests()[0].contains("x-api-key"), "{}", other.requests()[0]);
}

#[tokio::test]
async fn a_server_that_is_gone_costs_nothing_while_another_is_there() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let gone = format!("http://{}", listener.local_addr().expect("bound"));
    drop(listener);
    let there = Server::start(vec![reply(200, "", b"{}")]).await;
    let urls = [gone.clone(), there.url.clone()];
    let balance = Balance::new(2);
    let client = client(1);
    for attempts in [2, 1, 1] {
        let answer = client.post_json_to(&urls, &balance, &[], None, vec![], &mut Keep(&|_| true)).await;
        assert_eq!(answer.expect("an answer").attempts, attempts);
    }
    assert_eq!(there.requests().len(), 3);
    let nobody = [gone.clone(), gone];
    let error = client.post_json_to(&nobody, &Balance::new(2), &[], None, vec![], &mut Keep(&|_| true)).await;
    let error = error.expect_err("nobody is there");
    assert!(matches!(error.last(), NetError::Connect { refused: true, .. }), "{error:?}");
    assert_eq!(error.attempts(), 2);
}

#[tokio::test]
async fn a_retry_goes_to_another_server() {
    let busy = Server::start(vec![reply(503, "", b"")]).await;
    let free = Server::start(vec![reply(200, "", b"{}")]).await;
    let urls = [busy.url.clone(), free.url.clone()];
    let client = client(3);
    let answer = client.post_json_to(&urls, &Balance::new(2), &[], None, vec![], &mut Keep(&|_| true)).await;
    assert_eq!(answer.expect("an answer").attempts, 2);
    assert_eq!((busy.requests().len(), free.requests().len()), (1, 1));
}
