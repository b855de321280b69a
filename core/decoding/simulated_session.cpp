#include "core/decoding/simulated_session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "core/contract/text.h"
#include "core/random/stream.h"

namespace mambarium {
namespace {

constexpr std::array reactions{10, 14, 18, 22, 26, 30};  // bins
constexpr std::array durations{8, 12, 16};
constexpr double noise_deviation = 0.7;
constexpr double most_baseline = 10, most_modulation = 2, most_untuned = 0.5;

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

ReachProfile make_profile(std::int64_t reaction, std::int64_t duration, const SimulatedSettings& settings) {
  ReachProfile profile{reaction, duration, {}, {}, {}};
  const double length = static_cast<double>(duration);
  for (std::int64_t bin = 0; bin < settings.trial_bins; ++bin) {
    const double tau = std::clamp((static_cast<double>(bin - reaction) + 0.5) / length, 0.0, 1.0);
    const double share = tau * tau * tau * (10 + tau * (6 * tau - 15));
    const double slope = 30 * tau * tau * (1 - tau) * (1 - tau);
    profile.drive.push_back(0.6 * slope * 12 / (1.875 * length) + 0.4 * share);
    profile.distance.push_back(settings.reach_centimetres * share);
    profile.speed.push_back(settings.reach_centimetres * slope / (length * settings.bin_seconds));
  }
  return profile;
}

double gain(const SimulatedUnit& unit, std::int32_t direction) {
  const double angle = direction * std::numbers::pi / 4 - unit.preferred;
  return unit.modulation * std::cos(angle) + unit.untuned_modulation;
}

// Poisson by inversion, from one uniform number. Rates of tuned units stay below 200: the bounds above see to that.
float poisson(double rate, double uniform) {
  double probability = std::exp(-rate), below = probability;
  float count = 0;
  while (uniform >= below && count < 1000) {
    ++count;
    probability *= rate / static_cast<double>(count);
    below += probability;
  }
  return count;
}

void check(bool holds, const char* name, double value, const char* right) {
  if (!holds)
    throw std::invalid_argument(std::string("simulated session: ") + name + " is " + shortest(value) + "; it must be " +
                                right);
}

}  // namespace

SimulatedSession::SimulatedSession(const SimulatedSettings& settings) : settings_(settings) {
  const auto whole = [](std::int64_t value) { return static_cast<double>(value); };
  check(settings.channels >= 1 && settings.channels <= 4096, "channels", whole(settings.channels), "from 1 to 4096");
  check(settings.trials >= 1 && settings.trials <= 100000, "trials", whole(settings.trials), "from 1 to 100000");
  check(settings.trial_bins >= 1 && settings.trial_bins <= 1000, "trial_bins", whole(settings.trial_bins),
        "from 1 to 1000");
  check(settings.pause_bins >= 0 && settings.pause_bins <= 1000, "pause_bins", whole(settings.pause_bins),
        "from 0 to 1000");
  check(settings.bin_seconds > 0 && settings.bin_seconds <= 1, "bin_seconds", settings.bin_seconds,
        "above 0 and up to 1");
  check(settings.tuned_share >= 0 && settings.tuned_share <= 1, "tuned_share", settings.tuned_share, "from 0 to 1");
  check(settings.rate_hertz > 0 && settings.rate_hertz <= 100, "rate_hertz", settings.rate_hertz,
        "above 0 and up to 100");
  check(settings.modulation >= 0 && settings.modulation <= 3, "modulation", settings.modulation, "from 0 to 3");
  check(settings.rewarded_share > 0 && settings.rewarded_share <= 1, "rewarded_share", settings.rewarded_share,
        "above 0 and up to 1");
  check(settings.drift_degrees >= 0 && settings.drift_degrees <= 180, "drift_degrees", settings.drift_degrees,
        "from 0 to 180");
  check(settings.drift_rate >= 0 && settings.drift_rate <= 1, "drift_rate", settings.drift_rate, "from 0 to 1");
  check(settings.reach_centimetres > 0 && settings.reach_centimetres <= 100, "reach_centimetres",
        settings.reach_centimetres, "above 0 and up to 100");
  for (const std::int64_t reaction : reactions)
    for (const std::int64_t duration : durations) profiles_.push_back(make_profile(reaction, duration, settings));
}

std::vector<SimulatedUnit> SimulatedSession::units(std::int64_t day) const {
  check(day >= 0 && day <= 10000, "day", static_cast<double>(day), "from 0 to 10000");
  const Stream unit_stream(settings_.seed, "decoding units"), drift_stream(settings_.seed, "decoding drift");
  std::vector<SimulatedUnit> units(index(settings_.channels));
  std::vector<double> uniform(4), normal(2);
  for (std::size_t c = 0; c < units.size(); ++c) {
    SimulatedUnit& unit = units[c];
    unit_stream.uniform(uniform, 2 * c);
    unit_stream.normal(normal, 2 * c + 1);
    unit.tuned = uniform[0] < settings_.tuned_share;
    unit.preferred = 2 * std::numbers::pi * uniform[1];
    unit.baseline = settings_.rate_hertz * settings_.bin_seconds * std::exp(0.5 * normal[0]);
    if (unit.tuned) {
      unit.modulation = std::min(most_modulation, -settings_.modulation * std::log(1 - uniform[2]));
      unit.untuned_modulation = std::clamp(0.25 * normal[1], -most_untuned, most_untuned);
    }
    for (std::int64_t d = 1; d <= day; ++d) {
      drift_stream.normal(normal, index(d) << 32 | c);
      unit.preferred += normal[0] * settings_.drift_degrees * std::numbers::pi / 180;
      unit.baseline *= std::exp(normal[1] * settings_.drift_rate);
    }
    unit.baseline = std::min(unit.baseline, most_baseline);
  }
  return units;
}

double expected_count(const SimulatedUnit& unit, std::int32_t direction, double drive) {
  return unit.baseline * std::exp(drive * gain(unit, direction));
}

SimulatedDay SimulatedSession::day(std::int64_t day) const {
  SimulatedDay out;
  out.units = units(day);
  const Stream trial_stream(settings_.seed, "decoding trials"), noise_stream(settings_.seed, "decoding noise"),
      spike_stream(settings_.seed, "decoding spikes");
  const std::int64_t period = settings_.trial_bins + settings_.pause_bins;
  DecodingSession& session = out.session;
  session.source = "simulated session, day " + std::to_string(day);
  session.bin_seconds = settings_.bin_seconds;
  session.bins = settings_.trials * period;
  session.channels = settings_.channels;
  session.output_names = {"curs_p_x", "curs_p_y", "curs_v_x", "curs_v_y"};
  session.counts.resize(index(session.bins * session.channels));
  session.outputs.assign(index(session.bins) * session.output_names.size(), 0);
  for (std::size_t c = 0; c < out.units.size(); ++c)
    session.channel_names.push_back((out.units[c].tuned ? "tuned " : "noisy ") + std::to_string(c + 1));

  std::vector<double> draw(3), uniform(out.units.size()), noise(out.units.size()), gains(out.units.size());
  for (std::int64_t t = 0; t < settings_.trials; ++t) {
    trial_stream.uniform(draw, index(day) << 32 | index(t));
    Trial trial{t * period, t * period + settings_.trial_bins, t * period, 0, draw[2] < settings_.rewarded_share};
    trial.direction = static_cast<std::int32_t>(draw[0] * direction_count);
    const auto profile = static_cast<std::int64_t>(draw[1] * static_cast<double>(profiles_.size()));
    out.profile.push_back(trial.rewarded ? profile : -1);
    session.trials.push_back(trial);

    std::ranges::transform(out.units, gains.begin(),
                           [&](const SimulatedUnit& unit) { return gain(unit, trial.direction); });
    const double x = std::cos(trial.direction * std::numbers::pi / 4);
    const double y = std::sin(trial.direction * std::numbers::pi / 4);
    for (std::int64_t in_trial = 0; in_trial < period; ++in_trial) {
      const std::int64_t bin = trial.begin + in_trial;
      const bool moves = trial.rewarded && in_trial < settings_.trial_bins;
      double drive = 0;
      if (moves) {
        const ReachProfile& reach = profiles_[index(profile)];
        const double distance = reach.distance[index(in_trial)], speed = reach.speed[index(in_trial)];
        drive = reach.drive[index(in_trial)];
        float* const outputs = session.outputs.data() + 4 * bin;
        outputs[0] = static_cast<float>(distance * x);
        outputs[1] = static_cast<float>(distance * y);
        outputs[2] = static_cast<float>(speed * x);
        outputs[3] = static_cast<float>(speed * y);
      }
      spike_stream.uniform(uniform, index(day) << 32 | index(bin));
      noise_stream.normal(noise, index(day) << 32 | index(bin));
      for (std::size_t c = 0; c < out.units.size(); ++c) {
        const SimulatedUnit& unit = out.units[c];
        double rate = moves ? unit.baseline * std::exp(drive * gains[c]) : unit.baseline;
        if (!unit.tuned) rate *= std::exp(noise_deviation * noise[c] - 0.5 * noise_deviation * noise_deviation);
        session.counts[index(bin * session.channels) + c] = poisson(rate, uniform[c]);
      }
    }
  }
  return out;
}

}  // namespace mambarium
