// Figure: a panel, the values it shows and a style. Everything that is needed to draw it again, and nothing else.
//
// A figure is drawn by the same panel class as on the screen, on a fresh instance that has never been shown, so the
// window and a recipe give the same drawing. Lengths are millimetres, font sizes points: what a journal asks for. GUI
// thread only (it makes a widget), but no display: the offscreen platform is enough.
#pragma once

#include <QString>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ui/plots/panel.h"
#include "ui/plots/theme.h"

namespace mambarium {

struct FigureStyle {
  double width_mm = 85;
  double height_mm = 60;
  double font_pt = 8;
  bool dark = false;  // dark ground, for slides; else black on white
  double dpi = 300;   // of PNG
  bool operator==(const FigureStyle&) const = default;
  Appearance appearance() const { return dark ? Appearance::dark : Appearance::print; }
};

// "" when the style can be drawn; else one sentence that says which number is out of range and what would be right.
std::string styleProblem(const FigureStyle& style);

struct FigurePreset {
  QString id, title;
  FigureStyle style;
};
const std::vector<FigurePreset>& figurePresets();  // single column, double column, slide

struct Figure {
  QString panel_id;
  nlohmann::json options = nlohmann::json::object();
  PanelData data;
  FigureStyle style;
  QString title;    // above the plot, "" for none
  QString caption;  // below the plot, "" for none
};

Figure figureOf(const Panel& panel, const FigureStyle& style);  // what the panel shows right now

// The panel of a figure, with its options, theme and data, its plot laid out for the figure's size. Throws
// std::invalid_argument with one sentence for an unknown panel, bad options, a bad style, or data that show nothing.
std::unique_ptr<Panel> makeFigurePanel(const Figure& figure);

}  // namespace mambarium
