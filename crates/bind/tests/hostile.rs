//! Programs that would run for ever or take all of the memory: an error that names the place, within seconds.

use octopus_bind::{BindOptions, BoundModel, Data};
use octopus_stan::StanProgram;
use std::time::{Duration, Instant};

/// Binds and compiles; how long it took, and the message.
fn refused(text: &str, options: BindOptions) -> (Duration, String) {
    let begun = Instant::now();
    let program = StanProgram::parse("hostile.stan", text).unwrap_or_else(|error| panic!("{error}"));
    let error = match BoundModel::with_options(&program, &Data::new("none"), options) {
        Ok(_) => panic!("it is taken: {text}"),
        Err(error) => error.to_string(),
    };
    println!("{:?}: {}", begun.elapsed(), error.lines().next().unwrap_or(""));
    (begun.elapsed(), error)
}

/// Loops without an end, with what each pass does.
const ENDLESS: [&str; 9] = [
    "transformed data { while (1) { } } model { }",
    "transformed data { real x = 1; while (1) x = sin(x) + exp(x) - x ^ 2; } model { }",
    "transformed data { vector[1000] x = rep_vector(1, 1000); while (1) x = exp(-x); } model { }",
    "transformed data { matrix[200, 200] x = identity_matrix(200); while (1) x = x * x; } model { }",
    "transformed data { array[3] int x = {1, 2, 3}; while (1) x = x[{3, 1, 2}]; } model { }",
    "parameters { real a; } model { while (1) target += a; }",
    "parameters { real a; } model { real b = a; while (1) b = sin(b); target += b; }",
    "parameters { vector[20] a; } model { for (i in 1:2147483647) target += log_sum_exp(a); }",
    "functions { int f(int n) { return n > 0 ? f(n - 1) + f(n - 1) : 1; } } transformed data { int y = f(90); } model { }",
];

#[test]
fn loops_without_an_end_are_refused_in_seconds() {
    // A twenty-fifth of the limit that users have.
    let usual = BindOptions::default();
    let options = BindOptions { most_steps: usual.most_steps / 25, most_elements: usual.most_elements / 25, ..usual };
    for text in ENDLESS {
        let (took, message) = refused(text, options);
        let known = ["has not come to its end", "operations on parameters", "too much memory"];
        assert!(known.iter().any(|known| message.contains(known)) && message.contains("hostile.stan:1:"), "{message}");
        // Half a second on a machine that does nothing else.
        assert!(took < Duration::from_secs(60), "{took:?}: {text}");
    }
}

#[test]
fn what_is_too_large_is_refused_by_its_declaration() {
    let declared = [
        ("transformed data { matrix[20000, 20000] x; } model { }", "sizes [20000, 20000] are too many elements"),
        ("transformed data { int n = 2147483647; array[n] matrix[n, n] x; } model { }", "too many elements"),
        ("transformed data { array[200000000, 0, 200000000] real x; } model { }", "too many elements"),
        ("parameters { sum_to_zero_vector[100000] x; } model { }", "too many elements"),
        ("parameters { corr_matrix[30000] x; } model { }", "too many elements"),
        ("transformed data { real x = sum(rep_matrix(1, 100000, 100000)); } model { }", "too many elements"),
        ("transformed data { vector[100000] v = rep_vector(1, 100000); real x = sum(v * v'); } model { }", "too many"),
        ("transformed data { vector[9] v; real x = v[2000000000]; } model { }", "index 2000000000 is outside"),
        ("transformed data { vector[9] v; real x = sum(v[1:2000000000]); } model { }", "index 10 is outside"),
        (
            "transformed data { vector[9] v; array[70000] int k = rep_array(1, 70000); matrix[9, 9] m; \
          real x = sum(m[k, k]); } model { }",
            "too many elements",
        ),
        (
            "functions { real f(array[] real x) { return f(append_array(x, x)); } } \
          transformed data { real y = f({1.0, 2.0}); } model { }",
            "67108864 are the most",
        ),
    ];
    for (text, words) in declared {
        let (_, message) = refused(text, BindOptions::default());
        assert!(message.contains(words) && message.contains("hostile.stan:1:"), "{text}: {message}");
    }
}

#[test]
fn variables_together_have_a_limit() {
    let program = StanProgram::parse("hostile.stan", "transformed data { vector[600] a; vector[600] b; } model { }");
    let options = BindOptions { most_elements: 1000, ..Default::default() };
    let error =
        BoundModel::with_options(&program.expect("a program"), &Data::new("none"), options).expect_err("refused");
    let message = error.to_string();
    assert!(message.contains("the variables have 1200 elements") && message.contains("vector[600] b"), "{message}");
}

#[test]
fn deep_calls_of_deep_expressions_need_no_more_stack_than_there_is() {
    let deep = format!("{}f(x - 1){}", "(1 + ".repeat(60), ")".repeat(60));
    let text = format!(
        "functions {{ real f(real x) {{ return x > 0 ? {deep} : 0; }} }} transformed data {{ real y = f(90); }} model {{ }}"
    );
    let (_, message) = refused(&text, BindOptions::default());
    assert!(message.contains("nested too deeply"), "{message}");
    let text = "functions { real f(real x); real g(real x) { return f(x); } real f(real x) { return g(x); } }
        transformed data { real y = f(90); } model { }";
    let (_, message) = refused(text, BindOptions::default());
    assert!(message.contains("call each other"), "{message}");
}

#[test]
fn long_loops_that_end_are_taken() {
    // A tenth of what users may ask for: 10^7 passes take a second on a machine that does nothing else.
    let text = "transformed data { int n = 1000000; real s = 0; for (i in 1:n) s += 1.0 / i; }
        parameters { real a; } model { a ~ normal(s, 1); }";
    let program = StanProgram::parse("long.stan", text).expect("a program");
    let begun = Instant::now();
    let model = BoundModel::new(&program, &Data::new("none")).expect("a model");
    println!("10^6 passes in {:?}", begun.elapsed());
    // ln 10^6 + Euler's constant + 1 / (2 10^6)
    let sum = 14.392_726_722_865_72;
    assert!((model.log_density(&[sum]) - 0.0).abs() < 1e-12);
}
