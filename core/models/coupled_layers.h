// CoupledLayers: what models of layers with a LayerCoupling each have in common as CoupledModels. A model names its
// couplings and their settings and computes trace(), with channel_trace() for the part that is the same in all.
//
// T tokens, n = d_state, r = rank. Nothing here is thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/models/coupled_model.h"
#include "core/models/layer_coupling.h"
#include "core/models/sequence_model.h"

namespace mambarium {

class CoupledLayers : public CoupledModel {
 public:
  std::int64_t coupled_layers() const override;
  bool shared_by_channels() const override;
  Parts coupling(std::int64_t layer, std::int64_t channel) const override;
  bool has_motif() const override;
  at::Tensor penalty() override;
  MotifStanding motif_standing() const override;
  void hold_couplings() override;
  std::optional<WarmUpRecord> warm_up() override;
  void evaluate_by(std::shared_ptr<PicardEvaluation> picard) override;  // no kind has the passes that does not say so

 protected:
  virtual const CouplingOptions& coupling_settings() const = 0;
  // Of every layer, from the first: the tensors are the model's own.
  virtual std::vector<LayerCoupling> layer_couplings() const = 0;
  // The smallest |A| of every channel of a layer, [D]; asked for where model.coupling_cap is above 0.
  virtual at::Tensor slowest_decays(std::int64_t layer) const = 0;

 private:
  at::Tensor matrices() const;  // M of every coupling [count, n, n]
  std::vector<double> highest_norms_of(std::int64_t layer) const;
};

// What one channel's scan took along one sequence, in the model's own precision, and its A in double.
struct ScannedChannel {
  at::Tensor x, dt;  // [1, T, 1]
  at::Tensor B;      // [1, T, n]
  at::Tensor A;      // [n]
};

// The states of the trace are computed in the precision of the scanned numbers, by the scan of that engine. `channel`
// says which of the layer's couplings is meant where every channel has its own.
ChannelTrace channel_trace(const CouplingOptions& options, const LayerCoupling& coupling, std::int64_t channel,
                           const ScannedChannel& scanned, Engine engine);

}  // namespace mambarium
