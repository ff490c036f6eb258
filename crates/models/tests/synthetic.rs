//! Made-up data against NumPy's.

use octopus_density::Labels;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{ModelError, sha256};
use serde_json::Value;

fn reference(groups: usize) -> Value {
    let text = match groups {
        100 => include_str!("data/prd_100x10_seed42_exact.json"),
        500 => include_str!("data/prd_500x10_seed42_exact.json"),
        1000 => include_str!("data/prd_1000x10_seed42_exact.json"),
        _ => unreachable!("three sizes"),
    };
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_data_of_phase_0() {
    for groups in [100, 500, 1000] {
        let reference = reference(groups);
        let synthetic = HierarchicalSpec { groups, ..HierarchicalSpec::default() }.generate().expect("valid");
        let y = synthetic.data.values();
        for (k, expected) in reference["y_head"].as_array().expect("y_head").iter().enumerate() {
            assert_eq!(y[k], expected.as_f64().expect("number"), "y[{k}]");
        }
        assert_eq!(y.len() as u64, reference["n"].as_u64().expect("n"));
        // NumPy adds pairwise, so the last bits of the sum may differ.
        let sum = reference["y_sum"].as_f64().expect("y_sum");
        assert!((y.iter().sum::<f64>() - sum).abs() < 1e-12 * sum);
        assert_eq!(synthetic.sha256, reference["y_sha256_le_f64"]);
        assert_eq!(synthetic.data.labels(), &Labels::Range(groups));
        assert!((0..groups).all(|j| synthetic.data.group(j).len() == 10));
    }
}

/// The script is in the documentation of `unbalanced`; run with NumPy 2.3.5.
#[test]
fn unbalanced_data() {
    let synthetic = HierarchicalSpec::default().unbalanced().expect("valid");
    let sizes: Vec<usize> = (0..100).map(|j| synthetic.data.group(j).len()).collect();
    assert_eq!(sizes[..12], [1, 7, 4, 1, 29, 10, 1, 22, 11, 1, 29, 8]);
    assert!(sizes.iter().all(|size| (1..=30).contains(size)));
    assert!(sizes.iter().filter(|&&size| size == 1).count() >= 34);
    assert_eq!(synthetic.data.values().len(), 1035);
    assert_eq!(synthetic.sha256, "f40982682a519d37ce9258556f2b3149045d2c4f2641affe670e82c0a7fe063a");

    let weak = HierarchicalSpec { between_sd: 1.0, within_sd: 4.0, seed: 7, ..HierarchicalSpec::default() };
    assert_eq!(
        weak.unbalanced().expect("valid").sha256,
        "fdb06e224ebb3f76f039ce575db638c26bd1e6430514bbfbe3397e7903472fed"
    );
}

/// Sizes of the user's own give the same stream as equal sizes do.
#[test]
fn given_sizes() {
    let spec = HierarchicalSpec { groups: 7, per_group: 4, ..HierarchicalSpec::default() };
    assert_eq!(spec.with_sizes(&[4; 7]), spec.generate());
    let uneven = spec.with_sizes(&[1, 30, 2]).expect("valid");
    assert_eq!([0, 1, 2].map(|j| uneven.data.group(j).len()), [1, 30, 2]);
    // The stream: three means, then 33 observations about them.
    assert_eq!(uneven.group_means, spec.generate().expect("valid").group_means[..3]);
}

#[test]
fn fingerprint() {
    // printf '\0\0\0\0\0\0\xf0\x3f' | sha256sum
    assert_eq!(sha256(&[1.0]), "6c3c396ed6b5c36dcae172271f462051b1266b851e92df3deea8ac65478fd712");
}

#[test]
fn settings_out_of_range() {
    let good = HierarchicalSpec::default();
    let nan = f64::NAN;
    for (bad, name) in [
        (HierarchicalSpec { groups: 0, ..good }, "groups"),
        (HierarchicalSpec { per_group: 0, ..good }, "per_group"),
        (HierarchicalSpec { mean: nan, ..good }, "mean"),
        (HierarchicalSpec { between_sd: -1.0, ..good }, "between_sd"),
        (HierarchicalSpec { within_sd: 0.0, ..good }, "within_sd"),
        (HierarchicalSpec { within_sd: f64::INFINITY, ..good }, "within_sd"),
        (HierarchicalSpec { groups: 1 << 20, per_group: 1 << 20, ..good }, "groups * per_group"),
        (HierarchicalSpec { groups: usize::MAX, per_group: usize::MAX, ..good }, "groups * per_group"),
    ] {
        for result in [bad.generate(), bad.unbalanced()] {
            match result {
                Err(ModelError::Setting { field, .. }) => assert_eq!(field, name),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    assert!(matches!(good.with_sizes(&[1, 0]), Err(ModelError::Setting { field: "sizes", .. })));
    assert!(matches!(good.with_sizes(&[]), Err(ModelError::Setting { field: "groups", .. })));
}
