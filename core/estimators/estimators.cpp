#include "core/estimators/estimators.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace mambarium {
namespace {

// The last `order` tokens as a row number, once there are that many.
class Context {
 public:
  Context(std::int64_t order, std::int64_t states) : order_(order), states_(states) {
    for (std::int64_t i = 0; i < order; ++i) rows_ *= states;
  }

  void clear() { row_ = seen_ = 0; }
  bool known() const { return seen_ >= order_; }
  std::int64_t states() const { return states_; }
  std::size_t rows() const { return static_cast<std::size_t>(rows_); }
  std::size_t first_entry() const { return static_cast<std::size_t>(row_ * states_); }

  void push(std::int32_t token) {
    row_ = (row_ * states_ + token) % rows_;
    seen_ = std::min(seen_ + 1, order_);
  }
  void check(std::int32_t token) const {
    if (token < 0 || token >= states_) {
      throw std::invalid_argument("token " + std::to_string(token) + " is not one of the states 0 to " +
                                  std::to_string(states_ - 1));
    }
  }

 private:
  std::int64_t order_, states_, rows_ = 1;
  std::int64_t row_ = 0, seen_ = 0;
};

void fill_uniform(std::span<double> out) {
  std::fill(out.begin(), out.end(), 1.0 / static_cast<double>(out.size()));
}

class AddBetaEstimator : public Estimator {
 public:
  AddBetaEstimator(std::int64_t order, std::int64_t states, double beta)
      : context_(order, states),
        beta_(beta),
        counts_(context_.rows() * static_cast<std::size_t>(states)),
        totals_(context_.rows()) {}

  std::unique_ptr<Estimator> clone() const override { return std::make_unique<AddBetaEstimator>(*this); }
  std::int64_t states() const override { return context_.states(); }

  void reset() override {
    context_.clear();
    std::fill(counts_.begin(), counts_.end(), 0);
    std::fill(totals_.begin(), totals_.end(), 0);
  }

  void predict(std::span<double> out) const override {
    if (!context_.known()) return fill_uniform(out);
    const std::size_t entry = context_.first_entry();
    const double total = static_cast<double>(totals_[entry / out.size()]) + static_cast<double>(out.size()) * beta_;
    for (std::size_t s = 0; s < out.size(); ++s) out[s] = (static_cast<double>(counts_[entry + s]) + beta_) / total;
  }

  void observe(std::int32_t token) override {
    context_.check(token);
    if (context_.known()) {
      const std::size_t entry = context_.first_entry();
      ++counts_[entry + static_cast<std::size_t>(token)];
      ++totals_[entry / static_cast<std::size_t>(context_.states())];
    }
    context_.push(token);
  }

 private:
  Context context_;
  double beta_;
  std::vector<std::int64_t> counts_, totals_;
};

class OracleEstimator : public Estimator {
 public:
  OracleEstimator(std::int64_t order, std::int64_t states, std::span<const float> kernel)
      : context_(order, states), kernel_(kernel.begin(), kernel.end()) {}

  std::unique_ptr<Estimator> clone() const override { return std::make_unique<OracleEstimator>(*this); }
  std::int64_t states() const override { return context_.states(); }

  void reset() override { context_.clear(); }

  void predict(std::span<double> out) const override {
    if (!context_.known()) return fill_uniform(out);
    const auto row = kernel_.begin() + static_cast<std::ptrdiff_t>(context_.first_entry());
    std::copy_n(row, out.size(), out.begin());
  }

  void observe(std::int32_t token) override {
    context_.check(token);
    context_.push(token);
  }

 private:
  Context context_;
  std::vector<float> kernel_;
};

class UniformEstimator : public Estimator {
 public:
  explicit UniformEstimator(std::int64_t states) : context_(0, states) {}
  std::unique_ptr<Estimator> clone() const override { return std::make_unique<UniformEstimator>(*this); }
  std::int64_t states() const override { return context_.states(); }
  void reset() override {}
  void predict(std::span<double> out) const override { fill_uniform(out); }
  void observe(std::int32_t token) override { context_.check(token); }

