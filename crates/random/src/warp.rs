//! The virtual warp: the one shape in which numbers are added, on any processor.
//!
//! How many lanes there are for how many elements stands here.
//!
//! Element `i` belongs to lane `i mod L`; each lane joins its elements in order; then the lanes are joined as a halving
//! tree (L/2, L/4, ... 1). A GPU does that with shuffles, a CPU with vectors of any width: the bits are the same.

/// Elements up to which there are [`NARROW`] lanes.
pub const NARROW_LIMIT: usize = 256;
/// The number of lanes for few elements.
pub const NARROW: usize = 32;
/// The number of lanes for many elements.
pub const WIDE: usize = 128;

/// Returns the number of lanes for `elements` elements.
///
/// ```
/// assert_eq!((octopus_random::warp::lanes(256), octopus_random::warp::lanes(257)), (32, 128));
/// ```
pub const fn lanes(elements: usize) -> usize {
    if elements <= NARROW_LIMIT { NARROW } else { WIDE }
}

/// Joins the lanes as a halving tree. `L` is a power of two.
///
/// ```
/// assert_eq!(octopus_random::warp::halve([1.0, 2.0, 3.0, 4.0], |a, b| a + b), (1.0 + 3.0) + (2.0 + 4.0));
/// ```
#[inline(always)]
pub fn halve<T: Copy, const L: usize>(mut lanes: [T; L], join: impl Fn(T, T) -> T) -> T {
    let mut half = L / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = join(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a tree that is written as it reads, of one lane, too.
    #[test]
    fn any_power_of_two_of_lanes_is_joined_as_a_halving_tree() {
        fn tree(lanes: &[String]) -> String {
            let (low, high) = lanes.split_at(lanes.len() / 2);
            match low {
                [] => lanes[0].clone(),
                _ => tree(&low.iter().zip(high).map(|(a, b)| format!("({a}+{b})")).collect::<Vec<_>>()),
            }
        }
        fn check<const L: usize>() {
            // A lane is told from others by the places that it was joined from.
            let lanes: [&'static str; L] = std::array::from_fn(|lane| &*lane.to_string().leak());
            let own = halve(lanes, |a, b| &*format!("({a}+{b})").leak());
            assert_eq!(own, tree(&lanes.map(str::to_owned)));
        }
        check::<1>();
        check::<2>();
        check::<8>();
        check::<32>();
        check::<128>();
    }
}
