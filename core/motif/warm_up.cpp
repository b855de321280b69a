#include "core/motif/warm_up.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/contract/text.h"
#include "core/motif/soft_census.h"

namespace mambarium {

namespace {

constexpr std::size_t most_points = 512;

void check(const WarmUpSettings& settings) {
  const auto require = [](bool right, const char* what, double value, const char* range) {
    if (!right || !std::isfinite(value))
      throw std::invalid_argument(std::string(what) + " of the warm-up is " + shortest(value) + "; it must be " +
                                  range);
  };
  require(settings.learning_rate > 0, "the learning rate", settings.learning_rate, "above 0");
  require(settings.beta1 >= 0 && settings.beta1 < 1, "beta1", settings.beta1, "0 or above and below 1");
  require(settings.beta2 >= 0 && settings.beta2 < 1, "beta2", settings.beta2, "0 or above and below 1");
  require(settings.epsilon > 0, "epsilon", settings.epsilon, "above 0");
  require(settings.weight_decay >= 0, "the weight decay", settings.weight_decay, "0 or above");
  require(settings.loss_scale > 0, "the loss scale", settings.loss_scale, "above 0");
  require(settings.clip > 0, "the clip", settings.clip, "above 0");
  if (!(settings.highest_norm >= 0))
    throw std::invalid_argument("the highest norm of the warm-up is " + shortest(settings.highest_norm) +
                                "; it must be 0 or above");
  require(settings.stop_fraction >= 0 && settings.stop_fraction < 1, "the stop fraction", settings.stop_fraction,
          "0 or above and below 1");
  require(settings.max_steps > 0, "the number of steps", static_cast<double>(settings.max_steps), "above 0");
}

double sum_of_squares(std::span<const double> numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number * number;
  return sum;
}

}  // namespace

WarmUp::WarmUp(Coupling start, MotifTarget target, const MotifLossSettings& loss, const WarmUpSettings& settings)
    : target_(std::move(target)), loss_settings_(loss), settings_(settings), coupling_(std::move(start)) {
  check(settings);
  hold_norm(coupling_, settings_.highest_norm);
  const std::size_t size = coupling_.p.size();
  p_moments_ = {std::vector<double>(size), std::vector<double>(size)};
  q_moments_ = p_moments_;
  k_moments_ = {std::vector<double>(1), std::vector<double>(1)};
  measure();
  initial_loss_ = loss_.value;
  history_.push_back({0, loss_.value, loss_.r_squared});
}

void WarmUp::measure() {
  loss_ = motif_loss(coupling_matrix(coupling_), coupling_.n, target_, loss_settings_);
}

void WarmUp::move(std::span<double> values, std::span<const double> gradient, double factor, Moments& moments) {
  const auto t = static_cast<double>(step_ + 1);
  const double correction1 = 1 - std::pow(settings_.beta1, t), correction2 = 1 - std::pow(settings_.beta2, t);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double g = factor * gradient[i];
    moments.first[i] = settings_.beta1 * moments.first[i] + (1 - settings_.beta1) * g;
    moments.second[i] = settings_.beta2 * moments.second[i] + (1 - settings_.beta2) * g * g;
    values[i] -= settings_.learning_rate * settings_.weight_decay * values[i];
    values[i] -= settings_.learning_rate * (moments.first[i] / correction1) /
                 (std::sqrt(moments.second[i] / correction2) + settings_.epsilon);
  }
}

void WarmUp::advance() {
  if (finished()) return;
  const CouplingGradient gradient = coupling_gradient(coupling_, loss_.gradient);
  const double length = settings_.loss_scale *
                        std::sqrt(sum_of_squares(gradient.p) + sum_of_squares(gradient.q) + gradient.k * gradient.k);
  const double factor = settings_.loss_scale * std::min(1.0, settings_.clip / (length + 1e-6));
  move(coupling_.p, gradient.p, factor, p_moments_);
  move(coupling_.q, gradient.q, factor, q_moments_);
  move({&coupling_.k, 1}, {&gradient.k, 1}, factor, k_moments_);
  hold_norm(coupling_, settings_.highest_norm);
  ++step_;
  measure();
  if (step_ % stride_ != 0) return;
  history_.push_back({step_, loss_.value, loss_.r_squared});
  if (history_.size() < most_points) return;
  // Every second one goes, and from now on only every second comes.
  stride_ *= 2;
  std::erase_if(history_, [this](const WarmUpPoint& point) { return point.step % stride_ != 0; });
}

WarmUpResult WarmUp::result() const {
  WarmUpResult result;
  result.steps = step_;
  result.reached = reached();
  result.initial_loss = initial_loss_;
  result.final_loss = loss_.value;
  result.r_squared = loss_.r_squared;
  result.history = history_;
  if (result.history.back().step != step_) result.history.push_back({step_, loss_.value, loss_.r_squared});
  result.coupling = coupling_;
  const std::size_t n = coupling_.n;
  const std::vector<double> matrix = coupling_matrix(coupling_);
  const std::vector<double> soft = soft_adjacency(matrix, n, loss_settings_.rule);
  const std::vector<std::uint8_t> hard = hard_adjacency(matrix, n, loss_settings_.rule);
  result.soft = SoftCensus(soft, n).counts();
  result.hard = hard_census(hard, n);
  result.edge_density = edge_density(hard, n);
  result.mean_edge_entropy = mean_edge_entropy(soft, n);
  return result;
}

WarmUpResult run_warm_up(Coupling start, MotifTarget target, const MotifLossSettings& loss,
                         const WarmUpSettings& settings) {
  WarmUp warm_up(std::move(start), std::move(target), loss, settings);
  while (!warm_up.finished()) warm_up.advance();
  return warm_up.result();
}

}  // namespace mambarium
