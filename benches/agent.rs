//! How many episodes a second there could be if neither model nor Wikipedia took any time: the agent's whole loop with the
//! baseline, over the questions and the encyclopedia that come with the program.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use wikitrail::run::{OneAgent, Outcome, VariantSettings};
use wikitrail::score::{ReadOptions, load_file};

fn agent(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let dataset = load_file("datasets/sample.jsonl".as_ref(), &ReadOptions::default()).expect("shipped questions");
    let mut group = criterion.benchmark_group("agent");
    group.throughput(Throughput::Elements(dataset.questions.len() as u64)).sample_size(20);
    for method in ["react", "cot"] {
        let settings = VariantSettings { method: Some(method.to_owned()), ..VariantSettings::default() };
        let agent = OneAgent::new(settings).expect("the baseline");
        let run = || {
            let answered = dataset.questions.iter().map(|question| runtime.block_on(agent.answer(question.clone())));
            answered.filter(|trajectory| black_box(trajectory).outcome == Outcome::Finished).count()
        };
        assert!(run() * 2 > dataset.questions.len(), "{method} answers most questions");
        group.bench_function(method, |bencher| bencher.iter(run));
    }
    group.finish();
}

criterion_group!(benches, agent);
criterion_main!(benches);
