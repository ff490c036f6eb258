//! The kernels of NUTS: their arguments with the addresses in them, and the reason why a launch is sound.

use super::launch::Launch;
use super::module::{RawFunction, RawModule};
use super::stream::RawStream;
use super::structures::{Addresses, data_structure};
use crate::CudaError;
use crate::nuts::layout::{Structure, THREADS};
use crate::nuts::structures::{self, Places};
use crate::nuts::team::NutsTeam;
use crate::nuts::{NutsChains, NutsData, NutsEntry, NutsGeometry, NutsLaunch, NutsSlot};
use std::ops::Range;
use std::sync::Arc;

/// The kernels of one density, precision and format.
pub(crate) struct NutsFunctions {
    run: RawFunction,
    restart: RawFunction,
}

impl NutsFunctions {
    pub(crate) fn find(module: &Arc<RawModule>, sampler: &str, name: &str) -> Result<Self, CudaError> {
        Ok(Self {
            run: RawFunction::find(module, &format!("{sampler}_run_{name}"))?,
            restart: RawFunction::find(module, &format!("{sampler}_restart_{name}"))?,
        })
    }

    /// Blocks of either kernel that the device holds at once.
    pub(crate) fn blocks_at_once(&self) -> Result<usize, CudaError> {
        let (run, restart) = (self.run.blocks_at_once(THREADS)?, self.restart.blocks_at_once(THREADS)?);
        Ok(run.min(restart) as usize)
    }

    /// Queues kernels of at most `most_chains` chains, one after the other. The slot is laid out for the launch, and all
    /// parts are of the kernels' format (`NutsKernels`).
    #[allow(clippy::too_many_arguments, reason = "what is read and what is written are parts of their own")]
    pub(crate) fn queue(
        &self,
        entry: NutsEntry,
        stream: &RawStream,
        launch: &NutsLaunch,
        most_chains: u32,
        data: &NutsData,
        geometry: &NutsGeometry,
        chains: &mut NutsChains,
        slot: &mut NutsSlot,
    ) -> Result<(), CudaError> {
        let function = match entry {
            NutsEntry::Run => &self.run,
            NutsEntry::Restart => &self.restart,
        };
        let all = launch.chains;
        for first in (0..all.max(1)).step_by(most_chains as usize) {
            let part = first..first.saturating_add(most_chains).min(all);
            queue(function, stream, launch, &part, data, geometry, chains, slot)?;
            if part.end < all {
                stream.send_off()?;
            }
        }
        Ok(())
    }
}

/// Queues the kernel that moves the chains `part` of the launch.
#[allow(clippy::too_many_arguments, reason = "as above")]
fn queue(
    function: &RawFunction,
    stream: &RawStream,
    launch: &NutsLaunch,
    part: &Range<u32>,
    data: &NutsData,
    geometry: &NutsGeometry,
    chains: &mut NutsChains,
    slot: &mut NutsSlot,
) -> Result<(), CudaError> {
    let mut addresses = Addresses::of(function);
    let data = data_structure(&mut addresses, data);
    let arguments = launch_structure(&mut addresses, launch, part, geometry, chains, slot);
    let launched =
        Launch::new(function, [blocks(chains, part.len()), 1, 1], [THREADS, 1, 1]).bytes(&data).bytes(&arguments);
    let queued = match &mut chains.team {
        None => match room_structure(&mut addresses, geometry, chains)
            .or_else(|| trajectory_structure(&mut addresses, geometry))
        {
            None => launched,
            Some(last) => launched.bytes(&last),
        },
        Some(team) => {
            let launched = launched.bytes(&team_structure(&mut addresses, team));
            if team.blocks == 1 { launched } else { launched.together(team.patience) }
        }
    };
    addresses.are_the_function_s()?;
    // SAFETY: the structures have the sizes that the PTX declares (`on` compares them). Chain c of the launch reads
    // and writes its own state, workspace and regions of the slot, whose buffers are made for at least so many chains,
    // coordinates and iterations (`NutsChains::new`, `NutsSlot::prepare`) and are borrowed for writing; those of a part
    // begin where the kernel's own arithmetic has the part's first chain. The metric has room for whole vectors and for
    // `rank` directions, and the middle of the chains for a whole vector (`NutsGeometry`). Evaluations of chain c stay in its
    // part of the room, which is made for all chains (`NutsChains::with_room`). Blocks of a team meet in buffers made for at least so many chains and blocks
    // (`NutsTeam::new`), whose letters no other launch takes for its own (`number_launch`), and all are on the
    // device while one waits for another (`together`). That the density reads within its own data, and
    // answers within what it has declared, is what `NutsKernels::load` trusts the kernels for. Buffers are freed only
    // when the context is idle.
    unsafe { queued.on(stream) }
}

