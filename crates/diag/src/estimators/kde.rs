//! Kernel density estimates of ArviZ: binned, with a bandwidth halfway between Silverman's and improved
//! Sheather-Jones, reflected at the ends of the data.

mod root;
mod sheather_jones;

use crate::numbers::moments::{mean, sum_by};
use crate::numbers::order::{quantile_of_sorted, range};
use crate::numbers::scale;

/// Bins of the default grid.
const GRID: usize = 512;

/// How wide a kernel is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Bandwidth {
    /// The mean of the two below: ArviZ's default.
    #[default]
    Experimental,
    /// Silverman's rule, `0.9 min(sd, IQR / 1.34) n^(-1/5)` (1986, equation 3.31).
    Silverman,
    /// Improved Sheather-Jones (Botev, Grotowski, Kroese 2010, Annals of Statistics 38(5), 2916-2957).
    Isj,
    /// Scott's rule, `1.06 sd n^(-1/5)`.
    Scott,
    /// The standard deviation of the kernel, in the units of the values.
    Fixed(f64),
}

/// The settings of a density estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KdeOptions {
    /// The width of the kernel.
    pub bandwidth: Bandwidth,
    /// Bins of the grid; fewer than 100 become 100.
    pub grid_len: usize,
    /// Whether mass that the kernel carries past the ends of the grid is reflected; otherwise it is lost.
    pub bound_correction: bool,
    /// The ends of the grid, where they lie beyond the smallest and the largest value: ArviZ's `custom_lims`.
    pub limits: Option<[f64; 2]>,
}

impl Default for KdeOptions {
    fn default() -> Self {
        Self { bandwidth: Bandwidth::default(), grid_len: GRID, bound_correction: true, limits: None }
    }
}

/// A density on an even grid, from the smallest to the largest value unless other limits were given.
#[derive(Clone, Debug, PartialEq)]
pub struct Kde {
    /// The middles of the bins.
    pub grid: Vec<f64>,
    /// The density at each grid point, in units of 1 / value.
    pub density: Vec<f64>,
    /// The standard deviation of the kernel, in the units of the values.
    pub bandwidth: f64,
}

/// Returns the density of `values`; those that are not finite are left out. `None` when fewer than two differ, and when
/// they differ by too little: in their last bits, so that the grid's bins cannot be told apart, or so that the density is
/// too large for its type. `az.kde`.
///
/// ```
/// let values: Vec<f64> = (1..100).map(|i| (f64::from(i) / 100.0).ln()).collect();
/// let density = octopus_diag::kde(&values).expect("values that differ");
/// assert_eq!(density.grid.len(), 512);
/// ```
pub fn kde(values: &[f64]) -> Option<Kde> {
    kde_with(values, &KdeOptions::default())
}

/// Estimates the density of `values` as [`kde`] does, with these settings.
pub fn kde_with(values: &[f64], options: &KdeOptions) -> Option<Kde> {
    let values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let (min, max) = range(&values);
    // Without values the range is (inf, -inf).
    if max <= min || !(max - min).is_finite() {
        return None;
    }
    let [low, high] = options.limits.map_or([min, max], |[low, high]| [low.min(min), high.max(max)]);
    if !(high - low).is_finite() {
        return None;
    }
    let bins = Bins::new(&values, low, high, options.grid_len.max(100))?;
    let bandwidth = bandwidth(&values, &bins, high - low, options.bandwidth);
    // A kernel wider than the grid many times over is none that these values ask for.
    if !(0.0..=1e3 * (high - low)).contains(&bandwidth) {
        return None;
    }
    let density = convolve(&bins, values.len(), bandwidth, options.bound_correction);
    let defined = density.iter().all(|density| density.is_finite());
    defined.then(|| Kde { grid: bins.middles(), density, bandwidth })
}

fn bandwidth(values: &[f64], bins: &Bins, range: f64, rule: Bandwidth) -> f64 {
    let isj = || sheather_jones::bandwidth(&bins.counts, values.len(), range, || silverman(values));
    match rule {
        Bandwidth::Experimental => 0.5 * (silverman(values) + isj()),
        Bandwidth::Silverman => silverman(values),
        Bandwidth::Isj => isj(),
        Bandwidth::Scott => 1.06 * deviation(values) * (values.len() as f64).powf(-0.2),
        Bandwidth::Fixed(bandwidth) => bandwidth,
    }
}

