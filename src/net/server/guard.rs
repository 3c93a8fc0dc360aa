//! Which requests are answered at all. A page in somebody's browser may send requests here under a name of its own
//! (DNS rebinding), and a program whose proxy is this server may send it requests for any host.

use super::reply::{self, Refusal};
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::Response;
use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use std::net::IpAddr;
use std::num::NonZeroU32;

#[derive(Debug, Clone, Default)]
pub(crate) struct Hosts {
    /// Whether other machines may ask: then any address and any name that no public name server has.
    pub(crate) remote: bool,
    pub(crate) named: Vec<String>,
}

/// Where the client takes this server to be, such as `http://127.0.0.1:8080`; answers link there.
#[derive(Debug, Clone)]
pub(crate) struct Base(pub(crate) String);

impl Hosts {
    /// Lets a request pass and says where it was sent, or refuses it with one sentence.
    pub(super) fn check(&self, request: &mut Request) -> Result<(), Refusal> {
        let authority = asked_for(request.method(), request.uri(), request.headers())?;
        let host = authority.host();
        let through_proxy = request.uri().authority().is_some();
        if !(self.has(host) || through_proxy && is_wikipedia(host)) {
            let shown = crate::base::text::printable(host, 80);
            return Err(if through_proxy {
                let sentence =
                    "is not asked: this is no proxy, and answers for *.wikipedia.org only, from a frozen corpus";
                Refusal(StatusCode::BAD_GATEWAY, format!("`{shown}` {sentence}"))
            } else {
                let sentence = format!(
                    "this server is not `{shown}`: use the address that it printed; `serve` takes other names by --allow-host"
                );
                Refusal(StatusCode::FORBIDDEN, sentence)
            });
        }
        for origin in request.headers().get_all(header::ORIGIN) {
            let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
            let of_web = origin.as_ref().filter(|origin| matches!(origin.scheme_str(), Some("http" | "https")));
            if !of_web.and_then(Uri::host).is_some_and(|page| self.takes_pages_of(page, host)) {
                return Err(Refusal(StatusCode::FORBIDDEN, "pages of other sites are not answered".to_owned()));
            }
        }
        request.extensions_mut().insert(Base(format!("http://{authority}")));
        Ok(())
    }

    /// Whether pages of the host `page` may send requests for `host`: of the public addresses only the one asked for may.
    fn takes_pages_of(&self, page: &str, host: &str) -> bool {
        let is_public = bare(page).parse::<IpAddr>().is_ok() && !crate::net::is_private(bare(page));
        self.has(page) && (page == host || !is_public)
    }

    fn has(&self, host: &str) -> bool {
        let bare = bare(host);
        if let Ok(address) = bare.parse::<IpAddr>() {
            // An address is no name, so nobody can make it lead here who does not own it.
            return self.remote || address.is_loopback();
        }
        let name = bare.trim_end_matches('.').to_ascii_lowercase();
        let local = name == "localhost" || name.ends_with(".localhost");
        local
            || self.remote && crate::net::is_private(&name)
            || self.named.iter().any(|named| named.eq_ignore_ascii_case(&name))
    }
}

