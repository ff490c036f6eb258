// What a program has used of each device: the setting `report`.
#pragma once
#include <cstdint>

namespace octopus_softgpu {

/// Writes the report when the process ends, if the settings ask for one.
void report_at_the_end();

/// An allocation on a device of the machine: the bytes that were asked for, and those of the driver's units. With the
/// driver's lock, as the others.
void count_memory(int device, uint64_t bytes, uint64_t charged);
/// The end of one.
void count_return(int device, uint64_t bytes, uint64_t charged);
/// A launch that the device has taken.
void count_launch(int device);

}  // namespace octopus_softgpu
