// A variant for episodes that are made up. Included by test programs, benchmarks and the tests of layers, which name the
// crate in different ways: whoever includes it has `BTreeMap` and the types in scope.

/// The paper's agent with a model and a source that are nowhere; tests say what is of matter to them.
pub(crate) fn variant(name: &str) -> Variant {
    Variant {
        repeats: None,
        name: name.to_owned(),
        protocol: "react-paper".to_owned(),
        protocol_version: 1,
        options: BTreeMap::new(),
        method: Method::React.name().to_owned(),
        voting: None,
        oracle_context: false,
        max_steps: Some(7),
        prompt: "prompts/hotpotqa.toml".to_owned(),
        prompt_sha256: "0".repeat(64),
        direct_prompt_sha256: None,
        direct_max_tokens: None,
        texts: None,
        instruction: None,
        shots: None,
        exemplar_order: None,
        exemplar_seed: None,
        question_label: "Question".to_owned(),
        model: "made".to_owned(),
        endpoint: "none".to_owned(),
        base_url: None,
        decoding: Decoding::default().into(),
        not_sent: Vec::new(),
        wiki: "made".to_owned(),
        wiki_origin: None,
        price: None,
        compat: Some(Compat::Fixed),
        wording: Wording::English,
        settings: BTreeMap::new(),
    }
}
