#include "ui/plots/theme.h"

#include <QFontDatabase>
#include <QIconEngine>
#include <QPainter>
#include <QPixmap>
#include <QTransform>
#include <algorithm>
#include <array>
#include <cmath>

static void initialiseFontResource() {
  Q_INIT_RESOURCE(fonts);
}

namespace mambarium {
namespace {

constexpr double base_font_pixels = 13;
constexpr std::array<QRgb, 8> okabe_ito = {0xff0072b2, 0xffd55e00, 0xff009e73, 0xffcc79a7,
                                           0xffe69f00, 0xff56b4e9, 0xfff0e442, 0xff000000};

// Nine samples of viridis (matplotlib, CC0), equally spaced.
constexpr std::array<QRgb, 9> viridis = {0xff440154, 0xff472d7b, 0xff3b528b, 0xff2c728e, 0xff21918c,
                                         0xff28ae80, 0xff5ec962, 0xffaddc30, 0xfffde725};

// Paints, so that it is sharp on any screen it is moved to.
class RunIconEngine : public QIconEngine {
 public:
  RunIconEngine(const Theme& theme, int palette_index, int marker_index, int side)
      : theme_(theme), palette_index_(palette_index), marker_index_(marker_index), side_(side) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode, QIcon::State) override {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->translate(QRectF(rect).center());
    painter->scale(rect.width() / double(side_), rect.height() / double(side_));
    QPen line = theme_.runPen(palette_index_, marker_index_);
    line.setWidthF(std::max(1.5, side_ / 10.0));
    painter->setPen(line);
    painter->drawLine(QPointF(-side_ / 2.0, 0), QPointF(side_ / 2.0, 0));
    painter->scale(side_ / 13.0, side_ / 13.0);
    painter->setPen(QPen(theme_.runColor(palette_index_), 1.2));
    if (Theme::markerIsFilled(marker_index_)) painter->setBrush(theme_.runColor(palette_index_));
    painter->drawPath(Theme::markerPath(marker_index_));
    painter->restore();
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    if (size.isEmpty()) return {};
    QPixmap pixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return pixmap;
  }
  QIconEngine* clone() const override { return new RunIconEngine(*this); }

