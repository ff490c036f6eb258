//! A density that more threads evaluate than there are places for workspaces.

use octopus_density::LogDensity;
use octopus_program::ProgramBuilder;

#[test]
fn threads_share_a_density() {
    let mut m = ProgramBuilder::new();
    let mu = m.parameter("mu");
    let sigma = m.positive("sigma");
    let y = m.data(vec![1.0, 2.0, 6.0]);
    m.normal(mu, 0.0, 5.0);
    m.normal(y, mu, sigma);
    let density = m.finish("shared").expect("a program");
    let at = |k: usize| {
        let (position, mut gradient) = ([0.1 * k as f64, 0.3], [0.0; 2]);
        let value = density.logp_grad(&position, &mut gradient).expect("finite");
        let mut values = [0.0; 2];
        density.expand(&position, &mut values);
        [value, gradient[0], gradient[1], values[0], values[1]].map(f64::to_bits)
    };
    let expected: Vec<[u64; 5]> = (0..50).map(at).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 * std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert!((0..50).all(|k| at(k) == expected[k]));
                }
            });
        }
    });
}
