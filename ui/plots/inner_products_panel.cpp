#include "ui/plots/inner_products_panel.h"

#include <algorithm>
#include <cmath>

#include "ui/plots/axis_range.h"
#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr int most_named = 32;  // windows on an axis
constexpr const char* question = "inner_products";

}  // namespace

InnerProductsPanel::InnerProductsPanel(QWidget* parent)
    : PlotPanel(QStringLiteral("inner-products"), tr("Inner products"),
                tr("Which windows of tokens the model takes for the same context, b(v)·c(u), will appear here. Press "
                   "Play (Space) to train."),
                parent),
      rect_(chart()->addRect(0)),
      cells_(new CellMap(rect_->axis(QCPAxis::atBottom), rect_->axis(QCPAxis::atLeft))),
      scale_(chart(), 0, 1) {
  auto* edges = new QCPMarginGroup(chart());
  for (QCPAxisRect* rect : {rect_, scale_.rect()}) rect->setMarginGroup(QCP::msTop | QCP::msBottom, edges);
}

bool InnerProductsPanel::tooManyWindows() const {
  const RunSeries* run = currentRun();
  if (!run || nothing_to_inspect(run->config, question)) return false;
  const std::int64_t window = run->config.text("model.conv") == "none" ? 1 : run->config.integer("model.d_conv");
  return std::pow(static_cast<double>(alphabet_of(run->config)), static_cast<double>(window)) >
         static_cast<double>(most_windows);
}

std::optional<InspectRequest> InnerProductsPanel::wants() const {
  if (tooManyWindows()) return std::nullopt;
  return InspectRequest{question};
}

bool InnerProductsPanel::prepare(const PanelChange& change) {
  if (change.inspected) {
    tokens_.clear();
    readAnswer(answer_);
    for (const std::string& window : answer_.windows) {
      const QString text = QString::fromStdString(window);
      std::vector<int> tokens;
      if (answer_.window == 1 || text.contains(u',')) {
        for (const QString& token : text.split(u',')) tokens.push_back(token.toInt());
      } else {
        for (const QChar digit : text) tokens.push_back(digit.digitValue());
      }
      tokens_.push_back(std::move(tokens));
    }
  }
  return !answer_.products.data.empty();
}

QString InnerProductsPanel::emptyText() const {
  if (!tooManyWindows()) return PlotPanel::emptyText();
  return tr("There are too many windows for a matrix: at most %1 can be shown. A smaller window w or alphabet would "
            "do.")
      .arg(most_windows);
}

double InnerProductsPanel::product(int key, int query) const {
  return static_cast<double>(answer_.products.data[static_cast<std::size_t>(key * count() + query)]);
}

std::int64_t InnerProductsPanel::order() const {
  const RunSeries* run = currentRun();
  return run ? run->config.integer("task.order") : 1;
}

bool InnerProductsPanel::agree(int key, int query) const {
  const auto& v = tokens_[static_cast<std::size_t>(key)];
  const auto& u = tokens_[static_cast<std::size_t>(query)];
  const auto k = static_cast<std::ptrdiff_t>(order());
  if (std::ssize(v) <= k || std::ssize(u) < k) return false;
  return std::equal(v.end() - 1 - k, v.end() - 1, u.end() - k);
}

void InnerProductsPanel::draw() {
  double largest = 0;
  for (const float value : answer_.products.data)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  const AxisRange range = linearRange(-std::max(largest, 1e-6), std::max(largest, 1e-6), std::nullopt);

  std::vector<QColor> colors;
  std::vector<QString> texts;
  std::vector<char> framed;
  for (int key = 0; key < count(); ++key)
    for (int query = 0; query < count(); ++query) {
      colors.push_back(theme().diverging(product(key, query) / range.upper));
      texts.push_back(fixedText(product(key, query), 2));
      framed.push_back(agree(key, query) ? 1 : 0);
    }
  cells_->setCells(count(), count(), std::move(colors), std::move(texts));
  cells_->setTextFont(count() <= 8 ? theme().font() : theme().smallFont());
  cells_->setBackdrop(theme().grid());
  cells_->setSeparator(theme().scale());
  const QPen frame(QColor(0x1b1f24), 1.75 * theme().scale(), Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin);
  cells_->setFrames(std::move(framed), frame);

  QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
  for (int i = 0; i < count(); i += 1 + count() / most_named) names->addTick(i, windowName(i));
  for (QCPAxis* axis : {rect_->axis(QCPAxis::atBottom), rect_->axis(QCPAxis::atLeft)}) {
    axis->setTicker(names);
    axis->setRange(-0.5, count() - 0.5);
    axis->grid()->setVisible(false);
  }
  rect_->axis(QCPAxis::atLeft)->setRangeReversed(true);
  rect_->axis(QCPAxis::atBottom)->setTickLabelRotation(count() > 8 ? 90 : 0);
  chart()->setAxisTitles(rect_, tr("Asking: window u of c(u)"), tr("Stored: window v of b(v)"));
  constexpr int square = 1;
  chart()->flowLegend()->setEntries(
      {{tr("framed: u asks for the context that v stores"), QPen(Qt::NoPen), square, theme().text(), true}});
  scale_.draw(tr("b(v)·c(u)"), range.lower, range.upper,
              [this, range](double value) { return theme().diverging(value / range.upper); });
}

void InnerProductsPanel::hover(const QPointF& pixel) {
  if (!rect_->rect().contains(pixel.toPoint())) {
    leave();
    return;
  }
  const auto cell = [&](QCPAxis::AxisType type, double along) {
    return std::clamp(static_cast<int>(std::lround(rect_->axis(type)->pixelToCoord(along))), 0, count() - 1);
  };
  const int query = cell(QCPAxis::atBottom, pixel.x()), key = cell(QCPAxis::atLeft, pixel.y());
  hoverLabel()->showAt(tr("<b>b(%1)·c(%2) = %3</b><br>%4")
                           .arg(windowName(key), windowName(query), signedText(product(key, query)),
                                agree(key, query) ? tr("the same context") : tr("different contexts")),
                       pixel, {}, chart()->viewport());
}

QString InnerProductsPanel::describe() const {
  double same = 0, other = 0;
  std::int64_t same_count = 0, other_count = 0;
  for (int key = 0; key < count(); ++key)
    for (int query = 0; query < count(); ++query) {
      if (agree(key, query)) {
        same += product(key, query);
        ++same_count;
      } else {
        other += std::abs(product(key, query));
        ++other_count;
      }
    }
  if (same_count == 0)
    return tr("Step %1: windows of %2 are too short to hold a context of order %3 and the token after it.")
        .arg(stepText(answer_.step), countText(answer_.window, tr("token"), tr("tokens")), QString::number(order()));
  return tr("Step %1: b(v)·c(u) is %2 on average where u asks for the context that v stores, and ±%3 elsewhere; a "
            "model "
            "that counts has 0 there.")
      .arg(stepText(answer_.step), fixedText(same / static_cast<double>(same_count), 3),
           fixedText(other / static_cast<double>(std::max<std::int64_t>(other_count, 1)), 3));
}

PanelTable InnerProductsPanel::table() const {
  PanelTable table;
  table.columns = {QStringLiteral("v"), QStringLiteral("u"), QStringLiteral("same_context"), QStringLiteral("product")};
  if (!hasData()) return table;
  for (int key = 0; key < count(); ++key)
    for (int query = 0; query < count(); ++query)
      table.rows.push_back({windowName(key), windowName(query), exactText(std::int64_t{agree(key, query)}),
                            exactText(answer_.products.data[static_cast<std::size_t>(key * count() + query)])});
  return table;
}

}  // namespace mambarium
