// The folder of golden vectors and real data beside the checkout. Included by test programs and by the test modules
// of floors, which may not take it from one another.

/// The folder, or nothing (said in one line) on a machine without it. CI requires it.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn folder() -> Option<std::path::PathBuf> {
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none(), "../shared is required in CI");
    eprintln!("skipped: ../shared is not here");
    None
}

/// The bytes of a file in it.
#[allow(dead_code, reason = "not every test program reads files")]
pub(crate) fn bytes(path: &str) -> Option<Vec<u8>> {
    let path = folder()?.join(path);
    Some(std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// The text of a file in it.
#[allow(dead_code, reason = "not every test program reads files")]
pub(crate) fn text(path: &str) -> Option<String> {
    bytes(path).map(|bytes| String::from_utf8(bytes).expect("shared text is UTF-8"))
}
