//! The policy towards live sites: who may be asked, how often, and under which name.
//!
//! Wikimedia counts requests by User-Agent, so it must carry the contact of whoever runs the program; without one, all
//! users of the program would share one counter and one block.

use crate::base::Compat;
use crate::net::limit::{Limiter, Limiters, Settings};
use crate::net::{Answer, Balance, Client, ClientSettings, Keep, MemoryBudget, NetError, RetrySettings, SecretSet};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// Requests at once to hosts that are not public, at first and at most, unless told otherwise.
const PRIVATE: (usize, usize) = (16, 64);

/// Version of the HTTP library that the User-Agent names.
const LIBRARY: &str = "reqwest/0.13";

/// How a live site is asked.
#[derive(Debug, Clone, Default)]
pub struct LiveSettings {
    /// Semantics of the tool.
    pub compat: Compat,
    /// Mail address or page of whoever runs the program; required for public hosts.
    pub contact: Option<String>,
    /// Whether Wikipedia's pages may be read as HTML, which its robots.txt asks programs not to do.
    pub allow_html: bool,
    /// Requests in any minute; 180 for public hosts and unlimited for others if absent.
    pub per_minute: Option<NonZeroU32>,
    /// Requests at once at most, fewer while the site refuses some; 1 for public hosts and 64 for others if absent.
    pub concurrent: Option<usize>,
    /// Where requests wait for their turn; sources of one site share its limiter.
    pub limiters: Arc<Limiters>,
    /// Longest time for one whole answer; 30 s if absent.
    pub timeout: Option<Duration>,
    /// Largest page in bytes; 16 MiB if absent.
    pub max_body: Option<usize>,
    /// What is tried again in `fixed` mode. The paper's environment asked once.
    pub retry: Option<RetrySettings>,
}

/// Memory for large pages of all sites, until they are read: four of the longest, each of which takes many times as much while
/// it is read. Articles are rarely longer than what needs no room.
static LARGE_PAGES: MemoryBudget = MemoryBudget::new(64);

/// Why a site may not be asked.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message says what each means")]
pub enum SitePolicyError {
    /// The URL is shown without user part and query.
    #[error("`{url}` is not the base URL of a site")]
    BadUrl { url: String },
    #[error("the address `{url}` of a site has a query or a fragment")]
    Query { url: String },
    #[error("`{url}` is the address of an article, not of a site")]
    Article { url: String },
    #[error("`{url}` is not the address of a retriever")]
    Retriever { url: String },
    #[error("`{host}` is a public site, and no contact was given")]
    Contact { host: String },
    #[error("the contact `{contact}` cannot be sent as part of a User-Agent")]
    BadContact { contact: String },
    #[error("`{host}` asks programs not to read its search pages")]
    Html { host: String },
    #[error(transparent)]
    Net(#[from] NetError),
}

impl SitePolicyError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::BadUrl { .. } => "a base URL looks like https://en.wikipedia.org or http://127.0.0.1:9102",
            Self::Retriever { .. } => {
                "write `--wiki retriever:http://127.0.0.1:8000/retrieve`, and behind it, if it is to give another number of \
                 passages than 3, `?topk=N` (1 to 100)"
            }
            Self::Query { .. } => "leave out what begins with `?` or `#`",
            Self::Article { .. } => {
                "name the site, such as https://en.wikipedia.org, or its api.php, if it is below `/wiki/`"
            }
            Self::Contact { .. } => {
                "give your own mail address or page as `--contact`; the site counts requests by it, \
                 and blocks anonymous clients"
            }
            Self::BadContact { .. } => "a contact is one line, such as you@example.org, without brackets",
            Self::Html { .. } => "use `--wiki api`, or give `--allow-html` (and `--contact`) to do it all the same",
            Self::Net(error) => return error.hint(),
        })
    }
}

