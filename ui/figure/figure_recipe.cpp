#include "ui/figure/figure_recipe.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <stdexcept>

#include "mambarium/version.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

using nlohmann::json;

std::invalid_argument bad(const std::string& what) {
  return std::invalid_argument(what);
}

const json& field(const json& document, const char* name) {
  const auto found = document.find(name);
  if (found == document.end()) throw bad("\"" + std::string(name) + "\" is missing.");
  return *found;
}

std::string text(const json& document, const char* name) {
  const json& value = field(document, name);
  if (!value.is_string()) throw bad("\"" + std::string(name) + "\" must be text.");
  return value.get<std::string>();
}

std::string optionalText(const json& document, const char* name) {
  return document.contains(name) ? text(document, name) : std::string();
}

double number(const json& document, const char* name, double missing) {
  const auto found = document.find(name);
  if (found == document.end()) return missing;
  if (!found->is_number()) throw bad("style." + std::string(name) + " must be a number.");
  return found->get<double>();
}

FigureStyle styleFromRecipe(const json& document) {
  if (!document.is_object()) throw bad("\"style\" must be an object.");
  FigureStyle style;
  style.width_mm = number(document, "width_mm", style.width_mm);
  style.height_mm = number(document, "height_mm", style.height_mm);
  style.font_pt = number(document, "font_pt", style.font_pt);
  style.dpi = number(document, "dpi", style.dpi);
  const std::string palette = optionalText(document, "palette");
  if (!palette.empty() && palette != "light" && palette != "dark")
    throw bad("style.palette must be \"light\" or \"dark\".");
  style.dark = palette == "dark";
  if (const std::string problem = styleProblem(style); !problem.empty()) throw bad(problem);
  return style;
}

json provenance(const Figure& figure) {
  json runs = json::array();
  for (const RunSeries& run : figure.data.runs)
    runs.push_back({{"title", run.title},
                    {"folder", run.folder},
                    {"step", run.rows.empty() ? 0 : run.rows.back().step},
                    {"share", share_string(run.config)}});
  json document = {{"program", "mambarium"},
                   {"version", version},
                   {"revision", revision},
                   {"made", QDateTime::currentDateTimeUtc().toString(Qt::ISODate).toStdString()},
                   {"runs", std::move(runs)}};
  if (const auto& sweep = figure.data.sweep)
    document["sweep"] = {{"title", sweep->result.title}, {"folder", sweep->folder}, {"models", sweep->done}};
  if (const QString command = inspectCommand(figure); !command.isEmpty())
    document["inspect_command"] = command.toStdString();
  return document;
}

QString shellQuoted(QString word) {
  static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_./:@%+=-]+$"));
  if (plain.match(word).hasMatch()) return word;
  return u'\'' + word.replace(u'\'', QStringLiteral("'\\''")) + u'\'';
}

}  // namespace

json figureToRecipe(const Figure& figure) {
  const FigureStyle& style = figure.style;
  return {{"recipe", recipe_version},
          {"panel", figure.panel_id.toStdString()},
          {"options", figure.options},
          {"style",
           {{"width_mm", style.width_mm},
            {"height_mm", style.height_mm},
            {"font_pt", style.font_pt},
            {"palette", style.dark ? "dark" : "light"},
            {"dpi", style.dpi}}},
          {"title", figure.title.toStdString()},
          {"caption", figure.caption.toStdString()},
          {"data", to_recipe_json(figure.data)},
          {"provenance", provenance(figure)}};
}

Figure figureFromRecipe(const json& document) {
  if (!document.is_object() || !document.contains("recipe"))
    throw bad("it is not a figure recipe: \"recipe\" is missing.");
  const json& made_by = document["recipe"];
  if (!made_by.is_number_integer() || made_by.get<std::int64_t>() != recipe_version)
    throw bad("it is a recipe of version " + made_by.dump() + ", this program reads version " +
              std::to_string(recipe_version) + ".");
  Figure figure;
  figure.panel_id = QString::fromStdString(text(document, "panel"));
  figure.options = document.value("options", json::object());
  if (!figure.options.is_object()) throw bad("\"options\" must be an object.");
  figure.style = styleFromRecipe(document.value("style", json::object()));
  figure.title = QString::fromStdString(optionalText(document, "title"));
  figure.caption = QString::fromStdString(optionalText(document, "caption"));
  figure.data = panel_data_from_recipe(field(document, "data"));
  return figure;
}

Figure readRecipe(const QString& path) {
  const std::string name = path.toStdString();
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly))
    throw bad("The recipe " + name + " cannot be read: " + file.errorString().toStdString() + ".");
  const QByteArray bytes = file.readAll();
  json document;
  try {
    document = json::parse(bytes.begin(), bytes.end());
  } catch (const json::parse_error& error) {
    const QByteArray before = bytes.left(static_cast<qsizetype>(error.byte > 0 ? error.byte - 1 : 0));
    const auto column = before.size() - (before.lastIndexOf('\n') + 1) + 1;
    throw bad("The recipe " + name + " is not JSON: line " + std::to_string(before.count('\n') + 1) + ", column " +
              std::to_string(column) + ".");
  }
  try {
    return figureFromRecipe(document);
  } catch (const std::invalid_argument& problem) {
    throw bad("The recipe " + name + " cannot be drawn: " + problem.what());
  }
}

QByteArray recipeBytes(const Figure& figure) {
  return QByteArray::fromStdString(figureToRecipe(figure).dump(1)) + '\n';
}

QString recipePathFor(const QString& figure_path) {
  const QFileInfo info(figure_path);
  return QDir(info.path()).filePath(info.completeBaseName() + QStringLiteral(".recipe.json"));
}

QString inspectCommand(const Figure& figure) {
  const std::unique_ptr<Panel> panel(makePanel(figure.panel_id, nullptr));
  if (!panel || figure.data.current >= figure.data.runs.size()) return {};
  panel->show(figure.data);
  panel->setOptions(figure.options);
  const std::optional<InspectRequest> wanted = panel->wants();
  const RunSeries& run = figure.data.runs[figure.data.current];
  if (!wanted || run.folder.empty()) return {};
  QString command = QStringLiteral("mambarium-worker inspect %1 --what %2")
                        .arg(shellQuoted(QString::fromStdString(run.folder)), QString::fromStdString(wanted->what));
  const InspectRequest usual;
  const auto add = [&](const char* flag, const QString& value) {
    command += QStringLiteral(" --%1 %2").arg(QLatin1String(flag), value);
  };
  if (figure.options.contains("probe")) add("probe", exactText(wanted->probe));
  if (wanted->layer != usual.layer) add("layer", exactText(wanted->layer));
  if (wanted->head != usual.head) add("head", exactText(wanted->head));
  if (wanted->epsilon != usual.epsilon) add("epsilon", exactText(wanted->epsilon));
  if (wanted->beta != usual.beta) add("beta", exactText(wanted->beta));
  if (figure.data.inspected && figure.data.inspected->contains("step"))
    add("at", exactText(figure.data.inspected->at("step").get<std::int64_t>()));
  return command;
}

}  // namespace mambarium
