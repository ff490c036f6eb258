// Kernels that exercise the software GPU: first what must work, then what must be found out.

using u64 = unsigned long long;
constexpr unsigned ALL = 0xffffffffu;

extern "C" __global__ void __launch_bounds__(256) add_number(const float* x, float number, float* out, u64 n) {
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) out[i] = x[i] + number;
}

/// The butterfly: every lane has the same sum, in the order of the halving tree.
extern "C" __global__ void warp_sum(const double* x, double* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  double value = x[i];
  for (int half = 16; half > 0; half /= 2) value = value + __shfl_xor_sync(ALL, value, half);
  out[i] = value;
}

extern "C" __global__ void shuffles(int* out) {
  const int lane = threadIdx.x % 32;
  int* row = out + threadIdx.x * 6;
  row[0] = __shfl_sync(ALL, lane * 10, 5);
  row[1] = __shfl_sync(ALL, lane * 10, 2, 8);
  row[2] = __shfl_up_sync(ALL, lane, 3, 16);
  row[3] = __shfl_down_sync(ALL, lane, 3);
  row[4] = (int)__ballot_sync(ALL, lane % 3 == 0);
  row[5] = __any_sync(ALL, lane == 7) * 2 + __all_sync(ALL, lane < 32);
}

/// Halves of a warp take different ways and exchange among themselves a different number of times.
extern "C" __global__ void half_warps(int* out) {
  const unsigned lane = threadIdx.x;
  int value = (int)lane;
  if (lane < 16) {
    for (int half = 8; half > 0; half /= 2) value += __shfl_xor_sync(0x0000ffffu, value, half);
  } else {
    value = __shfl_sync(0xffff0000u, value, 20);
  }
  __syncwarp();
  out[lane] = value;
}