/// A site that may be asked. Not printable as a whole: its address may hold a password.
pub(super) struct Site {
    /// The folder of `api.php` and `index.php`, without a final slash, as requests need it; a retriever's own address.
    scripts: String,
    /// The same without user part, as records may have it.
    pub(super) shown: String,
    client: Client,
    /// What its answers are searched for.
    hidden: SecretSet,
    pub(super) concurrent: usize,
    pub(super) per_minute: Option<NonZeroU32>,
}

impl Site {
    /// Asks for a script with its query, such as `/api.php?action=query`. What the site repeats of the user part of its address is masked.
    pub(super) async fn get(&self, path: &str, headers: &[(&'static str, &str)]) -> Result<Answer, NetError> {
        self.hidden.out_of_result(self.client.get(&format!("{}{path}", self.scripts), headers).await)
    }

    pub(super) async fn post(&self, body: Vec<u8>) -> Result<Answer, NetError> {
        let url = [self.scripts.clone()];
        let result = self.client.post_json(&url, &Balance::new(1), &[], &[], body, &mut Keep).await;
        self.hidden.out_of_result(result)
    }

    /// Whether an answer from this address is the site's own: it, or another name of its domain that it redirects to, such
    /// as `en.m.wikipedia.org` for `en.wikipedia.org`.
    pub(super) fn is_own(&self, url: &str) -> bool {
        let (Ok(own), Ok(url)) = (url::Url::parse(&self.scripts), url::Url::parse(url)) else { return false };
        match (own.host(), url.host()) {
            (Some(url::Host::Domain(own)), Some(url::Host::Domain(host))) if own != host => domain(own) == domain(host),
            // Another port is another server, unless the site moves its visitors from http to https.
            (own_host, host) => own_host == host && (own.scheme() != url.scheme() || own.port() == url.port()),
        }
    }

    /// Sends nothing for `wait`; the site asked for it with this `status`.
    pub(super) fn hold(&self, wait: Duration, status: u16) {
        self.client.hold(wait, status);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Html,
    Api,
    /// One address, which is asked as it is.
    Retriever,
}

/// Checks that `base` may be asked in this `way`, and makes the client.
pub(super) fn site(base: &str, way: Way, settings: &LiveSettings) -> Result<Site, SitePolicyError> {
    let bad = || SitePolicyError::BadUrl { url: crate::net::redact::url(base) };
    let url = url::Url::parse(base).map_err(|_| bad())?;
    let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https")).ok_or_else(bad)?.to_owned();
    if url.query().is_some() || url.fragment().is_some() {
        return Err(SitePolicyError::Query { url: crate::net::redact::url(base) });
    }
    let path = url.path().trim_end_matches('/');
    if way != Way::Retriever
        && path.contains("/wiki/")
        && !path.ends_with("/w")
        && !path.to_ascii_lowercase().ends_with(".php")
    {
        return Err(SitePolicyError::Article { url: crate::net::redact::url(base) });
    }
    let public = !crate::net::is_private(&host);
    if public && settings.contact.as_deref().is_none_or(|contact| contact.trim().is_empty()) {
        return Err(SitePolicyError::Contact { host });
    }
    if way == Way::Html && is_wikimedia(&host) && !settings.allow_html {
        return Err(SitePolicyError::Html { host });
    }
    let limits = limits(settings, public);
    let (concurrent, per_minute) = (limits.max, limits.requests_per_minute);
    let limiter = settings.limiters.of(&url.origin().ascii_serialization(), None, &limits);
    let client = Client::new(client_settings(settings, way, limiter)?)?;
    let scripts = if way == Way::Retriever { base.to_owned() } else { scripts(base) };
    let shown = crate::net::redact::user(&scripts);
    Ok(Site {
        scripts,
        shown,
        client,
        hidden: SecretSet::new(crate::net::redact::user_secrets(base)),
        concurrent,
        per_minute,
    })
}

/// Where a site has its scripts: beside the script that an address names, else in `/w` below it, which is above `/wiki`.
fn scripts(base: &str) -> String {
    let base = base.trim().trim_end_matches('/');
    match base.strip_suffix("/api.php").or_else(|| base.strip_suffix("/index.php")) {
        Some(folder) => folder.to_owned(),
        None if base.ends_with("/w") => base.to_owned(),
        None => format!("{}/w", base.strip_suffix("/wiki").unwrap_or(base)),
    }
}

fn client_settings(
    settings: &LiveSettings,
    way: Way,
    limiter: Arc<Limiter>,
) -> Result<ClientSettings, SitePolicyError> {
    let default = ClientSettings::default();
    let like_paper = way == Way::Html && settings.compat == Compat::Paper;
    let once = RetrySettings { attempts: 1, ..RetrySettings::default() };
    Ok(ClientSettings {
        user_agent: user_agent(settings.contact.as_deref())?,
        timeout: settings.timeout.unwrap_or(Duration::from_secs(30)),
        max_body: settings.max_body.unwrap_or(default.max_body),
        memory: Some(&LARGE_PAGES),
        // `requests` follows thirty.
        max_redirects: if like_paper { 30 } else { 5 },
        // The paper's client took any status as it came; asking again would change what it saw.
        retry: if like_paper { once } else { settings.retry.clone().unwrap_or_default() },
        limiter,
        ..default
    })
}

/// How a site is asked unless told otherwise: a public one with the greatest care.
fn limits(settings: &LiveSettings, public: bool) -> Settings {
    let (first, most) = PRIVATE;
    let usual =
        if public { Settings::wikipedia() } else { Settings { pause_all: true, ..Settings::up_to(first, most) } };
    let max = settings.concurrent.unwrap_or(usual.max);
    // Whoever names a number for a site of their own wants it from the start.
    let initial = if public { usual.initial } else { settings.concurrent.unwrap_or(usual.initial) };
    let requests_per_minute = settings.per_minute.or(usual.requests_per_minute);
    Settings { initial, max, requests_per_minute, ..usual }
}

/// `wikitrail/VERSION (contact) reqwest/0.13`.
fn user_agent(contact: Option<&str>) -> Result<String, SitePolicyError> {
    let name = concat!("wikitrail/", env!("CARGO_PKG_VERSION"));
    let Some(contact) = contact.map(str::trim).filter(|contact| !contact.is_empty()) else {
        return Ok(format!("{name} {LIBRARY}"));
    };
    let fits = contact.len() <= 200 && contact.chars().all(|c| matches!(c, ' '..='~') && !matches!(c, '(' | ')'));
    if !fits {
        return Err(SitePolicyError::BadContact { contact: crate::base::text::printable(contact, 60) });
    }
    Ok(format!("{name} ({contact}) {LIBRARY}"))
}

/// The part of a host's name that one owner has: its last two labels, or three below a country's `co`, `org`, `ac`, …
fn domain(host: &str) -> &str {
    let name = host.trim_end_matches('.');
    let labels: Vec<&str> = name.rsplit('.').collect();
    let owned = match labels.as_slice() {
        [country, kind, _, ..] if country.len() == 2 && kind.len() <= 3 => 3,
        _ => 2,
    };
    name.rmatch_indices('.').nth(owned - 1).map_or(name, |(dot, _)| &name[dot + 1..])
}

fn is_wikimedia(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    ["wikipedia.org", "wikimedia.org", "wiktionary.org", "wikibooks.org"]
        .iter()
        .any(|site| name.strip_suffix(site).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::{LiveSettings, Way, scripts, site, user_agent};

    fn refusal(base: &str, way: Way, contact: Option<&str>, allow_html: bool) -> String {
        let settings = LiveSettings { contact: contact.map(str::to_owned), allow_html, ..LiveSettings::default() };
        site(base, way, &settings).map_or_else(|error| error.to_string(), |site| site.shown)
    }

    #[test]
    fn public_sites_want_a_contact_and_wikipedia_leave_for_html() {
        let contact = Some("a@example.org");
        let wikipedia = "https://en.wikipedia.org/";
        for (base, way, contact, allow, told) in [
            (wikipedia, Way::Api, None, true, "`en.wikipedia.org` is a public site, and no contact was given"),
            (wikipedia, Way::Api, Some(" "), true, "`en.wikipedia.org` is a public site, and no contact was given"),
            (wikipedia, Way::Html, contact, false, "`en.wikipedia.org` asks programs not to read its search pages"),
            (wikipedia, Way::Html, None, true, "`en.wikipedia.org` is a public site, and no contact was given"),
            (wikipedia, Way::Html, contact, true, "https://en.wikipedia.org/w"),
            (wikipedia, Way::Api, contact, false, "https://en.wikipedia.org/w"),
            ("http://wiki.example.org", Way::Html, contact, false, "http://wiki.example.org/w"),
            ("http://127.0.0.1:9/", Way::Html, None, false, "http://127.0.0.1:9/w"),
            ("http://user:SECRET@127.0.0.1:9/mirror/", Way::Api, None, false, "http://127.0.0.1:9/mirror/w"),
            (
                "http://127.0.0.1:9/w/api.php?key=SECRET",
                Way::Api,
                None,
                false,
                "the address `http://127.0.0.1:9/w/api.php` of a site has a query or a fragment",
            ),
            (
                "http://127.0.0.1:9/wiki/Hafnium",
                Way::Api,
                None,
                false,
                "`http://127.0.0.1:9/wiki/Hafnium` is the address of an article, not of a site",
            ),
            ("http://127.0.0.1:9/wiki/api.php", Way::Api, None, false, "http://127.0.0.1:9/wiki"),
            ("ftp://127.0.0.1", Way::Html, None, false, "`ftp://127.0.0.1/` is not the base URL of a site"),
        ] {
            assert_eq!(refusal(base, way, contact, allow), told);
        }
    }

    #[test]
    fn an_address_may_name_a_script_or_the_articles() {
        let folder = "https://wiki.example.org/w";
        for base in ["", "/", "/w/api.php", "/w/index.php", "/w", "/wiki", "/wiki/"] {
            assert_eq!(scripts(&format!("https://wiki.example.org{base}")), folder, "{base}");
        }
        assert_eq!(scripts("http://127.0.0.1:9/mirror"), "http://127.0.0.1:9/mirror/w");
        assert_eq!(scripts("http://127.0.0.1:9/mediawiki/api.php"), "http://127.0.0.1:9/mediawiki");
        assert_eq!(scripts("http://127.0.0.1:9/api.php"), "http://127.0.0.1:9");
    }

    #[test]
    fn a_site_redirects_within_its_own_domain() {
        let settings =
            LiveSettings { contact: Some("a@example.org".to_owned()), allow_html: true, ..LiveSettings::default() };
        for (base, url, own) in [
            ("https://en.wikipedia.org", "https://en.wikipedia.org/wiki/X", true),
            ("https://en.wikipedia.org", "https://en.m.wikipedia.org/wiki/X", true),
            ("http://en.wikipedia.org", "https://en.wikipedia.org/wiki/X", true),
            ("https://en.wikipedia.org", "https://login.example.net/", false),
            ("https://en.wikipedia.org", "https://wikipedia.org.example.net/", false),
            ("https://wiki.example.co.uk", "https://www.example.co.uk/", true),
            ("https://wiki.example.co.uk", "https://portal.hotel.co.uk/", false),
            ("http://127.0.0.1:9", "http://127.0.0.1:9/wiki/X", true),
            ("http://127.0.0.1:9", "http://127.0.0.1:10/wiki/X", false),
            ("http://127.0.0.1:9", "http://127.0.0.2:9/wiki/X", false),
            ("http://wiki:9", "http://portal:9/", false),
        ] {
            assert_eq!(site(base, Way::Html, &settings).expect("a site").is_own(url), own, "{base} {url}");
        }
    }

    #[test]
    fn the_user_agent_names_program_operator_and_library() {
        let version = env!("CARGO_PKG_VERSION");
        let agent = user_agent(Some("a@example.org")).expect("a header");
        assert_eq!(agent, format!("wikitrail/{version} (a@example.org) reqwest/0.13"));
        assert!(user_agent(Some("a\nb")).is_err());
    }
}