/// Returns the standard deviation, divisor n.
fn deviation(values: &[f64]) -> f64 {
    let unit = scale::unit(values);
    if unit != 1.0 {
        return deviation(&values.iter().map(|value| value * unit).collect::<Vec<f64>>()) / unit;
    }
    let center = mean(values);
    (sum_by(values, |v| (v - center) * (v - center)) / values.len() as f64).sqrt()
}

fn silverman(values: &[f64]) -> f64 {
    let sorted = crate::numbers::order::Sorted::of(values).values;
    let between = quantile_of_sorted(&sorted, 0.75) - quantile_of_sorted(&sorted, 0.25);
    0.9 * deviation(values).min(between / 1.34) * (values.len() as f64).powf(-0.2)
}

/// A histogram with equal bins, as `np.histogram` fills it.
struct Bins {
    edges: Vec<f64>,
    counts: Vec<f64>,
}

impl Bins {
    /// `None` where the range has not as many different numbers as there are edges, as NumPy refuses it.
    fn new(values: &[f64], min: f64, max: f64, count: usize) -> Option<Self> {
        let step = (max - min) / count as f64;
        let edges: Vec<f64> = (0..=count).map(|i| if i == count { max } else { i as f64 * step + min }).collect();
        if edges.windows(2).any(|pair| pair[0] >= pair[1]) {
            return None;
        }
        let mut counts = vec![0.0; count];
        for &value in values {
            let mut bin = (((value - min) / (max - min) * count as f64) as usize).min(count - 1);
            // The division may put a value on the wrong side of its edge.
            if value < edges[bin] {
                bin -= 1;
            } else if value >= edges[bin + 1] && bin + 1 < count {
                bin += 1;
            }
            counts[bin] += 1.0;
        }
        Some(Self { edges, counts })
    }

    fn middles(&self) -> Vec<f64> {
        self.edges.windows(2).map(|pair| (pair[1] + pair[0]) / 2.0).collect()
    }
}

