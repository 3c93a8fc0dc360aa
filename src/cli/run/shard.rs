//! `--shard`: which part of the questions this process runs, typed or taken from a job's variables.

use crate::cli::failure::Failure;
use crate::types::Shard;

/// The index of an indexed Kubernetes job, from 0.
const KUBERNETES_INDEX: &str = "JOB_COMPLETION_INDEX";

/// The value of `--shard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShardArg {
    This(Shard),
    /// The task of an array, of as many as the array has.
    Slurm,
    /// The index of an indexed job, of so many.
    Kubernetes(u32),
}

/// The shard that is typed, with the variables of the environment where they were asked for.
pub(super) fn parse_shard(text: &str, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Shard> {
    let typed = match text.split_once('/') {
        None if text == "slurm" => Some(ShardArg::Slurm),
        Some(("kubernetes", count)) => Shard::parse(&format!("1/{count}")).map(|one| ShardArg::Kubernetes(one.count())),
        _ => Shard::parse(text).map(ShardArg::This),
    };
    match typed {
        Some(typed) => typed.shard(variable),
        None => Err(Failure::usage(
            format!("`{text}` is not a shard"),
            format!("give --shard I/N with I from 1 to N and N up to {}, `slurm` or `kubernetes/N`", Shard::MOST),
        )),
    }
}

impl ShardArg {
    fn shard(self, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Shard> {
        let number = |name: &str, text: String| {
            let not_one =
                || Failure::usage(format!("{name} is `{text}`, which is not a number"), "type --shard I/N instead");
            text.trim().parse::<u32>().map_err(|_| not_one())
        };
        let needed = |name: &str, place: &str| match variable(name) {
            Some(text) => number(name, text),
            None => Err(Failure::usage(
                format!("{name} is not set: this is not a {place}"),
                "type --shard I/N instead, with I from 1 to N",
            )),
        };
        match self {
            Self::This(shard) => Ok(shard),
            Self::Kubernetes(count) => {
                let index = needed(KUBERNETES_INDEX, "pod of an indexed Kubernetes job")?;
                Shard::new(index.saturating_add(1), count).ok_or_else(|| {
                    Failure::usage(
                        format!("{KUBERNETES_INDEX} is {index}, and there are {count} shards, which it counts from 0"),
                        "give --shard kubernetes/N the number that the job has as `completions`",
                    )
                })
            }
            Self::Slurm => {
                let [task, least, most, count] = ["ID", "MIN", "MAX", "COUNT"]
                    .map(|name| needed(&format!("SLURM_ARRAY_TASK_{name}"), "task of a Slurm array"));
                let (task, least, most, count) = (task?, least?, most?, count?);
                let step = "SLURM_ARRAY_TASK_STEP";
                let step = variable(step).map_or(Ok(1), |text| number(step, text))?;
                task_of_array(task, least, most, count, step).ok_or_else(|| {
                    Failure::usage(
                        format!(
                            "SLURM_ARRAY_TASK_ID {task} is not one of {count} tasks from {least} to {most} in steps of {step}"
                        ),
                        "give the array as one range, such as --array=1-16, or type --shard I/N",
                    )
                })
            }
        }
    }
}

/// The shard of a task, if the tasks are a range.
fn task_of_array(task: u32, least: u32, most: u32, count: u32, step: u32) -> Option<Shard> {
    let place = |task: u32| {
        let distance = task.checked_sub(least)?;
        (distance.checked_rem(step)? == 0).then(|| distance / step + 1)
    };
    (place(most) == Some(count)).then(|| Shard::new(place(task)?, count))?
}

#[cfg(test)]
mod tests {
    use crate::cli::failure;

    /// What `--shard TEXT` means with these variables.
    fn shard(text: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        super::parse_shard(text, variable).map(|shard| shard.to_string()).map_err(|error| {
            let (code, text) = failure::explain(&error);
            assert_eq!(code, failure::USAGE);
            assert!(text.contains("hint: "), "{text}");
            text
        })
    }

    fn array<'a>(id: &'a str, min: &'a str, max: &'a str, count: &'a str) -> [(&'a str, &'a str); 4] {
        [
            ("SLURM_ARRAY_TASK_ID", id),
            ("SLURM_ARRAY_TASK_MIN", min),
            ("SLURM_ARRAY_TASK_MAX", max),
            ("SLURM_ARRAY_TASK_COUNT", count),
        ]
    }

    #[test]
    fn a_shard_is_typed_or_taken_from_a_job() {
        let all = [&array("7", "4", "7", "4")[..], &[("JOB_COMPLETION_INDEX", "3")]].concat();
        assert_eq!(shard("2/3", &all).as_deref(), Ok("2/3"), "variables alone say nothing");
        assert_eq!(shard("slurm", &all).as_deref(), Ok("4/4"));
        assert_eq!(shard("kubernetes/5", &all).as_deref(), Ok("4/5"));
        assert_eq!(shard("slurm", &array("0", "0", "15", "16")).as_deref(), Ok("1/16"));
        let stepped = [&array("9", "1", "13", "4")[..], &[("SLURM_ARRAY_TASK_STEP", "4")]].concat();
        assert_eq!(shard("slurm", &stepped).as_deref(), Ok("3/4"));
        for bad in ["0/3", "4/3", "3", "auto", "slurm/4", "kubernetes", "kubernetes/0", "kubernetes/70000", ""] {
            assert!(shard(bad, &all).is_err(), "{bad}");
        }
    }

    #[test]
    fn variables_that_are_missing_or_contradict_each_other_are_told() {
        let told = |text: &str, variables: &[(&str, &str)], words: &str| {
            let error = shard(text, variables).expect_err(words);
            assert!(error.contains(words), "{error}");
        };
        told("slurm", &[], "SLURM_ARRAY_TASK_ID is not set");
        told("slurm", &[("SLURM_ARRAY_TASK_ID", "1")], "SLURM_ARRAY_TASK_MIN is not set");
        told("slurm", &array("x", "1", "4", "4"), "SLURM_ARRAY_TASK_ID is `x`");
        // An array such as 1,2,9 is not a range, so that it is not known which task is the third.
        told("slurm", &array("9", "1", "9", "3"), "is not one of 3 tasks");
        told("slurm", &array("5", "1", "4", "4"), "is not one of 4 tasks");
        told("slurm", &array("0", "1", "4", "4"), "is not one of 4 tasks");
        told("slurm", &[&array("2", "1", "4", "4")[..], &[("SLURM_ARRAY_TASK_STEP", "0")]].concat(), "steps of 0");
        told("5/4", &[], "`5/4` is not a shard");
        told("kubernetes/4", &[], "JOB_COMPLETION_INDEX is not set");
        told("kubernetes/4", &[("JOB_COMPLETION_INDEX", "4")], "there are 4 shards");
        told("kubernetes/4", &[("JOB_COMPLETION_INDEX", "4294967295")], "there are 4 shards");
    }
}
