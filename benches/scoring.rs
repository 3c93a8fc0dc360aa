//! Speed of scoring: normalisation, EM and F1 over synthetic pairs of predictions and golds.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use wikitrail::score::{hotpot, normalize};

/// Short ASCII answers, as most are: the gold dressed with an article, case and punctuation.
fn ascii_pairs() -> Vec<(String, String)> {
    (0..1000).map(|n| (format!("The \"{n}th\" Answer, of A Kind"), format!("{n}th answer of kind"))).collect()
}

/// Answers beyond ASCII, which take the general path.
fn unicode_pairs() -> Vec<(String, String)> {
    (0..1000).map(|n| (format!("Das Café Nº {n} – 北京 an der Spree"), format!("café nº {n} 北京"))).collect()
}

fn scoring(criterion: &mut Criterion) {
    for (name, pairs) in [("ascii", ascii_pairs()), ("unicode", unicode_pairs())] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(pairs.len() as u64));
        group.bench_function("normalize", |bencher| {
            bencher.iter(|| pairs.iter().map(|(prediction, _)| normalize(black_box(prediction)).len()).sum::<usize>());
        });
        group.bench_function("em_and_f1", |bencher| {
            bencher.iter(|| pairs.iter().map(|(prediction, gold)| hotpot(black_box(prediction), gold).f1).sum::<f64>());
        });
        group.finish();
    }
}

criterion_group!(benches, scoring);
criterion_main!(benches);
