//! Hosts that the public internet does not reach.

use std::net::IpAddr;

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

#[cfg(test)]
mod tests {
    use super::is_private;

    #[test]
    fn private_hosts_are_known() {
        for host in ["localhost", "127.0.0.2", "[::1]", "10.1.2.3", "192.168.0.1", "wiki", "a.local", "[fd00::1]"] {
            assert!(is_private(host), "{host}");
        }
        for host in ["en.wikipedia.org", "8.8.8.8", "[2001:db8::1]", "evil.localhost.example.org"] {
            assert!(!is_private(host), "{host}");
        }
    }
}
