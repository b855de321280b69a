// The one property table: every setting of an experiment stands here once, as one line.
//
// From this table come the JSON file, the command-line flags, --help, the validation messages, the share string, the
// form in the window and docs/settings.md. Nothing else in the program lists settings.
//
// Threads: the table is immutable and may be read from any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace mambarium {

// A choice and a set of choices are held as text; a set in the table's own order, joined by commas ("x,B,C"), or
// "none".
using PropertyValue = std::variant<bool, std::int64_t, double, std::string>;

enum class PropertyType { boolean, integer, real, choice, choice_set, text };

struct Property {
  std::string_view key;    // "model.d_state": the JSON path, the flag and the name in messages
  std::string_view group;  // the heading in the form: "Task", "Model", "Parts", "Coupling", "Training", "Run"
  PropertyType type = PropertyType::text;
  PropertyValue default_value;
  double minimum = -std::numeric_limits<double>::infinity();  // inclusive unless minimum_excluded
  double maximum = std::numeric_limits<double>::infinity();   // inclusive
  bool minimum_excluded = false;
  std::vector<std::string_view> choices;  // for choice and choice_set
  // Of a choice, where it has any: other names of some, which are read in upper and lower case and never stored, and
  // what to say of them: "2" and "Motif-2" for "021U".
  std::vector<std::pair<std::string_view, std::string_view>> other_names;
  std::string_view other_names_text;
  // When the setting has any effect: "" (always) or clauses "key=value" / "key!=value" joined by " & ", and such
  // conjunctions by " | ". A clause about a setting that has no effect itself does not hold.
  // A setting that does not apply keeps its value, is not shown as editable, and is never a validation error.
  std::string_view applies_when;
  std::string_view label;  // sentence case, as a person reads it: "State size N"
  std::string_view unit;   // "tokens", "sequences", or ""
  std::string_view help;   // one or two sentences
};

std::span<const Property> property_table();
const Property* find_property(std::string_view key);  // nullptr when there is none

// The key that is nearest to a mistyped one by edit distance, if it is near: for "did you mean" messages.
std::optional<std::string_view> nearest_key(std::string_view key);

}  // namespace mambarium
