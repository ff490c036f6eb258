//! The record of a transition as a kernel writes it: statistics (energy, tree depth, divergence) and their bytes.

/// Bytes of a transition's record.
pub(super) const RECORD: usize = 64;

/// The statistics of one transition, as `Record` of `kernels/nuts/transition.cuh`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NutsRecord {
    /// Log density of the draw in the density's own coordinates.
    pub lp: f64,
    /// Mean Metropolis acceptance probability over the trajectory.
    pub acceptance_rate: f64,
    /// Step size.
    pub step_size: f64,
    /// Hamiltonian of the draw.
    pub energy: f64,
    /// Hamiltonian of the draw less that of the start.
    pub energy_error: f64,
    /// Largest energy error met, by magnitude.
    pub max_energy_error: f64,
    /// Completed doublings.
    pub tree_depth: u32,
    /// Leapfrog steps.
    pub n_steps: u32,
    /// Place of the draw on the trajectory, the start being 0.
    pub index_in_trajectory: i32,
    /// How the criterion of the trajectories' length grows; 0 where no length is learned.
    pub length_slope: f64,
    /// Whether the energy error passed the limit.
    pub diverging: bool,
    /// Whether the density had no value at the draw, where the gradient was to be kept.
    pub without_gradient: bool,
    /// Whether the trajectory ended only because the depth limit was reached.
    pub reached_max_treedepth: bool,
}

impl NutsRecord {
    pub(super) fn decode(bytes: &[u8; RECORD]) -> Self {
        let (reals, words) = (bytes.as_chunks::<8>().0, bytes.as_chunks::<4>().0);
        let real = |at: usize| f64::from_ne_bytes(reals[at]);
        let word = |at: usize| u32::from_ne_bytes(words[at]);
        // Without a tree its depth and the draw's place in it are the words of the slope (`kernels/nuts/hmc.cuh`).
        let no_tree = word(15) & 8 != 0;
        let of_tree = |at: usize| if no_tree { 0 } else { word(at) };
        let slope = (u64::from(word(14)) << 32) | u64::from(word(12));
        Self {
            lp: real(0),
            acceptance_rate: real(1),
            step_size: real(2),
            energy: real(3),
            energy_error: real(4),
            max_energy_error: real(5),
            tree_depth: of_tree(12),
            n_steps: word(13),
            index_in_trajectory: of_tree(14).cast_signed(),
            length_slope: if no_tree { f64::from_bits(slope) } else { 0.0 },
            diverging: word(15) & 1 != 0,
            reached_max_treedepth: word(15) & 2 != 0,
            without_gradient: word(15) & 4 != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes as `Record` of transition.cuh has them; each flag is a bit of its own.
    #[test]
    fn every_field_is_where_the_kernel_puts_it() {
        for flags in 0..8_u32 {
            let mut bytes: Vec<u8> = (1..=6).flat_map(|k| (f64::from(k) / 4.0).to_ne_bytes()).collect();
            bytes.extend([7_u32, 127, (-3_i32).cast_unsigned(), flags].iter().flat_map(|word| word.to_ne_bytes()));
            let expected = NutsRecord {
                lp: 0.25,
                acceptance_rate: 0.5,
                step_size: 0.75,
                energy: 1.0,
                energy_error: 1.25,
                max_energy_error: 1.5,
                tree_depth: 7,
                n_steps: 127,
                index_in_trajectory: -3,
                length_slope: 0.0,
                diverging: [1, 3, 5, 7].contains(&flags),
                reached_max_treedepth: [2, 3, 6, 7].contains(&flags),
                without_gradient: flags >= 4,
            };
            assert_eq!(NutsRecord::decode(bytes.as_slice().try_into().unwrap()), expected);
        }
    }

    #[test]
    fn without_a_tree_there_is_a_slope() {
        let mut bytes = [0; RECORD];
        let slope = (-0.1_f64).to_bits();
        let words = [slope as u32, 20, (slope >> 32) as u32, 9];
        bytes[48..].as_chunks_mut::<4>().0.iter_mut().zip(words).for_each(|(at, word)| *at = word.to_ne_bytes());
        let expected = NutsRecord { n_steps: 20, length_slope: -0.1, diverging: true, ..NutsRecord::default() };
        assert_eq!(NutsRecord::decode(&bytes), expected);
    }
}
