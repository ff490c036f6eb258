//! `--init`: where chains start.

use crate::support::{fingerprints, run};
use std::fs;

/// A term that says nothing of how its parameter is drawn.
const TERM: &str = "parameters { real x; } model { target += -x^2; }";
/// A prior far away from 0, of which the data say nothing.
const FAR: &str = "data { int N; vector[N] y; } parameters { real x; real<lower=0> s; }
    model { x ~ normal(1000, 1); s ~ exponential(1); y ~ normal(x, 1000 * s + 1000); }";
const SAMPLE: &str =
    "sample {}/p.stan --data {}/d.json --draws 40 --tune 60 --device cpu --quiet --force --keep-warmup";

/// Each way gives draws of its own, the same for any number of threads, and is in the record; what a model cannot do, it
/// says.
#[test]
fn chains_start_where_they_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let (here, at) = (dir.path(), |name: &str| dir.path().join(name));
    fs::write(at("p.stan"), FAR).unwrap();
    fs::write(at("d.json"), r#"{"N": 2, "y": [980.0, 1030.0]}"#).unwrap();
    let mut all = Vec::new();
    for init in ["jitter", "prior", "pathfinder"] {
        for threads in [1, 3] {
            run(here, &format!("{SAMPLE} --init {init} --threads {threads} --out {{}}/{init}-{threads}")).sampled();
        }
        let [one, three] = [1, 3].map(|threads| fingerprints(&at(&format!("{init}-{threads}"))));
        assert_eq!(one, three, "{init}");
        assert!(!all.contains(&one), "{init} changes nothing");
        all.push(one);
        let record = fs::read_to_string(at(&format!("{init}-1")).join("run.toml")).unwrap();
        assert_eq!(record.contains(&format!("init = {init:?}")), init != "jitter", "{record}");
    }
    run(here, &format!("{SAMPLE} --out {{}}/plain")).sampled();
    assert_eq!(fingerprints(&at("plain")), all[0]);

    fs::write(at("p.stan"), TERM).unwrap();
    fs::write(at("d.json"), "{}").unwrap();
    run(here, &format!("{SAMPLE} --init prior --out {{}}/none"))
        .fails(3, &["--init prior", "p.stan:1", "take --init pathfinder"]);
    assert!(!at("none").exists(), "nothing is left behind");
}
