//! The arrays of `arviz/arrays.py`, made again bit for bit.

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2f64.powi(-53)
    }

    /// The sum of twelve uniforms less 6: mean 0, variance 1.
    pub(crate) fn bell(&mut self) -> f64 {
        (0..12).fold(0.0, |total, _| total + self.uniform()) - 6.0
    }

    fn cauchy(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, self.uniform());
            if v > 0.0 && u * u + v * v <= 1.0 {
                return u / v;
            }
        }
    }

    pub(crate) fn autoregressive(&mut self, phi: f64, draws: usize) -> Vec<f64> {
        let mut x = self.bell();
        std::iter::repeat_with(|| {
            x = phi * x + self.bell();
            x
        })
        .take(draws)
        .collect()
    }

    fn sticky(&mut self, draws: usize) -> Vec<f64> {
        let mut x = self.bell();
        std::iter::repeat_with(|| {
            if self.uniform() < 0.2 {
                x = self.bell();
            }
            x
        })
        .take(draws)
        .collect()
    }
}

/// Bells, `rows x columns`, row-major.
pub(crate) fn matrix(rows: usize, columns: usize, seed: u64) -> Vec<f64> {
    let mut rng = SplitMix(seed);
    (0..rows * columns).map(|_| rng.bell()).collect()
}

/// The array of one case, row-major.
pub(crate) fn make(kind: &str, chains: usize, draws: usize, seed: u64) -> Vec<f64> {
    let mut rng = SplitMix(seed);
    let mut values = Vec::new();
    for chain in 0..chains {
        let c = chain as f64;
        let mut each =
            |f: &dyn Fn(&mut SplitMix, f64) -> f64| -> Vec<f64> { (0..draws).map(|i| f(&mut rng, i as f64)).collect() };
        values.extend(match kind {
            "iid" | "nan" | "inf" | "all_nan" => each(&|rng, _| rng.bell()),
            "shifted" => each(&|rng, _| rng.bell() + 0.5 * c),
            "scaled" => each(&|rng, _| rng.bell() * (1.0 + 2.0 * c)),
            "far" => each(&|rng, _| 1e6 + rng.bell()),
            "tiny" => each(&|rng, _| 1e-9 * rng.bell()),
            "ar_plus" => rng.autoregressive(0.9, draws),
            "ar_slow" => rng.autoregressive(0.99, draws),
            "ar_minus" => rng.autoregressive(-0.9, draws),
            "cauchy" => each(&|rng, _| rng.cauchy()),
            "constant" => each(&|_, _| 2.5),
            "constant_tenth" => each(&|_, _| 0.1),
            "constant_each" => each(&|_, _| c),
            "discrete" => each(&|rng, _| (rng.uniform() * 7.0).floor()),
            "rare" => each(&|rng, _| if rng.uniform() < 0.03 { 1.0 } else { 0.0 }),
            "sticky" => rng.sticky(draws),
            "trend" => each(&|rng, i| rng.bell() + 0.01 * i),
            _ => panic!("no array of kind {kind}"),
        });
    }
    match kind {
        "nan" => values[(chains - 1) * draws + draws / 3] = f64::NAN,
        "inf" => values[draws / 2] = f64::INFINITY,
        "all_nan" => values.fill(f64::NAN),
        _ => {}
    }
    values
}
