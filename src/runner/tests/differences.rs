//! What a recorded run is compared with before it is resumed.

use super::{manifest, variant};
use crate::base::{ExperimentRecord, Manifest, Pairs, PriceRecord, Variant};
use crate::runner::plan::{differences, duplicate_variants};

#[test]
fn differing_settings_are_named() {
    let recorded = manifest(variant("a"));
    assert_eq!(differences(&recorded, &recorded), Vec::<String>::new());
    // A run from before prices were recorded may be resumed with one, and one of its own may have changed since.
    let price =
        PriceRecord { prompt: 1.0, completion: 2.0, cached: None, cache_write: None, as_of: None, source: None };
    let priced = manifest(Variant { price: Some(price), ..variant("a") });
    assert_eq!(differences(&recorded, &priced), Vec::<String>::new());
    assert!(!serde_json::to_string(&recorded).expect("JSON").contains("price"));
    let mut planned = manifest(Variant { max_steps: Some(5), model: "openai:x".to_owned(), ..variant("a") });
    planned.dataset.selection.limit = Some(2);
    assert_eq!(differences(&recorded, &planned), ["max_steps: was 7, now 5", "model: was baseline, now openai:x"]);
}

#[test]
fn what_a_prompt_is_made_from_is_named_where_the_prompt_differs() {
    let recorded = manifest(variant("a"));
    // All six of six: the prompt is the same. A run from before shots were recorded goes on as well.
    let spelled_out = |prompt_sha256: String| {
        let exemplar_order = Some("shuffled".to_owned());
        manifest(Variant { shots: Some(6), exemplar_order, exemplar_seed: Some(3), prompt_sha256, ..variant("a") })
    };
    assert_eq!(differences(&recorded, &spelled_out("0".repeat(64))), Vec::<String>::new());
    let other = spelled_out("1".repeat(64));
    let expected = [
        "shots: was all, now 6".to_owned(),
        "exemplar_order: was file, now shuffled".to_owned(),
        "exemplar_seed: was none, now 3".to_owned(),
        format!("prompt_sha256: was {}, now {}", "0".repeat(64), "1".repeat(64)),
    ];
    assert_eq!(differences(&recorded, &other), expected);
    assert!(differences(&other, &recorded).contains(&"shots: was 6, now all".to_owned()));
    let text = serde_json::to_string(&recorded).expect("JSON");
    assert!(["instruction", "shots", "exemplar"].iter().all(|name| !text.contains(name)), "{text}");
}

#[test]
fn variants_are_told_apart_by_name_whatever_their_order() {
    let of = |variants: &[Variant]| Manifest { variants: variants.to_vec(), ..manifest(variant("a")) };
    let (a, b) = (variant("a"), variant("b"));
    let recorded = of(&[a.clone(), b.clone()]);
    assert_eq!(differences(&recorded, &of(&[b.clone(), a.clone()])), Vec::<String>::new());
    assert_eq!(differences(&recorded, &of(std::slice::from_ref(&a))), ["variants: was [\"a\",\"b\"], now [\"a\"]"]);
    let shorter = |variant: &Variant| Variant { max_steps: Some(5), ..variant.clone() };
    assert_eq!(differences(&recorded, &of(&[a.clone(), shorter(&b)])), ["max_steps: was 7, now 5 (b)"]);
    assert_eq!(differences(&recorded, &of(&[shorter(&a), shorter(&b)])), ["max_steps: was 7, now 5"]);
}

#[test]
fn an_experiment_may_grow_but_not_change() {
    let of = |variants: &[Variant], repeats| Manifest {
        variants: variants.to_vec(),
        repeats,
        experiment: Some(ExperimentRecord {
            name: "x".to_owned(),
            path: "x.toml".to_owned(),
            sha256: String::new(),
            pairs: Pairs::default(),
            datasets: vec![],
            dataset: None,
        }),
        ..manifest(variant("a"))
    };
    let with = |name: &str, max_steps| Variant { max_steps: Some(max_steps), ..variant(name) };
    let (a, b, c) = (with("a", 1), with("b", 2), with("c", 3));
    let recorded = Manifest { retired: vec![c.clone()], ..of(&[a.clone(), b.clone()], 2) };
    let none: &[&str] = &[];
    for (variants, repeats, found) in [
        (&[a.clone(), b.clone(), with("d", 4)][..], 2, none),
        (&[b.clone(), c.clone()], 3, none),
        (std::slice::from_ref(&b), 1, &["repeats: was 2, now 1"]),
        (&[a.clone(), with("b", 9)], 2, &["max_steps: was 2, now 9 (b)"]),
        (&[a.clone(), with("c", 9)], 2, &["max_steps: was 3, now 9 (c)"]),
        (&[a.clone(), with("e", 3)], 2, &["name of a variant: was \"c\", now \"e\""]),
    ] {
        assert_eq!(differences(&recorded, &of(variants, repeats)), found);
    }
    assert_eq!(duplicate_variants(&[a.clone(), b.clone()]), None);
    assert_eq!(duplicate_variants(&[a.clone(), b, with("e", 1)]), Some((&a, &with("e", 1))));
}
