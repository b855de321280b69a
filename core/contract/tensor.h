// Tensor: float32 numbers with a shape, as they cross the protocol. A value type; row-major; no arithmetic.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace mambarium {

struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> data;  // product(shape) numbers
  bool operator==(const Tensor&) const = default;
};

// {"shape": [..], "dtype": "f32", "data": <CBOR bytes, little-endian>}. from_json throws std::invalid_argument with one
// sentence when the map is not that, or when the bytes and the shape disagree. It also reads data given as a list of
// numbers (null: NaN), the form of readable_json.
void to_json(nlohmann::json& document, const Tensor& tensor);
void from_json(const nlohmann::json& document, Tensor& tensor);

// The document with the bytes of every tensor in it written out as numbers: what can be dumped as JSON text.
nlohmann::json readable_json(const nlohmann::json& document);

}  // namespace mambarium
