// Where device memory comes from.
#pragma once
#include "driver.hpp"

namespace octopus_softgpu {

/// Host memory full of UNWRITTEN, aligned as the driver aligns. `mapped` becomes the length to unmap, or 0 for memory
/// of malloc. Null if there is none.
void* obtain(size_t bytes, size_t& mapped);
void give_up(void* memory, size_t mapped);

/// Gives up what was freed while work was queued, as far as that is done.
void give_up_freed(Driver& driver);

/// Takes the allocation away and gives back what it was charged.
void forget(Driver& driver, std::map<CUdeviceptr, Allocation>::iterator it);

}  // namespace octopus_softgpu
