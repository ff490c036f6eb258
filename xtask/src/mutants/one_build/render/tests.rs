use super::super::list::{Genre, ListedFault, Position, Span};
use super::super::sites;
use super::*;

/// A source with one fault a row: its genre, the text that begins at its place, and what stands there with it.
fn rendered(source: &str, rows: &[(Genre, &str, &str)], without: &[usize]) -> String {
    let listed: Vec<ListedFault> = rows.iter().map(|row| fault(source, *row)).collect();
    let numbered: Vec<(usize, &ListedFault)> = listed.iter().enumerate().collect();
    let sites = sites::find("", source, &numbered).unwrap().sites;
    let placed: usize = sites.iter().map(|site| site.alternatives.len()).sum();
    assert_eq!(placed, rows.len(), "some faults have no place: {sites:?}");
    // Without faults the sources are as they were.
    assert_eq!(render(source, &sites, &(0..rows.len()).collect()), source);
    let text = render(source, &sites, &without.iter().copied().collect());
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    text
}

fn fault(source: &str, (genre, begin, replacement): (Genre, &str, &str)) -> ListedFault {
    assert_eq!(source.matches(begin).count(), 1, "{begin} stands once in {source}");
    let before = &source[..source.find(begin).unwrap()];
    let line_begin = before.rfind('\n').map_or(0, |at| at + 1);
    let start = Position { line: before.matches('\n').count() + 1, column: before[line_begin..].chars().count() + 1 };
    ListedFault {
        name: String::new(),
        file: String::new(),
        package: String::new(),
        genre,
        replacement: replacement.to_owned(),
        span: Span { start },
        places: Vec::new(),
    }
}

/// The text without marks, for the eye.
fn plain(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        words += before;
        rest = after.split_once("*/").unwrap().1;
    }
    (words + rest).replace("::fault_switch::", "").replace("  ", " ").replace("{ ", "{").replace(" }", "}")
}

use Genre::{BinaryOperator, FnValue, MatchArm, MatchArmGuard, StructField, UnaryOperator};

#[test]
fn arithmetic_evaluates_operands_once() {
    let source = "fn f(a: u8) -> u8 { a + g() }";
    let rows = [(BinaryOperator, "+", "-"), (BinaryOperator, "+", "*")];
    assert_eq!(
        rendered(source, &rows, &[]),
        "fn f(a: u8) -> u8 { /*[0,1*/(match (a, g()) { (__0l, __0r) => if ::fault_switch::on(0) \
         {/*<0*/ __0l - __0r /*0>*/} else if ::fault_switch::on(1) {/*<1*/ __0l * __0r /*1>*/} else { __0l + __0r } \
         })/*]*/ }"
    );
    let one = plain(&rendered(source, &rows, &[0]));
    assert_eq!(one, "fn f(a: u8) -> u8 {(match (a, g()) {(__0l, __0r) => if on(1) {__0l * __0r} else {__0l + __0r}})}");
}

#[test]
fn comparisons_only_look() {
    let text = plain(&rendered("fn f() -> bool { s.name == \"a\" }", &[(BinaryOperator, "==", "!=")], &[]));
    assert_eq!(
        text,
        "fn f() -> bool {(match (&(s.name), &(\"a\")) {(__0l, __0r) => if on(0) {*__0l != *__0r} else {*__0l == \
         *__0r}})}"
    );
}

#[test]
fn logic_stays_short() {
    let rows = [(BinaryOperator, "&&", "||"), (BinaryOperator, "||", "&&")];
    let text = plain(&rendered("fn f() -> bool { a() && b() || c() }", &rows, &[]));
    assert_eq!(
        text,
        "fn f() -> bool {({let __1 = ({let __0 = a(); if __0 != on(0) {b()} else {__0}}); if __1 == on(1) {c()} \
         else {__1}})}"
    );
}

#[test]
fn conditions_that_take_apart_are_left_alone() {
    let source = "fn f() { if a && let Some(b) = c {} }";
    let listed = fault(source, (BinaryOperator, "&&", "||"));
    let found = sites::find("", source, &[(0, &listed)]).unwrap();
    assert_eq!((found.sites, found.no_program), (Vec::new(), vec![0]), "that is no program");
}

#[test]
fn assignments_evaluate_the_right_side_first() {
    let text = plain(&rendered("fn f() { a[i()] += b(); }", &[(BinaryOperator, "+=", "-=")], &[]));
    assert_eq!(
        text,
        "fn f() {(match (b()) {__0r => {let __0l = &mut (a[i()]); if on(0) {*__0l -= __0r} else {*__0l += __0r}}});}"
    );
}

#[test]
fn signs_go() {
    let text = plain(&rendered("fn f() -> f64 { -x.powi(2) }", &[(UnaryOperator, "-x", "")], &[]));
    assert_eq!(text, "fn f() -> f64 {(match (x.powi(2)) {__0 => if on(0) {__0} else {-__0}})}");
}

