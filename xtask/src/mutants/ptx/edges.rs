//! Restarts at the edge: launches in which the last bits of an energy matter.
//!
//! A restart searches a step size by doubling or halving the one that it begins with, and leaves only what it found. So
//! hardly any fault of a leapfrog step or an energy shows: what it changes would have to change a decision. Therefore each
//! restart is run again from step sizes that lie side by side, of which its chains double one and halve the other: there
//! the energy lies within a few roundings of the threshold, and whatever moves it by more changes the decision.

use octopus_ptx::{Module, Order, Recording, Replay};

/// Where a chain of a restart keeps what it begins with and what it finds, and of how many bytes these numbers are.
#[derive(Clone, Copy)]
struct Place {
    state: u64,
    width: u64,
}

/// The logarithm of the step size that a chain begins with, and the step size that it finds, in numbers from the start of
/// its state (`DualAveraging` and `ChainState` in kernels/nuts).
const LOG_STEP: u64 = 4;
const STEP: u64 = 6;

/// Logarithms of a step that every chain doubles and of one that every chain halves.
const DOUBLED: f64 = -13.0;
const HALVED: f64 = 16.0;

/// The steps on either side of an edge.
const NEIGHBOURS: u64 = 1;

/// Steps of which the energy is infinite, or the position.
const FAR_STEPS: [f64; 3] = [1e2, 1e12, 1e25];

/// The seeds with which a restart is brought to its edge. Where vectors are of floats the energies of neighbouring steps
/// lie some 1e-7 apart, and another momentum shows what the first may miss.
const SEEDS: u8 = 64;

/// Returns the launch from steps that its chains still double and from steps, next to these, that they halve, with several
/// seeds, but no more than `most` launches; nothing for a launch that searches no step sizes.
pub(super) fn restarts_at_the_edge(recording: &Recording, module: &Module, most: usize) -> Vec<Recording> {
    let mut at_edge = of_seed(recording, module);
    for seed in 1..SEEDS {
        if at_edge.len() >= most {
            break;
        }
        let mut other = recording.clone();
        let Some(at) = launch_of(&other) else { break };
        other.parameters[at] ^= seed;
        at_edge.extend(of_seed(&other, module));
    }
    at_edge
}

fn of_seed(recording: &Recording, module: &Module) -> Vec<Recording> {
    let places = places(recording, "nuts_restart_");
    if places.is_empty() {
        return Vec::new();
    }
    let mut low: Vec<u64> = places.iter().map(|place| place.bits(DOUBLED)).collect();
    let mut high: Vec<u64> = places.iter().map(|place| place.bits(HALVED)).collect();
    // Chains of which this is not true keep the step that they had.
    let Some((_, doubled)) = tried(recording, module, &places, &low) else { return Vec::new() };
    let Some((_, halved)) = tried(recording, module, &places, &high) else { return Vec::new() };
    let is_open: Vec<bool> = doubled.iter().zip(halved).map(|(doubled, halved)| *doubled && !halved).collect();
    for (k, place) in places.iter().enumerate().filter(|(k, _)| !is_open[*k]) {
        let own = place.read(recording, LOG_STEP).unwrap_or_default();
        (low[k], high[k]) = (own, own);
    }
    loop {
        let between: Vec<Option<u64>> = (0..places.len()).map(|k| places[k].between(low[k], high[k])).collect();
        if between.iter().all(Option::is_none) {
            break;
        }
        let steps: Vec<u64> = between.iter().zip(&low).map(|(between, low)| between.unwrap_or(*low)).collect();
        let Some((_, doubled)) = tried(recording, module, &places, &steps) else { return Vec::new() };
        for (k, step) in between.into_iter().enumerate() {
            if let Some(step) = step {
                *if doubled[k] { &mut low[k] } else { &mut high[k] } = step;
            }
        }
    }
    // Steps next to each other give energies that differ by roundings: each shows others.
    let near = |by: u64, down: bool| {
        let from = if down { &low } else { &high };
        let step = |(place, bits): (&Place, &u64)| place.moved(*bits, by, down);
        places.iter().zip(from).map(step).collect::<Vec<u64>>()
    };
    let steps = (0..NEIGHBOURS).flat_map(|by| [near(by, true), near(by, false)]);
    steps.filter_map(|steps| tried(recording, module, &places, &steps).map(|(recording, _)| recording)).collect()
}

/// Returns the launch of a run from steps so long that its chains diverge, and that what they reach is infinite.
pub(super) fn far_runs(recording: &Recording, module: &Module) -> Vec<Recording> {
    let places = places(recording, "nuts_run_");
    let far = |step: f64| {
        let mut launch = recording.clone();
        places.iter().try_for_each(|place| place.write(&mut launch, STEP, place.bits(step)))?;
        let replay = Replay { order: Order::LockStep, checked: false, most_joins: u64::MAX };
        launch.record(module, replay).filter(|(outcome, _)| outcome.fault.is_none()).map(|(_, launch)| launch)
    };
    if places.is_empty() { Vec::new() } else { FAR_STEPS.into_iter().filter_map(far).collect() }
}

