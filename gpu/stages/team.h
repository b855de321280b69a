// A team carries out a stage: one thread of a CPU, or the threads of a GPU's block (gpu/block_team.cuh). A stage is a
// list of phases, and a phase is
//
//   team.each(count, work);   // work(i) once for every i in [0, count), by any member, in any order, at the same time
//
// which returns for no member before all have done their share: a phase may read what earlier ones wrote. Within a
// phase work(i) reads nothing that another work(j) writes, so that a result depends neither on how many members there
// are nor on which of them is first. Between phases every member runs the same code on the same values and writes to
// its own variables only.
#pragma once

#include "gpu/host_device.h"

namespace mambarium::gpu {

class TeamOfOne {
 public:
  template <class Work>
  MAMBARIUM_HOST_DEVICE void each(int count, const Work& work) const {
    for (int i = 0; i < count; ++i) work(i);
  }
};

// A sum in double whose order does not depend on the team: strands of every 64th number, then a tree over the strands.
// value(i) for i in [0, count); the sum is left in strands[0].
inline constexpr int sum_strands = 64;

template <class Team, class Value>
MAMBARIUM_HOST_DEVICE void ordered_sum(const Team& team, int count, const Value& value, double* strands) {
  team.each(sum_strands, [&](int strand) {
    double sum = 0;
    for (int i = strand; i < count; i += sum_strands) sum += static_cast<double>(value(i));
    strands[strand] = sum;
  });
  for (int half = sum_strands / 2; half > 0; half /= 2) {
    team.each(half, [&](int strand) { strands[strand] += strands[strand + half]; });
  }
}

}  // namespace mambarium::gpu