 private:
  Context context_;
};

class RecallEstimator : public Estimator {
 public:
  explicit RecallEstimator(std::int64_t vocabulary)
      : context_(0, vocabulary), followers_(static_cast<std::size_t>(vocabulary), nothing) {}
  std::unique_ptr<Estimator> clone() const override { return std::make_unique<RecallEstimator>(*this); }
  std::int64_t states() const override { return context_.states(); }

  void reset() override {
    std::ranges::fill(followers_, nothing);
    last_ = nothing;
  }

  void predict(std::span<double> out) const override {
    const std::int32_t follower = last_ == nothing ? nothing : followers_[static_cast<std::size_t>(last_)];
    if (follower == nothing) {
      std::ranges::fill(out, 1.0 / static_cast<double>(out.size() - 1));
      out[0] = 0;
    } else {
      std::ranges::fill(out, 0.0);
      out[static_cast<std::size_t>(follower)] = 1;
    }
  }

  void observe(std::int32_t token) override {
    context_.check(token);
    if (last_ != nothing) followers_[static_cast<std::size_t>(last_)] = token;
    last_ = token;
  }

 private:
  static constexpr std::int32_t nothing = -1;
  Context context_;
  std::vector<std::int32_t> followers_;
  std::int32_t last_ = nothing;
};

class SwitchingEstimator : public Estimator {
 public:
  SwitchingEstimator(std::unique_ptr<Estimator> chain, double p_switch)
      : chain_(std::move(chain)), p_switch_(p_switch), all_(0, chain_->states() + 1) {}

  std::unique_ptr<Estimator> clone() const override {
    return std::make_unique<SwitchingEstimator>(chain_->clone(), p_switch_);
  }
  std::int64_t states() const override { return all_.states(); }
  void reset() override { chain_->reset(); }
  void predict(std::span<double> out) const override {
    const auto ordinary = out.first(out.size() - 1);
    chain_->predict(ordinary);
    for (double& probability : ordinary) probability *= 1 - p_switch_;
    out.back() = p_switch_;
  }
  void observe(std::int32_t token) override {
    all_.check(token);
    if (token == chain_->states()) {
      chain_->reset();
    } else {
      chain_->observe(token);
    }
  }

 private:
  std::unique_ptr<Estimator> chain_;
  double p_switch_;
  Context all_;
};

class SwitchingOracleEstimator : public Estimator {
 public:
  SwitchingOracleEstimator(std::int64_t order, std::int64_t states, std::span<const float> kernels, double p_switch)
      : context_(order, states), kernels_(kernels.begin(), kernels.end()), p_switch_(p_switch), all_(0, states + 1) {}

  std::unique_ptr<Estimator> clone() const override { return std::make_unique<SwitchingOracleEstimator>(*this); }
  std::int64_t states() const override { return all_.states(); }
  void reset() override {
    context_.clear();
    kernel_ = 0;
  }
  void predict(std::span<double> out) const override {
    const auto ordinary = out.first(out.size() - 1);
    const auto row = kernels_.begin() + static_cast<std::ptrdiff_t>(kernel_ + context_.first_entry());
    const double of_each = 1 / static_cast<double>(ordinary.size());
    for (std::size_t s = 0; s < ordinary.size(); ++s)
      ordinary[s] =
          (1 - p_switch_) * (context_.known() ? static_cast<double>(row[static_cast<std::ptrdiff_t>(s)]) : of_each);
    out.back() = p_switch_;
  }
  void observe(std::int32_t token) override {
    all_.check(token);
    if (token < context_.states()) return context_.push(token);
    const std::size_t size = context_.rows() * static_cast<std::size_t>(context_.states());
    if (kernel_ + size == kernels_.size())
      throw std::invalid_argument("a switch after the last stretch: there are kernels for " +
                                  std::to_string(kernels_.size() / size));
    kernel_ += size;
    context_.clear();
  }