/// Returns the convolution of the bins' densities with a normal kernel.
fn convolve(bins: &Bins, size: usize, bandwidth: f64, reflect: bool) -> Vec<f64> {
    let width = bins.edges[1] - bins.edges[0];
    let mass: Vec<f64> = bins.counts.iter().map(|count| count / width / size as f64).collect();
    let bandwidth = bandwidth / width;
    let length = ((bandwidth * 2.0 * std::f64::consts::PI) as usize).max(1);
    let kernel: Vec<f64> = (0..length)
        .map(|i| i as f64 - (length as f64 - 1.0) / 2.0)
        .map(|x| if length == 1 { 1.0 } else { (-x * x / (2.0 * bandwidth * bandwidth)).exp() })
        .collect();
    let pad = if reflect { bins.counts.len() / 5 } else { 0 };
    let padded: Vec<f64> =
        (mass[..pad].iter().rev()).chain(&mass).chain(mass[mass.len() - pad..].iter().rev()).copied().collect();
    let scale = bandwidth * (2.0 * std::f64::consts::PI).sqrt();
    (pad..pad + mass.len())
        .map(|i| {
            // The middle of the whole convolution, as long as the first of its two arguments.
            let place = i + (length - 1) / 2;
            let first = (place + 1).saturating_sub(length);
            let last = place.min(padded.len() - 1);
            (first..=last).map(|j| padded[j] * kernel[place - j]).sum::<f64>() / scale
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logistic_density() {
        let n = 20_000;
        let values: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).map(|p| (p / (1.0 - p)).ln()).collect();
        for rule in
            [Bandwidth::Experimental, Bandwidth::Isj, Bandwidth::Silverman, Bandwidth::Scott, Bandwidth::Fixed(0.1)]
        {
            let found = kde_with(&values, &KdeOptions { bandwidth: rule, ..KdeOptions::default() }).unwrap();
            let mass = found.density.iter().sum::<f64>() * (found.grid[1] - found.grid[0]);
            assert!((mass - 1.0).abs() < 0.01, "{rule:?}: {mass}");
            for (x, density) in found.grid.iter().zip(&found.density) {
                let exact = (-x).exp() / (1.0 + (-x).exp()).powi(2);
                assert!((density - exact).abs() < 0.012, "{rule:?} {x}: {density} {exact}");
            }
        }
    }

    /// The definition: the mean of a normal density around each value.
    #[test]
    fn beyond_the_values_it_is_the_sum_of_kernels() {
        let values = [-1.0, -0.4, 0.1, 0.15, 2.0];
        let bandwidth = 0.3;
        let options =
            KdeOptions { bandwidth: Bandwidth::Fixed(bandwidth), limits: Some([-3.0, 4.5]), ..KdeOptions::default() };
        let found = kde_with(&values, &options).unwrap();
        assert!(found.grid[0] < -2.9 && found.grid[511] > 4.4);
        for (x, density) in found.grid.iter().zip(&found.density) {
            let kernel = |v: &f64| {
                (-0.5 * ((x - v) / bandwidth).powi(2)).exp() / (bandwidth * (2.0 * std::f64::consts::PI).sqrt())
            };
            let exact = values.iter().map(kernel).sum::<f64>() / 5.0;
            // Bins are 0.015 wide, a twentieth of the bandwidth.
            assert!((density - exact).abs() < 0.02, "{x}: {density} {exact}");
        }
        // Values are never left out.
        let inner = kde_with(&values, &KdeOptions { limits: Some([0.0, 0.1]), ..options }).unwrap();
        assert!(inner.grid[0] > -1.0 && inner.grid[0] < -0.99 && inner.grid[511] < 2.0 && inner.grid[511] > 1.99);
    }

    #[test]
    fn no_density() {
        for values in
            [vec![], vec![1.0], vec![2.0; 9], vec![f64::NAN, 1.0], vec![f64::INFINITY, 1.0], vec![f64::MAX, -f64::MAX]]
        {
            assert_eq!(kde(&values), None, "{values:?}");
        }
        let two = kde(&[1.0, 2.0]).unwrap();
        assert!(two.density.iter().all(|d| d.is_finite()));
    }

    /// NumPy 2 refuses a histogram of 512 bins of the first three: its edges are not all different.
    #[test]
    fn values_that_differ_in_their_last_bits_have_none() {
        let step = |at: f64, by: f64| (0..200).map(|i| at + by * f64::from(i * 7 % 33)).collect::<Vec<f64>>();
        for values in [step(3e14, 0.0625), step(1.0, f64::EPSILON), step(-1e300, 1e284), step(0.0, 5e-324)] {
            for bandwidth in
                [Bandwidth::Experimental, Bandwidth::Silverman, Bandwidth::Isj, Bandwidth::Scott, Bandwidth::Fixed(1.0)]
            {
                assert_eq!(
                    kde_with(&values, &KdeOptions { bandwidth, ..KdeOptions::default() }),
                    None,
                    "{}",
                    values[0]
                );
            }
        }
        // As many bits again, and there is one.
        assert!(kde(&step(3e14, 64.0)).is_some() && kde(&step(0.0, 1e-200)).is_some());
    }

    /// The same values in another unit have the same density per unit.
    #[test]
    fn densities_know_no_unit() {
        let values: Vec<f64> = (0..400).map(|k| f64::from(k * 7919 % 1009) / 64.0 - 7.0).collect();
        let expected = kde(&values).unwrap();
        for exponent in [-900, -500, 500, 990] {
            let unit = 2f64.powi(exponent);
            let found = kde(&values.iter().map(|v| v * unit).collect::<Vec<f64>>()).unwrap();
            assert!((found.bandwidth / (expected.bandwidth * unit) - 1.0).abs() < 1e-12, "2^{exponent}");
            for (found, expected) in found.density.iter().zip(&expected.density) {
                assert!((found * unit - expected).abs() <= 1e-12 * expected.abs() + 1e-15, "2^{exponent}");
            }
        }
    }

    /// Values on the edges of bins, which divisions put on either side: each begins its bin, and the largest ends the last.
    #[test]
    fn a_value_on_an_edge_is_in_the_bin_that_begins_there() {
        for k in 1..40 {
            let (low, high) = (-0.3 * f64::from(k), 0.7 * f64::from(k * k) + 0.1);
            let count = 100 + k as usize;
            let edges = Bins::new(&[], low, high, count).unwrap().edges;
            assert_eq!((edges.len(), edges[0], edges[count]), (count + 1, low, high));
            let found = Bins::new(&edges, low, high, count).unwrap().counts;
            assert!(found[..count - 1].iter().all(|&n| n == 1.0) && found[count - 1] == 2.0, "{k}: {found:?}");
            // The numbers just below the edges end the bins before.
            let below: Vec<f64> = edges[1..].iter().map(|edge| edge.next_down()).collect();
            assert_eq!(Bins::new(&below, low, high, count).unwrap().counts, vec![1.0; count], "{k}");
        }
    }

    #[test]
    fn grids_and_kernels_have_limits() {
        let values = [1.0, 2.0, 2.5, 3.0];
        let of = |bandwidth: f64, grid_len: usize| {
            let options = KdeOptions { bandwidth: Bandwidth::Fixed(bandwidth), grid_len, ..KdeOptions::default() };
            kde_with(&values, &options)
        };
        for (asked, found) in [(0, 100), (99, 100), (100, 100), (101, 101), (150, 150)] {
            assert_eq!(of(0.3, asked).unwrap().grid.len(), found);
        }
        assert_eq!(kde(&values).unwrap().grid.len(), 512);
        // The range is 2.
        assert!(of(2000.0, 100).is_some() && of(2001.0, 100).is_none() && of(-0.1, 100).is_none());
        assert!(of(0.01, 100).is_some() && of(f64::NAN, 100).is_none());
        // A kernel far narrower than a bin, whose square is 0.
        assert!(of(1e-200, 100).is_some());
    }

    /// The definition, written out: every bin's mass spread by the kernel, reflected at the ends or not.
    #[test]
    fn the_convolution_is_the_sum_over_bins() {
        let values: Vec<f64> = (0..37).map(|k| f64::from(k * k % 41) / 5.0).collect();
        for (bandwidth, bound_correction) in [(0.01, true), (0.03, true), (0.05, false), (0.4, true), (0.4, false)] {
            let options =
                KdeOptions { bandwidth: Bandwidth::Fixed(bandwidth), grid_len: 101, bound_correction, limits: None };
            let found = kde_with(&values, &options).unwrap();
            let width = 8.0 / 101.0;
            let mass = |bin: i64| {
                let bin = match bin {
                    bin if (0..101).contains(&bin) => bin,
                    bin if bound_correction && (-20..0).contains(&bin) => -1 - bin,
                    bin if bound_correction && (101..121).contains(&bin) => 201 - bin,
                    _ => return 0.0,
                };
                let count = values.iter().filter(|&&v| ((v / width) as i64).min(100) == bin).count();
                count as f64 / 37.0 / width
            };
            let length = ((bandwidth / width * 2.0 * std::f64::consts::PI) as i64).max(1);
            for (i, density) in (0..).zip(&found.density) {
                let term = |k: i64| {
                    let x = (k as f64 - (length - 1) as f64 / 2.0) * width / bandwidth;
                    mass(i + (length - 1) / 2 - k) * (-0.5 * x * x).exp()
                };
                let sum: f64 = (0..length).map(term).sum();
                let expected = sum / (bandwidth / width * (2.0 * std::f64::consts::PI).sqrt());
                assert!((density - expected).abs() < 1e-12, "{bandwidth} {i}: {density} {expected}");
            }
        }
    }

    /// ArviZ 0.23.4, `_get_bw`: improved Sheather-Jones is far from Silverman's rule here.
    #[test]
    fn bandwidths_of_arviz() {
        let values: Vec<f64> =
            (0..150).map(|k| f64::from((k % 37) * (k % 37)) / 50.0 + if k % 3 == 0 { 20.0 } else { 0.0 }).collect();
        for (rule, expected) in [
            (Bandwidth::Experimental, 2.097_245_353_001_469_4),
            (Bandwidth::Isj, 0.085_340_951_876_978_86),
            (Bandwidth::Silverman, 4.109_149_754_125_96),
            (Bandwidth::Scott, 4.839_665_265_970_575_4),
        ] {
            let found = kde_with(&values, &KdeOptions { bandwidth: rule, ..KdeOptions::default() }).unwrap().bandwidth;
            assert!((found / expected - 1.0).abs() < 1e-11, "{rule:?}: {found}");
        }
    }

    /// Numbers above 2 are twice as far apart as those below: of edges 2^-52 apart two fall together there.
    #[test]
    fn two_edges_that_coincide_are_seen_wherever_they_stand() {
        let last = 2.0 + 2.0 * f64::EPSILON;
        assert!(Bins::new(&[], 2.0 - 98.0 * f64::EPSILON, last, 100).is_none());
        assert!(Bins::new(&[], 2.0 - 100.0 * f64::EPSILON, 2.0, 100).is_some());
        // One and a half of the smallest number rounds to two: from the 75th on, all edges but the last are beyond the range.
        assert!(Bins::new(&[], 0.0, 150.0 * 5e-324, 100).is_none());
    }
}
