//! Golden vectors. Those in `tests/golden` were made for this project; `shared.rs` has the others. Also a module of `src/tests`.

use std::io::Write as _;
use std::path::PathBuf;

/// A file in `tests/golden`, which need not exist.
pub(crate) fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/golden", name].iter().collect()
}

/// The text of a file in it.
#[allow(dead_code, reason = "not every test program reads files")]
pub(crate) fn text(name: &str) -> String {
    let path = path(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Says how many vectors of a file were checked, past the harness, which shows nothing of a test that passes.
#[expect(clippy::disallowed_methods, reason = "the harness keeps what `eprintln!` writes of a test that passes")]
pub(crate) fn checked(file: &str, count: usize) {
    let line = format!("golden: {count} checked, {file}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("stderr");
}
