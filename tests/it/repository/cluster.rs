//! The examples of docs/cluster: their flags exist, and the script for Slurm does what its page says. `scripts/cluster.sh` runs it
//! under a real Slurm, and holds the Kubernetes job against its schema.

use crate::common::{Ran, WorkDir, read, repository, wikitrail};
use std::path::Path;
use std::process::{Command, Stdio};

const SAMPLE: &str = "datasets/sample.jsonl";

/// The flags that a command has.
fn flags(command: &str) -> Vec<String> {
    let help = wikitrail(Path::new("."), &[command, "--help"]).ok().stdout;
    let words = help.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

/// The flags in some text.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "`\"'=".contains(c));
    words.filter(|word| word.starts_with("--") && word.len() > 2)
}

#[test]
fn every_flag_of_the_examples_exists() {
    let (run, merge) = (flags("run"), flags("merge"));
    let known = |flag: &str, list: &[String]| assert!(list.iter().any(|known| known == flag), "`{flag}` is no flag");
    let job = repository("docs/cluster/kubernetes.yaml");
    let args: Vec<&str> = job.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect();
    assert_eq!(args.iter().filter(|arg| **arg == "run").count(), 1);
    let of_job: Vec<&str> = args.iter().flat_map(|arg| named(arg)).collect();
    assert!(of_job.contains(&"--shard") && of_job.contains(&"--out") && of_job.len() >= 6, "{of_job:?}");
    for flag in of_job {
        known(flag, &run);
    }
    // As many pods as shards.
    let after = |text: &str| job.split_once(text).expect(text).1.lines().next().expect("a line").trim().to_owned();
    assert_eq!(after("completions:"), after("--shard=kubernetes/"));
    let mut commands = 0;
    for page in ["docs/cluster.md", "docs/cluster/slurm.sh"] {
        let page = repository(page);
        let lines = page.lines().filter(|line| !line.starts_with("#SBATCH"));
        for line in lines.filter(|line| line.contains("wikitrail") || line.contains("slurm.sh ")) {
            let line = line.rsplit_once("slurm.sh ").map_or(line, |(_, args)| args);
            commands += 1;
            for flag in named(line) {
                known(flag, if line.contains("wikitrail merge") { &merge } else { &run });
            }
        }
    }
    assert!(commands > 8, "{commands}");
}

/// A task of an array from 0 to 3.
fn task(dir: &WorkDir, id: &str, args: &[&str]) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cluster/slurm.sh");
    let mut command = Command::new("bash");
    command.arg(script).args(args).current_dir(dir.root()).env("WIKITRAIL", env!("CARGO_BIN_EXE_wikitrail"));
    let array = [("ID", id), ("MIN", "0"), ("MAX", "3"), ("COUNT", "4"), ("STEP", "1")];
    command.envs(array.map(|(name, value)| (format!("SLURM_ARRAY_TASK_{name}"), value))).env("SLURM_JOB_ID", "4711");
    // A stand-in for Slurm's own program.
    let path = format!("{}:{}", dir.path("bin").display(), std::env::var("PATH").expect("a path"));
    dir.write("bin/scontrol", "#!/bin/sh\necho \"$@\" > told\n");
    Command::new("chmod").args(["+x", "bin/scontrol"]).current_dir(dir.root()).status().expect("chmod");
    command.env("PATH", path);
    command
}

#[test]
fn each_task_of_the_script_runs_a_shard_and_hands_on_its_exit_code() {
    let dir = WorkDir::new();
    for id in ["0", "1", "2", "3"] {
        Ran::from(&task(&dir, id, &[SAMPLE, "--limit", "12", "--out", "r"]).output().expect("bash")).ok();
    }
    let score = dir.wikitrail(&["score", "r", "--json"]).json();
    assert_eq!((&score["planned"], &score["missing"]), (&12.into(), &0.into()));
    let refused = task(&dir, "9", &[SAMPLE, "--out", "r"]).output().expect("bash");
    Ran::from(&refused).refused(2, &["SLURM_ARRAY_TASK_ID 9 is not one of 4 tasks"]);
    assert!(!dir.path("told").exists(), "nothing is queued again");
}

#[test]
fn a_task_whose_time_is_up_ends_what_it_began_and_is_queued_again() {
    let dir = WorkDir::new();
    let mut script = task(&dir, "1", &[SAMPLE, "--repeats", "500", "--out", "r"]);
    let mut script = script.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("bash");
    let records = dir.path("r/trajectories.2-of-4.jsonl");
    while std::fs::read(&records).map_or(0, |text| text.len()) == 0 {
        assert!(script.try_wait().expect("it can be asked").is_none(), "it ended before its time was up");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let signal = Command::new("kill").args(["-USR1", &script.id().to_string()]).status().expect("kill");
    assert!(signal.success());
    assert_eq!(script.wait().expect("it ends").code(), Some(130));
    assert_eq!(dir.read("told"), "requeue 4711\n");
    assert!(read(&records).ends_with('\n'));
    assert_eq!(dir.read("r/.lock.2-of-4"), "", "its end was told");
}
