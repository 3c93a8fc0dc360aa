//! One limiter per provider and key.

use super::limiter::Limiter;
use super::settings::Settings;
use secrecy::{ExposeSecret as _, SecretString};
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The limiters of a process, shared by all variants with the same provider and key.
#[derive(Default)]
pub struct Limiters {
    /// Longest wait that any server may ask for, instead of the one in the settings.
    max_wait: Option<Duration>,
    hasher: RandomState,
    entries: Mutex<Vec<Entry>>,
}

struct Entry {
    provider: String,
    /// A keyed hash, rather than the key itself.
    key: Option<u64>,
    limiter: Arc<Limiter>,
}

impl Limiters {
    /// The same, with this longest wait that a server may ask for.
    #[must_use]
    pub fn with_max_wait(max_wait: Option<Duration>) -> Self {
        Self { max_wait, ..Self::default() }
    }

    /// The limiter of this provider and key, created with `settings` the first time. The provider is a name or a URL without
    /// secrets, as it is recorded.
    pub fn of(&self, provider: &str, key: Option<&SecretString>, settings: &Settings) -> Arc<Limiter> {
        let key = key.map(|key| self.hasher.hash_one(key.expose_secret()));
        let mut limiters = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = limiters.iter().find(|entry| entry.provider == provider && entry.key == key) {
            return Arc::clone(&entry.limiter);
        }
        let max_wait = self.max_wait.unwrap_or(settings.max_wait);
        let limiter = Arc::new(Limiter::new(&Settings { max_wait, ..settings.clone() }));
        limiters.push(Entry { provider: provider.to_owned(), key, limiter: Arc::clone(&limiter) });
        limiter
    }

    /// All limiters with their providers, oldest first, one per key.
    pub fn each(&self) -> Vec<(String, Arc<Limiter>)> {
        let limiters = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        limiters.iter().map(|entry| (entry.provider.clone(), Arc::clone(&entry.limiter))).collect()
    }
}

impl fmt::Debug for Limiters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.each()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Limiters, Settings};
    use secrecy::SecretString;
    use std::sync::Arc;

    #[test]
    fn a_limiter_belongs_to_a_provider_and_a_key() {
        let limiters = Limiters::default();
        let key = |text: &str| Some(SecretString::from(text));
        let first = limiters.of("a.example", key("sesame").as_ref(), &Settings::fixed(3));
        let again = limiters.of("a.example", key("sesame").as_ref(), &Settings::fixed(9));
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(again.limit(), 3);
        for (provider, key) in [("a.example", key("two")), ("a.example", None), ("b.example", key("sesame"))] {
            assert!(!Arc::ptr_eq(&first, &limiters.of(provider, key.as_ref(), &Settings::default())), "{provider}");
        }
        let names: Vec<String> = limiters.each().into_iter().map(|(provider, _)| provider).collect();
        assert_eq!(names, ["a.example", "a.example", "a.example", "b.example"]);
        assert!(!format!("{limiters:?}").contains("sesame"));
    }
}
