// A density that is a program of the user's. Its computation is no part of this text: where a marker stands, the host puts
// the program's own instructions (crates/program/src/kernel), once the program has its data.
//
// A marker names the registers of what the program reads: its data, its inputs, the chain's own memory and the lane's
// number. The coordinates are in the first elements of that memory, and what is computed comes after them.
#pragma once
#include "chain.cuh"

namespace octopus::nuts {

/// What a program reads: `kernel_data` of `ProgramDensity` in crates/program.
template <class R> struct ProgramFields {
  u32 dim;
  /// Effects of hierarchies, and the coordinate of each.
  u32 effects;
  const u32* places;
  /// The program's data, and its tables of whole numbers.
  const R* reals;
  const u32* words;
};

/// What a launch has for the program: NutsRoom in crates/cuda.
template <class R> struct ProgramRoom {
  /// Memory of the chains, `stride` numbers for each.
  R* memory;
  /// What the program reads besides the coordinates: the forms of its effects.
  const R* inputs;
  u64 stride;
};

template <class R, class T> struct ProgramData {
  ProgramFields<R> fields;
  ProgramRoom<R> room;
};

static_assert(sizeof(ProgramFields<double>) == 32 && sizeof(ProgramRoom<double>) == 24, "the host packs it");

template <class S> struct Program {
  using R = typename S::R;
  using T = typename S::T;
  using W = typename S::W;
  using Vec = typename S::Vec;
  using Data = ProgramData<R, T>;

  const Data& data;

  /// The number of coordinates.
  OCTOPUS_DEVICE u32 dim() const { return data.fields.dim; }

  /// The log density at `x`, the Jacobian of the effects' form included; its gradient goes to `gradient`, 0 in the padding.
  /// Where the value is not finite the gradient means nothing.
  OCTOPUS_DEVICE T evaluate(const Centering<T>&, const Vec& x, Vec& gradient) const {
    R* own = memory();
    store_draw<S>(own, dim(), x);
    W::fence();
    T value = Constants<T>::infinity();
#if defined(__CUDACC__)
    asm volatile("// OCTOPUS_PROGRAM density %0 %1 %2 %3 %4 %5"
                 : "=d"(value)
                 : "l"(global(data.fields.reals)), "l"(global(data.fields.words)), "l"(global(data.room.inputs)),
                   "l"(global(own)), "r"(W::lane())
                 : "memory");
#endif
    load_draw<S>(own + dim(), dim(), gradient);
    // The next evaluation writes there.
    W::fence();
    return value;
  }

  /// From the form of the effects to the density's own coordinates, in place; the log-Jacobian.
  OCTOPUS_DEVICE T make_natural(const Centering<T>& centering, Vec& x) const {
    if (centering.natural) return (T)0;
    R* own = memory();
    store_draw<S>(own, dim(), x);
    W::fence();
    T value = (T)0;
#if defined(__CUDACC__)
    asm volatile("// OCTOPUS_PROGRAM natural %0 %1 %2 %3 %4 %5"
                 : "=d"(value)
                 : "l"(global(data.fields.reals)), "l"(global(data.fields.words)), "l"(global(data.room.inputs)),
                   "l"(global(own)), "r"(W::lane())
                 : "memory");
    for (u32 k = W::lane(); k < data.fields.effects; k += (u32)S::L) own[data.fields.places[k]] = own[dim() + k];
    W::fence();
#endif
    load_draw<S>(own, dim(), x);
    W::fence();
    return value;
  }

 private:
  /// The chain's own memory.
  OCTOPUS_DEVICE R* memory() const {
    const u32 chain = (blockIdx.x * blockDim.x + threadIdx.x) / (u32)S::L;
    return in_device_memory(data.room.memory) + chain * data.room.stride;
  }

#if defined(__CUDACC__)
  /// The address in the device's memory.
  template <class P> OCTOPUS_DEVICE static u64 global(P* address) { return __cvta_generic_to_global(address); }
#endif
};

}  // namespace octopus::nuts
