// ShuffledTeam: as many members as a phase has shares, each as fast as it likes. It carries out the shares of every
// phase in an order of its own, which a stage must not notice.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace mambarium::gpu {

class ShuffledTeam {
 public:
  explicit ShuffledTeam(std::uint64_t seed) : generator_(std::make_unique<std::mt19937_64>(seed)) {}

  template <class Work>
  void each(int count, const Work& work) const {
    std::vector<int> shares(static_cast<std::size_t>(count));
    std::iota(shares.begin(), shares.end(), 0);
    std::shuffle(shares.begin(), shares.end(), *generator_);
    for (const int share : shares) work(share);
  }

 private:
  std::unique_ptr<std::mt19937_64> generator_;
};

// `members` of them, which take the shares in turn as the threads of a block do: each does all of its own before the
// next one begins, from the last to the first.
class EmulatedTeam {
 public:
  explicit EmulatedTeam(int members) : members_(members) {}

  template <class Work>
  void each(int count, const Work& work) const {
    for (int member = members_ - 1; member >= 0; --member) {
      for (int share = member; share < count; share += members_) work(share);
    }
  }

 private:
  int members_;
};

}  // namespace mambarium::gpu
