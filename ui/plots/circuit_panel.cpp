#include "ui/plots/circuit_panel.h"

#include <QComboBox>
#include <QKeyEvent>
#include <algorithm>
#include <cmath>

#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr int motifs = static_cast<int>(motif_count);
constexpr double most_stretch = 1000;

// Axes that stand in a layout of their own, so that a column may be left out and a row may span the others.
QCPAxisRect* taken(Chart* chart, QCPAxisRect* rect) {
  chart->plotLayout()->take(rect);
  return rect;
}

QCPItemRect* makeBand(Chart* chart, QCPAxisRect* rect) {
  auto* band = new QCPItemRect(chart);
  band->setLayer(QStringLiteral("grid"));
  band->setClipAxisRect(rect);
  for (auto* corner : {band->topLeft, band->bottomRight}) {
    corner->setAxisRect(rect);
    corner->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
    corner->setTypeX(QCPItemPosition::ptAxisRectRatio);
    corner->setTypeY(QCPItemPosition::ptPlotCoords);
  }
  band->setVisible(false);
  return band;
}

QCPBars* makeBars(QCPAxisRect* rect) {
  auto* bars = new QCPBars(rect->axis(QCPAxis::atLeft), rect->axis(QCPAxis::atBottom));
  bars->setSelectable(QCP::stNone);
  bars->setWidthType(QCPBars::wtPlotCoords);
  bars->setWidth(0.38);
  return bars;
}

}  // namespace

CircuitPanel::CircuitPanel(QWidget* parent)
    : PlotPanel(QStringLiteral("circuit"), tr("Circuit"),
                tr("The wiring of the model's states will appear here: the coupling M, its graph and the triads in it. "
                   "Press Play (Space) to train."),
                parent),
      matrix_(taken(chart(), chart()->addRect(0))),
      wiring_(taken(chart(), chart()->addRect(0))),
      triads_(taken(chart(), chart()->addRect(0))),
      training_(taken(chart(), chart()->addRect(0))),
      left_(new QCPLayoutGrid),
      upper_(new QCPLayoutGrid),
      vacant_(new QCPLayoutElement(chart())),
      edges_(new QCPMarginGroup(chart())),
      lower_(new QCPMarginGroup(chart())),
      scale_(chart(), 0, 0),
      cells_(new CellMap(matrix_->axis(QCPAxis::atBottom), matrix_->axis(QCPAxis::atLeft))),
      graph_(new CircuitGraph(wiring_->axis(QCPAxis::atBottom), wiring_->axis(QCPAxis::atLeft))),
      soft_(makeBars(triads_)),
      hard_(makeBars(triads_)),
      cursor_band_(makeBand(chart(), triads_)),
      lit_band_(makeBand(chart(), triads_)),
      targets_(triads_->axis(QCPAxis::atLeft), triads_->axis(QCPAxis::atBottom)),
      training_lines_(training_->axis(QCPAxis::atBottom), training_->axis(QCPAxis::atLeft)) {
  QCPAxisRect* scale = taken(chart(), scale_.rect());
  QCPLayoutGrid* layout = chart()->plotLayout();
  layout->simplify();
  layout->addElement(1, 0, left_);
  layout->addElement(1, 1, triads_);
  left_->addElement(0, 0, upper_);
  left_->addElement(1, 0, vacant_);
  left_->addElement(2, 0, training_);
  left_->addElement(3, 0, new QCPLayoutElement(chart()));  // takes what the square map leaves of a high panel
  upper_->addElement(0, 0, matrix_);
  upper_->addElement(0, 1, scale);
  upper_->addElement(0, 2, wiring_);
  left_->setRowStretchFactor(0, most_stretch);
  left_->setRowStretchFactor(1, 1 / most_stretch);
  left_->setRowStretchFactor(3, 1 / most_stretch);
  layout->setRowStretchFactor(1, most_stretch);
  for (QCPAxisRect* rect : {matrix_, scale, wiring_, triads_}) rect->setMarginGroup(QCP::msTop, edges_);
  for (QCPAxisRect* rect : {matrix_, scale, wiring_}) rect->setMarginGroup(QCP::msBottom, lower_);

  chart()->hideAxes(wiring_);
  targets_.begin();
  layer_box_ = addChoice({}, tr("Layer of the circuit"), tr("Which layer's coupling is shown"));
  channel_box_ = addChoice({}, tr("Channel of the circuit"),
                           tr("Which channel's coupling is shown; where all share one, whose dt bounds it"));
  updateChoices();
  const auto choose = [this](std::int64_t CircuitPanel::*which) {
    return [this, which](int index) {
      this->*which = index;
      redraw();
    };
  };
  connect(layer_box_, &QComboBox::activated, this, choose(&CircuitPanel::layer_));
  connect(channel_box_, &QComboBox::activated, this, choose(&CircuitPanel::channel_));

  setFocusPolicy(Qt::StrongFocus);
  connect(chart(), &QCustomPlot::mousePress, this, [this](QMouseEvent* press) {
    if (press->button() != Qt::LeftButton || !hasData()) return;
    if (const auto triad = triadAt(press->position())) {
      setFocus(Qt::MouseFocusReason);
      lightNext(*triad);
    }
  });
}

