//! What can be wrong with an experiment file.

use crate::prompt::Fault;

/// The kinds of problems. Keys are written as a path, such as `include[2].protocol` (counted from 1).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    /// The file is not TOML.
    #[error("not valid TOML: {0}")]
    NotToml(String),
    /// A key that no experiment has.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key, with the table it stands in.
        key: String,
        /// The known key that looks most like it.
        suggestion: Option<&'static str>,
        /// Where the key belongs, if it is known elsewhere.
        belongs: Option<&'static str>,
    },
    /// A key that must be there.
    #[error("missing key `{0}`")]
    MissingKey(String),
    /// A value of another type.
    #[error("`{key}` must be {expected}, but is {found}")]
    WrongType {
        /// The key.
        key: String,
        /// What it must be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A text or a list without content.
    #[error("`{0}` is empty")]
    Empty(String),
    /// A value that is none of a few words.
    #[error("`{key}` is `{value}`, which is no {what}")]
    Unknown {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What it should be, such as `protocol`.
        what: &'static str,
        /// The known word that looks most like it.
        suggestion: Option<String>,
        /// All that are known.
        known: String,
    },
    /// A name that cannot be one.
    #[error("`{key}` is `{name}`, which cannot be a name")]
    BadName {
        /// The key.
        key: String,
        /// The name.
        name: String,
        /// What a name is made of.
        allowed: &'static str,
    },
    /// Two datasets with one name.
    #[error("two datasets are named `{name}`; the first is in line {first}")]
    DatasetTwice {
        /// The name.
        name: String,
        /// Line of the first.
        first: usize,
    },
    /// Two variants with one name.
    #[error("two variants are named `{0}`")]
    VariantTwice(String),
    /// Two values of a dimension with one short name.
    #[error("two values of `matrix.{dimension}` have the short name `{name}`")]
    ValueTwice {
        /// The dimension.
        dimension: &'static str,
        /// The short name.
        name: String,
    },
    /// A setting in two places that hold for the same variants.
    #[error("`{key}` is set here and in {other}")]
    SetTwice {
        /// The setting.
        key: &'static str,
        /// The other place.
        other: String,
    },
    /// A setting that no variant has a use for.
    #[error("`{0}` is of use to no variant")]
    Useless(String),
    /// A setting of a dataset by which variants are told apart.
    #[error("`{0}` cannot be another on one dataset: it tells variants apart")]
    SameEverywhere(String),
    /// A placeholder in `names` that is no dimension.
    #[error("`names` has the placeholder `{name}`, which is no key of [matrix]")]
    UnknownPlaceholder {
        /// The placeholder.
        name: String,
        /// The dimension that looks most like it.
        suggestion: Option<&'static str>,
    },
    /// A brace in `names` without its partner.
    #[error("`names` has a brace without its partner")]
    Brace,
    /// An exclusion that no variant of the matrix matches.
    #[error("`{0}` matches no variant of [matrix]")]
    ExcludesNothing(String),
    /// An exclusion without conditions.
    #[error("`{0}` names no setting, and would leave every variant out")]
    ExcludesAll(String),
    /// Nothing is left to run.
    #[error("every variant is excluded")]
    NoVariants,
    /// More variants than anybody runs.
    #[error("the matrix has {0} variants; an experiment has at most {max}", max = super::MAX_VARIANTS)]
    TooManyVariants(usize),
    /// A baseline that is no variant.
    #[error("`baseline` is `{name}`, which is no variant")]
    UnknownBaseline {
        /// The name.
        name: String,
        /// The variant whose name looks most like it.
        suggestion: Option<String>,
        /// Some variants' names.
        some: String,
    },
    /// An address with a user part or a query, which may hold a key; the file is stored with the run.
    #[error("`{0}` has a user part or a query, which may hold a secret")]
    Secret(String),
    /// An option for a protocol that is not known.
    #[error("`{key}` says that it is for `{protocol}`, but the variant names no protocol")]
    WhoseOption {
        /// The option.
        key: String,
        /// The protocol that it is for.
        protocol: String,
    },
}

impl Fault for ProblemKind {
    const KEY_BY_KEY: &'static str = "docs/experiments.md explains the file key by key";

    fn hint(&self) -> String {
        match self {
            Self::UnknownKey { suggestion: Some(known), .. } => format!("did you mean `{known}`?"),
            Self::Unknown { suggestion: Some(known), .. } | Self::UnknownBaseline { suggestion: Some(known), .. } => {
                format!("did you mean `{known}`?")
            }
            Self::UnknownKey { belongs: Some(place), .. } => format!("it belongs into {place}"),
            Self::Unknown { known, .. } => format!("known: {known}"),
            Self::UnknownPlaceholder { suggestion: Some(known), .. } => format!("did you mean `{{{known}}}`?"),
            Self::UnknownBaseline { some, .. } => format!("the variants are {some}"),
            Self::UnknownPlaceholder { .. } => "placeholders are the keys of [matrix] in braces".to_owned(),
            Self::Brace => "write placeholders as {protocol}".to_owned(),
            Self::BadName { allowed, .. } => format!("a name is made of {allowed}"),
            Self::DatasetTwice { .. } => "give one of them another `name`; it names its run's folder".to_owned(),
            Self::VariantTwice(_) => {
                "variants are named after [matrix], by `names` or by an [[include]]; each needs a name of its own"
                    .to_owned()
            }
            Self::ValueTwice { dimension, .. } => {
                format!("name one of them: {{ name = \"short\", {dimension} = … }}")
            }
            Self::SetTwice { .. } => "leave one of them out".to_owned(),
            Self::Useless(_) => "leave it out, or name the method, model or source that takes it".to_owned(),
            Self::SameEverywhere(_) => "set it in [settings], in [matrix] or in an [[include]]".to_owned(),
            Self::ExcludesNothing(_) => "name values that stand in [matrix] or [settings]".to_owned(),
            Self::ExcludesAll(_) => "name the settings of the variants that are to be left out".to_owned(),
            Self::NoVariants => "exclude less, or add an [[include]]".to_owned(),
            Self::TooManyVariants(_) => "leave dimensions out, or make several experiments".to_owned(),
            Self::Secret(_) => "give the address with --base-url on the command line, or a key with key_env; the file is stored with the run".to_owned(),
            Self::WhoseOption { .. } => "name the variant's protocol".to_owned(),
            _ => Self::KEY_BY_KEY.to_owned(),
        }
    }
}
