#include "ptx.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "driver.hpp"

namespace octopus_softgpu {

namespace {

/// The newest PTX that a driver's compiler takes (PTX ISA, "Release Notes").
int newest_version(int driver) {
  const int major = driver / 1000, minor = driver % 1000 / 10;
  if (major < 11) return 60;
  if (major == 11) return 70 + minor;
  if (major == 12) {
    constexpr int OF_12[] = {80, 81, 82, 83, 84, 85, 85, 86, 87, 88};
    return OF_12[minor < 9 ? minor : 9];
  }
  return 90 + minor;
}

std::string dotted(int version) { return std::to_string(version / 10) + '.' + std::to_string(version % 10); }

/// Returns the most registers with which so many threads fit a multiprocessor at once.
int registers_of(int threads) {
  constexpr int MOST = 255;
  return std::clamp(REGISTERS_PER_SM / threads / REGISTER_UNIT * REGISTER_UNIT, REGISTER_UNIT, MOST);
}

std::string without_comments(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      const size_t end = text.find("*/", i + 2);
      i = end == std::string::npos ? text.size() : end + 2;
    } else {
      plain += text[i++];
    }
  }
  return plain;
}

bool is_word(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' || c == '%'; }

/// The words of PTX: names with their dots, and each other sign alone.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t i = 0; i < text.size();) {
    if (isspace(static_cast<unsigned char>(text[i]))) {
      ++i;
    } else if (text[i] == '"') {
      const size_t end = std::min(text.find('"', i + 1), text.size() - 1);
      words.push_back(text.substr(i, end - i + 1));
      i = end + 1;
    } else if (is_word(text[i])) {
      size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      words.push_back(text.substr(i, end - i));
      i = end;
    } else {
      words.push_back(std::string(1, text[i++]));
    }
  }
  return words;
}

/// The bytes of `.u64`, `.b8` and the like; 0 for other words.
size_t type_size(const std::string& word) {
  if (word.size() < 3 || word[0] != '.' || std::string("bfsu").find(word[1]) == std::string::npos) return 0;
  const long bits = strtol(word.c_str() + 2, nullptr, 10);
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? static_cast<size_t>(bits / 8) : 0;
}

class Reader {
 public:
  Reader(std::vector<std::string> words, Ptx& ptx) : words_(std::move(words)), ptx_(ptx) {}

  /// Empty, or what does not parse.
  std::string read() {
    for (; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (word == ".entry") {
        const std::string complaint = entry();
        if (!complaint.empty()) return complaint;
      } else if (word == ".shared") {
        const Variable variable = declaration();
        if (!variable.external) module_shared_[variable.name] = variable.bytes;
      } else if (word == "{") {
        ++depth_;
      } else if (word == "}" && --depth_ < 0) {
        return "Parsing error near '}': syntax error";
      }
    }
    return depth_ == 0 ? "" : "Parsing error: unexpected end of file";
  }

 private:
  struct Variable {
    std::string name;
    size_t bytes = 0;
    bool external = false;
  };

  const std::string& word(size_t ahead = 0) const {
    static const std::string none;
    return at_ + ahead < words_.size() ? words_[at_ + ahead] : none;
  }

  /// From a state space's word to before the `;`, `,` or `)`: type, name and size of a variable.
  Variable declaration() {
    Variable variable;
    variable.external = at_ > 0 && words_[at_ - 1] == ".extern";
    size_t count = 1, size = 0;
    for (++at_; at_ < words_.size(); ++at_) {
      if (word() == ".align") {
        ++at_;
      } else if (type_size(word()) != 0) {
        size = type_size(word());
      } else if (word() == "[") {
        count *= static_cast<size_t>(strtoull(word(1).c_str(), nullptr, 10));
      } else if (word() == ";" || word() == "," || word() == ")") {
        break;
      } else if (word()[0] != '.' && word() != "]" && variable.name.empty()) {
        variable.name = word();
      }
    }
    variable.bytes = size * count;
    return variable;
  }

