// The kernels' headers compiled for the host: answers what function to evaluate (the first argument) at the points that
// come in, as raw numbers, with raw numbers.
#include "octopus/exact/digamma.cuh"
#include "octopus/exact/exponential.cuh"
#include "octopus/exact/gamma.cuh"
#include "octopus/exact/logarithm.cuh"
#include "octopus/exact/normal.cuh"
#include "octopus/exact/power.cuh"
#include "octopus/exact/trigonometric.cuh"
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

struct Pair {
  double x, y;
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
  namespace exact = octopus::exact;
  const struct {
    const char* name;
    double (*function)(double);
  } of_one[] = {{"ln_1p", exact::ln_1p},       {"exp_m1", exact::exp_m1}, {"ln_gamma", exact::ln_gamma},
                {"digamma", exact::digamma},   {"phi", exact::phi},       {"trigamma", exact::trigamma},
                {"ln_phi", exact::ln_phi},     {"sin", exact::sin},       {"ln_phi_slope", exact::ln_phi_slope},
                {"cos", exact::cos},           {"atan", exact::atan}};
  for (const auto& one : of_one)
    if (is(one.name)) return answer<double, double>(one.function);
  if (is("pow")) return answer<Pair, double>([](const Pair& p) { return exact::pow(p.x, p.y); });
  if (is("philox"))
    return answer<Block, octopus::Words>(
        [](const Block& b) { return octopus::philox4x32_10(b.counter, b.key0, b.key1); });
  if (is("uniform"))
    return answer<Address, double>([](const Address& a) {
      return octopus::stream(a.seed, a.chain, a.iteration, a.purpose).uniform_at(a.index);
    });
  return 2;
}
