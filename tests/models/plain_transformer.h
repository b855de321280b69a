// The transformer of docs/science.md as loops over float64 numbers, written from its formulas: the oracle of
// Transformer.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/models/transformer_options.h"

namespace mambarium {

class PlainTransformer {
 public:
  PlainTransformer(const TransformerOptions& options, const std::map<std::string, at::Tensor>& weights)
      : options_(options), weights_(weights) {}

  // log P(next = s) after every token: [T][S].
  std::vector<std::vector<double>> log_probabilities(const std::vector<std::int64_t>& tokens) const {
    Rows u(tokens.size());
    for (std::size_t t = 0; t < tokens.size(); ++t)
      for (std::int64_t i = 0; i < options_.d_model; ++i)
        u[t].push_back(number("embedding.weight", tokens[t], i) +
                       number("positions.weight", static_cast<std::int64_t>(t), i));
    for (std::int64_t layer = 0; layer < options_.layers; ++layer) {
      const std::string prefix = "layers." + std::to_string(layer) + ".";
      add(u, attention(normed(u, prefix + "norm"), prefix));
      Rows hidden = times(normed(u, prefix + "mlp_norm"), prefix + "mlp.fc1");
      for (Row& row : hidden)
        for (double& x : row) x = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
      add(u, times(hidden, prefix + "mlp.fc2"));
    }
    Rows logits = times(normed(u, "final_norm"), "embedding");
    for (Row& row : logits) {
      double sum = 0;
      for (std::size_t s = 0; s < row.size(); ++s) {
        row[s] += weights_.at("lm_head.bias").index({static_cast<std::int64_t>(s)}).item<double>();
        sum += std::exp(row[s]);
      }
      for (double& x : row) x -= std::log(sum);
    }
    return logits;
  }

 private:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  double number(const std::string& name, std::int64_t i, std::int64_t j) const {
    return weights_.at(name).index({i, j}).item<double>();
  }
  static void add(Rows& to, const Rows& rows) {
    for (std::size_t t = 0; t < to.size(); ++t)
      for (std::size_t i = 0; i < to[t].size(); ++i) to[t][i] += rows[t][i];
  }
  Rows times(const Rows& rows, const std::string& name) const {
    const at::Tensor& weight = weights_.at(name + ".weight");
    Rows result(rows.size());
    for (std::size_t t = 0; t < rows.size(); ++t)
      for (std::int64_t out = 0; out < weight.size(0); ++out) {
        double sum = 0;
        for (std::int64_t in = 0; in < weight.size(1); ++in)
          sum += number(name + ".weight", out, in) * rows[t][static_cast<std::size_t>(in)];
        result[t].push_back(sum);
      }
    return result;
  }
  Rows normed(const Rows& rows, const std::string& name) const {
    Rows result = rows;
    for (Row& row : result) {
      const auto width = static_cast<double>(row.size());
      double mean = 0, variance = 0;
      for (const double x : row) mean += x / width;
      for (const double x : row) variance += (x - mean) * (x - mean) / width;
      for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) *
                 weights_.at(name + ".weight").index({static_cast<std::int64_t>(i)}).item<double>();
    }
    return result;
  }
  Rows projected(const Rows& u, const std::string& prefix, const std::string& part) const {
    const Rows rows = times(u, prefix + "attention." + part);
    const std::string filter = prefix + "conv." + part + ".weight";
    if (!weights_.contains(filter)) return rows;
    Rows result = rows;
    const std::int64_t window = weights_.at(filter).size(1);
    for (std::size_t t = 0; t < rows.size(); ++t)
      for (std::size_t i = 0; i < rows[t].size(); ++i) {
        result[t][i] = 0;
        for (std::int64_t lag = 0; lag < window && lag <= static_cast<std::int64_t>(t); ++lag)
          result[t][i] += number(filter, static_cast<std::int64_t>(i), window - 1 - lag) *
                          rows[t - static_cast<std::size_t>(lag)][i];
      }
    return result;
  }
  double weight(const Row& q, const Row& k, std::size_t first) const {
    const auto width = static_cast<std::size_t>(options_.head_width());
    double sum = 0;
    const auto feature = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
    for (std::size_t i = first; i < first + width; ++i)
      sum += options_.attention == Attention::linear ? feature(q[i]) * feature(k[i]) : q[i] * k[i];
    return options_.attention == Attention::linear ? sum : std::exp(sum / std::sqrt(static_cast<double>(width)));
  }
  Rows attention(const Rows& u, const std::string& prefix) const {
    const Rows q = projected(u, prefix, "Q"), k = projected(u, prefix, "K"), v = projected(u, prefix, "V");
    Rows y(u.size(), Row(u[0].size()));
    const auto width = static_cast<std::size_t>(options_.head_width());
    for (std::size_t t = 0; t < u.size(); ++t)
      for (std::size_t first = 0; first < u[0].size(); first += width) {
        double sum = 0;
        for (std::size_t j = 0; j <= t; ++j) sum += weight(q[t], k[j], first);
        for (std::size_t j = 0; j <= t; ++j)
          for (std::size_t i = first; i < first + width; ++i) y[t][i] += weight(q[t], k[j], first) / sum * v[j][i];
      }
    return times(y, prefix + "attention.out");
  }

  TransformerOptions options_;
  std::map<std::string, at::Tensor> weights_;
};

}  // namespace mambarium