 private:
  Context context_;
  std::vector<float> kernels_;
  double p_switch_;
  Context all_;
  std::size_t kernel_ = 0;  // where that of the present stretch begins
};

// log(count + offset) for every count a sequence of this length can reach.
std::vector<double> log_counts(std::int64_t length, double offset) {
  std::vector<double> logs(static_cast<std::size_t>(length + 1));
  for (std::size_t count = 0; count < logs.size(); ++count) logs[count] = std::log(static_cast<double>(count) + offset);
  return logs;
}

void check_p_switch(double p_switch) {
  if (!(p_switch >= 0 && p_switch <= 1)) {
    throw std::invalid_argument("the probability of a switch must lie between 0 and 1");
  }
}

// Counts of the present stretch, of which there is one only in a chain that never switches.
class StretchCounts {
 public:
  StretchCounts(std::size_t rows, std::size_t states)
      : states_(states), counts_(rows * states), totals_(rows), stretch_of_(rows) {}

  void begin_stretch() { ++stretch_; }
  // Rows of an earlier stretch are emptied when they are needed again.
  void visit(std::size_t row) {
    if (stretch_of_[row] == stretch_) return;
    stretch_of_[row] = stretch_;
    totals_[row] = 0;
    std::fill_n(counts_.begin() + static_cast<std::ptrdiff_t>(row * states_), states_, 0u);
  }
  std::size_t total(std::size_t row) const { return totals_[row]; }
  std::size_t count(std::size_t entry) const { return counts_[entry]; }
  void add(std::size_t row, std::size_t entry) {
    ++counts_[entry];
    ++totals_[row];
  }

 private:
  std::size_t states_;
  std::vector<std::uint32_t> counts_, totals_;
  std::vector<std::uint64_t> stretch_of_;
  std::uint64_t stretch_ = 0;
};

// Of chains over 0 .. S-1 that switch with probability p_switch, at token S; 0: never.
EstimatorLosses losses_of(const MarkovTask& chain, double p_switch, const SequenceBatch& batch) {
  const auto states = static_cast<std::size_t>(chain.states());
  const auto rows = static_cast<std::size_t>(chain.contexts());
  const auto order = static_cast<std::size_t>(chain.order());
  const std::vector<double> log_count = log_counts(batch.length, chain.beta());
  const std::vector<double> log_total = log_counts(batch.length, chain.beta() * static_cast<double>(states));
  StretchCounts counts(rows, states);
  EstimatorLosses losses;
  for (std::int64_t index = 0; index < batch.batch; ++index) {
    const auto tokens = batch.sequence(index);
    auto kernel = batch.kernel(index);
    counts.begin_stretch();
    std::size_t row = 0, seen = 0, switches = 0, without_context = 0;
    double add_beta = 0, oracle = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const auto token = static_cast<std::size_t>(tokens[t]);
      if (token == states) {
        counts.begin_stretch();
        kernel = kernel.subspan(rows * states);
        seen = 0;
        switches += t > 0 ? 1 : 0;
        continue;
      }
      if (seen >= order) {
        const std::size_t entry = row * states + token;
        counts.visit(row);
        if (t > 0) {
          add_beta += log_total[counts.total(row)] - log_count[counts.count(entry)];
          oracle -= std::log(static_cast<double>(kernel[entry]));
        }
        counts.add(row, entry);
      } else if (t > 0) {
        ++without_context;
      }
      row = (row * states + token) % rows;
      ++seen;
    }
    const auto targets = static_cast<double>(batch.length);
    double common = static_cast<double>(without_context) * std::log(static_cast<double>(states));
    if (p_switch > 0)
      common -= static_cast<double>(switches) * std::log(p_switch) +
                (targets - static_cast<double>(switches)) * std::log1p(-p_switch);
    losses.add_beta.push_back((add_beta + common) / targets);
    losses.oracle.push_back((oracle + common) / targets);
  }
  return losses;
}

}  // namespace

