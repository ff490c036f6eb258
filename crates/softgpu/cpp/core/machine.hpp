// The devices of this software machine, as the driver and NVML both see them.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lane.hpp"

namespace octopus_softgpu {

constexpr const char* DEVICE_NAME = "Octopus software GPU (test double)";

/// What an architecture gives each multiprocessor and block.
struct Architecture {
  int cc;
  int threads_per_sm;
  int blocks_per_sm;
  int shared_per_sm;
  int shared_per_block_opt_in;
  int cores_per_sm;
  int f32_to_f64;
  bool has_mig;
};

/// That of the settings' compute capability, or of the one below it that is known.
OCTOPUS_EXPORT const Architecture& architecture();

OCTOPUS_EXPORT std::array<unsigned char, 16> device_uuid(int device);
/// `GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`
OCTOPUS_EXPORT std::string device_uuid_text(int device);
constexpr unsigned PCI_DOMAIN = 0;
inline unsigned pci_bus(int device) { return 1 + static_cast<unsigned>(device); }

/// The devices that CUDA_VISIBLE_DEVICES leaves, in its order. As in the driver, an entry that names no device ends the
/// list, and one that comes twice empties it.
OCTOPUS_EXPORT std::vector<int> visible_devices();

/// Takes memory of a device; false if there is not so much.
OCTOPUS_EXPORT bool take_memory(int device, uint64_t bytes);
OCTOPUS_EXPORT void return_memory(int device, uint64_t bytes);
OCTOPUS_EXPORT uint64_t memory_taken(int device);
OCTOPUS_EXPORT uint64_t memory_free(int device);
OCTOPUS_EXPORT uint64_t memory_total(int device);

/// Contexts that this process has on a device.
OCTOPUS_EXPORT void count_contexts(int device, int change);
OCTOPUS_EXPORT int contexts(int device);

}  // namespace octopus_softgpu
