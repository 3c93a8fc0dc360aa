//! The documented ways in which answers end.

use crate::common::repository;
use wikitrail::run::FinishReason;

#[test]
fn the_documented_table_is_that_of_the_code() {
    let page = repository("docs/models.md");
    let table = FinishReason::table();
    assert!(page.contains(&table), "docs/models.md lacks this table:\n{table}");
}
