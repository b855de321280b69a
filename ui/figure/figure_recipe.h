// Recipes: a figure as a JSON file that lies beside it, from which `mambarium figure recipe.json -o figure.pdf` makes
// the same drawing again without a window, a worker or the run folder.
//
//   {"recipe": 1, "panel": "gap", "options": {...}, "style": {"width_mm", "height_mm", "font_pt", "palette", "dpi"},
//    "title": "", "caption": "", "data": {...}, "provenance": {...}}
//
// `data` holds the values (panel_data.h). `provenance` is for people: program version, when, and for every run its
// folder, step and share string, and the command that gives the inspected values again. It is not read back.
#pragma once

#include "ui/figure/figure.h"

namespace mambarium {

inline constexpr int recipe_version = 1;

nlohmann::json figureToRecipe(const Figure& figure);
Figure figureFromRecipe(const nlohmann::json& document);  // throws std::invalid_argument, one sentence

// Reads a file; throws std::invalid_argument with one sentence that names it (missing, not JSON with line and column,
// not a recipe, a recipe of a newer program, a bad field).
Figure readRecipe(const QString& path);
QByteArray recipeBytes(const Figure& figure);

// fig.pdf -> fig.recipe.json
QString recipePathFor(const QString& figure_path);

// "mambarium-worker inspect <folder> --what decay --probe 2 --at 400", or "" for panels that show metrics.csv alone.
QString inspectCommand(const Figure& figure);

}  // namespace mambarium
