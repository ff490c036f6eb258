//! What people read: the messages of the programs in `tests/messages`, each beside its program.
//!
//! `MESSAGES=accept cargo test -p octopus-stan --test messages` writes them anew; read them before you commit.

use octopus_stan::StanProgram;
use std::path::{Path, PathBuf};

fn messages(path: &Path) -> String {
    // Messages name the file without its folder.
    let name = path.file_name().and_then(|name| name.to_str()).expect("no name");
    let text = std::fs::read_to_string(path).expect("no program");
    let mut lines = match StanProgram::parse(name, &text) {
        Ok(program) => program.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"),
        Err(error) => error.to_string(),
    };
    lines.push('\n');
    lines
}

#[test]
fn messages_are_as_they_were_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
    let entries = std::fs::read_dir(&folder).expect("no folder").map(|entry| entry.expect("no entry").path());
    let programs: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|it| it == "stan")).collect();
    assert!(programs.len() >= 7);
    for path in programs {
        let expected = path.with_extension("txt");
        let found = messages(&path);
        if std::env::var("MESSAGES").is_ok_and(|value| value == "accept") {
            std::fs::write(&expected, &found).expect("no room");
        }
        let read = std::fs::read_to_string(&expected).unwrap_or_default();
        assert_eq!(found, read, "{}: MESSAGES=accept writes it", expected.display());
    }
}
