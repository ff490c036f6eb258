// A kernel that takes a structure by value, as the sampler's do.

struct Line {
  double slope;
  unsigned count;
  float start;
  double* out;
};

extern "C" __global__ void __launch_bounds__(128) fill_line(Line line, unsigned long long stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < line.count) line.out[i * stride] = line.start + line.slope * i;
}
