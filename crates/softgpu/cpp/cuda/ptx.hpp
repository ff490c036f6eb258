// What a driver reads from PTX before it compiles it: version, target, and each entry's parameters, bounds and shared
// memory. The instructions are not looked at: the host-compiled twin of the kernel runs.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace octopus_softgpu {

/// Registers of a multiprocessor, and how many a thread is given at once.
constexpr int REGISTERS_PER_SM = 65536;
constexpr int REGISTER_UNIT = 8;

struct PtxEntry {
  std::string name;
  std::vector<size_t> parameter_sizes;
  /// `.maxntid`, or the architecture's 1024.
  int most_threads = 1024;
  /// Registers of a thread. What ptxas would say is not known here: as many as `.maxntid`, `.minnctapersm` and `.maxnreg`
  /// leave, so that as many blocks fit as the kernel was compiled for; 32 without the last two.
  int registers = 32;
  int static_shared = 0;
};

struct Ptx {
  /// 84 for 8.4.
  int version = 0;
  /// 80 for sm_80.
  int target = 0;
  std::map<std::string, PtxEntry> entries;
};

/// Reads PTX. Returns 0 or a CUresult, with the words of the compiler's log.
int read_ptx(const std::string& text, Ptx& ptx, std::string& log);

}  // namespace octopus_softgpu
