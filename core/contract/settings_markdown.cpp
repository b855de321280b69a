#include "core/contract/experiment_config.h"

namespace mambarium {

namespace {

// Spelled with words: "when model.conv is not none".
std::string condition(std::string_view clauses) {
  std::string words(clauses);
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (std::size_t at = words.find(from); at != std::string::npos; at = words.find(from, at + to.size()))
      words.replace(at, from.size(), to);
  };
  replace("!=", " is not ");
  replace("=", " is ");
  replace(" & ", " and ");
  replace(" | ", " or ");
  return words;
}

}  // namespace

std::string settings_markdown() {
  std::string page =
      "# Settings\n\n"
      "Generated from the property table in `core/contract/property.cpp` by `mambarium-worker settings`; change the\n"
      "table, not this page. Every setting has one name: it is the path in `experiment.json` (`task.order` is\n"
      "`{\"task\": {\"order\": 1}}`), the flag on the command line (`--task.order 2`), and the name in messages. A\n"
      "setting that is given there, is not at its default and has no effect in the experiment is told on standard\n"
      "error, with the reason.\n";
  std::string_view group;
  for (const Property& property : property_table()) {
    if (property.group != group) {
      group = property.group;
      page += "\n## " + std::string(group) +
              "\n\n| Setting | Name | Default | Range | Unit | Meaning |\n|---|---|---|---|---|---|\n";
    }
    std::string meaning(property.help);
    if (!property.applies_when.empty()) meaning += " Has an effect when " + condition(property.applies_when) + ".";
    page += "| `" + std::string(property.key) + "` | " + std::string(property.label) + " | `" +
            value_to_string(property.default_value) + "` | " + property_range_text(property) + " | " +
            std::string(property.unit) + " | " + meaning + " |\n";
  }
  return page;
}

}  // namespace mambarium
