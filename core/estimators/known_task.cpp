#include "core/estimators/known_task.h"

#include "core/tasks/switching_task.h"

namespace mambarium {
namespace {

class KnownMarkov : public KnownTask {
 public:
  explicit KnownMarkov(const MarkovTask& task) : task_(task) {}
  std::int64_t alphabet() const override { return task_.states(); }
  std::int64_t length() const override { return task_.length(); }
  void generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels,
                SequenceBatch& out) const override {
    task_.generate(stream, first, batch, with_kernels, out);
  }
  std::unique_ptr<Estimator> best_predictor() const override {
    return make_add_beta(task_.order(), task_.states(), task_.beta());
  }
  std::unique_ptr<Estimator> oracle(std::span<const float> kernel) const override {
    return make_oracle(task_.order(), task_.states(), kernel);
  }
  EstimatorLosses losses(const SequenceBatch& batch) const override { return estimator_losses(task_, batch); }

 private:
  MarkovTask task_;
};

class KnownSwitching : public KnownTask {
 public:
  explicit KnownSwitching(const SwitchingTask& task) : task_(task) {}
  std::int64_t alphabet() const override { return task_.alphabet(); }
  std::int64_t length() const override { return task_.length(); }
  void generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels,
                SequenceBatch& out) const override {
    task_.generate(stream, first, batch, with_kernels, out);
  }
  std::unique_ptr<Estimator> best_predictor() const override {
    const MarkovTask& chain = task_.chain();
    return make_switching_bayes(chain.order(), chain.states(), chain.beta(), task_.p_switch());
  }
  std::unique_ptr<Estimator> oracle(std::span<const float> kernel) const override {
    const MarkovTask& chain = task_.chain();
    return make_switching_oracle(chain.order(), chain.states(), kernel, task_.p_switch());
  }
  EstimatorLosses losses(const SequenceBatch& batch) const override { return estimator_losses(task_, batch); }

 private:
  SwitchingTask task_;
};

class KnownFile : public KnownTask {
 public:
  explicit KnownFile(FileTask task) : task_(std::move(task)) {}
  std::int64_t alphabet() const override { return task_.chain().states(); }
  std::int64_t length() const override { return task_.chain().length(); }
  void generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels,
                SequenceBatch& out) const override {
    task_.generate(stream, first, batch, with_kernels, out);
  }
  std::unique_ptr<Estimator> best_predictor() const override {
    return make_add_beta(task_.chain().order(), task_.chain().states(), task_.chain().beta());
  }
  std::unique_ptr<Estimator> oracle(std::span<const float> kernel) const override {
    return make_oracle(task_.chain().order(), task_.chain().states(), kernel);
  }
  EstimatorLosses losses(const SequenceBatch& batch) const override { return estimator_losses(task_.chain(), batch); }

 private:
  FileTask task_;
};

class KnownInduction : public KnownTask {
 public:
  explicit KnownInduction(const InductionTask& task) : task_(task) {}
  std::int64_t alphabet() const override { return task_.vocabulary(); }
  std::int64_t length() const override { return task_.length(); }
  void generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool, SequenceBatch& out) const override {
    task_.generate(stream, first, batch, out);
  }
  std::unique_ptr<Estimator> best_predictor() const override { return make_recall(task_.vocabulary()); }
  std::unique_ptr<Estimator> oracle(std::span<const float>) const override { return best_predictor(); }
  EstimatorLosses losses(const SequenceBatch& batch) const override { return estimator_losses(task_, batch); }

 private:
  InductionTask task_;
};

MarkovVariant variant_of(const ExperimentConfig& config, Split split) {
  using Kernels = MarkovVariant::Kernels;
  const std::string& kernels = config.text("task.kernels");
  const bool stationary = config.text("task.start") == "stationary";
  return {.kernels = kernels == "fixed"     ? Kernels::fixed
                     : kernels == "random"  ? Kernels::random
                     : split == Split::test ? Kernels::high
                                            : Kernels::low,
          .start = stationary ? MarkovVariant::Start::stationary : MarkovVariant::Start::uniform,
          .kernel_seed = static_cast<std::uint64_t>(config.integer("training.seed"))};
}

}  // namespace

std::unique_ptr<KnownTask> make_task(const ExperimentConfig& config, Split split) {
  if (is_decoder(config))
    throw std::invalid_argument("task.kind: decoding has windows of a recording and no sequences of tokens");
  const auto order = config.integer("task.order"), states = config.integer("task.states");
  const auto length = config.integer("task.length");
  const double beta = config.real("task.beta");
  const std::string& kind = config.text("task.kind");
  if (kind == "switching")
    return std::make_unique<KnownSwitching>(SwitchingTask(order, states, beta, length, config.real("task.p_switch")));
  if (kind == "markov")
    return std::make_unique<KnownMarkov>(MarkovTask(order, states, beta, length, variant_of(config, split)));
  if (kind == "induction") return std::make_unique<KnownInduction>(InductionTask(states, length));
  const std::string& path = config.text("task.file");
  const SymbolForm form = config.text("task.symbols") == "words" ? SymbolForm::words : SymbolForm::characters;
  return std::make_unique<KnownFile>(
      FileTask(read_symbol_file(path, form), path, MarkovTask(order, states, beta, length), split));
}

}  // namespace mambarium
