//! Which settings of a variant the server of its model does not take, for the record and for a person.

use crate::llm::LearnedOptions;
use crate::protocol::native;
use crate::types::text::printable;
use crate::types::{Method, RequestOption, RequestOptions, Variant};

/// Options that requests of these settings are sent without, as far as is known. Names that an option goes by, and how
/// answers are transferred, change nothing in them.
pub(super) fn unsent_options(variant: &Variant, learned: &LearnedOptions) -> RequestOptions {
    let Some(decoding) = variant.decoding.known() else { return RequestOptions::default() };
    // Native calls need no stops; methods that answer at once have them.
    let acts_only = [Method::Act.name(), Method::React.name()].contains(&variant.method.as_str());
    let has_stops = !(acts_only && variant.protocol == native::ID);
    let required = decoding.required();
    let unsent = learned.refused().and(RequestOptions::told()).iter();
    unsent
        .filter(|option| match option {
            // A provider may have no seeds at all.
            RequestOption::Seed => decoding.seed.is_some(),
            RequestOption::Stop => has_stops,
            option => !required.contains(*option),
        })
        .collect()
}

/// What a person should know about it.
pub(super) fn unsent_notes(variant: &Variant, learned: &LearnedOptions) -> Vec<String> {
    let model = printable(&variant.model, 80);
    let note = |option: RequestOption| {
        if option == RequestOption::Stop && variant.endpoint == "responses" {
            return "note: the Responses API has no stop sequences; they are applied here".to_owned();
        }
        let name = option.name();
        let means = match option {
            RequestOption::Stop => "stops are applied here",
            RequestOption::Seed => "repeats may differ",
            RequestOption::CacheControl => "every prompt costs its full price",
            RequestOption::Thoughts | RequestOption::ThoughtsContent | RequestOption::ThoughtsDetails => {
                "the model does not see its earlier reasoning again"
            }
            _ => "the model uses its own",
        };
        format!("note: {model} does not take {name}: requests are sent without it, and {means}")
    };
    unsent_options(variant, learned).iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::{unsent_notes, unsent_options};
    use crate::llm::{Endpoint, OpenAiSettings, RemoteSettings, anthropic, openai};
    use crate::types::{Compat, Decoding, Method, RequestOption, Variant, Wording};
    use std::collections::BTreeMap;

    include!("../../tests/it/common/variant.rs");

    #[test]
    fn stops_are_told_about_where_requests_have_some() {
        let settings = RemoteSettings { base_urls: vec!["http://h".to_owned()], ..RemoteSettings::default() };
        let api = OpenAiSettings { endpoint: Endpoint::Responses, ..OpenAiSettings::default() };
        let model = openai::model(settings, api).expect("a model");
        let told = "note: the Responses API has no stop sequences; they are applied here";
        for (protocol, method, notes_expected) in [
            ("tools", Method::React, vec![]),
            ("tools", Method::ReactThenCotSc, vec![told]),
            ("robust", Method::React, vec![told]),
        ] {
            let (protocol, method) = (protocol.to_owned(), method.name().to_owned());
            let variant = Variant { protocol, method, endpoint: "responses".to_owned(), ..variant("a") };
            assert_eq!(
                unsent_notes(&variant, model.learned()),
                notes_expected,
                "{} {}",
                variant.protocol,
                variant.method
            );
        }
    }

    #[test]
    fn a_seed_that_the_provider_does_not_know_is_told_where_one_is_set() {
        let settings = RemoteSettings { base_urls: vec!["http://h".to_owned()], ..RemoteSettings::default() };
        let model = anthropic::model(settings, false).expect("a model");
        let typed = [RequestOption::Seed].into_iter().collect();
        let seeded = Decoding { seed: Some(7), typed, ..Decoding::default() };
        let seeded = Variant { decoding: seeded.into(), ..variant("a") };
        assert_eq!(unsent_options(&seeded, model.learned()).names(), ["seed"]);
        assert!(unsent_options(&variant("a"), model.learned()).names().is_empty());
        assert_eq!(
            unsent_notes(&seeded, model.learned()),
            ["note: made does not take seed: requests are sent without it, and repeats may differ"]
        );
    }
}