 private:
  Theme theme_;
  int palette_index_, marker_index_, side_;
};

double luminance(const QColor& color) {
  const auto linear = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

const std::array<QVector<qreal>, 6>& runDashes() {
  static const std::array<QVector<qreal>, 6> dashes = {QVector<qreal>{}, {7, 3}, {2, 2},
                                                       {8, 3, 2, 3},     {4, 2}, {10, 2, 2, 2, 2, 2}};
  return dashes;
}

}  // namespace

Theme Theme::screen(Appearance appearance, double zoom) {
  return {appearance, zoom};
}

Theme Theme::figure(Appearance appearance, double font_pt) {
  return {appearance, font_pt * figure_units_per_inch / 72.0 / base_font_pixels};
}

int Theme::px(double length) const {
  const int rounded = static_cast<int>(std::lround(length * scale_));
  return length > 0 ? std::max(rounded, 1) : rounded;
}

QColor Theme::window() const {
  switch (appearance_) {
    case Appearance::dark:
      return QColor(0x11151a);
    case Appearance::print:
      return Qt::white;
    case Appearance::light:
      break;
  }
  return QColor(0xf6f7f9);
}

QColor Theme::panel() const {
  return isDark() ? QColor(0x181d24) : QColor(Qt::white);
}

QColor Theme::text() const {
  switch (appearance_) {
    case Appearance::dark:
      return QColor(0xe6e9ed);
    case Appearance::print:
      return Qt::black;
    case Appearance::light:
      break;
  }
  return QColor(0x1b1f24);
}

QColor Theme::mutedText() const {
  switch (appearance_) {
    case Appearance::dark:
      return QColor(0x9aa5b1);
    case Appearance::print:
      return QColor(0x333333);
    case Appearance::light:
      break;
  }
  return QColor(0x57606a);
}

QColor Theme::line() const {
  switch (appearance_) {
    case Appearance::dark:
      return QColor(0x2c343d);
    case Appearance::print:
      return QColor(0x666666);
    case Appearance::light:
      break;
  }
  return QColor(0xd5dae0);
}

QColor Theme::grid() const {
  switch (appearance_) {
    case Appearance::dark:
      return QColor(0x242b33);
    case Appearance::print:
      return QColor(0xe4e4e4);
    case Appearance::light:
      break;
  }
  return QColor(0xebeef1);
}

QColor Theme::accent() const {
  return isDark() ? QColor(0x56b4e9) : QColor(0x0072b2);
}
QColor Theme::accentText() const {
  return isDark() ? QColor(0x11151a) : QColor(Qt::white);
}

QColor Theme::neutral() const {
  switch (appearance_) {
    case Appearance::dark:
      return QColor(0xa9b4c0);
    case Appearance::print:
      return QColor(0x444444);
    case Appearance::light:
      break;
  }
  return QColor(0x5b6672);
}

QColor Theme::underlay() const {
  return mixed(panel(), neutral(), 0.45);
}

QColor Theme::missing() const {
  return isDark() ? QColor(0x3a434d) : QColor(0xc9ced4);
}
QColor Theme::warning() const {
  return isDark() ? QColor(0xf2905a) : QColor(0xb34700);
}

QColor Theme::highlight() const {
  QColor color = accent();
  color.setAlpha(isDark() ? 90 : 60);
  return color;
}

QColor Theme::runColor(int palette_index) const {
  const auto index = static_cast<std::size_t>(std::max(palette_index, 0)) % okabe_ito.size();
  if (index == 7) return text();
  if (isDark() && index == 0) return QColor(0x3a9bdc);
  if (!isDark() && index == 6) return QColor(0xb3a500);
  return QColor(okabe_ito[index]);
}

QPen Theme::runPen(int palette_index, int marker_index, double width) const {
  QPen pen(runColor(palette_index), width * scale_);
  pen.setJoinStyle(Qt::RoundJoin);
  const auto& dash = runDashes()[static_cast<std::size_t>(std::max(marker_index, 0)) % runDashes().size()];
  if (!dash.isEmpty()) {
    pen.setDashPattern(dash);
    pen.setCapStyle(Qt::FlatCap);
  }
  return pen;
}

QPen Theme::referencePen(Reference reference, double width) const {
  QPen pen(neutral(), width * scale_);
  pen.setCapStyle(Qt::FlatCap);
  switch (reference) {
    case Reference::add_beta:
      pen.setDashPattern({5, 3});
      break;
    case Reference::oracle:
      pen.setDashPattern({1.5, 2.5});
      break;
    case Reference::uniform:
      pen.setDashPattern({10, 4, 1.5, 4});
      break;
  }
  return pen;
}

QPainterPath Theme::markerPath(int marker_index) {
  QPainterPath path;
  const auto polygon = [&path](std::initializer_list<QPointF> points) {
    path.addPolygon(QPolygonF(QList<QPointF>(points)));
    path.closeSubpath();
  };
  switch (std::max(marker_index, 0) % 8) {
    case 0:
      path.addEllipse(QPointF(0, 0), 2.6, 2.6);
      break;
    case 1:
      path.addRect(-2.3, -2.3, 4.6, 4.6);
      break;
    case 2:
      polygon({{0, -3}, {3, 0}, {0, 3}, {-3, 0}});
      break;
    case 3:
      polygon({{0, -2.8}, {2.9, 2.3}, {-2.9, 2.3}});
      break;
    case 4:
      polygon({{0, 2.8}, {2.9, -2.3}, {-2.9, -2.3}});
      break;
    case 5:
      path.moveTo(-2.4, -2.4);
      path.lineTo(2.4, 2.4);
      path.moveTo(-2.4, 2.4);
      path.lineTo(2.4, -2.4);
      break;
    case 6:
      path.moveTo(-3, 0);
      path.lineTo(3, 0);
      path.moveTo(0, -3);
      path.lineTo(0, 3);
      break;
    default:
      polygon({{-2.8, 0}, {-1.4, -2.6}, {1.4, -2.6}, {2.8, 0}, {1.4, 2.6}, {-1.4, 2.6}});
      break;
  }
  return path;
}

bool Theme::markerIsFilled(int marker_index) {
  const int shape = std::max(marker_index, 0) % 8;
  return shape != 5 && shape != 6;
}

QIcon Theme::runIcon(int palette_index, int marker_index, int side) const {
  return QIcon(new RunIconEngine(*this, palette_index, marker_index, side));
}

QColor Theme::diverging(double t) const {
  if (std::isnan(t)) return missing();
  const QColor middle = isDark() ? QColor(0xf2f2f2) : QColor(Qt::white);
  const double strength = std::min(std::abs(t), 1.0);
  return mixed(middle, QColor(t < 0 ? okabe_ito[0] : okabe_ito[1]), strength);
}

QColor Theme::sequential(double t) const {
  if (std::isnan(t)) return missing();
  const double position = std::clamp(t, 0.0, 1.0) * (viridis.size() - 1);
  const auto index = std::min(static_cast<std::size_t>(position), viridis.size() - 2);
  return mixed(QColor(viridis[index]), QColor(viridis[index + 1]), position - static_cast<double>(index));
}

QColor Theme::tokenColor(int token, int states) const {
  const QColor first = isDark() ? QColor(0x2f3843) : QColor(0xe3e7ec);
  const QColor last = isDark() ? QColor(0xb8c2cd) : QColor(0x4a545f);
  return mixed(first, last, states > 1 ? std::clamp(token / static_cast<double>(states - 1), 0.0, 1.0) : 0.0);
}

QColor Theme::switchColor() const {
  return QColor(okabe_ito[4]);
}

QColor Theme::textOn(const QColor& ground) {
  return luminance(ground) > 0.2 ? QColor(0x1b1f24) : QColor(Qt::white);
}

QColor Theme::mixed(const QColor& from, const QColor& to, double t) {
  const auto channel = [t](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * t)); };
  return {channel(from.red(), to.red()), channel(from.green(), to.green()), channel(from.blue(), to.blue())};
}

QFont Theme::sized(double pixels, QFont::Weight weight) const {
  QFont font(QStringLiteral("Mambarium Sans"));
  font.setStyleHint(QFont::SansSerif);
  font.setPixelSize(px(pixels));
  font.setWeight(weight);
  font.setHintingPreference(QFont::PreferNoHinting);
  return font;
}

QFont Theme::font() const {
  return sized(13, QFont::Normal);
}
QFont Theme::titleFont() const {
  return sized(13, QFont::DemiBold);
}
QFont Theme::axisFont() const {
  return sized(12, QFont::Normal);
}
QFont Theme::smallFont() const {
  return sized(11, QFont::Normal);
}

bool loadFonts() {
  static const bool loaded = [] {
    initialiseFontResource();
    bool all = true;
    for (const char* weight : {"Regular", "Medium", "SemiBold"}) {
      const QString path = QStringLiteral(":/fonts/MambariumSans-%1.otf").arg(QLatin1String(weight));
      all = QFontDatabase::addApplicationFont(path) >= 0 && all;
    }
    return all;
  }();
  return loaded;
}

}  // namespace mambarium