/// Each block turns its numbers round, through shared memory, many times.
extern "C" __global__ void turn_round(const float* x, float* out, int times) {
  __shared__ float held[1024];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = x[i];
  for (int t = 0; t < times; ++t) {
    held[threadIdx.x] = value;
    __syncthreads();
    value = held[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
  }
  out[i] = value;
}

namespace deep {
template <class T> __device__ T* dynamic_memory() {
  extern __shared__ __align__(16) unsigned char dynamic_bytes[];
  return reinterpret_cast<T*>(dynamic_bytes);
}
}  // namespace deep

/// Running sums in dynamic shared memory; `extra` elements are written beyond `count`.
extern "C" __global__ void running_sum(const double* x, double* out, unsigned count, unsigned extra) {
  double* sums = deep::dynamic_memory<double>();
  if (threadIdx.x == 0) {
    double sum = 0;
    for (unsigned i = 0; i < count + extra; ++i) {
      sum += i < count ? x[i] : 0;
      sums[i] = sum;
    }
  }
  __syncthreads();
  if (threadIdx.x < count) out[threadIdx.x] = sums[threadIdx.x];
}

extern "C" __global__ void coordinates(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned* here = out + (block * blockDim.x * blockDim.y * blockDim.z + thread) * 6;
  here[0] = blockIdx.x;
  here[1] = blockIdx.y;
  here[2] = blockIdx.z;
  here[3] = threadIdx.x;
  here[4] = threadIdx.y;
  here[5] = threadIdx.z;
}

extern "C" __global__ void count_up(unsigned* counters, double* sum, int* most) {
  atomicAdd(&counters[threadIdx.x % 7], 1);
  atomicAdd(sum, 0.5);
  atomicMax(most, (int)blockIdx.x);
}

extern "C" __global__ void __launch_bounds__(256) multiply(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float rows[16][16];
  __shared__ float columns[16][16];
  const unsigned row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (unsigned first = 0; first < n; first += 16) {
    const unsigned i = first + threadIdx.x, j = first + threadIdx.y;
    rows[threadIdx.y][threadIdx.x] = row < n && i < n ? a[row * n + i] : 0.0f;
    columns[threadIdx.y][threadIdx.x] = column < n && j < n ? b[j * n + column] : 0.0f;
    __syncthreads();
    for (unsigned k = 0; k < 16; ++k) sum = sum + rows[threadIdx.y][k] * columns[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

extern "C" __global__ void nothing() {}

extern "C" __global__ void unwritten_shared(float* out) {
  __shared__ float held[64];
  out[blockIdx.x * blockDim.x + threadIdx.x] = held[threadIdx.x];
  // What this block leaves must not be seen by the next.
  held[threadIdx.x] = 1.0f;
}

// Blocks that run side by side and wait for each other.

__device__ void wait_for(const volatile unsigned* flag, unsigned number) {
  while (*flag < number) __nanosleep(50);
  __threadfence();
}

/// All blocks of the grid meet for the time `number`, which counts from 1; `flags` has one number for each block, 0 at
/// first. Block 0 tells the others when all are there.
__device__ void meet(volatile unsigned* flags, unsigned number) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    for (unsigned block = 1; block < gridDim.x; ++block) wait_for(flags + block, number);
    flags[0] = number;
  } else if (threadIdx.x == 0) {
    flags[blockIdx.x] = number;
    wait_for(flags, number);
  }
  __syncthreads();
}

/// Numbers in a ring, one for each thread of the grid: each becomes half the sum of its neighbours, and what its block
/// has done before, in shared memory. `x` has two sides, of which one is read while the other is written.
extern "C" __global__ void relaxes(volatile double* x, double* done, volatile unsigned* flags, unsigned rounds) {
  __shared__ double sums[1024];
  const unsigned count = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const volatile double* from = x + round % 2 * count;
    const double value = 0.5 * (from[(i + 1) % count] + from[(i + count - 1) % count]) + 0.001 * i;
    x[(round + 1) % 2 * count + i] = value;
    sums[threadIdx.x] = sums[threadIdx.x] + value;
    meet(flags, round + 1);
  }
  done[i] = sums[threadIdx.x];
}

/// Block 0 asks, the others answer with a part of the work each; the first thread of each block does all of it and the
/// others return at once. `flags` and `answers` have one number for each block.
extern "C" __global__ void asks_around(volatile double* answers, double* out, volatile unsigned* flags, unsigned rounds) {
  if (threadIdx.x != 0) return;
  double question = 1;
  for (unsigned round = 1; round <= rounds; ++round) {
    if (blockIdx.x == 0) {
      answers[0] = question;
      __threadfence();
      flags[0] = round;
      double sum = 0;
      for (unsigned block = 1; block < gridDim.x; ++block) {
        wait_for(flags + block, round);
        sum = sum + answers[block];
      }
      question = sum;
      out[round - 1] = sum;
    } else {
      wait_for(flags, round);
      const double asked = answers[0];
      answers[blockIdx.x] = asked / (blockIdx.x + 1.0) + 0.25;
      __threadfence();
      flags[blockIdx.x] = round;
    }
  }
}

/// Each thread waits for the next one, the last for nobody: within a warp and across warps.
extern "C" __global__ void lanes_wait_for_lanes(int* out) {
  __shared__ volatile int order[1024];
  const unsigned i = threadIdx.x;
  order[i] = 0;
  __syncthreads();
  if (i + 1 < blockDim.x) {
    while (order[i + 1] == 0) __nanosleep(20);
    order[i] = order[i + 1] + 1;
  } else {
    order[i] = 1;
  }
  __syncthreads();
  out[i] = order[i];
}

/// Every block waits until the block `first` has begun, and those before it have gone on.
extern "C" __global__ void waits_for_another(volatile unsigned* flag, unsigned first) {
  if (threadIdx.x == 0 && blockIdx.x == first) *flag = 1;
  if (threadIdx.x == 0) wait_for(flag, 1);
  __syncthreads();
}

/// All but block 1 wait for ever; that one writes to the address, or one lane of it misses a shuffle.
extern "C" __global__ void fails_while_others_wait(volatile unsigned* flag, u64 address, int shuffle) {
  if (blockIdx.x == 1) {
    if (shuffle == 0) {
      *reinterpret_cast<volatile int*>(address) = 1;
    } else if (threadIdx.x != 3) {
      *flag = (unsigned)__shfl_sync(ALL, 0, 0);
    }
  } else if (threadIdx.x == 0) {
    wait_for(flag, 1);
  }
  __syncthreads();
}

// What must be found out.

extern "C" __global__ void misses_shuffle(int* out) {
  int value = (int)threadIdx.x;
  if (threadIdx.x % 32 != 31) value = __shfl_sync(ALL, value, 0);
  out[threadIdx.x] = value;
}

extern "C" __global__ void misses_barrier(int* out) {
  if (threadIdx.x != 5) __syncthreads();
  out[threadIdx.x] = 1;
}

/// Some lanes are at the barrier, the others in a shuffle that needs all.
extern "C" __global__ void crosses(int* out) {
  if (threadIdx.x < 16) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else {
    out[threadIdx.x] = __shfl_sync(ALL, 1, 0);
  }
}

extern "C" __global__ void reads_outside_of_mask(int* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0x0000ffffu, (int)threadIdx.x, 20);
}

extern "C" __global__ void leaves_itself_out(int* out) { out[threadIdx.x] = (int)__ballot_sync(0x0000ffffu, 1); }

extern "C" __global__ void writes_at(u64 address, int value) {
  if (blockIdx.x == 3 && threadIdx.x == 2) *reinterpret_cast<volatile int*>(address) = value;
}

__device__ __noinline__ int sink_in(int depth, volatile int* out) {
  volatile int here[256];
  here[depth % 256] = depth;
  return depth == 0 ? 0 : sink_in(depth - 1, out) + here[depth % 256];
}
extern "C" __global__ void sinks_in(int* out, int depth) { out[threadIdx.x] = sink_in(depth, out); }

extern "C" __global__ void divides(const int* x, int* out) { out[threadIdx.x] = 10 / x[threadIdx.x]; }

struct Inner {
  float at[3];
  unsigned char flag;
};

struct Outer {
  unsigned count;
  double scale;
  Inner inner;
  float* out;
};

/// Structures by value, with padding inside and of a size that is no multiple of eight.
extern "C" __global__ void takes_structures(Inner first, Outer second, unsigned number) {
  const unsigned i = threadIdx.x;
  if (i < second.count) second.out[i] = first.at[i % 3] * (float)second.scale + second.inner.at[i % 3] + first.flag + second.inner.flag + number;
}

/// Beyond the end of `out` when n is too large.
extern "C" __global__ void writes_beyond(float* out, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) out[i] = 1.0f;
}
