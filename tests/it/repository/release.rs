//! What a release is made of, as far as it can be tried without publishing: the crate's files, the archive, the image's files.

use crate::common::{Ran, WorkDir, command, repository};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The paths of the files that the crate would be published with.
fn packaged() -> Vec<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["package", "--list", "--allow-dirty", "--offline"]).current_dir(ROOT);
    let list = Ran::from(&cargo.output().expect("cargo runs")).ok().stdout;
    // Windows has the other slash.
    list.lines().map(|line| line.replace('\\', "/")).collect()
}

/// Files outside of `src` that the program contains, as the sources name them.
fn contained() -> Vec<String> {
    let sources =
        [("src/cli/docs.rs", "../../"), ("src/runner/experiment/shipped.rs", ""), ("src/cli/demo.rs", "../../")];
    let mut found = Vec::new();
    for (file, before) in sources {
        if !Path::new(ROOT).join(file).exists() {
            continue;
        }
        let text = repository(file);
        let quoted = text.split('"').skip(1).step_by(2).filter_map(|text| text.strip_prefix(before));
        let folders = ["docs/", "prompts/", "datasets/", "experiments/"];
        let files = quoted.filter(|text| folders.iter().any(|folder| text.starts_with(folder)));
        found.extend(files.filter(|file| Path::new(ROOT).join(file).is_file()).map(str::to_owned));
    }
    found
}

#[test]
fn the_crate_has_what_the_program_contains_and_no_tests() {
    let (packaged, contained) = (packaged(), contained());
    assert!(contained.len() > 40, "{contained:?}");
    for file in &contained {
        assert!(packaged.contains(file), "`include` in Cargo.toml lacks {file}");
    }
    let known = ["src", "docs", "prompts", "datasets", "experiments", "examples"];
    for file in packaged.iter().filter(|file| file.contains('/')) {
        assert!(known.iter().any(|folder| file.starts_with(&format!("{folder}/"))), "{file}");
    }
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "build.rs", "Cargo.lock"] {
        assert!(packaged.iter().any(|name| name == file), "{file}");
    }
}

/// The image is compiled from what `.dockerignore` lets through, by the compiler of rust-toolchain.toml.
#[test]
fn the_image_is_compiled_from_the_same_files_by_the_same_compiler() {
    let let_through = repository(".dockerignore");
    let let_through: Vec<&str> = let_through.lines().filter_map(|line| line.strip_prefix('!')).collect();
    for file in contained().iter().map(String::as_str).chain(["src", "build.rs", "Cargo.lock", "Cargo.toml"]) {
        let passes = |name: &&str| file.starts_with(name.trim_end_matches('*'));
        assert!(let_through.iter().any(passes), "`.dockerignore` lacks {file}");
    }
    assert!(!let_through.iter().any(|name| ["results", "datasets", "rust-toolchain.toml"].contains(name)));
    let toolchain = repository("rust-toolchain.toml");
    let channel = toolchain.split_once("channel = \"").expect("a channel").1.split_once(".0\"").expect("its end").0;
    assert!(repository("Dockerfile").contains(&format!("FROM rust:{channel}-alpine ")), "{channel}");
}

/// Whoever receives a binary receives the licences of its crates: in archives (below), in wheels, which scripts/python.sh opens, and
/// in the image.
#[test]
fn wheels_and_the_image_have_the_licences_of_the_crates() {
    let script = "scripts/third_party.py";
    let workflow = repository(".github/workflows/release.yml");
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    // It is written before the wheel is built.
    for (text, build) in [(repository("scripts/python.sh"), " wheel --no-deps "), (workflow.clone(), "--out wheels")] {
        let at = |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("{wanted} is missing"));
        assert!(at(script) < at(build), "{build}");
    }
    let project: toml::Table = repository("pyproject.toml").parse().expect("TOML");
    let named = project["project"]["license-files"].as_array().expect("a list");
    assert!(named.iter().any(|name| name.as_str() == Some("THIRD-PARTY.txt")), "{named:?}");

    assert!(lines(&repository(".dockerignore")).contains(&format!("!{script}")));
    let image = repository("Dockerfile");
    let (build, image) = image.split_once("FROM scratch").expect("two stages");
    assert!(build.contains(script) && build.contains(">THIRD-PARTY.txt"), "{build}");
    let copied: Vec<String> = lines(image)
        .iter()
        .filter_map(|line| line.strip_prefix("COPY --from=build ")?.split_once(' ').map(|(_, to)| to.to_owned()))
        .collect();
    assert!(copied.contains(&"/THIRD-PARTY.txt".to_owned()), "{copied:?}");
    // The release refuses an image with other files.
    let mut files: Vec<&str> = copied.iter().map(|path| path.trim_start_matches('/')).collect();
    files.sort_unstable();
    assert!(workflow.contains(&format!("printf '%s\\n' {} | diff", files.join(" "))), "{files:?}");
    let (_, wheels) = workflow.split_once("\n  wheels:\n").expect("the job");
    let jobs = lines(wheels.split_once("\n  sdist:\n").expect("the next job").0);
    let jobs: Vec<&String> = jobs.iter().filter(|line| line.starts_with("- { runner: ")).collect();
    assert!(jobs.len() > 5 && jobs.iter().all(|line| line.contains(", crates: ")), "{jobs:?}");
}

