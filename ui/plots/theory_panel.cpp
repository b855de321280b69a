#include "ui/plots/theory_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr std::array view_names = {"bound", "quantisation", "construction"};
constexpr double least_epsilon = 1e-6, most_epsilon = 0.3, least_beta = 0.01, most_beta = 100, most_bits = 64;
constexpr int steps_per_decade = 10;

// Slider positions are even in the logarithm; values are rounded to two digits, so that they read well.
double rounded(double value) {
  return QString::number(value, 'g', 2).toDouble();
}

}  // namespace

TheoryPanel::TheoryPanel(QWidget* parent)
    : PlotPanel(QStringLiteral("theory"), tr("Theory"),
                tr("What the theorems say of a model's memory will appear here, with your runs beside it. Press Play "
                   "(Space) to train."),
                parent),
      rect_(chart()->addRect(0)),
      end_labels_(new EndLabels(rect_)),
      errors_(new QCPErrorBars(xAxis(), yAxis())),
      graphs_(xAxis(), yAxis()),
      log_ticker_(new LogStripTicker(powerText)) {
  view_box_ = addChoice({tr("Lower bound"), tr("Quantisation"), tr("Construction")}, tr("View of the theory"),
                        tr("The bits a model needs (Theorem 2), what rounding its state costs, or the construction of "
                           "Theorem 4"));
  connect(view_box_, &QComboBox::currentIndexChanged, this, [this](int index) {
    view_ = static_cast<View>(index);
    redraw();
  });
  epsilon_setting_ = addSetting(tr("epsilon"), tr("How near to the best predictor"), &epsilon_, least_epsilon,
                                most_epsilon, steps_per_decade);
  bits_setting_ = addSetting(tr("bits p"), tr("Bits of every number of the state"), &bits_, 1, most_bits, 0);
  beta_setting_ = addSetting(tr("beta"), tr("Of the add-beta estimator that the construction follows"), &beta_,
                             least_beta, most_beta, steps_per_decade);
  errors_->setSelectable(QCP::stNone);
  updateSettings();
}

int TheoryPanel::Setting::positionOf(double of) const {
  return static_cast<int>(std::lround(steps == 0 ? of : std::log10(of) * steps));
}

TheoryPanel::Setting TheoryPanel::addSetting(const QString& name, const QString& tip, double* value, double minimum,
                                             double maximum, int steps) {
  const Setting setting{name, value, steps, new QLabel(this), new QSlider(Qt::Horizontal, this)};
  setting.label->setProperty("role", QStringLiteral("hint"));
  setting.slider->setAccessibleName(name);
  setting.slider->setToolTip(tip);
  setting.slider->setFocusPolicy(Qt::StrongFocus);
  setting.slider->setRange(setting.positionOf(minimum), setting.positionOf(maximum));
  footer()->addWidget(setting.label);
  footer()->addWidget(setting.slider, 1);
  connect(setting.slider, &QSlider::valueChanged, this, [this, steps, value](int position) {
    *value = steps == 0 ? position : rounded(std::pow(10, position / double(steps)));
    redraw();
  });
  return setting;
}

void TheoryPanel::updateSettings() {
  const auto show = [](const Setting& setting, bool shown) {
    const QSignalBlocker blocker(setting.slider);
    setting.slider->setValue(setting.positionOf(*setting.value));
    setting.label->setText(setting.name + u' ' + exactText(*setting.value));
    setting.label->setMinimumWidth(
        setting.label->fontMetrics().horizontalAdvance(setting.name + QStringLiteral(" 0.000032")));
    setting.label->setVisible(shown);
    setting.slider->setVisible(shown);
  };
  show(epsilon_setting_, view_ != View::quantisation);
  show(bits_setting_, view_ == View::bound);
  show(beta_setting_, view_ == View::construction);
}

std::optional<InspectRequest> TheoryPanel::wants() const {
  if (view_ == View::bound) return std::nullopt;
  InspectRequest request;
  request.what = view_ == View::quantisation ? "quantisation" : "theorem4";
  if (view_ == View::construction) {
    request.epsilon = epsilon_;
    request.beta = beta_;
  }
  return request;
}

