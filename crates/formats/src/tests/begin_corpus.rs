//! What fuzzing begins with: small whole files of each kind, in `fuzz/corpus`.

use super::{data_file, json};
use crate::{write_netcdf, write_parquet, write_zarr};
use octopus_trace::Labels;
use octopus_trace::{Array, Dataset, InferenceData, Values};
use std::fs;
use std::path::Path;

/// `cargo test --release -p octopus-formats begin_corpus -- --ignored`
#[test]
#[ignore = "writes fuzz/corpus"]
fn begin_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let put = |target: &str, name: &str, bytes: &[u8]| {
        fs::create_dir_all(corpus.join(target)).unwrap();
        fs::write(corpus.join(target).join(name), bytes).unwrap();
    };
    let dir = tempfile::tempdir().unwrap();
    let mut posterior = Dataset::default();
    posterior.insert("mu", Array::new([("chain", 2), ("draw", 3)], Values::F64(vec![0.5, -1.0, 2.0, 0.0, 1e9, -0.25])));
    posterior.insert("n", Array::new([("chain", 2), ("draw", 3)], Values::I64(vec![1, 2, 3, 4, 5, 6])));
    posterior.insert("ok", Array::new([("chain", 2), ("draw", 3)], Values::Bool(vec![true; 6])));
    posterior.insert("g_mu", Array::new([("chain", 2), ("draw", 3), ("g", 2)], Values::F64(vec![0.125; 12])));
    posterior.coords.insert("g".into(), Labels::Strings(vec!["a".into(), "ß".into()]));
    posterior.attrs.insert("note".into(), "a trace".into());
    let mut data = InferenceData::default();
    data.insert("posterior", posterior);

    write_netcdf(&dir.path().join("a.nc"), &data, false).unwrap();
    put("netcdf", "ours", &fs::read(dir.path().join("a.nc")).unwrap());
    write_parquet(&dir.path().join("a"), &data, false).unwrap();
    put("parquet", "ours", &fs::read(dir.path().join("a/posterior.parquet")).unwrap());
    for name in ["gzip.parquet", "snappy.parquet"] {
        put("parquet", name, &fs::read(data_file(name)).unwrap());
    }
    put("stan_csv", "dense", &fs::read(data_file("cmdstan/dense.csv")).unwrap());
    put("stan_csv", "tuple", b"# id = 1\nlp__,divergent__,t.1:1,z.1.real,z.1.imag\n-1,0,2,nan,inf\n");

    write_zarr(&dir.path().join("a.zarr"), &data, false).unwrap();
    put("zarr", "ours", &super::damaged::folder::pack(&dir.path().join("a.zarr"), |_| true));
    for version in ["v2", "v3"] {
        // One array of each kind; a file for each keeps them small.
        let files = json(&format!("zarr/{version}.zarr.json"));
        let store = dir.path().join(version);
        super::unpack(&format!("zarr/{version}.zarr.json"), &store);
        let mut names: Vec<&str> = files
            .as_object()
            .unwrap()
            .keys()
            .filter_map(|file| file.strip_prefix("posterior/")?.split('/').next())
            .collect();
        names.dedup();
        for array in names.into_iter().filter(|name| !name.starts_with('.') && *name != "zarr.json") {
            let own = format!("posterior/{array}/");
            let keep = |file: &str| file.starts_with(&own) || file.matches('/').count() < 2 && !file.contains(array);
            put("zarr", &format!("{version}_{array}"), &super::damaged::folder::pack(&store, keep));
        }
    }
}