#[test]
fn guards_are_decided() {
    let source = "fn f() { match a { B if c => {} _ => {} } }";
    let rows = [(MatchArmGuard, "c =>", "true"), (MatchArmGuard, "c =>", "false")];
    let text = plain(&rendered(source, &rows, &[]));
    assert_eq!(text, "fn f() {match a {B if (if on(0) {true} else if on(1) {false} else {c}) => {} _ => {}}}");
}

#[test]
fn arms_are_left_out_by_a_guard() {
    let source = "fn f() { match a { B(x) => 1, C if x < y => 2, _ => 3 } }";
    let rows = [
        (MatchArm, "B(x)", ""),
        (MatchArm, "C if", ""),
        (MatchArmGuard, "x < y", "true"),
        (BinaryOperator, "< y", "=="),
    ];
    let text = plain(&rendered(source, &rows, &[]));
    assert_eq!(
        text,
        "fn f() {match a {B(x) if !on(0) => 1, C if !on(1) && ((if on(2) {true} else {(match (&(x), &(y)) {(__3l, \
         __3r) => if on(3) {*__3l == *__3r} else {*__3l < *__3r}})})) => 2, _ => 3}}"
    );
}

#[test]
fn fields_are_left_to_the_base() {
    let source = "fn f() -> S { S { a: 1 + g(), b, d: 3, ..T::new() }; S { c: 2, ..self.base } }";
    let rows = [(StructField, "a: 1", ""), (StructField, "b, ", ""), (StructField, "c: 2", "")];
    let text = plain(&rendered(source, &rows, &[]));
    assert_eq!(
        text,
        "fn f() -> S {(match (T::new()) {__0 => S {a: (if on(0) {__0.a} else {1 + g()}), b: (if on(1) {__0.b} else \
         {b}), d: ({3}), ..__0}}); S {c: (if on(2) {(self.base).c} else {2}), ..self.base}}"
    );
}

#[test]
fn functions_return_at_once() {
    let source = "impl A { fn f(&self) -> u8 { let a = 1; a } }";
    let rows = [(FnValue, "let a", "0"), (FnValue, "let a", "1")];
    let text = plain(&rendered(source, &rows, &[]));
    assert_eq!(text, "impl A {fn f(&self) -> u8 {if on(0) {return 0;} if on(1) {return 1;} let a = 1; a}}");
}

#[test]
fn iterators_of_another_type_are_returned_as_one_of_several() {
    let source = "fn f() -> impl Iterator<Item = u8> { if a + b == 0 { return g(); } h() }";
    let rows = [
        (FnValue, "if a", "::std::iter::empty()"),
        (FnValue, "if a", "::std::iter::once(1)"),
        (BinaryOperator, "+", "-"),
    ];
    let text = plain(&rendered(source, &rows, &[2]));
    assert_eq!(
        text,
        "fn f() -> impl Iterator<Item = u8> {if on(0) {return Either::Left(::std::iter::empty());} if on(1) {return \
         Either::Right(Either::Left(::std::iter::once(1)));} Either::Right(Either::Right((move || {if a + b == 0 {return \
         g();} h()})()))}"
    );
    assert!(plain(&rendered(source, &rows, &[])).contains("(move || {if (match (a, b)"), "places in it are found");
    let listed = fault("fn f() -> impl Copy { 1 }", (FnValue, "1", "2"));
    let none = sites::Found::default();
    assert_eq!(sites::find("", "fn f() -> impl Copy { 1 }", &[(0, &listed)]).unwrap(), none);
}

#[test]
fn sites_stand_in_each_other() {
    let source = "fn f() -> f64 {\n    // Größe\n    a * (b + -c) > d\n}";
    let rows = [
        (FnValue, "a *", "0.0"),
        (BinaryOperator, "* (", "/"),
        (BinaryOperator, "+ -", "-"),
        (UnaryOperator, "-c", ""),
        (BinaryOperator, "> d", "<"),
    ];
    let text = plain(&rendered(source, &rows, &[1]));
    assert_eq!(
        text,
        "fn f() -> f64 {if on(0) {return 0.0;}\n  // Größe\n  (match (&(a * ((match (b, (match (c) {__3 => if on(3) \
         {__3} else {-__3}})) {(__2l, __2r) => if on(2) {__2l - __2r} else {__2l + __2r}}))), &(d)) {(__4l, __4r) => \
         if on(4) {*__4l < *__4r} else {*__4l > *__4r}})\n}"
    );
}

#[test]
fn what_the_compiler_evaluates_has_no_place() {
    let source =
        "const A: u8 = 1 << 2; const fn f() -> u8 { 1 - 1 } fn g(a: [u8; 1 * 2]) -> impl Fn() { [0; 3 + 4]; h }";
    for begin in ["<<", "- 1", "* 2", "+ 4"] {
        let listed = fault(source, (BinaryOperator, begin, "/"));
        assert_eq!(sites::find("", source, &[(0, &listed)]).unwrap(), sites::Found::default(), "{begin}");
    }
    let listed = fault(source, (FnValue, "[0; 3", "Default::default()"));
    assert_eq!(sites::find("", source, &[(0, &listed)]).unwrap(), sites::Found::default());
}