void CircuitPanel::stackGraph(bool below) {
  const bool is_below = left_->element(1, 0) == wiring_;
  if (below == is_below) return;
  left_->take(below ? vacant_ : static_cast<QCPLayoutElement*>(wiring_));
  upper_->take(below ? static_cast<QCPLayoutElement*>(wiring_) : vacant_);
  left_->addElement(1, 0, below ? static_cast<QCPLayoutElement*>(wiring_) : vacant_);
  upper_->addElement(0, 2, below ? vacant_ : static_cast<QCPLayoutElement*>(wiring_));
  left_->setRowStretchFactor(1, below ? most_stretch : 1 / most_stretch);
  wiring_->setMarginGroup(QCP::msTop, below ? nullptr : edges_);
  wiring_->setMarginGroup(QCP::msBottom, below ? nullptr : lower_);
}

std::optional<InspectRequest> CircuitPanel::wants() const {
  InspectRequest request{"circuit"};
  const RunSeries* run = currentRun();
  request.layer = run ? std::min(layer_, run->config.integer("model.layers") - 1) : layer_;
  request.head = run ? std::min(channel_, d_inner_of(run->config) - 1) : channel_;
  return request;
}

nlohmann::json CircuitPanel::options() const {
  return {{"layer", layer_}, {"channel", channel_}, {"triad", triad_}, {"instance", instance_}};
}

void CircuitPanel::setOptions(const nlohmann::json& options) {
  const std::int64_t layer = optionInteger(options, "circuit", "layer", layer_, 0, 63);
  const std::int64_t channel = optionInteger(options, "circuit", "channel", channel_, 0, 4095);
  const std::int64_t triad = optionInteger(options, "circuit", "triad", triad_, 0, motifs);
  const std::int64_t instance = optionInteger(options, "circuit", "instance", instance_, 0, most_instances);
  layer_ = layer;
  channel_ = channel;
  light(static_cast<int>(triad), static_cast<int>(instance));
}

void CircuitPanel::updateChoices() {
  const RunSeries* run = currentRun();
  fillNumbered(layer_box_, tr("Layer %1"), run ? run->config.integer("model.layers") : 1, layer_);
  fillNumbered(channel_box_, tr("Channel %1"), run ? d_inner_of(run->config) : 1, channel_);
}

bool CircuitPanel::prepare(const PanelChange& change) {
  if (change.runs) updateChoices();
  if (change.inspected) {
    circuit_ = {};
    readAnswer(answer_);
    if (!answer_.coupling.data.empty()) circuit_ = Circuit(answer_);
  }
  instances_ =
      isLit() ? circuit_.instances(static_cast<std::size_t>(triad_ - 1), most_instances) : std::vector<TriadInstance>();
  return states() > 0;
}

double CircuitPanel::entry(std::size_t row, std::size_t column) const {
  return static_cast<double>(answer_.coupling.data[row * states() + column]);
}

double CircuitPanel::threshold() const {
  return std::sqrt(std::max(answer_.theta, 0.0));
}

std::size_t CircuitPanel::litInstance() const {
  return std::min(static_cast<std::size_t>(instance_), instances_.size());
}

std::vector<TriadInstance> CircuitPanel::lit() const {
  const std::size_t one = litInstance();
  return one == 0 ? instances_ : std::vector<TriadInstance>{instances_[one - 1]};
}

void CircuitPanel::light(int triad, int instance) {
  triad_ = triad;
  instance_ = triad == 0 ? 0 : instance;
  if (triad > 0) cursor_ = triad;
  redraw();
}

void CircuitPanel::lightNext(int triad) {
  if (triad != triad_) {
    light(triad, 0);
    return;
  }
  const std::size_t next = litInstance() + 1;
  light(triad, next > instances_.size() ? 0 : static_cast<int>(next));
}

bool CircuitPanel::takesKey(int key) const {
  switch (key) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return hasData();
    case Qt::Key_Escape:
      return hasData() && isLit();
    default:
      return false;
  }
}

bool CircuitPanel::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && takesKey(static_cast<QKeyEvent*>(event)->key())) {
    event->accept();
    return true;
  }
  return PlotPanel::event(event);
}

void CircuitPanel::keyPressEvent(QKeyEvent* event) {
  if (!takesKey(event->key())) {
    PlotPanel::keyPressEvent(event);
    return;
  }
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
      cursor_ = std::clamp(cursor_ + (event->key() == Qt::Key_Up ? -1 : 1), 1, motifs);
      drawCursor();
      chart()->requestReplot();
      break;
    case Qt::Key_Escape:
      light(0, 0);
      break;
    default:
      lightNext(cursor_);
  }
}

