//! `#include`: files beside the program, their places in messages, circles and what is missing.

use octopus_stan::StanProgram;
use std::path::PathBuf;

/// Writes files into a new folder; gives the folder and the path of the first file.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("no folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("no parent")).expect("no folder");
        std::fs::write(path, text).expect("no room");
    }
    let first = folder.path().join(files[0].0);
    (folder, first)
}

fn message(files: &[(&str, &str)]) -> String {
    let (_folder, path) = folder(files);
    StanProgram::read(path).unwrap_err().to_string()
}

#[test]
fn files_beside_the_program_are_included_in_any_way_of_writing_it() {
    let (_folder, path) = folder(&[
        (
            "main.stan",
            "functions {\n#include \"more/f.stan\"\n}\n#include <data.stan>\nmodel {\n#include body.stan\n}\n",
        ),
        ("more/f.stan", "#include g.stan\nreal f(real x) { return g(x); }"),
        ("more/g.stan", "real g(real x) { return x + 1; }"),
        ("data.stan", "data { real y; } parameters { real mu; }"),
        ("body.stan", "y ~ normal(f(mu), 1);"),
    ]);
    let program = StanProgram::read(path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((program.functions.len(), program.model.len()), (2, 1));
    assert!(program.place(program.model[0].span).file.ends_with("body.stan"));
}

#[test]
fn a_message_names_the_file_and_who_included_it() {
    let text =
        message(&[("main.stan", "model {\n  #include body.stan\n}\n"), ("body.stan", "real x;\ny ~ normal(0, 1);")]);
    assert!(text.contains("body.stan:2:1"), "{text}");
    assert!(text.contains("included from") && text.contains("main.stan:2:3"), "{text}");
}

#[test]
fn circles_and_missing_files_are_errors_with_a_place() {
    let text = message(&[("a.stan", "#include b.stan\n"), ("b.stan", "\n#include a.stan\n")]);
    assert!(text.contains("includes itself") && text.contains("b.stan:2:1"), "{text}");
    let text = message(&[("a.stan", "#include b.stan\n")]);
    assert!(text.contains("there is no file") && text.contains("a.stan:1:1"), "{text}");
    let text = message(&[("a.stan", "#include \n")]);
    assert!(text.contains("a.stan:1:1"), "{text}");
    let text = StanProgram::parse("text", "#include b.stan").unwrap_err().to_string();
    assert!(text.contains("in no file"), "{text}");
    let missing = StanProgram::read("/nowhere/model.stan").unwrap_err();
    assert!(missing.diagnostics().is_empty() && missing.to_string().contains("/nowhere/model.stan"));
}

#[test]
fn files_of_functions_are_taken_once() {
    let (_folder, path) = folder(&[
        ("main.stan", "functions {\n#include f.stanfunctions\n#include f.stanfunctions\n}\n"),
        ("f.stanfunctions", "real f(real x) { return x; }\n"),
    ]);
    assert_eq!(StanProgram::read(path).unwrap_or_else(|error| panic!("{error}")).functions.len(), 1);
}

#[test]
fn a_flood_of_files_ends_in_an_error() {
    let names: Vec<String> = (0..20).map(|at| format!("f{at}.stan")).collect();
    // Each file includes the next one twice: a million files without a limit.
    let texts: Vec<String> = (1..21).map(|at| format!("#include f{at}.stan\n#include f{at}.stan\n")).collect();
    let mut files: Vec<(&str, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    files.push(("f20.stan", ""));
    assert!(message(&files).contains("too long"));
}

#[test]
fn marks_and_comments_of_old_editors_are_read() {
    let folder = tempfile::tempdir().expect("no folder");
    let path = folder.path().join("old.stan");
    std::fs::write(&path, b"\xef\xbb\xbfmodel { // caf\xe9\r\n}\r\n").expect("no room");
    StanProgram::read(&path).unwrap_or_else(|error| panic!("{error}"));
}
