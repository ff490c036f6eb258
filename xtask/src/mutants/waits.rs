//! The faults of waiting: the host reads, frees or writes anew what the device still works on. On a device that is done
//! when each call returns nobody would notice them.

use super::faults::Fault;

const SHARD: &str = "crates/sampler/src/engine/gpu/shard.rs";
const RESIDENT: &str = "crates/sampler/src/engine/gpu/batch/resident.rs";
const TRANSFER: &str = "crates/cuda/src/ffi/transfer.rs";
const MEMORY: &str = "crates/cuda/src/ffi/memory.rs";
const PINNED: &str = "crates/cuda/src/ffi/pinned.rs";
const TEAM: &str = "crates/cuda/src/nuts/team.rs";
const MODULE: &str = "crates/cuda/src/ffi/module.rs";
const WAIT: &str = "crates/cuda/src/ffi/wait.rs";
const BATCH_SLOT: &str = "crates/cuda/src/nuts/batch/slot.rs";

pub(super) const WAITS: [Fault; 17] = [
    Fault {
        name: "waits: a run's draws are copied before they are made",
        file: SHARD,
        old: "copies.wait_for(done)?;",
        new: "",
    },
    Fault {
        name: "waits: a batch's draws are copied before they are made",
        file: RESIDENT,
        old: "copies.wait_for(done)?;",
        new: "",
    },
    Fault {
        name: "waits: a run's draws are copied when the launch begins",
        file: SHARD,
        old: "copies.wait_for(done)?;",
        new: "copies.wait_for(begun)?;",
    },
    Fault {
        name: "waits: the copy of a run's draws comes before its wait",
        file: SHARD,
        old: "copies.wait_for(done)?;\n        slot.fetch(copies, windows.is_none())?;",
        new: "slot.fetch(copies, windows.is_none())?;\n        copies.wait_for(done)?;",
    },
    Fault {
        name: "waits: a launch writes into a slot that the host has not taken",
        file: SHARD,
        old: "progress.launches < progress.takes + 2",
        new: "progress.launches < progress.takes + 3",
    },
    Fault {
        name: "waits: a batch's launch writes into a slot that the host has not taken",
        file: RESIDENT,
        old: "progress.launches < progress.takes + 2",
        new: "progress.launches < progress.takes + 3",
    },
    Fault {
        name: "waits: the end of a launch is recorded before it",
        file: SHARD,
        old: "begun.record(compute)?;",
        new: "begun.record(compute)?;\n        done.record(compute)?;\n        copies.wait_for(done)?;\n        slot.fetch(copies, windows.is_none())?;",
    },
    Fault {
        name: "waits: who waits for a copy does not",
        file: TRANSFER,
        old: "self.done.synchronize()?;\n        let time = self.done.elapsed_since(&self.started)?;",
        new: "let time = std::time::Duration::ZERO;",
    },
    Fault {
        name: "waits: the time of a copy is asked for before its end",
        file: TRANSFER,
        old: "self.done.synchronize()?;\n",
        new: "",
    },
    Fault {
        name: "waits: device memory is freed while kernels use it",
        file: MEMORY,
        old: "let freed = self.session.synchronize().and_then(|()| {",
        new: "let freed = self.session.healthy().and_then(|()| {",
    },
    Fault {
        name: "waits: page-locked memory is freed while it is copied",
        file: PINNED,
        old: "let freed = self.session.synchronize().and_then(|()| {",
        new: "let freed = self.session.healthy().and_then(|()| {",
    },
    Fault {
        name: "waits: kernels are unloaded while they run",
        file: MODULE,
        old: "let _ = self.session.synchronize().and_then(|()| {",
        new: "let _ = self.session.healthy().and_then(|()| {",
    },
    Fault {
        name: "waits: who waits for the device does not",
        file: WAIT,
        old: "self.call_cust(Operation::Call(\"waiting for the device (cuCtxSynchronize)\"), CurrentContext::synchronize)?;",
        new: "",
    },
    Fault {
        name: "waits: what is not done yet counts as done",
        file: WAIT,
        old: "Err(CudaError::Driver { code: DriverCode::NOT_READY, .. }) => Ok(false),",
        new: "Err(CudaError::Driver { code: DriverCode::NOT_READY, .. }) => Ok(true),",
    },
    Fault {
        name: "waits: a batch's table is written anew before it is read",
        file: BATCH_SLOT,
        old: "stream.wait_for(&self.last)?;",
        new: "",
    },
    Fault {
        name: "waits: a batch's launch is not marked in its stream",
        file: BATCH_SLOT,
        old: "self.last.record(stream)?;",
        new: "",
    },
    Fault {
        name: "waits: a team takes another launch's letters for its own",
        file: TEAM,
        old: "self.launch = after(self.launch);",
        new: "self.launch = 1;",
    },
];
