#include "core/contract/model_start.h"
#include "core/models/decoding_model.h"
#include "core/models/lstm.h"
#include "core/models/mamba1.h"
#include "core/models/mamba2.h"
#include "core/models/ngram.h"
#include "core/models/rwkv4.h"
#include "core/models/transformer.h"
#include "core/theory/constructions.h"

namespace mambarium {

namespace {

std::unique_ptr<SequenceModel> token_model(const ExperimentConfig& config, Engine engine, Precision precision) {
  if (config.text("model.kind") == "transformer") {
    return std::make_unique<Transformer>(transformer_options(config), precision);
  }
  if (config.text("model.kind") == "ngram") {
    return std::make_unique<Ngram>(config.integer("model.ngram_order"), alphabet_of(config), config.real("task.beta"),
                                   precision);
  }
  if (config.text("model.kind") == "mamba1") {
    return std::make_unique<Mamba1>(mamba1_options(config), engine, precision);
  }
  if (config.text("model.kind") == "lstm") return std::make_unique<Lstm>(lstm_options(config), precision);
  if (config.text("model.kind") == "rwkv4") return std::make_unique<Rwkv4>(rwkv4_options(config), precision);
  auto model = std::make_unique<Mamba2>(mamba2_options(config), engine, precision);
  if (const auto start = start_of(config)) write_construction(*start, *model);
  return model;
}

}  // namespace

std::unique_ptr<SequenceModel> make_model(const ExperimentConfig& config, Engine engine, Precision precision) {
  auto model = token_model(config, engine, precision);
  if (!is_decoder(config)) return model;
  return std::make_unique<DecodingModel>(decoding_shape(config), config.integer("model.d_model"),
                                         static_cast<std::uint64_t>(config.integer("training.seed")), std::move(model),
                                         precision);
}

}  // namespace mambarium
