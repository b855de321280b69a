#include "core/contract/decoding_inspection.h"

#include "core/contract/inspection_fields.h"

namespace mambarium {

using nlohmann::json;

namespace {

json quality_json(const DecodingData::Quality& quality) {
  return {{"loss", number_or_null(quality.loss)},
          {"accuracy", number_or_null(quality.accuracy)},
          {"macro_f1", number_or_null(quality.macro_f1)},
          {"confusion", quality.confusion},
          {"r_squared", with_nulls(quality.r_squared)},
          {"r_squared_of_all", number_or_null(quality.r_squared_of_all)},
          {"trace", quality.trace}};
}

DecodingData::Quality quality_from(const JsonFields& document, const char* name, const std::string& owner) {
  const std::string part = owner + " \"" + name + "\"";
  const JsonFields fields(document.object(name), part);
  DecodingData::Quality read{.loss = fields.number("loss"),
                             .accuracy = fields.number("accuracy"),
                             .macro_f1 = fields.number("macro_f1"),
                             .confusion = tensor_field(fields, "confusion", 2, part),
                             .r_squared = numbers_field(fields, "r_squared", part),
                             .r_squared_of_all = fields.number("r_squared_of_all"),
                             .trace = tensor_field(fields, "trace", 2, part)};
  require(read.confusion.shape[0] == read.confusion.shape[1], part, "\"confusion\" is no square matrix");
  return read;
}

}  // namespace

void to_json(json& document, const DecodingData& data) {
  document = {{"step", data.step},
              {"outputs", data.outputs},
              {"windows", data.windows},
              {"uniform_loss", number_or_null(data.uniform_loss)},
              {"bin_seconds", number_or_null(data.bin_seconds)},
              {"output_names", data.output_names},
              {"bins", data.bins},
              {"truth", data.truth},
              {"model", quality_json(data.model)},
              {"ideal", quality_json(data.ideal)}};
}

void from_json(const json& document, DecodingData& data) {
  const std::string owner = "decoding data";
  const JsonFields fields(document, owner);
  DecodingData read{.step = fields.count("step"),
                    .outputs = fields.boolean("outputs"),
                    .windows = fields.count("windows"),
                    .uniform_loss = fields.number("uniform_loss"),
                    .bin_seconds = fields.number("bin_seconds"),
                    .truth = tensor_field(fields, "truth", 2, owner),
                    .model = quality_from(fields, "model", owner),
                    .ideal = quality_from(fields, "ideal", owner)};
  for (const json& entry : fields.array("output_names")) {
    require(entry.is_string(), owner, "\"output_names\" holds " + shown(entry) + ", which is no text");
    read.output_names.push_back(entry.get<std::string>());
  }
  for (const json& entry : fields.array("bins")) {
    require(entry.is_number_integer() && (read.bins.empty() || entry.get<std::int64_t>() > read.bins.back()), owner,
            "\"bins\" must be whole numbers that rise");
    read.bins.push_back(entry.get<std::int64_t>());
  }
  const auto length = static_cast<std::int64_t>(read.bins.size());
  require(read.truth.shape[0] == length && read.model.trace.shape == read.truth.shape &&
              (read.ideal.trace.shape[0] == 0 || read.ideal.trace.shape == read.truth.shape),
          owner, "\"bins\", \"truth\" and the traces differ in shape");
  require(!read.outputs || read.model.r_squared.size() == read.output_names.size(), owner,
          "there must be an R^2 for each of the outputs");
  data = std::move(read);
}

}  // namespace mambarium
