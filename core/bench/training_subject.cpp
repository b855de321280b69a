#include "core/bench/training_subject.h"

#include <memory>

#include "core/training/runtime.h"
#include "core/training/trainer.h"

namespace mambarium {

Subject training_subject(ExperimentConfig config, Engine engine, const char* device) {
  config.set("run.device", std::string(device));
  for (const char* key : {"training.steps", "training.eval_every", "training.checkpoint_every"}) {
    constexpr std::int64_t as_many_as_it_takes = 100'000'000;
    config.set(key, as_many_as_it_takes);
  }
  const std::shared_ptr<Trainer> trainer = Trainer::create(config, {.engine = engine, .folder = {}});
  Subject subject;
  subject.tokens = config.integer("training.batch") * config.integer("task.length");
  subject.threads = torch_threads(engine, config.integer("run.threads"));
  subject.call = [trainer] { trainer->advance(); };
  return subject;
}

}  // namespace mambarium
