#include "ui/figure/figure.h"

#include <qcustomplot.h>

#include <QObject>
#include <cmath>
#include <stdexcept>

#include "ui/figure/figure_layout.h"

namespace mambarium {
namespace {

struct Limit {
  const char* name;
  double FigureStyle::*member;
  double minimum, maximum;
  const char* unit;
};
constexpr Limit limits[] = {{"width_mm", &FigureStyle::width_mm, 30, 1000, "mm"},
                            {"height_mm", &FigureStyle::height_mm, 20, 1000, "mm"},
                            {"font_pt", &FigureStyle::font_pt, 4, 48, "points"},
                            {"dpi", &FigureStyle::dpi, 36, 2400, "dots per inch"}};

std::string shown(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

std::string styleProblem(const FigureStyle& style) {
  for (const Limit& limit : limits) {
    const double value = style.*limit.member;
    if (value >= limit.minimum && value <= limit.maximum) continue;
    return std::string("style.") + limit.name + " is " + shown(value) + ": it must be from " + shown(limit.minimum) +
           " to " + shown(limit.maximum) + " " + limit.unit + ".";
  }
  return "";
}

const std::vector<FigurePreset>& figurePresets() {
  static const std::vector<FigurePreset> presets = {
      {QStringLiteral("single"), QObject::tr("Single column (85 mm)"), {85, 60, 8, false, 300}},
      {QStringLiteral("double"), QObject::tr("Double column (174 mm)"), {174, 80, 8, false, 300}},
      {QStringLiteral("slide"), QObject::tr("Slide (254 × 143 mm)"), {254, 143, 18, false, 150}}};
  return presets;
}

Figure figureOf(const Panel& panel, const FigureStyle& style) {
  return {panel.id(), panel.options(), panel.data(), style, {}, {}};
}

std::unique_ptr<Panel> makeFigurePanel(const Figure& figure) {
  if (const std::string problem = styleProblem(figure.style); !problem.empty()) throw std::invalid_argument(problem);
  loadFonts();
  std::unique_ptr<Panel> panel(makePanel(figure.panel_id, nullptr));
  if (!panel)
    throw std::invalid_argument("panel is \"" + figure.panel_id.toStdString() + "\": it must be one of " +
                                panelIds().join(QStringLiteral(", ")).toStdString() + " or sweep.");
  const FigureLayout layout(figure);
  panel->setTheme(layout.theme());
  for (QCustomPlot* plot : panel->plots()) plot->setViewport(QRect(QPoint(0, 0), layout.plot().size()));
  panel->setOptions(figure.options);
  panel->show(figure.data);
  if (!panel->hasData())
    throw std::invalid_argument("the " + figure.panel_id.toStdString() +
                                " panel shows nothing with these data: " + panel->caption().toStdString());
  return panel;
}

}  // namespace mambarium
