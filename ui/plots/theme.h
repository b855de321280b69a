// Theme: every colour, font, line and length that the window and the figures use. One place decides how things look.
//
// A value type: copy it freely. Three appearances: light and dark for the screen, print for paper (white ground, black
// text, no panel tint). Lengths are written for a base font of 13 pixels and scaled by px(): on the screen by the zoom
// (presentation mode), in a figure by the font size, so that a figure is the same drawing on another scale.
//
// Runs wear the Okabe-Ito palette (Okabe & Ito 2008, safe for colour-blind readers) by INDEX, so that a run keeps its
// identity when the appearance changes; marker_index gives the second channel, a dash and a marker. Two colours are
// shifted where the original would vanish: yellow is darker on white, blue lighter on black. The best possible
// predictors are always neutral dashed lines, never a run colour.
#pragma once

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QPainterPath>
#include <QPalette>
#include <QPen>
#include <QString>
#include <QVector>

class QApplication;

namespace mambarium {

enum class Appearance { light, dark, print };

// The yardsticks of a plot: each has its own dash, all share the neutral colour.
enum class Reference { add_beta, oracle, uniform };

class Theme {
 public:
  // For widgets. zoom 1 is the normal window; presentation mode uses about 1.6.
  static Theme screen(Appearance appearance, double zoom = 1.0);

  // For figures, in figure units (144 an inch, so that half points are whole units): the base font has font_pt points.
  static Theme figure(Appearance appearance, double font_pt);
  static constexpr double figure_units_per_inch = 144;

  Theme() : Theme(Appearance::light, 1.0) {}  // screen(light)
  bool operator==(const Theme&) const = default;

  Appearance appearance() const { return appearance_; }
  bool isDark() const { return appearance_ == Appearance::dark; }

  // A length of the 13-pixel design (a gap, a tick, a marker) in the units of this theme; never rounds a line to
  // nothing.
  int px(double length) const;
  double scale() const { return scale_; }

  QColor window() const;      // behind the panels
  QColor panel() const;       // behind a plot
  QColor text() const;        // labels and titles
  QColor mutedText() const;   // units, hints, what is switched off; still 4.5 : 1 on panel()
  QColor line() const;        // borders, axis lines
  QColor grid() const;        // lighter than line()
  QColor accent() const;      // the one thing to press, focus, selection
  QColor accentText() const;  // on accent()
  QColor neutral() const;     // reference lines
  QColor underlay() const;    // a wide pale line below a run's: the yardstick it should follow
  QColor missing() const;     // grey for values that are not there
  QColor warning() const;     // text of a problem
  QColor highlight() const;   // the token under the mouse, translucent

  QColor runColor(int palette_index) const;                                    // any index >= 0; repeats after 8
  QPen runPen(int palette_index, int marker_index, double width = 1.5) const;  // colour and dash
  QPen referencePen(Reference reference, double width = 1.25) const;
  static QPainterPath markerPath(int marker_index);  // fits a square of side 6 about the origin
  static bool markerIsFilled(int marker_index);      // crosses and plusses are strokes
  QIcon runIcon(int palette_index, int marker_index,
                int side = 16) const;  // a line with its marker, for lists and legends

  // Blue-white-vermillion about zero for signed values, t in [-1, 1]; viridis for magnitudes, t in [0, 1]. NaN:
  // missing().
  QColor diverging(double t) const;
  QColor sequential(double t) const;
  // The shade of token `token` of `states`: neutral, from light to dark, with the colour a digit on it must have.
  QColor tokenColor(int token, int states) const;
  QColor switchColor() const;  // of the token after which a new chain begins, in strips and on curves
  static QColor textOn(const QColor& ground);
  static QColor mixed(const QColor& from, const QColor& to, double t);  // channel by channel, t in [0, 1]

  // Sizes in pixels of this theme (figures: figure units). Digits are tabular: live numbers keep their width.
  QFont font() const;       // 13: labels, controls
  QFont titleFont() const;  // 13 semi-bold: panel titles
  QFont axisFont() const;   // 12: axis titles, legends
  QFont smallFont() const;  // 11: tick labels, captions

  // For the chrome. Apply both with applyTo(); plots do not follow a palette, give them the theme through
  // Panel::setTheme. Widgets opt in by a dynamic property: "role" = "panel" (a plot's frame), "sidebar", "hint" (muted
  // text), "title"; "primary" = true for the one button to press.
  QPalette palette() const;
  QString styleSheet() const;
  void applyTo(QApplication& application) const;  // Fusion, palette, style sheet, font

 private:
  Theme(Appearance appearance, double scale) : appearance_(appearance), scale_(scale) {}
  QFont sized(double pixels, QFont::Weight weight) const;

  Appearance appearance_;
  double scale_;
};

// Makes the shipped fonts known to Qt; needs a QGuiApplication. Safe to call again. False when a font cannot be loaded
// (Qt's default is used then).
bool loadFonts();

}  // namespace mambarium
