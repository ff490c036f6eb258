//! What data sets come to, each in launches of its own or all in launches of many.

use super::data_sets::{DataSet, MAX_DEPTH, MOST_RANK, format, given, module};
use octopus_cuda::{
    Context, NutsBatch, NutsBatchItem, NutsBatchKernels, NutsBatchLaunch, NutsBatchSlot, NutsChain, NutsChains,
    NutsData, NutsGeometry, NutsKernels, NutsLaunch, NutsOutput, NutsRestart, NutsSlot, Stream,
};
use octopus_density::gpu::Precision;

/// What a launch leaves, to the bit.
#[derive(Debug, PartialEq)]
pub(super) struct Outcome {
    numbers: Vec<u64>,
    pub(super) states: Vec<NutsChain>,
}

impl Outcome {
    /// Of the first `chains` chains.
    fn read(output: &NutsOutput<'_>, chains: usize, dim: usize) -> Self {
        let (mut reals, mut gradients) = (Vec::new(), Vec::new());
        for chain in 0..chains {
            output.draws(chain, &mut reals);
            output.points(chain, &mut reals, &mut gradients);
            for r in output.records(chain) {
                let words = [r.tree_depth, r.n_steps, r.index_in_trajectory.cast_unsigned()].map(f64::from);
                let flags =
                    [r.diverging, r.without_gradient, r.reached_max_treedepth].map(|flag| f64::from(u8::from(flag)));
                reals.extend([r.lp, r.acceptance_rate, r.step_size, r.energy, r.energy_error, r.max_energy_error]);
                reals.extend(words.into_iter().chain(flags));
            }
        }
        assert!(reals.len() >= chains * output.iterations() * (dim + 12));
        (0..chains).for_each(|chain| output.end_position(chain, &mut reals));
        let states: Vec<_> = (0..chains).map(|chain| output.end_state(chain)).collect();
        reals.extend(states.iter().flat_map(|state| state.averaging));
        reals.extend(gradients);
        Self { numbers: reals.into_iter().map(f64::to_bits).collect(), states }
    }
}

/// The states after a restart, and what two launches leave.
pub(super) struct Story {
    pub(super) restarted: Vec<NutsChain>,
    pub(super) launches: [Outcome; 2],
}

/// Each data set by itself, as the tests of the engine prove it.
pub(super) fn alone(context: &Context, precision: Precision, shape: [u32; 2], sets: &[DataSet]) -> Vec<Story> {
    let density = &sets[0].density;
    let module = module(density.kernel_modules(), precision, shape);
    let (format, name) = (format(module), format!("{}_{}", density.kernel_name(), module.kernel()));
    let kernels = NutsKernels::load(context, &module.ptx.text().unwrap(), "nuts", &name, format).unwrap();
    let stream = Stream::new(context).unwrap();
    let one = |set: &DataSet| {
        let fields = set.density.kernel_data();
        let data = NutsData::upload(context, format, &given(&fields)).unwrap();
        let mut geometry = NutsGeometry::new(context, format, MOST_RANK).unwrap();
        geometry.set_centering(set.centering);
        geometry.set_metric(&set.scale, &set.directions(), &set.stretch).unwrap();
        let mut chains = NutsChains::new(context, format, set.chains(), set.dim(), MAX_DEPTH).unwrap();
        let mut slot = NutsSlot::new(context, &chains, 16, true).unwrap();
        chains.set_states(&set.states).unwrap();
        let search = NutsRestart::Search;
        // Of which chains the points are decides where they are.
        let refused = kernels.restart(&stream, search, &set.launches[0], &data, &geometry, &mut chains, &mut slot);
        assert!(refused.unwrap_err().to_string().contains("chains placed"));
        slot.place(&set.points).unwrap();
        kernels.restart(&stream, search, &set.launches[0], &data, &geometry, &mut chains, &mut slot).unwrap();
        let restarted = chains.states(set.chains()).unwrap();
        let launches = set.launches.each_ref().map(|launch| {
            kernels.run(&stream, launch, &data, &geometry, &mut chains, &mut slot).unwrap();
            slot.fetch(&stream, true).unwrap();
            Outcome::read(&slot.wait().unwrap(), launch.chains as usize, set.dim())
        });
        let all = |launch: &&NutsLaunch| launch.chains as usize == set.chains() && !launch.window.is_empty();
        for launch in set.launches.iter().filter(all) {
            let mut no_points = NutsSlot::new(context, &chains, launch.iterations as usize, false).unwrap();
            kernels.run(&stream, launch, &data, &geometry, &mut chains, &mut no_points).unwrap();
            let refused = no_points.fetch(&stream, true).unwrap_err().to_string();
            assert!(refused.contains("bytes on the host"), "{refused}");
            no_points.fetch(&stream, false).unwrap();
            no_points.wait().unwrap();
        }
        Story { restarted, launches }
    };
    sets.iter().map(one).collect()
}

