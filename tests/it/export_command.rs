//! `export` in a format that this program was built without.

use crate::common::WorkDir;

#[test]
fn a_program_without_parquet_says_how_to_build_it() {
    let dir = WorkDir::new();
    dir.run(&["--quiet", "--limit", "1", "--out", "r"]).ok();
    dir.wikitrail(&["export", "r", "--format", "parquet", "--out", "t.parquet"])
        .refused(2, &["\nhint: build it with the format: cargo install --path . --features parquet\n"]);
    assert!(!dir.path("t.parquet").exists());
}
