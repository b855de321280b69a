#include "core/motif/motif_target.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "core/contract/motif_shares.h"
#include "core/contract/text.h"

namespace mambarium {

namespace {

using Fractions = std::array<double, motif_count>;

constexpr Fractions frontal_pole = {0.091003, 0.287659, 0.178217, 0.107868};
constexpr Fractions primary_motor = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.130366, 0.249035, 0};

Fractions mean_profile() {
  Fractions mean{};
  for (std::size_t i = 0; i < motif_count; ++i) mean[i] = (frontal_pole[i] + primary_motor[i]) / 2;
  return mean;
}

MotifTarget own_profile(std::string_view text) {
  const ReadMotifShares read = motif_shares_from(text);
  if (!read.problem.empty()) throw std::invalid_argument(read.problem);
  return {"own profile", read.shares};
}

}  // namespace

MotifTarget single_motif_target(std::size_t triad, double fraction) {
  if (triad >= triad_count) throw std::invalid_argument("there is no triad with the index " + std::to_string(triad));
  if (triad >= motif_count)
    throw std::invalid_argument(triad_title(triad) +
                                " is not connected and cannot be a target; the motifs 1 to 13 can");
  if (!(fraction > 0 && fraction <= 1))
    throw std::invalid_argument("the share that a motif is to have is " + shortest(fraction) +
                                "; it must be above 0 and at most 1");
  MotifTarget target{triad_title(triad), {}};
  target.fractions[triad] = fraction;
  return target;
}

MotifTarget motif_target(std::string_view text, double single_fraction) {
  const std::string_view wanted = trimmed(text);
  if (wanted == "FRP" || wanted == "frp") return {"FRP", frontal_pole};
  if (wanted == "MOP" || wanted == "mop") return {"MOP", primary_motor};
  if (wanted == "AVE" || wanted == "ave") return {"AVE", mean_profile()};
  if (wanted.find(',') != std::string_view::npos) return own_profile(wanted);
  std::size_t triad = 0;
  try {
    triad = find_triad(wanted);
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument(in_quotes(wanted) +
                                " is not a target; it is a motif by number (1 to 13) or MAN name (021U), one of the "
                                "profiles FRP, MOP, AVE, or 13 shares separated by commas");
  }
  return single_motif_target(triad, single_fraction);
}

void check(const MotifTarget& target) {
  for (std::size_t i = 0; i < motif_count; ++i)
    if (!(target.fractions[i] >= 0 && target.fractions[i] <= 1))
      throw std::invalid_argument("the share of " + triad_title(i) + " is " + shortest(target.fractions[i]) +
                                  "; it must lie between 0 and 1");
  const double sum = std::accumulate(target.fractions.begin(), target.fractions.end(), 0.0);
  constexpr double rounding = 1e-9;
  if (sum > 1 + rounding)
    throw std::invalid_argument("the shares of a target sum to " + shortest(sum) + "; they can sum to at most 1");
  if (sum <= 0) throw std::invalid_argument("all shares of the target are 0; at least one must be above");
}

}  // namespace mambarium
