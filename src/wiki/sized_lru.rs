//! A store of what was used last, bounded in number and in bytes of text.

use lru::LruCache;
use std::borrow::Borrow;
use std::hash::Hash;
use std::num::NonZeroUsize;

/// The values with their sizes in bytes, and the sum of these.
pub(super) struct SizedLru<K: Hash + Eq, V> {
    pub(super) values: LruCache<K, (V, usize)>,
    pub(super) bytes: usize,
    max_bytes: usize,
}

impl<K: Hash + Eq, V: Clone> SizedLru<K, V> {
    pub(super) fn new(max_values: NonZeroUsize, max_bytes: usize) -> Self {
        Self { values: LruCache::new(max_values), bytes: 0, max_bytes }
    }

    pub(super) fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.values.get(key).map(|(value, _)| value.clone())
    }

    /// Keeps a value of `size` bytes, unless that is more than a quarter of the store. The oldest make room.
    pub(super) fn put(&mut self, key: K, value: V, size: usize) {
        if size > self.max_bytes / 4 {
            return;
        }
        self.bytes += size;
        if let Some((_, (_, gone))) = self.values.push(key, (value, size)) {
            self.bytes -= gone;
        }
        while self.bytes > self.max_bytes
            && let Some((_, (_, gone))) = self.values.pop_lru()
        {
            self.bytes -= gone;
        }
    }
}

/// The memory that texts take.
pub(super) fn text_bytes(texts: &[String]) -> usize {
    texts.iter().map(|text| text.len() + size_of::<String>()).sum()
}
