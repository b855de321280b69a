#include "core/contract/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/contract/json_fields.h"

namespace mambarium {

using nlohmann::json;

namespace {

std::vector<std::uint8_t> to_little_endian(const std::vector<float>& numbers) {
  std::vector<std::uint8_t> bytes(numbers.size() * sizeof(float));
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    const auto bits = std::bit_cast<std::uint32_t>(numbers[index]);
    for (unsigned byte = 0; byte < 4; ++byte) bytes[index * 4 + byte] = static_cast<std::uint8_t>(bits >> (8 * byte));
  }
  return bytes;
}

std::vector<float> from_little_endian(const std::vector<std::uint8_t>& bytes) {
  if (bytes.size() % sizeof(float) != 0)
    throw std::invalid_argument("tensor: its data is " + std::to_string(bytes.size()) +
                                " bytes long, it must be a multiple of 4");
  std::vector<float> numbers(bytes.size() / sizeof(float));
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    std::uint32_t bits = 0;
    for (unsigned byte = 0; byte < 4; ++byte) bits |= std::uint32_t{bytes[index * 4 + byte]} << (8 * byte);
    numbers[index] = std::bit_cast<float>(bits);
  }
  return numbers;
}

std::vector<float> from_list(const json& list) {
  std::vector<float> numbers;
  numbers.reserve(list.size());
  for (const json& value : list) {
    if (!value.is_number() && !value.is_null())
      throw std::invalid_argument("tensor: its data holds " + shown(value) + ", it must hold numbers only");
    numbers.push_back(value.is_null() ? std::numeric_limits<float>::quiet_NaN() : value.get<float>());
  }
  return numbers;
}

// The number of elements, or nothing when the shape is impossible.
std::optional<std::size_t> elements(const std::vector<std::int64_t>& shape) {
  std::size_t product = 1;
  for (const std::int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(product, static_cast<std::size_t>(extent), &product)) return std::nullopt;
  return product;
}

}  // namespace

void to_json(json& document, const Tensor& tensor) {
  document = {{"shape", tensor.shape}, {"dtype", "f32"}, {"data", json::binary(to_little_endian(tensor.data))}};
}

void from_json(const json& document, Tensor& tensor) {
  const JsonFields fields(document, "tensor");
  if (fields.text("dtype") != "f32")
    throw std::invalid_argument("tensor: \"dtype\" is " + shown(document["dtype"]) + ", it must be \"f32\"");
  Tensor read;
  read.shape = fields.integers("shape");
  const json& data = fields.any("data");
  if (!data.is_binary() && !data.is_array())
    throw std::invalid_argument("tensor: \"data\" is " + shown(data) + ", it must be bytes or a list of numbers");
  read.data = data.is_binary() ? from_little_endian(data.get_binary()) : from_list(data);
  if (elements(read.shape) != read.data.size())
    throw std::invalid_argument("tensor: " + std::to_string(read.data.size()) + " numbers do not fill the shape " +
                                json(read.shape).dump());
  tensor = std::move(read);
}

json readable_json(const json& document) {
  if (document.is_object() && document.contains("data") && document["data"].is_binary()) {
    Tensor tensor;
    from_json(document, tensor);
    json numbers = json::array();
    for (const float number : tensor.data) numbers.push_back(number_or_null(static_cast<double>(number)));
    return {{"shape", tensor.shape}, {"dtype", "f32"}, {"data", std::move(numbers)}};
  }
  json copy = document;
  if (document.is_structured())
    for (json& child : copy) child = readable_json(child);
  return copy;
}

}  // namespace mambarium
