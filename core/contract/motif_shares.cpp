#include "core/contract/motif_shares.h"

#include <cmath>
#include <numeric>

#include "core/contract/text.h"

namespace mambarium {

ReadMotifShares motif_shares_from(std::string_view text) {
  const auto fields = split(text, ',');
  if (fields.size() != motif_count)
    return {{},
            "there are " + std::to_string(fields.size()) + " numbers in " + in_quotes(text) +
                ", a profile has 13, separated by commas"};
  MotifShares shares{};
  for (std::size_t i = 0; i < motif_count; ++i) {
    const auto value = real_from(trimmed(fields[i]));
    if (!value || !(*value >= 0 && *value <= 1))
      return {{},
              "the share of Motif-" + std::to_string(i + 1) + " is " + in_quotes(trimmed(fields[i])) +
                  ", it must be a number from 0 to 1"};
    shares[i] = *value;
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (sum <= 0) return {{}, "all 13 shares are 0; at least one must be above"};
  constexpr double rounding = 1e-9;
  // Thirteen decimals add up to 2.0949999999999998: what is beyond the rounding is not what was typed.
  if (sum > 1 + rounding) {
    const double written = std::round(sum / rounding) / std::round(1 / rounding);
    return {{}, "the 13 shares add up to " + shortest(written) + "; they can add up to 1 at most"};
  }
  return {shares, ""};
}

}  // namespace mambarium
