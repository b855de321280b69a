// What a self-test gathers: for every name the number of cases and the largest difference.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/selftest/selftest.h"

namespace mambarium {

// NaN is the largest difference of all.
inline double worse(double one, double other) {
  return std::isnan(one) || std::isnan(other) ? NAN : std::max(one, other);
}

class Checks {
 public:
  explicit Checks(std::string path) : path_(std::move(path)) {}
  void add(const std::string& what, double difference, double of_torch = 0) {
    SelftestCheck& check = checks_[what];
    check.difference = worse(check.difference, difference);
    check.of_torch = worse(check.of_torch, of_torch);
    ++check.cases;
  }
  std::vector<SelftestCheck> all(const std::string& instructions) const {
    std::vector<SelftestCheck> all;
    for (const auto& [what, check] : checks_) {
      all.push_back({instructions, path_, what, check.cases, check.difference, check.of_torch});
    }
    return all;
  }

 private:
  std::string path_;
  std::map<std::string, SelftestCheck> checks_;
};

}  // namespace mambarium
