//! How fast the markup of a page becomes the text that a session shows. The pages are the saved articles beside the checkout.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;
use wikitrail::wiki::{ArticleOptions, article, paper_page};

/// The saved articles by title, with their markup.
fn pages() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/wiki-site");
    let text = |path: &str| std::fs::read_to_string(folder.join(path)).expect("a shared file");
    let site: serde_json::Value = serde_json::from_str(&text("site.json")).expect("the site's table");
    let pages = site["pages"].as_object().expect("a table of pages");
    let files = pages.iter().map(|(title, file)| (title, file.as_str().expect("a file name")));
    files.filter(|(_, file)| file.starts_with("html/")).map(|(title, file)| (title.clone(), text(file))).collect()
}

/// The blocks of a page by the paper's reading, or of its article alone.
fn blocks(reading: &str, html: &str) -> usize {
    match reading {
        "paper" => paper_page(html).expect("a page").blocks.len(),
        _ => article(html, ArticleOptions::default()).expect("a page").blocks.len(),
    }
}

fn time(group: &mut BenchmarkGroup<'_, WallTime>, pages: &[(String, String)], reading: &str) {
    let read_all = || pages.iter().map(|(_, html)| blocks(reading, black_box(html))).sum::<usize>();
    assert!(read_all() > 100, "the pages have text");
    let all: usize = pages.iter().map(|(_, html)| html.len()).sum();
    group.throughput(Throughput::Bytes(all as u64)).bench_function("all", |bencher| bencher.iter(read_all));
    for (title, html) in pages {
        group.throughput(Throughput::Bytes(html.len() as u64));
        group.bench_function(title, |bencher| bencher.iter(|| blocks(reading, black_box(html))));
    }
}

#[expect(clippy::print_stderr, reason = "what was not measured is said")]
fn extraction(criterion: &mut Criterion) {
    if !cfg!(shared) {
        eprintln!("skipped: ../shared is not here");
        return;
    }
    let pages = pages();
    for reading in ["paper", "fixed"] {
        let mut group = criterion.benchmark_group(reading);
        group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
        time(&mut group, &pages, reading);
        group.finish();
    }
}

criterion_group!(benches, extraction);
criterion_main!(benches);
