//! How fast page text comes out of real pages, in both readings.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::path::PathBuf;
use wikitrail::wiki::html::{ArticleOptions, article, paper_page};

/// The saved pages; where they are not at hand, a made one of a million bytes.
fn pages() -> Vec<String> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/wiki-site/html");
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let pages: Vec<String> = files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
    if pages.is_empty() {
        return vec!["<p class=\"x\">Some <b>words</b> of a page.</p>\n<ul><li>one</li></ul>".repeat(15_000)];
    }
    pages
}

fn extraction(criterion: &mut Criterion) {
    let pages = pages();
    let bytes: usize = pages.iter().map(String::len).sum();
    let mut group = criterion.benchmark_group("extraction");
    group.throughput(Throughput::Bytes(bytes as u64)).sample_size(20);
    group.bench_function("paper", |bencher| {
        bencher.iter(|| {
            for page in &pages {
                black_box(paper_page(black_box(page)).ok());
            }
        });
    });
    group.bench_function("article", |bencher| {
        bencher.iter(|| {
            for page in &pages {
                black_box(article(black_box(page), ArticleOptions::default()).ok());
            }
        });
    });
    group.finish();
}

criterion_group!(benches, extraction);
criterion_main!(benches);