/// Runs the launch from these steps; also returns which chains have doubled theirs.
fn tried(recording: &Recording, module: &Module, places: &[Place], steps: &[u64]) -> Option<(Recording, Vec<bool>)> {
    let mut recording = recording.clone();
    for (place, step) in places.iter().zip(steps) {
        place.write(&mut recording, LOG_STEP, *step)?;
    }
    let replay = Replay { order: Order::LockStep, checked: false, most_joins: u64::MAX };
    let (outcome, left) = recording.record(module, replay)?;
    if outcome.fault.is_some() {
        return None;
    }
    let doubled = |(place, step): (&Place, &u64)| {
        let found = bytes(&left, place.state + STEP * place.width, place.width, true).map(|bits| place.value(bits))?;
        Some(found > place.value(*step).exp())
    };
    let doubled = places.iter().zip(steps).map(doubled).collect::<Option<Vec<bool>>>()?;
    Some((left, doubled))
}

impl Place {
    fn bits(self, value: f64) -> u64 {
        if self.width == 4 { (value as f32).to_bits().into() } else { value.to_bits() }
    }

    fn value(self, bits: u64) -> f64 {
        if self.width == 4 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) }
    }

    /// Returns a number between two that are not the same and have others between them.
    fn between(self, low: u64, high: u64) -> Option<u64> {
        let middle = self.bits(self.value(low) / 2.0 + self.value(high) / 2.0);
        (middle != low && middle != high && self.value(low) < self.value(high)).then_some(middle)
    }

    /// Returns a number so many numbers away.
    fn moved(self, bits: u64, by: u64, down: bool) -> u64 {
        // The bits of negative numbers grow the other way.
        if down == (self.value(bits) > 0.0) { bits - by } else { bits + by }
    }

    fn read(self, recording: &Recording, number: u64) -> Option<u64> {
        bytes(recording, self.state + number * self.width, self.width, false)
    }

    fn write(self, recording: &mut Recording, number: u64, value: u64) -> Option<()> {
        let address = self.state + number * self.width;
        let memory = recording.memory.iter_mut().find(|memory| {
            memory.address <= address && address + self.width <= memory.address + memory.before.len() as u64
        })?;
        let at = (address - memory.address) as usize;
        memory.before[at..][..self.width as usize].copy_from_slice(&value.to_le_bytes()[..self.width as usize]);
        Some(())
    }
}

/// Returns the chains of a launch of a kind that does any iterations: those of its `Launch`, or of the `Item`s of a batch.
fn places(recording: &Recording, kind: &str) -> Vec<Place> {
    if !recording.entry.starts_with(kind) {
        return Vec::new();
    }
    let (size, state, width) = sizes(recording);
    let launches = if recording.entry[kind.len()..].starts_with("batch_") {
        items(recording).unwrap_or_default()
    } else {
        launch_of(recording).map(|at| recording.parameters[at..at + size].to_vec()).into_iter().collect()
    };
    let chains = |launch: Vec<u8>| {
        let launch = launch.get(launch.len().checked_sub(size)?..)?;
        let word = |at: usize| launch[at..at + 4].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let (chains, iterations) = (word(12), word(20));
        // Seven addresses end it, of which the first is that of the states.
        let states = word(size - 56) | word(size - 52) << 32;
        let chain = move |chain: u64| Place { state: states + chain * state, width };
        Some((0..if iterations == 0 { 0 } else { chains }).map(chain).collect::<Vec<Place>>())
    };
    launches.into_iter().filter_map(chains).flatten().collect()
}

/// Returns the bytes of a `Launch`, of a chain's state and of its numbers.
fn sizes(recording: &Recording) -> (usize, u64, u64) {
    if recording.entry.contains("_f32_") { (152, 40, 4) } else { (168, 72, 8) }
}

/// Returns where the `Launch` begins among the parameters, with its seed. A team stands behind it; a batch has none there.
fn launch_of(recording: &Recording) -> Option<usize> {
    let behind = if recording.entry.ends_with("_team") { 40 } else { 0 };
    let at = recording.parameters.len().checked_sub(sizes(recording).0 + behind)?;
    (!recording.entry.contains("_batch_")).then_some(at)
}