/// All data sets on the device.
pub(super) struct Batched<'a> {
    pub(super) sets: &'a [DataSet],
    pub(super) kernels: NutsBatchKernels,
    pub(super) batch: NutsBatch,
    pub(super) slots: [NutsBatchSlot; 2],
    pub(super) stream: Stream,
    /// Bytes of device memory as they were foretold: of the batch, and of a slot.
    pub(super) foretold: [usize; 2],
}

impl<'a> Batched<'a> {
    pub(super) fn new(context: &Context, precision: Precision, shape: [u32; 2], sets: &'a [DataSet]) -> Self {
        let density = &sets[0].density;
        let module = module(density.batch_modules(), precision, shape);
        let (format, name) = (format(module), format!("{}_{}", density.kernel_name(), module.kernel()));
        let kernels = NutsBatchKernels::load(context, &module.ptx.text().unwrap(), &name, format).unwrap();
        let fields: Vec<_> = sets.iter().map(|set| set.density.kernel_data()).collect();
        let fields: Vec<_> = fields.iter().map(|fields| given(fields)).collect();
        let item = |(set, fields): (&DataSet, &'_ Vec<_>)| (set.chains(), set.dim(), fields.clone());
        let all: Vec<_> = sets.iter().zip(&fields).map(item).collect();
        let items: Vec<_> =
            all.iter().map(|(chains, dim, fields)| NutsBatchItem { fields, chains: *chains, dim: *dim }).collect();
        let mut batch = NutsBatch::new(context, format, &items, MAX_DEPTH, MOST_RANK).unwrap();
        for (item, set) in sets.iter().enumerate() {
            batch.set_centering(item, set.centering).unwrap();
            batch.set_metric(item, &set.scale, &set.directions(), &set.stretch).unwrap();
        }
        let iterations = 6;
        let slot = || NutsBatchSlot::new(context, &batch, iterations).unwrap();
        let foretold = [
            NutsBatch::bytes_for(format, &items, MAX_DEPTH, MOST_RANK).unwrap(),
            NutsBatchSlot::bytes_for(format, &items, iterations).unwrap(),
        ];
        Self { sets, kernels, slots: [slot(), slot()], batch, stream: Stream::new(context).unwrap(), foretold }
    }

    /// Launch `which` of these data sets, through slot `at`.
    pub(super) fn launches(&self, which: usize, items: &[usize]) -> Vec<NutsBatchLaunch> {
        items.iter().map(|&item| NutsBatchLaunch { item, launch: self.sets[item].launches[which].clone() }).collect()
    }

    pub(super) fn restart(&mut self, items: &[usize]) {
        let states: Vec<_> = items.iter().map(|&item| (item, self.sets[item].states.as_slice())).collect();
        self.batch.set_states(&states).unwrap();
        let points: Vec<&[f64]> = items.iter().map(|&item| self.sets[item].points.as_slice()).collect();
        let launches = self.launches(0, items);
        let Self { kernels, stream, batch, slots: [slot, _], .. } = self;
        kernels.restart(stream, NutsRestart::Search, &launches, &points, batch, slot).unwrap();
    }

    /// What launch `which` of these data sets leaves, through slot `at`.
    pub(super) fn run(&mut self, which: usize, items: &[usize], at: usize) -> Vec<Outcome> {
        let launches = self.launches(which, items);
        let Self { kernels, stream, batch, slots, sets, .. } = self;
        kernels.run(stream, &launches, batch, &mut slots[at]).unwrap();
        slots[at].fetch(stream, true).unwrap();
        let outputs = slots[at].wait().unwrap();
        assert_eq!(outputs.len(), items.len());
        let outcome = |(output, own): (&NutsOutput<'_>, &NutsBatchLaunch)| {
            assert_eq!(output.iterations(), own.launch.iterations as usize);
            Outcome::read(output, own.launch.chains as usize, sets[own.item].dim())
        };
        outputs.iter().zip(&launches).map(outcome).collect()
    }
}
