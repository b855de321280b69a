// The whole training step of an experiment as a subject of a bench: data, forward, backward, optimiser; on run.threads
// threads, without a run folder, and with neither evaluations nor checkpoints in between.
#pragma once

#include "core/bench/subject.h"
#include "core/contract/experiment_config.h"
#include "core/models/sequence_model.h"

namespace mambarium {

Subject training_subject(ExperimentConfig config, Engine engine);  // its name is the engine's

}  // namespace mambarium
