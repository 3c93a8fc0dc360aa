//! The git commit of the working folder, for the manifest.
//!
//! Read from the repository's files. `git` itself would run programs that the repository's configuration names, and the
//! working folder may come from somebody else.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The longest file that is read; larger ones are not what they seem.
const MAX_BYTES: u64 = 4 << 20;
/// How many references may point to another.
const MAX_HOPS: usize = 5;

/// The commit of the nearest repository; absent where it cannot be read. Whether files differ from it is not looked at.
pub(super) fn git_revision() -> Option<String> {
    revision_of(&std::env::current_dir().ok()?)
}

fn revision_of(folder: &Path) -> Option<String> {
    let git = folder.ancestors().find_map(git_folder)?;
    // A worktree has its own HEAD; its references are those of the main repository.
    let common = text(&git.join("commondir")).map_or_else(|| git.clone(), |path| git.join(path));
    let mut value = text(&git.join("HEAD"))?;
    for _ in 0..MAX_HOPS {
        let Some(name) = value.strip_prefix("ref: ") else { break };
        let name = name.trim();
        let safe = name.starts_with("refs/") && !name.contains("..");
        value = safe
            .then(|| text(&git.join(name)).or_else(|| text(&common.join(name))).or_else(|| packed(&common, name)))??;
    }
    let is_commit = matches!(value.len(), 40 | 64) && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then_some(value)
}

/// The repository's data of a working folder: `.git`, or the folder that a file of this name points to.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    Some(folder.join(text(&git)?.strip_prefix("gitdir: ")?))
}

/// The commit of a reference that has no file of its own.
fn packed(git: &Path, name: &str) -> Option<String> {
    let lines = text(&git.join("packed-refs"))?;
    lines.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned))
}

fn text(path: &Path) -> Option<String> {
    // A named pipe or a device would never end.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::revision_of;
    use std::fs;
    use std::path::Path;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    #[test]
    fn the_commit_is_read_from_loose_and_packed_references_and_from_worktrees() {
        let dir = tempfile::tempdir().expect("a folder");
        let (git, inside) = (dir.path().join(".git"), dir.path().join("a/b"));
        fs::create_dir_all(&inside).expect("a folder");
        write(&git.join("HEAD"), "ref: refs/heads/main\n");
        assert_eq!(revision_of(&inside), None);
        write(&git.join("packed-refs"), &format!("# pack-refs with: peeled\n{COMMIT} refs/heads/main\n"));
        assert_eq!(revision_of(&inside).as_deref(), Some(COMMIT));
        let other = COMMIT.replace('0', "f");
        write(&git.join("refs/heads/main"), &format!("{other}\n"));
        assert_eq!(revision_of(&inside), Some(other));
        write(&git.join("HEAD"), COMMIT);
        assert_eq!(revision_of(dir.path()).as_deref(), Some(COMMIT));

        let tree = dir.path().join("tree");
        write(&tree.join(".git"), &format!("gitdir: {}\n", git.join("worktrees/t").display()));
        write(&git.join("worktrees/t/HEAD"), "ref: refs/heads/side\n");
        write(&git.join("worktrees/t/commondir"), "../..\n");
        write(&git.join("refs/heads/side"), COMMIT);
        assert_eq!(revision_of(&tree).as_deref(), Some(COMMIT));
    }

    #[test]
    fn what_is_not_a_commit_is_unknown() {
        let dir = tempfile::tempdir().expect("a folder");
        let head = dir.path().join(".git/HEAD");
        let secret = dir.path().join("secret");
        write(&secret, COMMIT);
        for text in
            ["", "main", "ref: refs/heads/none", "ref: refs/../../secret", &format!("ref: {}", secret.display())]
        {
            write(&head, text);
            assert_eq!(revision_of(dir.path()), None, "{text}");
        }
        write(&head, "ref: refs/heads/loop");
        write(&dir.path().join(".git/refs/heads/loop"), "ref: refs/heads/loop");
        assert_eq!(revision_of(dir.path()), None);
    }
}