nlohmann::json TheoryPanel::options() const {
  return {{"view", view_names[static_cast<std::size_t>(view_)]},
          {"epsilon", epsilon_},
          {"bits", static_cast<std::int64_t>(bits_)},
          {"beta", beta_}};
}

void TheoryPanel::setOptions(const nlohmann::json& options) {
  const std::string view = optionChoice(options, "theory", "view", view_names[static_cast<std::size_t>(view_)],
                                        {view_names[0], view_names[1], view_names[2]});
  const double epsilon = optionReal(options, "theory", "epsilon", epsilon_, least_epsilon, most_epsilon);
  const double beta = optionReal(options, "theory", "beta", beta_, least_beta, most_beta);
  const std::int64_t bits = optionInteger(options, "theory", "bits", static_cast<std::int64_t>(bits_), 1, most_bits);
  epsilon_ = epsilon;
  beta_ = beta;
  bits_ = static_cast<double>(bits);
  {
    const QSignalBlocker blocker(view_box_);
    view_ = static_cast<View>(std::ranges::find(view_names, view) - view_names.begin());
    view_box_->setCurrentIndex(static_cast<int>(view_));
  }
  redraw();
}

bool TheoryPanel::prepare(const PanelChange& change) {
  updateSettings();
  if (change.inspected) {
    quantised_.reset();
    theorem_.reset();
    // What was asked for in another view may still be there.
    if (data().inspected && data().inspected->contains("bits")) quantised_ = data().inspected->get<QuantisationData>();
    if (data().inspected && data().inspected->contains("every_short")) theorem_ = data().inspected->get<TheoremData>();
  }
  switch (view_) {
    case View::quantisation:
      return quantised_.has_value();
    case View::construction:
      return theorem_.has_value();
    case View::bound:
      break;
  }
  return !data().runs.empty();
}

QString TheoryPanel::emptyText() const {
  if (data().runs.empty()) return PlotPanel::emptyText();
  return view_ == View::quantisation ? tr("The cost of rounding the state is being measured.")
                                     : tr("The construction is being measured.");
}

void TheoryPanel::draw() {
  points_.clear();
  errors_->setVisible(view_ == View::quantisation);
  end_labels_->setTheme(theme());
  const QSharedPointer<TidyTicker> whole(new TidyTicker(true));
  whole->fitTo(xAxis());
  xAxis()->setTicker(whole);
  xAxis()->setTickLabelRotation(0);
  graphs_.begin();
  switch (view_) {
    case View::bound:
      drawBound();
      break;
    case View::quantisation:
      drawQuantisation();
      break;
    case View::construction:
      drawConstruction();
      break;
  }
  graphs_.end();
}

void TheoryPanel::hover(const QPointF& pixel) {
  const auto place = [this](const Point& point) {
    return QPointF(xAxis()->coordToPixel(point.x), yAxis()->coordToPixel(point.y));
  };
  const auto distance = [&](const Point& point) {
    const QPointF away = place(point) - pixel;
    return QPointF::dotProduct(away, away);
  };
  const auto nearest = std::ranges::min_element(points_, {}, distance);
  if (nearest == points_.end() || !rect_->rect().contains(pixel.toPoint())) {
    leave();
    return;
  }
  hoverLabel()->showAt(nearest->text, place(*nearest), {place(*nearest)}, rect_->rect());
}

QString TheoryPanel::describe() const {
  switch (view_) {
    case View::quantisation:
      return describeQuantisation();
    case View::construction:
      return describeConstruction();
    case View::bound:
      break;
  }
  return describeBound();
}

PanelTable TheoryPanel::table() const {
  if (!hasData()) return boundTable();
  switch (view_) {
    case View::quantisation:
      return quantisationTable();
    case View::construction:
      return constructionTable();
    case View::bound:
      break;
  }
  return boundTable();
}

}  // namespace mambarium