/// Returns the items of a batch that are in the launch; the parameters end with the addresses of items and parts.
fn items(recording: &Recording) -> Option<Vec<Vec<u8>>> {
    let size = recording.parameters.len().checked_sub(16)?;
    let address = |at: usize| Some(u64::from_le_bytes(recording.parameters.get(at..at + 8)?.try_into().ok()?));
    let (items, parts) = (address(size)?, address(size + 8)?);
    let numbers = (0..u64::from(recording.grid[0])).map(|part| bytes(recording, parts + 8 * part, 4, false));
    let mut numbers = numbers.collect::<Option<Vec<u64>>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    let item = |number: u64| {
        let at = items + number * size as u64;
        (0..size as u64).map(|k| bytes(recording, at + k, 1, false).map(|byte| byte as u8)).collect::<Option<Vec<u8>>>()
    };
    numbers.into_iter().map(item).collect()
}

/// Returns up to eight bytes of memory, before or after the launch.
fn bytes(recording: &Recording, address: u64, count: u64, after: bool) -> Option<u64> {
    let of = recording
        .memory
        .iter()
        .find(|memory| memory.address <= address && address + count <= memory.address + memory.before.len() as u64)?;
    let memory = if after { &of.after } else { &of.before };
    let at = (address - of.address) as usize;
    Some(memory.get(at..at + count as usize)?.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_ptx::RecordedMemory;

    /// A restart of two chains that double a step whose logarithm is below a quarter, and halve others.
    const RESTART: &str = ".visible .entry nuts_restart_k_f64_32x1(\n\t.param .align 8 .b8 nuts_restart_k_f64_32x1_param_0[168]\n)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<4>;\n\t.reg .f64 %fd<3>;\n\tld.param.u64 %rd1, [nuts_restart_k_f64_32x1_param_0+112];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 72;\n\tadd.s64 %rd3, %rd1, %rd2;\n\tld.global.f64 %fd1, [%rd3+32];\n\tsetp.lt.f64 %p1, %fd1, 0d3FD0000000000000;\n\tselp.f64 %fd2, 0d41CDCD6500000000, 0d0000000000000000, %p1;\n\tst.global.f64 [%rd3+48], %fd2;\n\tret;\n}\n";

    fn recording(iterations: u32) -> Recording {
        let (address, size) = (1_u64 << 32, 168);
        let mut parameters = vec![0; size];
        parameters[12..16].copy_from_slice(&2_u32.to_le_bytes());
        parameters[20..24].copy_from_slice(&iterations.to_le_bytes());
        parameters[112..120].copy_from_slice(&address.to_le_bytes());
        let memory = RecordedMemory { address, before: vec![0; 144], after: vec![0; 144] };
        let entry = "nuts_restart_k_f64_32x1".to_owned();
        let (grid, block, memory) = ([1; 3], [2, 1, 1], vec![memory]);
        Recording { entry, grid, block, parameters, dynamic_shared: 0, together: false, memory }
    }

    #[test]
    fn restarts_begin_on_either_side_of_the_edge() {
        let module = Module::parse(RESTART).unwrap();
        let launches = restarts_at_the_edge(&recording(1), &module, usize::MAX);
        let number = |launch: &Recording, at: usize, after: bool| {
            let memory = &launch.memory[0];
            f64::from_le_bytes((if after { &memory.after } else { &memory.before })[at..at + 8].try_into().unwrap())
        };
        let quarter = 0.25_f64.to_bits();
        let mut steps: Vec<u64> = launches.iter().map(|launch| number(launch, 72 + 32, false).to_bits()).collect();
        steps.sort_unstable();
        steps.dedup();
        assert_eq!(steps, (quarter - NEIGHBOURS..quarter + NEIGHBOURS).collect::<Vec<u64>>());
        let seeds: std::collections::BTreeSet<u8> = launches.iter().map(|launch| launch.parameters[0]).collect();
        assert_eq!(seeds.len(), usize::from(SEEDS));
        for launch in &launches {
            assert_eq!(number(launch, 48, true) > 1.0, number(launch, 32, false) < 0.25);
        }
        // What searches no steps has no edge.
        assert!(restarts_at_the_edge(&recording(0), &module, usize::MAX).is_empty());
    }

    #[test]
    fn numbers_have_neighbours_on_both_sides_of_zero() {
        for (width, one) in [(4, 1.0 - f64::from(f32::EPSILON) / 2.0), (8, 1.0 - f64::EPSILON / 2.0)] {
            let place = Place { state: 0, width };
            assert_eq!(place.value(place.moved(place.bits(1.0), 1, true)), one);
            assert_eq!(place.value(place.moved(place.bits(-1.0), 1, false)), -one);
            assert_eq!(place.between(place.bits(-13.0), place.bits(16.0)), Some(place.bits(1.5)));
            assert_eq!(place.between(place.bits(1.0), place.moved(place.bits(1.0), 1, false)), None);
        }
    }
}
