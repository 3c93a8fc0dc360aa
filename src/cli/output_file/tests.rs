use super::write;
use crate::analysis::output_file::{Force, OutputFile};
use std::io::Write as _;
use std::path::Path;

fn output(path: &Path, force: Force) -> OutputFile<'_> {
    OutputFile { path, what: "a text", is_earlier: &|start| start.line() == "ours", force, inputs: Vec::new() }
}

#[test]
fn a_failed_write_leaves_the_older_file_and_no_other() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("out.jsonl");
    let file = output(&path, Force::Flag(false));
    write(&file, |mut out| Ok(out.write_all(b"ours\n1")?)).expect("written");
    let failed = write(&file, |mut out| {
        out.write_all(b"two")?;
        Err::<(), _>(std::io::Error::from(std::io::ErrorKind::StorageFull).into())
    });
    assert!(failed.expect_err("full").to_string().starts_with("cannot write `"));
    assert_eq!(std::fs::read(&path).expect("there"), b"ours\n1");
    assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1);
    assert!(write(&output(Path::new("/"), Force::Flag(false)), |_| Ok(())).is_err());
}

#[test]
fn what_is_replaced() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("out");
    let fill = |text: &str| std::fs::write(&path, text).expect("written");
    let checked = |force| output(&path, force).check().map_err(|error| error.to_string());
    assert_eq!(checked(Force::Flag(false)), Ok(()));
    for own in ["", "ours\nand more", "\u{feff}ours\r\n"] {
        fill(own);
        assert_eq!(checked(Force::Flag(false)), Ok(()), "{own:?}");
        assert_eq!(checked(Force::Never("no")), Ok(()), "{own:?}");
    }
    for other in ["theirs", "\n", "\0", "our", "ours, not yours\n"] {
        fill(other);
        let refused = checked(Force::Flag(false)).expect_err("refused");
        assert!(refused.ends_with("out` exists and is not a text"), "{refused}");
        assert!(checked(Force::Never("no")).is_err());
        assert_eq!(checked(Force::Flag(true)), Ok(()));
        assert_eq!(std::fs::read_to_string(&path).expect("there"), other);
    }
}

#[test]
fn an_input_is_never_replaced_by_whatever_name() {
    let dir = tempfile::tempdir().expect("a folder");
    let (input, out) = (dir.path().join("input"), dir.path().join("out"));
    for text in ["", "ours\n", "theirs\n"] {
        std::fs::write(&input, text).expect("written");
        let _ = std::fs::remove_file(&out);
        std::fs::hard_link(&input, &out).expect("a link");
        for path in [&input, &out, &dir.path().join("./input")] {
            let file = OutputFile { inputs: vec![input.clone().into()], ..output(path, Force::Flag(true)) };
            let refused = write(&file, |_| Ok(())).expect_err("refused").to_string();
            assert!(refused.contains("is an input of this command"), "{refused}");
            assert_eq!(std::fs::read_to_string(&input).expect("there"), text);
        }
    }
}
