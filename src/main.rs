//! The `wikitrail` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    wikitrail::main()
}
