// A kernel whose blocks wait for each other, as the sampler's may: the launch must have all of them run side by side.

/// Each block multiplies what the block before it has left by its number, from 1, and adds the number, `rounds` times
/// round the grid. `turn` counts the blocks that have had theirs, from 0.
extern "C" __global__ void __launch_bounds__(128) takes_turns(volatile double* value, volatile unsigned* turn, unsigned rounds) {
  if (threadIdx.x == 0) {
    const double number = blockIdx.x + 1.0;
    for (unsigned round = 0; round < rounds; ++round) {
      while (*turn != round * gridDim.x + blockIdx.x) __nanosleep(100);
      __threadfence();
      *value = *value * number + number;
      __threadfence();
      *turn = *turn + 1;
    }
  }
  __syncthreads();
}
