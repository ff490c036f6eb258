#pragma once

namespace octopus_softgpu {

/// What memory holds before anybody writes it, in each byte: a NaN in f32 and in f64, and as an index far out of range.
constexpr int UNWRITTEN = 0xFF;

}  // namespace octopus_softgpu
