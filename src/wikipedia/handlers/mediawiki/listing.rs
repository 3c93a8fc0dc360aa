//! `list=allpages` and `list=random`: all pages in the order of their titles, and pages at random.

use super::{ApiError, Call, Params, page_id};
use crate::wikipedia::CorpusError;
use serde_json::{Map, Value, json};
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};

/// One batch of page numbers, and the value of `continue` for the next batch.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) numbers: Vec<u32>,
    pub(super) next: Option<String>,
}

/// Adds `list=allpages` or `random` to the answer; returns the value of `continue`.
pub(super) fn add_list(
    call: &Call<'_>,
    name: &str,
    query: &mut Map<String, Value>,
) -> Result<Option<String>, ApiError> {
    const MOST: usize = 500;
    let (batch, id) = match name {
        "random" => (at_random(call, "rn", MOST)?, "id"),
        _ => (in_order(call, "ap", MOST)?, "pageid"),
    };
    let rows = batch.numbers.into_iter().map(|number| {
        let title = call.service.corpus.title(number)?;
        Ok(json!({ id: page_id(number), "ns": 0, "title": title }))
    });
    query.insert(name.to_owned(), rows.collect::<Result<_, CorpusError>>()?);
    Ok(batch.next)
}

/// Pages in the order of their titles; `before` is the prefix of the parameters, `ap` or `gap`.
pub(super) fn in_order(call: &Call<'_>, before: &str, most: usize) -> Result<Batch, ApiError> {
    let Call { service, params, .. } = call;
    let name = |parameter: &str| format!("{before}{parameter}");
    if let Some(other) = params.get(&name("dir")).filter(|direction| *direction != "ascending") {
        return Err(ApiError::bad_value(&name("dir"), other));
    }
    if !has_pages(params, before) {
        return Ok(Batch::default());
    }
    let title = |parameter: &str| params.get(&name(parameter)).map(super::pages::spelled).unwrap_or_default();
    let (prefix, to, from) = (title("prefix"), title("to"), title("from"));
    // A title of this server, as it is.
    let next = params.get(&name("continue")).unwrap_or_default();
    let from = prefix.as_str().max(&from).max(next);
    let limit = params.number(&name("limit"), 10, most).max(1);
    let mut batch = Batch::default();
    for number in service.corpus.titled_from(from, limit + 1)? {
        let title = service.corpus.title(number)?;
        if !title.starts_with(&prefix) || !to.is_empty() && title > to {
            break;
        }
        if batch.numbers.len() == limit {
            batch.next = Some(title);
            break;
        }
        batch.numbers.push(number);
    }
    Ok(batch)
}

/// Pages at random, each once; `before` is the prefix of the parameters. The value of `continue` holds the order.
pub(super) fn at_random(call: &Call<'_>, before: &str, most: usize) -> Result<Batch, ApiError> {
    let Call { service, params, .. } = call;
    let name = |parameter: &str| format!("{before}{parameter}");
    if !has_pages(params, before) {
        return Ok(Batch::default());
    }
    let (order, first) = match params.get(&name("continue")) {
        // The hasher's random keys are the standard library's only source of randomness.
        None => (RandomState::new().hash_one(before), 0),
        Some(text) => text
            .split_once('|')
            .and_then(|(order, first)| Some((order.parse().ok()?, first.parse().ok()?)))
            .ok_or_else(|| {
                ApiError::refused("badcontinue", "Invalid continue param: pass the value that was given.")
            })?,
    };
    let count = service.corpus.count();
    let limit = params.number(&name("limit"), 1, most).max(1);
    let end = u32::try_from(limit).map_or(count, |limit| count.min(limit.saturating_add(first)));
    let numbers = (first..end).map(|at| shuffled(at, count, order)).collect();
    Ok(Batch { numbers, next: (end < count).then(|| format!("{order}|{end}")) })
}

/// Whether the filters leave pages: all are in the main namespace, and none is a redirect.
fn has_pages(params: &Params, before: &str) -> bool {
    let namespaces = params.list(&format!("{before}namespace"));
    let is_main = namespaces.is_empty() || namespaces.iter().any(|namespace| matches!(*namespace, "0" | "*"));
    is_main && params.get(&format!("{before}filterredir")) != Some("redirects")
}

/// The number at this place of `count` numbers in one of their orders: a Feistel network over a power of four, repeated until it
/// leads to one of them.
fn shuffled(at: u32, count: u32, order: u64) -> u32 {
    let half = (u32::BITS - count.leading_zeros()).div_ceil(2);
    let mask = (1 << half) - 1;
    let mut at = u64::from(at);
    loop {
        let (mut left, mut right) = (at >> half, at & mask);
        for round in 0..4 {
            let mut hasher = DefaultHasher::new();
            (order, round, right).hash(&mut hasher);
            (left, right) = (right, left ^ (hasher.finish() & mask));
        }
        at = (left << half) | right;
        if let Ok(number) = u32::try_from(at)
            && number < count
        {
            return number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shuffled;
    use std::collections::BTreeSet;

    #[test]
    fn every_order_has_each_number_once() {
        for count in [1, 2, 3, 4, 63, 64, 65, 1_000] {
            for order in [0, 7, u64::MAX] {
                let all: BTreeSet<u32> = (0..count).map(|at| shuffled(at, count, order)).collect();
                assert!(all.iter().copied().eq(0..count), "{count} {order}");
            }
        }
        let begins: BTreeSet<u32> = (0..200).map(|order| shuffled(0, 1_000, order)).collect();
        assert!(begins.len() > 150, "{}", begins.len());
        assert!(shuffled(u32::MAX - 1, u32::MAX, 1) < u32::MAX);
    }
}