/// A host without the brackets of an address.
fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// The host that a request is for: of its target, if that is absolute, as to a proxy, else of its one `Host`.
fn asked_for(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Authority, Refusal> {
    let bad = |sentence: &str| Refusal(StatusCode::BAD_REQUEST, sentence.to_owned());
    if *method == Method::CONNECT {
        let sentence = "this is no proxy: it answers http requests for *.wikipedia.org, and cannot answer https";
        return Err(Refusal(StatusCode::BAD_GATEWAY, sentence.to_owned()));
    }
    let authority = match uri.authority() {
        Some(_) if uri.scheme_str() != Some("http") => return Err(bad("only http is answered")),
        Some(authority) => authority.clone(),
        None => {
            let mut hosts = headers.get_all(header::HOST).iter();
            match (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) {
                (Some(host), None) => host.parse().map_err(|_| bad("`Host` is not a host"))?,
                _ => return Err(bad("a request has one `Host`")),
            }
        }
    };
    if authority.as_str().contains('@') {
        return Err(bad("an address has no user here"));
    }
    Ok(authority)
}

fn is_wikipedia(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host.strip_suffix("wikipedia.org").is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Clients that are remembered before those are forgotten that have not asked for a while.
const MAX_REMEMBERED: usize = 4_096;

/// So many requests a second for each address, and as many at once: all clients behind one proxy are one.
pub(super) struct Clients {
    limiter: RateLimiter<IpAddr, HashMapStateStore<IpAddr>, DefaultClock>,
    clock: DefaultClock,
}

impl Clients {
    pub(super) fn new(per_second: NonZeroU32) -> Self {
        let clock = DefaultClock::default();
        Self { limiter: RateLimiter::hashmap_with_clock(Quota::per_second(per_second), clock.clone()), clock }
    }

    /// Why a request of this client may not pass, and when its next one may.
    pub(super) fn refused(&self, client: IpAddr) -> Option<Response> {
        if self.limiter.len() > MAX_REMEMBERED {
            self.limiter.retain_recent();
        }
        self.limiter.check_key(&network(client)).err().map(|until| {
            let wait = until.wait_time_from(self.clock.now()).as_secs().saturating_add(1);
            let mut answer = reply::text(StatusCode::TOO_MANY_REQUESTS, "you ask too often; wait, then ask again");
            answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
            answer
        })
    }
}

/// What one client has to itself: an address, or the 64 bits of a network in which it may choose any.
pub(super) fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::{Base, Clients, Hosts, MAX_REMEMBERED, Refusal};
    use axum::body::Body;
    use axum::extract::Request;
    use axum::http::Method;
    use std::net::{IpAddr, Ipv4Addr};
    use std::num::NonZeroU32;

    fn status(hosts: &Hosts, method: &Method, target: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).expect("a request");
        match hosts.check(&mut request) {
            Ok(()) => (200, request.extensions().get::<Base>().expect("an address").0.clone()),
            Err(Refusal(status, _)) => (status.as_u16(), String::new()),
        }
    }

    #[test]
    fn only_names_of_this_server_are_answered() {
        let local = Hosts::default();
        let remote = Hosts { remote: true, named: vec!["Wiki.Example.org".to_owned()] };
        for (host, here, elsewhere) in [
            ("127.0.0.1:8080", 200, 200),
            ("localhost", 200, 200),
            ("LOCALHOST.:1", 200, 200),
            ("[::1]:8080", 200, 200),
            ("a.localhost", 200, 200),
            ("192.168.0.7", 403, 200),
            ("203.0.113.7", 403, 200),
            ("wiki", 403, 200),
            ("wiki.jobs.svc.cluster.local:8080", 403, 200),
            ("wiki.example.org", 403, 200),
            ("evil.example.org", 403, 403),
            ("en.wikipedia.org", 403, 403),
            ("127.0.0.1.example.org", 403, 403),
            ("user@127.0.0.1", 400, 400),
            ("a b", 400, 400),
        ] {
            let sent = |hosts| status(hosts, &Method::GET, "/healthz", &[("host", host)]).0;
            assert_eq!((sent(&local), sent(&remote)), (here, elsewhere), "{host}");
        }
        assert_eq!(status(&local, &Method::GET, "/", &[]).0, 400);
        assert_eq!(status(&local, &Method::GET, "/", &[("host", "localhost"), ("host", "localhost")]).0, 400);
    }

    #[test]
    fn it_is_no_proxy_but_for_wikipedia() {
        let hosts = Hosts::default();
        let via = |target: &str| status(&hosts, &Method::GET, target, &[("host", "whatever.example.org")]);
        assert_eq!(via("http://en.wikipedia.org/w/api.php?x=1"), (200, "http://en.wikipedia.org".to_owned()));
        assert_eq!(via("http://127.0.0.1:8080/healthz").0, 200);
        for target in [
            "http://example.org/",
            "http://wikipedia.org.example.org/",
            "http://notwikipedia.org/",
            "http://169.254.169.254/latest/meta-data",
        ] {
            assert_eq!(via(target).0, 502, "{target}");
        }
        assert_eq!(via("https://en.wikipedia.org/").0, 400);
        assert_eq!(status(&hosts, &Method::CONNECT, "en.wikipedia.org:443", &[]).0, 502);
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let from = |origin| {
            let headers = [("host", "127.0.0.1:8080"), ("origin", origin)];
            status(&Hosts::default(), &Method::POST, "/retrieve", &headers).0
        };
        assert_eq!((from("http://localhost:3000"), from("https://evil.example.org"), from("null")), (200, 403, 403));
        let remote = Hosts { remote: true, named: Vec::new() };
        for (origin, expected) in [
            ("http://203.0.113.7:3000", 200),
            ("http://10.0.0.7", 200),
            ("http://[::1]:3000", 200),
            ("https://wiki", 200),
            ("http://198.51.100.4", 403),
            ("http://[2001:db8::1]", 403),
            ("chrome-extension://abcdef", 403),
            ("null", 403),
        ] {
            let headers = [("host", "203.0.113.7:8080"), ("origin", origin)];
            assert_eq!(status(&remote, &Method::POST, "/retrieve", &headers).0, expected, "{origin}");
        }
    }

    #[test]
    fn each_client_has_its_own_requests_and_the_memory_is_bounded() {
        // A second is long enough for what follows, or the limit would be met later.
        let clients = Clients::new(NonZeroU32::new(2).expect("two"));
        let ask = |address: &str| clients.refused(address.parse::<IpAddr>().expect("an address"));
        assert!(ask("10.0.0.1").is_none() && ask("::ffff:10.0.0.1").is_none());
        let refused = ask("10.0.0.1").expect("the third");
        assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].as_bytes()), (429, &b"1"[..]));
        assert!(ask("10.0.0.2").is_none());
        assert!(ask("2001:db8::1").is_none() && ask("2001:db8::2").is_none() && ask("2001:db8::3").is_some());
        assert!(ask("2001:db8:0:1::1").is_none());
        let many = Clients::new(NonZeroU32::new(1_000_000).expect("many"));
        for number in 0..20_000 {
            assert!(many.refused(Ipv4Addr::from_bits(number).into()).is_none());
        }
        assert!(many.limiter.len() <= MAX_REMEMBERED + 1_000, "{}", many.limiter.len());
    }
}
