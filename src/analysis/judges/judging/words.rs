//! The flags of a judge in errors: those of `run`, with `judge` in front.

use crate::runner::error::{ErrorKind, RunError};
use crate::runner::experiment::{Setting, VARIANT_SETTINGS};

/// An error in the words of the judge's flags, which are those of `run` with `judge` in front; `model` names the model.
pub(super) fn in_flags_of_the_judge(error: &RunError, model: &str) -> RunError {
    let (message, hint) = (flags_of_the_judge(&error.to_string(), model), flags_of_the_judge(error.hint(), model));
    match error.kind() {
        ErrorKind::Usage => RunError::usage(message, hint),
        ErrorKind::Input => RunError::input(message, hint),
        ErrorKind::Unexpected => RunError::unexpected(message, hint),
    }
}

pub(super) fn flags_of_the_judge(text: &str, model: &str) -> String {
    let others = [
        "--concurrency",
        "--requests-per-minute",
        "--tokens-per-minute",
        "--prices",
        "--record",
        "--replay",
        "--cache",
    ];
    let mut flags: Vec<String> = VARIANT_SETTINGS.iter().map(Setting::flag).collect();
    flags.extend(others.map(str::to_owned));
    // Of two flags that begin alike the longer one is meant.
    flags.sort_by_key(|flag| std::cmp::Reverse(flag.len()));
    let (mut said, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("--") {
        said.push_str(&rest[..at]);
        rest = &rest[at..];
        match flags.iter().find(|flag| rest.starts_with(flag.as_str())) {
            Some(flag) if flag == "--model" => {
                said.push_str(model);
                rest = &rest[flag.len()..];
            }
            Some(flag) => {
                said.push_str("--judge-");
                said.push_str(&flag[2..]);
                rest = &rest[flag.len()..];
            }
            None => {
                said.push_str("--");
                rest = &rest[2..];
            }
        }
    }
    (said + rest)
        .replace("; then --resume", "; then the same command again")
        .replace("--resume runs these episodes again", "the same command asks again")
}

#[cfg(test)]
mod tests {
    use super::flags_of_the_judge;

    #[test]
    fn errors_name_the_flags_of_the_judge() {
        for (run, judge) in [
            ("set X, or name your own server with --base-url", "set X, or name your own server with --judge-base-url"),
            ("check the name after --model", "check the name after --judge"),
            (
                "raise --model-timeout, or lower --max-tokens",
                "raise --judge-model-timeout, or lower --judge-max-tokens",
            ),
            ("a -- b --out", "a -- b --out"),
        ] {
            assert_eq!(flags_of_the_judge(run, "--judge"), judge);
        }
        assert_eq!(flags_of_the_judge("check --model, --base-url", "--classify"), "check --classify, --judge-base-url");
    }
}
