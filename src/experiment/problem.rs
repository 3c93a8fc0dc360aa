//! What can be wrong with an experiment file, beyond what any TOML file may have wrong.

use crate::prompt::Fault;

/// The kinds of problems. Keys are written as a path, such as `include[2].protocol` (counted from 1).
#[derive(Debug)]
pub(super) enum ProblemKind {
    MissingKey(String),
    Empty(String),
    BadName {
        key: String,
        name: String,
        allowed: &'static str,
    },
    DatasetTwice {
        name: String,
        first: usize,
    },
    VariantTwice(String),
    /// Two values of a dimension with one short name.
    ValueTwice {
        dimension: &'static str,
        name: String,
    },
    /// A setting in two places that hold for the same variants.
    SetTwice {
        key: &'static str,
        other: String,
    },
    Useless(String),
    /// A setting of one dataset by which variants are named.
    SameEverywhere(String),
    /// A placeholder in `names` that is not a dimension.
    UnknownPlaceholder {
        name: String,
        suggestion: Option<&'static str>,
    },
    /// A brace in `names` without its partner.
    Brace,
    /// A contrast of a variant with itself, or one that the list has already, in either direction.
    Contrast(String),
    ExcludesNothing(String),
    /// An exclusion without conditions.
    ExcludesAll(String),
    NoVariants,
    TooManyVariants(usize),
    /// An address with a user name or a query, which may contain a key; the file is stored with the run.
    Secret(String),
    /// An option for a protocol in a variant that names no protocol.
    WhoseOption {
        key: String,
        protocol: String,
    },
}

impl From<ProblemKind> for Fault {
    fn from(kind: ProblemKind) -> Self {
        use ProblemKind as K;
        let fault = |message: String, hint: &str| Self::from(message).hint(hint);
        match kind {
            K::MissingKey(key) => format!("missing key `{key}`").into(),
            K::Empty(key) => format!("`{key}` is empty").into(),
            K::BadName { key, name, allowed } => {
                Self::from(format!("`{key}` is `{name}`, which is not a valid name")).hint(format!("use {allowed}"))
            }
            K::DatasetTwice { name, first } => fault(
                format!("two datasets are named `{name}`; the first is on line {first}"),
                "give one of them another `name`: the folder of its run is named after it",
            ),
            K::VariantTwice(name) => fault(
                format!("two variants are named `{name}`"),
                "variants are named after [matrix], by `names` or by an [[include]]; each needs a name of its own",
            ),
            K::ValueTwice { dimension, name } => {
                Self::from(format!("two values of `matrix.{dimension}` have the short name `{name}`"))
                    .hint(format!("name one of them: {{ name = \"short\", {dimension} = … }}"))
            }
            K::SetTwice { key, other } => fault(format!("`{key}` is set here and in {other}"), "remove one of them"),
            K::Useless(key) => {
                fault(format!("no variant uses `{key}`"), "remove it, or name the method, model or source that uses it")
            }
            K::SameEverywhere(key) => fault(
                format!("`{key}` cannot differ between datasets: variants are named by it"),
                "set it in [settings], in [matrix] or in an [[include]]",
            ),
            K::UnknownPlaceholder { name, suggestion } => {
                let hint = suggestion.map(|known| format!("did you mean `{{{known}}}`?"));
                let otherwise = || "placeholders are the keys of [matrix] in braces".to_owned();
                Self::from(format!("unknown placeholder `{name}` in `names`")).hint(hint.unwrap_or_else(otherwise))
            }
            K::Brace => fault("unmatched brace in `names`".to_owned(), "write placeholders as {protocol}"),
            K::Contrast(key) => {
                fault(format!("`{key}` compares a variant with itself, or repeats a pair"), "name each pair once")
            }
            K::ExcludesNothing(key) => {
                fault(format!("`{key}` matches no variant of [matrix]"), "name values from [matrix] or [settings]")
            }
            K::ExcludesAll(key) => fault(
                format!("`{key}` has no conditions and would exclude every variant"),
                "name the settings of the variants to exclude",
            ),
            K::NoVariants => fault("every variant is excluded".to_owned(), "exclude fewer, or add an [[include]]"),
            K::TooManyVariants(count) => fault(
                format!("the experiment has {count} variants; the maximum is {}", super::MAX_VARIANTS),
                "remove dimensions, or split the experiment",
            ),
            K::Secret(key) => fault(
                format!("`{key}` has a user name or a query, which may contain a secret"),
                "the file is stored with the run: give the address with --base-url on the command line, or a key with --key-env",
            ),
            K::WhoseOption { key, protocol } => fault(
                format!("`{key}` is for protocol `{protocol}`, but the variant names no protocol"),
                "name the variant's protocol",
            ),
        }
    }
}
