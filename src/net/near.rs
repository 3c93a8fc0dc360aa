//! Which hosts are this machine, or on a private network.

use reqwest::Url;
use std::net::IpAddr;

/// Whether a URL is on this machine: `localhost`, `127.0.0.0/8` or `::1`.
pub(super) fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    })
}

/// Whether a host is this machine or on a private network.
pub(crate) fn is_private(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified(),
        Ok(IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local() || ip.is_unspecified()
        }
        Err(_) => {
            let name = bare.trim_end_matches('.').to_ascii_lowercase();
            // A name without a dot is one of the local network.
            !name.contains('.') || [".localhost", ".local", ".internal", ".lan"].iter().any(|end| name.ends_with(end))
        }
    }
}
