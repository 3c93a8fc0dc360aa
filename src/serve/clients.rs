//! How much one client may ask. A client is an address, so all clients behind one proxy are one.

use super::reply;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use std::net::IpAddr;
use std::num::NonZeroU32;

/// Clients that are remembered before those are forgotten that have not asked for a while.
const REMEMBERED: usize = 4_096;

/// So many requests a second for each client, and as many at once.
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
        if self.limiter.len() > REMEMBERED {
            self.limiter.retain_recent();
        }
        self.limiter.check_key(&network(client)).err().map(|until| {
            let wait = until.wait_time_from(self.clock.now()).as_secs().saturating_add(1);
            let mut answer = reply::refused(StatusCode::TOO_MANY_REQUESTS, "you ask too often; wait, then ask again");
            answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
            answer
        })
    }
}

/// What one client has to itself: an address, or the 64 bits of a network in which it may choose any.
fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::{Clients, REMEMBERED};
    use std::net::{IpAddr, Ipv4Addr};
    use std::num::NonZeroU32;

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
        assert!(many.limiter.len() <= REMEMBERED + 1_000, "{}", many.limiter.len());
    }
}