std::unique_ptr<Estimator> make_add_beta(std::int64_t order, std::int64_t states, double beta) {
  const MarkovTask checked(order, states, beta, 1);
  return std::make_unique<AddBetaEstimator>(order, states, beta);
}

std::unique_ptr<Estimator> make_switching_bayes(std::int64_t order, std::int64_t states, double beta, double p_switch) {
  check_p_switch(p_switch);
  return std::make_unique<SwitchingEstimator>(make_add_beta(order, states, beta), p_switch);
}

std::unique_ptr<Estimator> make_oracle(std::int64_t order, std::int64_t states, std::span<const float> kernel) {
  const MarkovTask checked(order, states, 1.0, 1);
  const auto expected = static_cast<std::size_t>(checked.contexts() * states);
  if (kernel.size() != expected) {
    throw std::invalid_argument("the kernel of an order-" + std::to_string(order) + " chain over " +
                                std::to_string(states) + " states has " + std::to_string(expected) +
                                " probabilities, not " + std::to_string(kernel.size()));
  }
  return std::make_unique<OracleEstimator>(order, states, kernel);
}

std::unique_ptr<Estimator> make_switching_oracle(std::int64_t order, std::int64_t states,
                                                 std::span<const float> kernels, double p_switch) {
  const MarkovTask checked(order, states, 1.0, 1);
  check_p_switch(p_switch);
  const auto size = static_cast<std::size_t>(checked.contexts() * states);
  if (kernels.empty() || kernels.size() % size != 0) {
    throw std::invalid_argument(std::to_string(kernels.size()) + " probabilities are not whole kernels of " +
                                std::to_string(size));
  }
  return std::make_unique<SwitchingOracleEstimator>(order, states, kernels, p_switch);
}

std::unique_ptr<Estimator> make_uniform(std::int64_t states) {
  const MarkovTask checked(0, states, 1.0, 1);
  return std::make_unique<UniformEstimator>(states);
}

std::unique_ptr<Estimator> make_recall(std::int64_t vocabulary) {
  if (vocabulary < InductionTask::fewest_states)
    throw std::invalid_argument("a vocabulary of " + std::to_string(vocabulary) + " tokens is below the " +
                                std::to_string(InductionTask::fewest_states) + " of induction");
  return std::make_unique<RecallEstimator>(vocabulary);
}

double mean_loss(Estimator& estimator, std::span<const std::int32_t> tokens) {
  if (tokens.size() < 2) throw std::invalid_argument("a loss needs at least two tokens: an input and its target");
  std::vector<double> probabilities(static_cast<std::size_t>(estimator.states()));
  estimator.reset();
  estimator.observe(tokens.front());
  double sum = 0;
  for (const std::int32_t target : tokens.subspan(1)) {
    estimator.predict(probabilities);
    estimator.observe(target);
    sum -= std::log(probabilities[static_cast<std::size_t>(target)]);
  }
  return sum / static_cast<double>(tokens.size() - 1);
}

EstimatorLosses estimator_losses(const MarkovTask& task, const SequenceBatch& batch) {
  return losses_of(task, 0, batch);
}

EstimatorLosses estimator_losses(const SwitchingTask& task, const SequenceBatch& batch) {
  return losses_of(task.chain(), task.p_switch(), batch);
}

EstimatorLosses estimator_losses(const InductionTask& task, const SequenceBatch& batch) {
  RecallEstimator recall(task.vocabulary());
  std::vector<double> probabilities(static_cast<std::size_t>(task.vocabulary()));
  EstimatorLosses losses;
  for (std::int64_t index = 0; index < batch.batch; ++index) {
    const auto tokens = batch.sequence(index);
    const auto query = static_cast<std::size_t>(batch.scored[static_cast<std::size_t>(index)]);
    recall.reset();
    for (const std::int32_t token : tokens.first(query + 1)) recall.observe(token);
    recall.predict(probabilities);
    losses.add_beta.push_back(-std::log(probabilities[static_cast<std::size_t>(tokens[query + 1])]));
  }
  losses.oracle = losses.add_beta;
  return losses;
}

}  // namespace mambarium
