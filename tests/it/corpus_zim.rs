//! `corpus build` from ZIM files, and what a build without a format says.

use crate::common::{WorkDir, shared};
use std::fs;

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_split_file_is_known_by_its_bytes_and_says_what_it_is() {
    let folder = shared();
    let dir = WorkDir::new();
    let parts = folder.join("data/zim/suite/wikibooks_be_all_nopic_2017-02_splitted.zim");
    let from = parts.display().to_string();
    let built = dir.wikitrail(&["corpus", "build", "be", "--from", &from, "--license", "CC-BY-SA-3.0"]).ok();
    assert!(built.stderr.contains("_splitted.zim` as zim\n"), "{}", built.stderr);
    assert!(built.stderr.contains("has no text"), "{}", built.stderr);
    let info = dir.wikitrail(&["corpus", "info", "be", "--json"]).json();
    assert_eq!((info["articles"].as_u64(), info["redirects"].as_u64()), (Some(65), Some(3)));
    assert_eq!((info["language"].as_str(), info["as_of"].as_str()), (Some("bel"), Some("2017-02-13")));
    assert_eq!(
        (&info["license"]["id"], &info["license"]["attribution"]),
        (&"CC-BY-SA-3.0".into(), &"Wikibooks".into())
    );
    dir.wikitrail(&["corpus", "verify", "be", "--deep"]).ok();
    // What was typed counts.
    dir.wikitrail(&["corpus", "build", "b", "--from", &from, "--language", "be", "--as-of", "2017"]).ok();
    let info = dir.wikitrail(&["corpus", "info", "b", "--json"]).json();
    assert_eq!((info["language"].as_str(), info["as_of"].as_str()), (Some("be"), Some("2017")));
    let whole = fs::read(folder.join("data/zim/small.nons.zim")).expect("a file");
    fs::write(dir.path("cut.zim"), &whole[..whole.len() - 1]).expect("written");
    dir.wikitrail(&["corpus", "build", "c", "--from", "cut.zim"]).refused(
        3,
        &["cannot read `cut.zim` to its end: it is cut: 41154 bytes of 41155 are there", "is the file whole"],
    );
    dir.wikitrail(&["corpus", "build", "c", "--from", "gone.zim"]).refused(3, &["there is no such file or folder"]);
}

#[test]
fn a_build_without_parquet_says_how_to_get_it() {
    let dir = WorkDir::new();
    fs::write(dir.path("a.parquet"), b"PAR1PAR1").expect("written");
    let built = dir.wikitrail(&["corpus", "build", "c", "--from", "a.parquet"]);
    if cfg!(feature = "parquet") {
        built.refused(3, &["cannot read `a.parquet` to its end"]);
    } else {
        built.refused(2, &["this program was built without the format parquet", "--features parquet"]);
    }
}
