//! A text as a Stan program.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = octopus_stan::StanProgram::parse("fuzzed.stan", text).map_err(|error| error.to_string());
});
