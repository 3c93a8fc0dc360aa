//! Folders from elsewhere name programs, which nothing starts.

use crate::common::WorkDir;
use std::os::unix::fs::PermissionsExt as _;

/// Runs git, where it is installed, with a name for commits.
fn git(bench: &WorkDir, args: &[&str]) -> Option<String> {
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let output = std::process::Command::new("git").args(who).args(args).current_dir(bench.root()).output().ok()?;
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned())
}

/// The configuration of an unpacked repository names programs that `git describe --dirty` would start.
#[test]
fn no_program_is_started_because_of_the_folder() {
    let bench = WorkDir::new();
    bench.write("hook.sh", "#!/bin/sh\ntouch started\ncat\n");
    bench.write("tracked.txt", "one\n");
    bench.write(".gitattributes", "*.txt filter=x\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.path("hook.sh"), executable).expect("it can be set");
    if git(&bench, &["init", "-q"]).is_none() {
        return;
    }
    git(&bench, &["add", "."]);
    git(&bench, &["commit", "-q", "-m", "one"]);
    let commit = git(&bench, &["rev-parse", "HEAD"]).expect("a commit");
    git(&bench, &["config", "core.fsmonitor", "./hook.sh"]);
    git(&bench, &["config", "filter.x.clean", "./hook.sh"]);
    bench.write("tracked.txt", "two\n");
    for args in [&["--dry-run"][..], &["--out", "r"], &["--out", "r", "--resume"]] {
        bench.run(&[&["--limit", "1", "--quiet"], args].concat()).ok();
        assert!(!bench.path("started").exists(), "{args:?}");
    }
    assert_eq!(bench.manifest("r")["git_revision"], commit);
}
