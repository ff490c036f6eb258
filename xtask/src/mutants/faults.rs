//! The faults of numerics: what the text is, and what a slip would have made of it.

/// A change of one place in the sources that the tests must notice.
#[derive(Debug)]
pub(super) struct Fault {
    /// What is wrong, in words.
    pub(super) name: &'static str,
    /// The file, from the workspace's folder.
    pub(super) file: &'static str,
    /// The text as it is: once in the file.
    pub(super) old: &'static str,
    /// The text with the fault.
    pub(super) new: &'static str,
}

const CENTERING: &str = "crates/density/src/centering.rs";
const KERNEL: &str = "crates/models/src/hierarchical_normal/density/kernel.rs";
const TREE: &str = "crates/sampler/src/kernel/nuts.rs";
const WEIGHTS: &str = "crates/sampler/src/kernel/nuts/weights.rs";
const ADDRESS: &str = "crates/sampler/src/kernel/address.rs";
const VECTOR: &str = "crates/sampler/src/kernel/vector.rs";
const METRIC: &str = "crates/sampler/src/kernel/metric.rs";
const LOW_RANK: &str = "crates/sampler/src/adapt/low_rank.rs";
const SCHEDULE: &str = "crates/sampler/src/adapt/schedule.rs";
const CPU: &str = "crates/sampler/src/engine/cpu.rs";

pub(super) const FAULTS: [Fault; 27] = [
    Fault {
        name: "Jacobian of the centering with the wrong sign",
        file: CENTERING,
        old: "-0.5 * (standard.integrated",
        new: "0.5 * (standard.integrated",
    },
    Fault {
        name: "deviations within a kind missing once effects are integrated out",
        file: CENTERING,
        old: "asked * (spread + pull * away)",
        new: "asked * (pull * away)",
    },
    Fault {
        name: "the way through the location's coordinate missing in the gradient of the scale",
        file: CENTERING,
        old: "let rest = (1.0 - inverse) * turn;",
        new: "let rest = 0.0 * turn;",
    },
    Fault {
        name: "Jacobian in the fused density with the wrong sign",
        file: KERNEL,
        old: "- 0.5 * sums.logs",
        new: "+ 0.5 * sums.logs",
    },
    Fault {
        name: "Jacobian of centered effects in the fused density with the wrong sign",
        file: KERNEL,
        old: "(1.0 - sums.power) * scalars.log_pop",
        new: "(1.0 + sums.power) * scalars.log_pop",
    },
    Fault {
        name: "Jacobian of sigma_obs left out",
        file: KERNEL,
        old: "* scalars.log_pop\n        + scalars.log_obs",
        new: "* scalars.log_pop",
    },
    Fault {
        name: "the way through the coordinates missing in the gradient of the scale",
        file: KERNEL,
        old: "weight * sums.scale + sums.centered_scale - sums.shares",
        new: "weight * sums.scale - sums.shares",
    },
    Fault {
        name: "the way through the coordinates missing in the gradient of the noise",
        file: KERNEL,
        old: "- obs2 + 1.0 + sums.noise",
        new: "- obs2 + 1.0",
    },
    Fault {
        name: "U-turn check across the seam missing",
        file: VECTOR,
        old: "dots.iter().all(|&dot| dot > 0.0)",
        new: "dots[..2].iter().all(|&dot| dot > 0.0)",
    },
    Fault {
        name: "U-turn check of leaves at one end only",
        file: VECTOR,
        old: "begin > 0.0 && end > 0.0",
        new: "begin > 0.0 || end > 0.0",
    },
    Fault {
        name: "biased progressive rule made uniform",
        file: TREE,
        old: "accept * self.weights.tree < self.weights.subtree",
        new: "accept * (self.weights.tree + self.weights.subtree) < self.weights.subtree",
    },
    Fault {
        name: "biased progressive rule inverted",
        file: TREE,
        old: "accept * self.weights.tree < self.weights.subtree",
        new: "accept * self.weights.subtree < self.weights.tree",
    },
    Fault {
        name: "half step dropped",
        file: VECTOR,
        old: "half[i] = momentum[i] + h * force[i];",
        new: "half[i] = momentum[i] + 0.0 * h * force[i];",
    },
    Fault {
        name: "half step dropped with the low-rank metric",
        file: METRIC,
        old: "vectors.add_scaled(h, half, force, momentum)",
        new: "vectors.add_scaled(0.0 * h, half, force, momentum)",
    },
    Fault {
        name: "stale gradient: the force is not kept",
        file: VECTOR,
        old: "forces[i] = force;",
        new: "let _ = &forces;",
    },
    Fault {
        name: "wrong multinomial weight",
        file: WEIGHTS,
        old: "exact::exp(gain - self.reference)",
        new: "exact::exp(0.5 * (gain - self.reference))",
    },
    Fault {
        name: "leaf chosen without its weight",
        file: TREE,
        old: "uniform * self.weights.subtree < weight",
        new: "uniform < weight",
    },
    Fault {
        name: "random stream shared between chains",
        file: ADDRESS,
        old: "Stream::new(self.seed, self.chain, self.iteration, purpose)",
        new: "Stream::new(self.seed, 0, self.iteration, purpose)",
    },
    Fault {
        name: "momentum not refreshed",
        file: TREE,
        old: "&address.stream(Purpose::Momentum)",
        new: "&Address { iteration: 0, ..address }.stream(Purpose::Momentum)",
    },
    Fault {
        name: "window opens one iteration late",
        file: SCHEDULE,
        old: "self.start..self.ends.last()",
        new: "self.start + 1..self.ends.last()",
    },
    Fault {
        name: "window takes one draw too many",
        file: SCHEDULE,
        old: "self.ends.last().copied()",
        new: "self.ends.last().map(|last| last + 1)",
    },
    Fault {
        name: "lp with the Jacobian of the sampler's coordinates",
        file: TREE,
        old: "point.logp - phase_space.space.log_jacobian(&point.x[..phase_space.dim()])",
        new: "point.logp",
    },
    Fault {
        name: "directions of the metric taken from the draws alone",
        file: LOW_RANK,
        old: "by_draws > WORTHWHILE && by_gradients > WORTHWHILE",
        new: "by_draws > WORTHWHILE",
    },
    Fault {
        name: "a resumed run forgets its window",
        file: CPU,
        old: "window: state.window",
        new: "window: Window::default()",
    },
    Fault {
        name: "trajectories of hmc are always accepted",
        file: "crates/sampler/src/kernel/hmc.rs",
        old: "let accepted = uniform < acceptance_rate;",
        new: "let accepted = uniform < 1.0 && acceptance_rate > 0.0;",
    },
    Fault {
        name: "importance sampling forgets the share of its mixture",
        file: "crates/sampler/src/population/importance.rs",
        old: "exact::ln(1.0 - share) + log_shaped",
        new: "exact::ln(1.0) + log_shaped",
    },
    Fault {
        name: "particles on a GPU are evaluated in the density's own coordinates",
        file: "crates/sampler/src/engine/gpu/engine.rs",
        old: "        self.set_geometry(shared)?;\n        self.evaluate(shared, NutsRestart::Place)?;",
        new: "        self.evaluate(shared, NutsRestart::Place)?;",
    },
];