#[test]
fn an_archive_has_program_completions_manual_licences_and_a_sum() {
    let dir = WorkDir::new();
    // The program with its debug information would take long to compress.
    dir.write("program", format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_wikitrail")));
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(dir.path("program"), executable).expect("permissions");
    let mut script = Command::new(Path::new(ROOT).join("scripts/package.sh"));
    script.args(["./program", "x86_64-unknown-linux-musl", "out"]).current_dir(dir.root());
    let archive = Ran::from(&script.output().expect("bash runs")).ok().stdout;
    let name = format!("wikitrail-{}-x86_64-unknown-linux-musl", env!("CARGO_PKG_VERSION"));
    assert_eq!(archive.trim_end(), format!("{name}.tar.gz"));

    let sum = dir.read(&format!("out/{name}.tar.gz.sha256"));
    assert!(sum.len() > 64 && sum.trim_end().ends_with(&format!("  {name}.tar.gz")), "{sum}");
    let mut tar = Command::new("tar");
    tar.args(["-xzf", &format!("out/{name}.tar.gz")]).current_dir(dir.root());
    Ran::from(&tar.output().expect("tar runs")).ok();
    for file in ["wikitrail", "README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "man/wikitrail-run.1"] {
        assert!(dir.path(&format!("{name}/{file}")).is_file(), "{file}");
    }
    let theirs = dir.read(&format!("{name}/THIRD-PARTY.txt"));
    for text in [
        "\nserde 1.",
        "\nparquet 6",
        "\ncssparser 0.",
        "    source: https://crates.io/crates/cssparser/",
        "Mozilla Public License",
        "Permission is hereby granted",
    ] {
        assert!(theirs.contains(text), "{text}");
    }
    for (shell, file) in [
        ("bash", "wikitrail.bash"),
        ("zsh", "_wikitrail"),
        ("fish", "wikitrail.fish"),
        ("elvish", "wikitrail.elv"),
        ("powershell", "_wikitrail.ps1"),
    ] {
        let printed = Ran::from(&command(dir.root(), &["completions", shell]).output().expect("it runs")).ok().stdout;
        assert_eq!(dir.read(&format!("{name}/completions/{file}")), printed, "{shell}");
    }
}

/// What is shipped reads and writes Parquet: archives, wheels and the image.
#[test]
fn what_is_shipped_has_the_feature_parquet() {
    let builds = [repository(".github/workflows/release.yml"), repository("Dockerfile")];
    let builds: Vec<&str> =
        builds.iter().flat_map(|text| text.lines()).filter(|line| line.contains("cargo build")).collect();
    assert!(builds.len() == 2 && builds.iter().all(|line| line.contains(" --features parquet")), "{builds:?}");
    let project: toml::Table = repository("pyproject.toml").parse().expect("TOML");
    assert_eq!(project["tool"]["maturin"]["features"].as_array().expect("a list"), &["parquet".into()]);
}

/// Each job of the workflow says what it may do, and nothing that a tag or a person names becomes a part of a command.
#[test]
fn the_release_workflow_has_few_permissions_and_no_expressions_in_commands() {
    let workflow = repository(".github/workflows/release.yml");
    let (head, jobs) = workflow.split_once("\njobs:\n").expect("jobs");
    assert!(head.contains("\npermissions: {}\n"));
    let names = jobs.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ") && line.ends_with(':'));
    assert_eq!(names.count(), jobs.matches("\n    permissions:\n").count());
    assert_eq!(jobs.matches("uses: actions/checkout@").count(), jobs.matches("persist-credentials: false").count());
    for line in workflow.lines().filter(|line| line.contains("${{")) {
        let (name, value) = line.split_once(": ").expect("a name");
        assert!(name.trim_start_matches([' ', '-']) != "run", "{line}");
        assert!(!value.contains("github.event") && !value.contains("head_ref"), "{line}");
    }
}

/// The tags of other people's actions can be moved, their commits cannot.
#[test]
fn actions_are_pinned_by_commit_and_each_to_one() {
    let workflows = std::fs::read_dir(Path::new(ROOT).join(".github/workflows")).expect("workflows");
    let names = workflows.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    let files = names.map(|name| format!(".github/workflows/{name}")).chain(["action.yml".to_owned()]);
    let mut pins = std::collections::BTreeMap::new();
    for file in files {
        let text = repository(&file);
        let used =
            text.lines().filter_map(|line| Some((line, line.trim_start_matches([' ', '-']).strip_prefix("uses:")?)));
        for (line, used) in used.filter(|(_, used)| !used.trim().starts_with("./")) {
            let (action, pin) = used.trim().split_once('@').unwrap_or_else(|| panic!("{file}: {line}"));
            let (commit, version) = pin.split_once(" # v").unwrap_or_else(|| panic!("{file}: no version: {line}"));
            let is_commit = commit.len() == 40 && commit.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            assert!(is_commit, "{file}: no full commit: {line}");
            assert!(
                version.split('.').count() == 3 && version.starts_with(|c: char| c.is_ascii_digit()),
                "{file}: {line}"
            );
            assert_eq!(*pins.entry(action.to_owned()).or_insert_with(|| pin.to_owned()), pin, "{file}: {action}");
        }
    }
    assert!(pins.len() >= 8, "{pins:?}");
}