void CircuitPanel::focusInEvent(QFocusEvent* event) {
  PlotPanel::focusInEvent(event);
  drawCursor();
  chart()->requestReplot();
}

void CircuitPanel::focusOutEvent(QFocusEvent* event) {
  PlotPanel::focusOutEvent(event);
  drawCursor();
  chart()->requestReplot();
}

std::optional<int> CircuitPanel::triadAt(const QPointF& pixel) const {
  // The names at the left of the bars belong to them.
  const QRect outer = triads_->outerRect(), inner = triads_->rect();
  if (!QRect(outer.left(), inner.top(), outer.width(), inner.height()).contains(pixel.toPoint())) return std::nullopt;
  const double at = triads_->axis(QCPAxis::atLeft)->pixelToCoord(pixel.y());
  return std::clamp(static_cast<int>(std::lround(at)) + 1, 1, motifs);
}

void CircuitPanel::draw() {
  arrange();
  drawMatrix();
  drawGraph();
  drawTriads();
  drawCursor();
  drawTraining();
}

void CircuitPanel::hover(const QPointF& pixel) {
  const QPoint at = pixel.toPoint();
  QString text;
  if (matrix_->rect().contains(at)) {
    const auto cell = [&](QCPAxis::AxisType axis, double along) {
      const double index = std::round(matrix_->axis(axis)->pixelToCoord(along));
      return static_cast<std::size_t>(std::clamp(index, 0.0, static_cast<double>(states() - 1)));
    };
    text = readout(cell(QCPAxis::atLeft, pixel.y()), cell(QCPAxis::atBottom, pixel.x()));
  } else if (graph_->visible() && wiring_->rect().contains(at)) {
    if (const auto state = graph_->nodeAt(pixel)) text = stateReadout(*state);
  } else if (const auto triad = triadAt(pixel)) {
    text = triadReadout(*triad);
  } else if (training_->visible() && training_->rect().contains(at)) {
    const double step = training_->axis(QCPAxis::atBottom)->pixelToCoord(pixel.x());
    const RunSeries* run = currentRun();
    const auto away = [step](const MetricsRow& row) {
      return std::isnan(row.motif_loss) ? INFINITY : std::abs(static_cast<double>(row.step) - step);
    };
    if (run && !run->rows.empty()) {
      const MetricsRow& row = *std::ranges::min_element(run->rows, {}, away);
      text = tr("<b>Step %1</b><br>R² %2, motif loss %3")
                 .arg(stepText(row.step), fixedText(row.motif_r_squared, 3), fixedText(row.motif_loss, 4));
    }
  }
  if (text.isEmpty()) {
    leave();
    return;
  }
  hoverLabel()->showAt(text, pixel, {}, chart()->viewport());
}

PanelTable CircuitPanel::table() const {
  PanelTable table;
  table.columns = {QStringLiteral("quantity"), QStringLiteral("i"), QStringLiteral("j"), QStringLiteral("which"),
                   QStringLiteral("value")};
  if (!hasData()) return table;
  const auto add = [&table](const char* quantity, const QString& which, double value) {
    table.rows.push_back({QLatin1String(quantity), {}, {}, which, exactText(value)});
  };
  for (std::size_t i = 0; i < states(); ++i)
    for (std::size_t j = 0; j < states(); ++j)
      table.rows.push_back(
          {QStringLiteral("coupling"), exactText(static_cast<std::int64_t>(i + 1)),
           exactText(static_cast<std::int64_t>(j + 1)),
           i == j ? QStringLiteral("diagonal") : (edgeAt(i, j) ? QStringLiteral("edge") : QStringLiteral("none")),
           exactText(answer_.coupling.data[i * states() + j])});
  for (const auto& [quantity, values] : {std::pair("soft_share", &answer_.soft), std::pair("hard_share", &answer_.hard),
                                         std::pair("target_share", &answer_.target)})
    for (std::size_t triad = 0; triad < values->size(); ++triad)
      add(quantity, QString::fromUtf8(triads()[triad].name.data(), static_cast<qsizetype>(triads()[triad].name.size())),
          (*values)[triad]);
  for (const auto& [quantity, value] :
       {std::pair("motif_loss", answer_.loss), std::pair("r_squared", answer_.r_squared),
        std::pair("entropy_bits", answer_.entropy), std::pair("norm", answer_.norm), std::pair("bound", answer_.bound),
        std::pair("largest_dt", answer_.largest_dt), std::pair("slowest_decay", answer_.slowest_decay),
        std::pair("scale_k", answer_.scale), std::pair("theta", answer_.theta)})
    add(quantity, {}, value);
  for (std::size_t i = 0; i < answer_.picard.size(); ++i)
    add("picard_error", exactText(static_cast<std::int64_t>(i + 1)), answer_.picard[i]);
  return table;
}

}  // namespace mambarium