/// Blocks of the grid: a chain's team, or as many warps as carry the chains.
fn blocks(chains: &NutsChains, moved: usize) -> u32 {
    let blocks = match &chains.team {
        Some(team) => moved.saturating_mul(team.blocks as usize),
        None => moved.div_ceil(chains.format().chains_of_block()),
    };
    u32::try_from(blocks).unwrap_or(u32::MAX)
}

/// `ProgramRoom` of `kernels/nuts/program.cuh`, where the chains have one. Kernels that move parts of the chains, one after
/// the other, all use its beginning.
fn room_structure(addresses: &mut Addresses<'_>, geometry: &NutsGeometry, chains: &NutsChains) -> Option<Vec<u8>> {
    let own = chains.room.as_ref()?;
    let mut structure = Structure::default();
    structure.long(addresses.address(&own.memory));
    structure.long(geometry.inputs.as_ref().map_or(0, |inputs| addresses.address(inputs)));
    structure.long(own.numbers as u64);
    Some(structure.finished())
}

/// `Trajectory` of `kernels/nuts/hmc.cuh`, where the geometry has one.
fn trajectory_structure(addresses: &mut Addresses<'_>, geometry: &NutsGeometry) -> Option<Vec<u8>> {
    let own = geometry.trajectory?;
    let scalar = geometry.format().scalar;
    let mut structure = Structure::default();
    structure.real(scalar, own.leapfrogs).real(scalar, own.length).real(scalar, own.jitter);
    structure.long(geometry.center.as_ref().map_or(0, |center| addresses.address(center)));
    Some(structure.finished())
}

/// `Team` of `kernels/nuts/team.cuh`.
fn team_structure(addresses: &mut Addresses<'_>, team: &mut NutsTeam) -> Vec<u8> {
    let mut structure = Structure::default();
    structure.word(team.blocks).word(team.stride).word(team.number_launch());
    structure.long(addresses.address(&team.questions));
    structure.long(addresses.address(&team.asked)).long(addresses.address(&team.answers));
    structure.finished()
}

fn launch_structure(
    addresses: &mut Addresses<'_>,
    launch: &NutsLaunch,
    part: &Range<u32>,
    geometry: &NutsGeometry,
    chains: &NutsChains,
    slot: &NutsSlot,
) -> Vec<u8> {
    let (format, first) = (chains.format(), part.start as usize);
    let (memory, regions) = (addresses.address(&slot.memory), slot.regions_from(first));
    let region = |start: usize| memory + start as u64;
    let mut own = |buffer, bytes: usize| addresses.address(buffer) + (first * bytes) as u64;
    let (states, workspaces) = (
        own(&chains.states, format.state_bytes()),
        own(&chains.workspaces, format.workspace_bytes(chains.max_depth())),
    );
    let at = Places {
        scale: addresses.address(&geometry.scale),
        directions: addresses.address(&geometry.directions),
        stretch: addresses.address(&geometry.stretch),
        states,
        workspaces,
        draws: region(regions.draws),
        records: region(regions.records),
        points: region(regions.points),
        end_states: region(regions.end_states),
        end_positions: region(regions.end_positions),
    };
    let own = NutsLaunch {
        first_chain: launch.first_chain.wrapping_add(part.start),
        chains: part.end - part.start,
        ..launch.clone()
    };
    structures::launch_structure(format.scalar, &own, chains.max_depth(), &geometry.numbers, &at).finished()
}
