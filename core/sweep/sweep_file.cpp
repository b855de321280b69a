#include "core/sweep/sweep_file.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "core/contract/json_fields.h"
#include "core/contract/named_settings.h"
#include "core/contract/text.h"
#include "core/sweep/sweep_points.h"

namespace mambarium {

using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 7> field_names = {"name", "title", "base", "grid", "linked", "cases", "seeds"};

bool table_order(const std::string& a, const std::string& b) {
  return std::less<>{}(find_property(a), find_property(b));
}

std::optional<double> number_in(const PropertyValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

class SweepReader {
 public:
  SweepReader(const json& document, std::string path) : document_(document), path_(std::move(path)) {}

  ParsedSweep read() && {
    if (!document_.is_object()) {
      complain("", shown(document_) + " is not a map with " + "\"name\", \"grid\" and so on");
      return std::move(parsed_);
    }
    read_names();
    read_base();
    read_grid();
    read_linked();
    read_cases();
    read_seeds();
    for (const auto& [key, value] : document_.items())
      if (std::ranges::count(field_names, key) == 0) refuse_field(key);
    if (parsed_.problems.empty()) make_points();
    return std::move(parsed_);
  }

 private:
  void complain(const std::string& where, const std::string& message) {
    parsed_.problems.push_back({where.empty() ? path_ : path_ + ": " + where, message});
  }

  void refuse_field(const std::string& name) {
    std::string known;
    for (std::string_view field : field_names) known.append(known.empty() ? "" : ", ").append(field);
    complain(std::string(in_quotes(name)), "there is no such field; the fields are " + known);
  }

  const json* field(const char* name) const {
    const auto found = document_.find(name);
    return found == document_.end() ? nullptr : &*found;
  }

  void read_names() {
    const auto text_of = [&](const char* name, const char* expected) -> std::string {
      const json* value = field(name);
      if (value != nullptr && value->is_string() && is_one_line_of_utf8(value->get_ref<const std::string&>()))
        return value->get<std::string>();
      complain(name, value == nullptr ? std::string("is missing, it must be ") + expected
                                      : shown(*value) + " is not " + expected);
      return "?";
    };
    Sweep& sweep = parsed_.sweep;
    sweep.name = text_of("name", "one word, fit for a folder");
    const bool is_word = std::ranges::all_of(sweep.name, [](char character) {
      return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
             (character >= '0' && character <= '9') || character == '-' || character == '_' || character == '.';
    });
    if (sweep.name != "?" && (!is_word || sweep.name.empty() || sweep.name.front() == '.'))
      complain("name", in_quotes(sweep.name) + " is not one word of letters, digits, '-', '_' and '.'");
    sweep.title = field("title") == nullptr ? sweep.name : text_of("title", "one line of text");
  }

  // The value as the configuration holds it, or a complaint.
  std::optional<PropertyValue> value_of(const std::string& where, const std::string& key, const json& value) {
    if (key.starts_with("run.")) {
      complain(where, "where and how its runs run is the sweep's business; leave run.* out");
      return std::nullopt;
    }
    if (key == "training.seed") {
      complain(where, "the seeds of a sweep stand in its field \"seeds\"");
      return std::nullopt;
    }
    ExperimentConfig scratch;
    if (const auto problem = set_from_json(scratch, key, value)) {
      complain(where, problem->message);
      return std::nullopt;
    }
    return scratch.value(key);
  }

  SweepSettings settings_of(const std::string& owner, const json& document) {
    const NamedSettings named = settings_in(document);
    for (const Problem& problem : named.problems) complain(owner + "." + problem.where, problem.message);
    SweepSettings settings;
    for (const auto& [key, value] : named.settings)
      if (auto held = value_of(owner + "." + key, key, value)) settings.emplace_back(key, *std::move(held));
    std::ranges::sort(settings, [](const auto& a, const auto& b) { return table_order(a.first, b.first); });
    return settings;
  }

  void read_base() {
    if (const json* base = field("base"))
      for (const auto& [key, value] : settings_of("base", *base)) parsed_.sweep.base.set(key, value);
  }

  // The values of one key along an axis; a value may stand there once only where the key is alone on it.
  std::vector<PropertyValue> values_of(const std::string& owner, const std::string& key, const json& list,
                                       bool distinct) {
    const std::string where = owner + "." + key;
    if (find_property(key) == nullptr) {
      value_of(where, key, nullptr);
      return {};
    }
    if (!list.is_array() || list.empty()) {
      complain(where, (list.is_array() ? "an empty list" : shown(list)) + " is not a list of values");
      return {};
    }
    std::vector<PropertyValue> values;
    for (const json& item : list) {
      auto value = value_of(where, key, item);
      if (!value) continue;
      if (distinct && std::ranges::count(values, *value) > 0) complain(where, shown(item) + " stands twice");
      values.push_back(*std::move(value));
    }
    return values;
  }

  void vary(const std::string& where, const std::string& key) {
    if (find_property(key) != nullptr && !varied_.insert(key).second)
      complain(where, "this setting varies along another axis already");
  }

  void add_axis(const std::vector<std::string>& keys, const std::vector<std::vector<PropertyValue>>& columns) {
    SweepAxis axis;
    axis.keys = keys;
    std::vector<SweepSettings> positions(columns.front().size());
    bool equal = true;
    for (std::size_t position = 0; position < positions.size(); ++position)
      for (std::size_t key = 0; key < keys.size(); ++key) {
        positions[position].emplace_back(keys[key], columns[key][position]);
        equal = equal && value_to_string(columns[key][position]) == value_to_string(columns[0][position]);
      }
    for (const std::string& key : keys) {
      axis.name.append(axis.name.empty() ? "" : "+").append(key);
      axis.title.append(axis.title.empty() ? "" : equal ? " = " : ", ").append(find_property(key)->label);
    }
    for (const SweepSettings& settings : positions) {
      std::string label = value_to_string(settings.front().second);
      for (std::size_t key = 1; !equal && key < settings.size(); ++key)
        label += ", " + value_to_string(settings[key].second);
      axis.labels.push_back(std::move(label));
      if (const auto number = number_in(settings.front().second)) axis.numbers.push_back(*number);
    }
    parsed_.sweep.axes.push_back(std::move(axis));
    parsed_.sweep.settings.push_back(std::move(positions));
  }

  void read_grid() {
    const json* grid = field("grid");
    if (grid == nullptr) return;
    if (!grid->is_object()) {
      complain("grid", shown(*grid) + " is not a map such as {\"task.order\": [1, 2, 3]}");
      return;
    }
    std::vector<std::string> keys;
    for (const auto& [key, list] : grid->items()) keys.push_back(key);
    std::ranges::sort(keys, table_order);
    for (const std::string& key : keys) {
      vary("grid." + key, key);
      const auto values = values_of("grid", key, grid->at(key), true);
      if (!values.empty()) add_axis({key}, {values});
    }
  }

  void read_linked() {
    const json* linked = field("linked");
    if (linked == nullptr) return;
    if (!linked->is_array()) {
      complain("linked", shown(*linked) + " is not a list of groups of settings that vary together");
      return;
    }
    for (std::size_t index = 0; index < linked->size(); ++index)
      read_group("linked[" + std::to_string(index) + "]", linked->at(index));
  }

  void read_group(const std::string& owner, const json& group) {
    if (!group.is_object() || group.empty()) {
      complain(owner, (group.is_object() ? "an empty map" : shown(group)) +
                          " is not a map such as {\"model.d_model\": [2, 4], \"model.d_state\": [2, 4]}");
      return;
    }
    std::vector<std::string> keys;
    for (const auto& [key, list] : group.items()) keys.push_back(key);
    std::ranges::sort(keys, table_order);
    std::vector<std::vector<PropertyValue>> columns;
    const std::size_t faults = parsed_.problems.size();
    for (const std::string& key : keys) {
      vary(owner + "." + key, key);
      columns.push_back(values_of(owner, key, group.at(key), false));
    }
    if (parsed_.problems.size() > faults) return;
    for (std::size_t index = 0; index < keys.size(); ++index)
      if (columns[index].size() != columns[0].size())
        complain(owner + "." + keys[index], std::to_string(columns[index].size()) + " values, and " + keys[0] +
                                                " has " + std::to_string(columns[0].size()) +
                                                "; keys that vary together need equally many");
    if (parsed_.problems.size() > faults) return;
    for (std::size_t later = 1; later < columns[0].size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier)
        if (std::ranges::all_of(columns, [&](const auto& column) { return column[later] == column[earlier]; }))
          complain(owner, "positions " + std::to_string(earlier + 1) + " and " + std::to_string(later + 1) +
                              " are the same; each must differ");
    if (parsed_.problems.size() == faults) add_axis(keys, columns);
  }

  void read_cases() {
    const json* cases = field("cases");
    if (cases == nullptr) return;
    if (!cases->is_array() || cases->empty()) {
      complain("cases", (cases->is_array() ? "an empty list" : shown(*cases)) +
                            " is not a list such as [{\"label\": \"no gate\", \"settings\": {...}}]");
      return;
    }
    SweepAxis axis{"case", "Case", {}, {}, {}};
    std::vector<SweepSettings> positions;
    for (std::size_t index = 0; index < cases->size(); ++index) {
      const std::string owner = "cases[" + std::to_string(index) + "]";
      try {
        const JsonFields fields(cases->at(index), "case");
        const std::string label = fields.text("label");
        if (trimmed(label).empty() || !is_one_line_of_utf8(label))
          complain(owner, "\"label\" is " + in_quotes(label) + ", it must be one line of text");
        else if (std::ranges::count(axis.labels, label) > 0)
          complain(owner, "another case has the label " + in_quotes(label) + " already");
        axis.labels.push_back(label);
        positions.push_back(settings_of(owner, fields.object("settings")));
      } catch (const std::invalid_argument& fault) {
        complain(owner, fault.what());
      }
    }
    take_case_keys(axis, positions);
    parsed_.sweep.axes.push_back(std::move(axis));
    parsed_.sweep.settings.push_back(std::move(positions));
  }

  void take_case_keys(SweepAxis& axis, const std::vector<SweepSettings>& positions) {
    std::set<std::string> keys;
    for (const SweepSettings& settings : positions)
      for (const auto& [key, value] : settings) keys.insert(key);
    axis.keys.assign(keys.begin(), keys.end());
    std::ranges::sort(axis.keys, table_order);
    for (const std::string& key : axis.keys) vary("cases." + key, key);
  }

  void read_seeds() {
    std::vector<std::int64_t>& seeds = parsed_.sweep.seeds;
    const json* list = field("seeds");
    if (list == nullptr) {
      seeds = {0};
      return;
    }
    if (!list->is_array() || list->empty()) {
      complain("seeds", (list->is_array() ? "an empty list" : shown(*list)) + " is not a list such as [0, 1, 2]");
      return;
    }
    ExperimentConfig scratch;
    for (const json& item : *list) {
      if (const auto problem = set_from_json(scratch, "training.seed", item)) {
        complain("seeds", problem->message);
        continue;
      }
      const std::int64_t seed = scratch.integer("training.seed");
      if (std::ranges::count(seeds, seed) > 0) complain("seeds", shown(item) + " stands twice");
      seeds.push_back(seed);
    }
  }

  void make_points() {
    Sweep& sweep = parsed_.sweep;
    sweep.keys.assign(varied_.begin(), varied_.end());
    std::ranges::sort(sweep.keys, table_order);
    if (count_points(sweep) > most_sweep_points) {
      complain("", "this is more than " + std::to_string(most_sweep_points) + " points; take values or seeds out");
      return;
    }
    parsed_.points = sweep_points(sweep);
    refuse_unfit_points();
    if (!parsed_.problems.empty()) parsed_.points.clear();
  }

  // One complaint for each fault, however many points have it.
  void refuse_unfit_points() {
    std::map<std::string, std::pair<const SweepPoint*, std::size_t>> faults;
    std::vector<std::string> order;
    for (const SweepPoint& point : parsed_.points)
      for (const Problem& problem : point.config.validate()) {
        auto& [first, count] = faults[to_string(problem)];
        if (count++ > 0) continue;
        first = &point;
        order.push_back(to_string(problem));
      }
    for (const std::string& fault : order) {
      const auto& [point, count] = faults.at(fault);
      complain("the point " + place_in_words(parsed_.sweep, *point) +
                   (count > 1 ? " and " + std::to_string(count - 1) + " more" : ""),
               fault);
    }
  }

  const json& document_;
  std::string path_;
  ParsedSweep parsed_;
  std::set<std::string> varied_;
};

}  // namespace

ParsedSweep sweep_from_json(const json& document, const std::string& path_for_messages) {
  return SweepReader(document, path_for_messages).read();
}

ParsedSweep sweep_from_file(const std::string& path) {
  const JsonFile file = read_json_file(path);
  if (!file.problem) return sweep_from_json(file.document, path);
  ParsedSweep parsed;
  parsed.problems.push_back(*file.problem);
  return parsed;
}

}  // namespace mambarium
