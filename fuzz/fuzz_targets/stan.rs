//! A text as a Stan program, bound to the data that its last line has: a comment of JSON, as `//{"N": 3}`.
#![no_main]

use octopus_bind::{BindOptions, BoundModel, Data};

/// Limits with which a program ends soon.
const LIMITS: BindOptions = BindOptions { vectorise_loops: true, most_steps: 50_000, most_elements: 1 << 16 };

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(program) = octopus_stan::StanProgram::parse("fuzzed.stan", text).map_err(|error| error.to_string()) else {
        return;
    };
    let json = text.lines().last().and_then(|line| line.strip_prefix("//"));
    let data = json.and_then(|json| Data::json("fuzzed.json", json).ok()).unwrap_or_else(|| Data::new("none"));
    let Ok(model) = BoundModel::with_options(&program, &data, LIMITS).map_err(|error| error.to_string()) else {
        return;
    };
    let position = vec![0.25; model.dim()];
    if let Ok(compiled) = model.compile() {
        let mut gradient = vec![0.0; position.len()];
        let _ = compiled.logp_grad(&mut compiled.workspace(), &position, &mut gradient);
    }
    assert_eq!(model.expand(&position).len(), model.labels().len());
});