  std::string entry() {
    PtxEntry entry;
    ++at_;
    entry.name = word();
    if (entry.name.empty() || !(isalpha(static_cast<unsigned char>(entry.name[0])) || entry.name[0] == '_')) {
      return "Parsing error near '" + entry.name + "': syntax error";
    }
    ++at_;
    int blocks = 0, most_registers = 0;
    while (at_ < words_.size() && word() != "{") {
      if (word() == ".param") {
        entry.parameter_sizes.push_back(declaration().bytes);
      } else if (word() == ".maxntid") {
        entry.most_threads = 1;
        do {
          ++at_;
          entry.most_threads *= static_cast<int>(strtol(word().c_str(), nullptr, 10));
        } while (word(1) == "," && ++at_);
        ++at_;
      } else if (word() == ".minnctapersm" || word() == ".maxnreg") {
        int& bound = word() == ".maxnreg" ? most_registers : blocks;
        ++at_;
        bound = static_cast<int>(strtol(word().c_str(), nullptr, 10));
        ++at_;
      } else {
        ++at_;
      }
    }
    if (blocks > 0 && entry.most_threads > 0) entry.registers = registers_of(entry.most_threads * blocks);
    if (most_registers > 0) entry.registers = blocks > 0 ? std::min(entry.registers, most_registers) : most_registers;
    return body(entry);
  }

  std::string body(PtxEntry& entry) {
    std::map<std::string, bool> counted;
    int depth = 0;
    for (; at_ < words_.size(); ++at_) {
      const std::string& here = word();
      if (here == "{") {
        ++depth;
      } else if (here == "}") {
        if (--depth == 0) {
          ptx_.entries[entry.name] = entry;
          return "";
        }
      } else if (here == ".shared") {
        entry.static_shared += static_cast<int>(declaration().bytes);
      } else if (const auto found = module_shared_.find(here); found != module_shared_.end() && !counted[here]) {
        counted[here] = true;
        entry.static_shared += static_cast<int>(found->second);
      }
    }
    return "Parsing error in entry '" + entry.name + "': unexpected end of file";
  }

  std::vector<std::string> words_;
  size_t at_ = 0;
  int depth_ = 0;
  Ptx& ptx_;
  std::map<std::string, size_t> module_shared_;
};

int refuse_ptx(std::string& log, const std::string& complaint, int code) {
  log = "ptxas application ptx input, fatal   : " + complaint + "\nptxas fatal   : Ptx assembly aborted due to errors\n";
  return code;
}

}  // namespace

int read_ptx(const std::string& text, Ptx& ptx, std::string& log) {
  std::vector<std::string> words = words_of(without_comments(text));
  if (words.size() < 4 || words[0] != ".version" || words[1].size() < 3 || words[1][1] != '.') {
    return refuse_ptx(log, "Missing .version directive at start of file", INVALID_PTX);
  }
  ptx.version = atoi(words[1].c_str()) * 10 + atoi(words[1].c_str() + 2);
  const int newest = newest_version(settings().driver);
  if (ptx.version > newest) {
    const std::string complaint = "Unsupported .version " + dotted(ptx.version) + "; current version is '" + dotted(newest) + "'";
    return refuse_ptx(log, complaint, UNSUPPORTED_PTX_VERSION);
  }
  if (words[2] != ".target" || words[3].rfind("sm_", 0) != 0) {
    return refuse_ptx(log, "Missing .target directive", INVALID_PTX);
  }
  ptx.target = atoi(words[3].c_str() + 3);
  if (ptx.target > settings().cc_major * 10 + settings().cc_minor) {
    return refuse_ptx(log, "SM version specified by .target is higher than default SM version assumed", INVALID_PTX);
  }
  const std::string complaint = Reader(std::move(words), ptx).read();
  return complaint.empty() ? SUCCESS : refuse_ptx(log, complaint, INVALID_PTX);
}

}  // namespace octopus_softgpu
