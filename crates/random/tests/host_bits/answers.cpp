// The kernels' headers compiled for the host: answers what function to evaluate (the first argument) at the points that
// come in, as raw numbers, with raw numbers.
#include "octopus/math.cuh"
#include "octopus/philox.cuh"
#include <cstdio>
#include <cstring>
#include <vector>

template <class In, class Out, class F> static int answer(F f) {
  std::vector<In> in(1 << 16);
  std::vector<Out> out(in.size());
  while (size_t n = fread(in.data(), sizeof(In), in.size(), stdin)) {
    for (size_t i = 0; i < n; ++i) out[i] = f(in[i]);
    if (fwrite(out.data(), sizeof(Out), n, stdout) != n) return 1;
  }
  return ferror(stdin) || fflush(stdout) ? 1 : 0;
}

struct Address {
  octopus::u64 seed, index;
  octopus::u32 chain, iteration, purpose, unused;
};

struct Block {
  octopus::Words counter;
  octopus::u32 key0, key1;
};

int main(int count, char** words) {
  const char* name = count == 2 ? words[1] : "";
  const auto is = [&](const char* other) { return !strcmp(name, other); };
  if (is("exp_f64")) return answer<double, double>([](double x) { return octopus::exp(x); });
  if (is("ln_f64")) return answer<double, double>([](double x) { return octopus::ln(x); });
  if (is("normal_quantile_f64")) return answer<double, double>([](double x) { return octopus::normal_quantile(x); });
  if (is("exp_f32")) return answer<float, float>([](float x) { return octopus::exp(x); });
  if (is("ln_f32")) return answer<float, float>([](float x) { return octopus::ln(x); });
  if (is("normal_quantile_f32")) return answer<float, float>([](float x) { return octopus::normal_quantile(x); });
  if (is("tanh_f64")) return answer<double, double>([](double x) { return octopus::tanh(x); });
  if (is("tanh_f32")) return answer<float, float>([](float x) { return octopus::tanh(x); });
  if (is("sigmoid_f64")) return answer<double, double>([](double x) { return octopus::sigmoid(x); });
  if (is("sigmoid_f32")) return answer<float, float>([](float x) { return octopus::sigmoid(x); });
  if (is("philox"))
    return answer<Block, octopus::Words>(
        [](const Block& b) { return octopus::philox4x32_10(b.counter, b.key0, b.key1); });
  if (is("uniform"))
    return answer<Address, double>([](const Address& a) {
      return octopus::stream(a.seed, a.chain, a.iteration, a.purpose).uniform_at(a.index);
    });
  return 2;
}
