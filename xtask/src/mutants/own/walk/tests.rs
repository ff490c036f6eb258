use super::*;
use crate::mutants::one_build::rendered;

/// The faults of a file, and the file with all of them.
fn planted(text: &str) -> (Vec<ListedFault>, String) {
    let syntax = syn::parse_file(text).unwrap();
    let (path, package) = ("crates/a/src/b.rs".to_owned(), "octopus-a".to_owned());
    let faults = all(&[Source { path: path.clone(), package, text: text.to_owned(), syntax }]);
    let with_faults = rendered(&path, text, &faults);
    syn::parse_file(&with_faults).unwrap_or_else(|error| panic!("{error}: {with_faults}"));
    (faults, with_faults)
}

/// The words of the faults of a file.
fn words(text: &str) -> Vec<String> {
    let (faults, _) = planted(text);
    let words = |fault: &ListedFault| fault.name.split_once(": replace ").unwrap().1.to_owned();
    faults.iter().map(words).collect()
}

#[test]
fn the_three_that_no_test_saw_are_made() {
    let batch = "struct Record { keep_warmup: bool }\nstruct Config { keep_warmup: bool }\n\
                 fn draw(record: &mut Record, config: &Config) { record.keep_warmup = config.keep_warmup; }";
    assert_eq!(words(batch), ["config.keep_warmup with false in draw", "config.keep_warmup with true in draw"]);
    let stan = "fn saved(warmup: usize, thin: usize) -> usize { warmup.div_ceil(thin) }";
    assert_eq!(words(stan), [".div_ceil(thin) with / (thin) in saved"]);
    let settled = "const RHAT: f64 = 1.2;\nconst CHANGE: (f64, f64) = (0.15, 0.7);\n\
                   fn agree(rhat: f64, change: f64) -> bool { rhat < RHAT && change < CHANGE.1 }";
    let found = words(settled);
    assert_eq!(found[0], "RHAT with 2.0 * 1.2");
    assert!(found.contains(&"CHANGE with { let mut it = CHANGE; it.1 = 2.0 * 0.7; it }".to_owned()), "{found:?}");
}

#[test]
fn constants_change_where_they_are_used() {
    let (faults, text) = planted("const MOST: usize = 4 * 2;\nfn f(a: [u8; MOST]) -> usize { a.len() + MOST }");
    assert_eq!(faults.len(), 4);
    assert!(text.contains("[u8; MOST]) -> usize { a.len() + /*[0,1,2,3*/(if ::fault_switch::on(0)"), "{text}");
    assert!(text.contains("/*<0*/ 2 * MOST /*0>*/") && text.contains("else { MOST })"), "{text}");
    // The nearest of a name is meant, and no other where that is not clear.
    let text = "const A: f64 = 0.5;\nfn f() -> f64 { const A: f64 = 0.25; A }\nfn g() -> f64 { B::A }";
    let used: Vec<usize> = planted(text).0.iter().map(|fault| fault.places.len()).collect();
    assert_eq!(used, [0, 0, 1, 1]);
    // Of a long table only three numbers are changed.
    let table = format!("const T: [u64; 40] = [{}];\nfn f(i: usize) -> u64 {{ T[i] }}", "7, ".repeat(40));
    assert_eq!(words(&table).iter().filter(|words| words.contains("it[19]")).count(), 4);
    assert_eq!(words(&table).len(), 12);
}

#[test]
fn roundings_turn() {
    let text = "fn f(x: f64, n: usize, m: usize) -> usize { (x * 2.0).floor() as usize + n / m + x as usize }";
    let found = words(text);
    for expected in [
        ".floor() with .ceil()",
        ".floor() with .round()",
        "/ m with .div_ceil(m)",
        "as usize with .round() as usize",
        "as usize with .ceil() as usize",
    ] {
        assert!(found.contains(&format!("{expected} in f")), "{expected}: {found:?}");
    }
    let (_, rendered) = planted("fn f(x: f64) -> f64 { g(x).floor() }");
    let once = "(match (g(x)) { __0 => if ::fault_switch::on(0) {/*<0*/ __0.ceil() /*0>*/} else if \
                ::fault_switch::on(1) {/*<1*/ __0.round() /*1>*/} else { __0.floor() } })";
    assert!(rendered.contains(once), "{rendered}");
    assert!(words("fn f(x: f64, y: f64) -> f64 { x / y }").is_empty(), "floats are not rounded");
}

#[test]
fn settings_are_dropped() {
    let text = "#[derive(Default)]\nstruct Config { draws: usize, init: Option<u8>, name: &'static str }\n\
                fn make(draws: usize, other: &Config) -> Config {\n\
                    if other.name.is_empty() { return Config { draws, ..other.clone() }; }\n\
                    Config { draws: other.draws, init: other.init, name: trim(other.name) }\n}\n\
                fn call(a: &Config) { run(a.init, true, a.draws) }\nfn run(init: Option<u8>, loud: bool, draws: usize) {}";
    let expected = [
        "draws with Config::default().draws in make",
        "other.clone() with Config::default() in make",
        "draws: other.draws with Config::default().draws in make",
        "init: other.init with Config::default().init in make",
        "a.init with None in call",
        "true with false in call",
    ];
    assert_eq!(words(text), expected);
    let (_, rendered) = planted(text);
    assert!(
        rendered.contains("draws: (if ::fault_switch::on(0) {/*<0*/ Config::default().draws /*0>*/}"),
        "{rendered}"
    );
}

#[test]
fn what_decides_nothing_is_left_alone() {
    let text = "#[cfg(test)]\nmod tests { fn f() -> u8 { 3 } }\n#[test]\nfn g() { h(3) }\n\
                fn f(a: &[u8; 2]) { h(a[0]); let b: Vec<u8> = Vec::with_capacity(8); assert!(b.len() < 9); match a[1] { 5 => {} _ => {} } }\n\
                impl fmt::Display for A { fn fmt(&self) { pad(6) } }\n\
                struct BadError { name: &'static str, strict: bool }\n\
                fn e(name: &'static str) -> BadError { BadError { name, strict: true } }";
    assert!(words(text).is_empty(), "{:?}", words(text));
    // What may be computed when the program is compiled is counted, and stands nowhere.
    let (faults, _) = planted("const fn f() -> u8 { 3 }");
    assert!(faults.len() == 4 && faults.iter().all(|fault| fault.places.is_empty()));
    assert_eq!(words("fn f(n: usize) -> Vec<f64> { vec![2.0; n] }").len(), 2);
    assert!(words("fn f(n: usize) { g(vec![0.0; n], [0; 4]) }").is_empty());
}
