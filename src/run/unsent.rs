//! Which settings of a variant the server of its model does not take, for the record and for a person.

use crate::llm::LearnedOptions;
use crate::types::text::printable;
use crate::types::{Decoding, RequestOption, RequestOptions, Variant};

/// Options that requests of these settings are sent without, as far as is known. Names that an option goes by, and how
/// answers are transferred, change nothing in them.
pub(super) fn of(decoding: &Decoding, learned: &LearnedOptions) -> RequestOptions {
    let required = decoding.required();
    let unsent = learned.refused().and(RequestOptions::told()).iter();
    unsent
        .filter(|option| match option {
            // A provider may have no seeds at all.
            RequestOption::Seed => decoding.seed.is_some(),
            option => !required.contains(*option),
        })
        .collect()
}

/// What a person should know about it.
pub(super) fn notes(variant: &Variant, learned: &LearnedOptions) -> Vec<String> {
    let model = printable(&variant.model, 80);
    let note = |option: RequestOption| {
        let name = option.name();
        let means = match option {
            RequestOption::Stop => "stops are applied here",
            RequestOption::Seed => "repeats may differ",
            RequestOption::CacheControl => "every prompt costs its full price",
            _ => "the model uses its own",
        };
        format!("note: {model} does not take {name}: requests are sent without it, and {means}")
    };
    of(&variant.decoding, learned).iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::{notes, of};
    use crate::llm::{RemoteSettings, anthropic};
    use crate::types::{Compat, Decoding, Method, RequestOption, Variant, Wording};
    use std::collections::BTreeMap;

    include!("../../tests/it/common/variant.rs");

    #[test]
    fn a_seed_that_the_provider_does_not_know_is_told_where_one_is_set() {
        let settings = RemoteSettings { base_urls: vec!["http://h".to_owned()], ..RemoteSettings::default() };
        let model = anthropic::model(settings, false).expect("a model");
        let typed = [RequestOption::Seed].into_iter().collect();
        let seeded = Decoding { seed: Some(7), typed, ..Decoding::default() };
        assert_eq!(of(&seeded, model.learned()).names(), ["seed"]);
        assert!(of(&Decoding::default(), model.learned()).names().is_empty());
        assert_eq!(
            notes(&Variant { decoding: seeded, ..variant("a") }, model.learned()),
            ["note: made does not take seed: requests are sent without it, and repeats may differ"]
        );
    }
}
