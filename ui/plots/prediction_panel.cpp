#include "ui/plots/prediction_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSlider>
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/estimator_name.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr int most_listed_contexts = 32;
constexpr int height_for_contexts = 270;  // a lower panel needs it for the plot
constexpr std::int64_t longest_sequence = 1 << 20;
constexpr std::array view_names = {"sequence", "position", "contexts"};

std::vector<std::int32_t> parsedContext(const std::string& text) {
  std::vector<std::int32_t> context;
  std::istringstream words(text);
  for (std::int32_t token = 0; words >> token;) context.push_back(token);
  return context;
}

bool isContextText(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == ' '; }) &&
         text.size() <= 64;
}

// All contexts of `length` tokens, oldest first, in the order of counting.
std::vector<std::string> contexts(int states, int length) {
  std::vector<std::string> all = {""};
  for (int place = 0; place < length; ++place) {
    std::vector<std::string> longer;
    for (const std::string& head : all)
      for (int token = 0; token < states; ++token)
        longer.push_back(head + (head.empty() ? "" : " ") + std::to_string(token));
    all = std::move(longer);
  }
  return all;
}

}  // namespace

PredictionPanel::PredictionPanel(QWidget* parent)
    : TokenPanel(QStringLiteral("prediction"), tr("Prediction"),
                 tr("The model's probability of the next token will appear here, beside the best estimate that the "
                    "tokens so far "
                    "allow. Press Play (Space) to train."),
                 parent),
      tiles_(chart(), 2) {
  view_box_ =
      addChoice({tr("Sequence"), tr("Position"), tr("Contexts")}, tr("View of the prediction"),
                tr("One probability along the sequence, all of them at one position, or one for every context"));
  symbol_box_ = addChoice({}, tr("Predicted token"), tr("Of which token the probability is shown"));
  context_box_ = addChoice({tr("any context")}, tr("Context of the prediction"),
                           tr("Show only positions after these tokens: one row of the chain's kernel"));
  symbol_box_->hide();
  yAxis()->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker));
  yAxis()->setRange(0, 1);
  auto* side_by_side = new QCPBarsGroup(chart());
  side_by_side->setSpacing(0);
  for (int i = 0; i < 3; ++i) {
    bars_.push_back(new QCPBars(xAxis(), yAxis()));
    bars_.back()->setWidth(0.26);
    bars_.back()->setBarsGroup(side_by_side);
    bars_.back()->setSelectable(QCP::stNone);
    bars_.back()->setVisible(false);
  }
  position_label_ = new QLabel(this);
  position_label_->setProperty("role", QStringLiteral("hint"));
  position_slider_ = new QSlider(Qt::Horizontal, this);
  position_slider_->setAccessibleName(tr("Position in the sequence"));
  position_slider_->setToolTip(
      tr("After which token the distributions are shown; a click on the tokens does the same"));
  position_slider_->setFocusPolicy(Qt::StrongFocus);
  for (QComboBox* box : {symbol_box_, context_box_}) footer()->addWidget(box);
  footer()->addWidget(position_label_);
  footer()->addWidget(position_slider_, 1);
  setTabOrderBelow({symbol_box_, context_box_, position_slider_});
  updateSlider();
  connect(position_slider_, &QSlider::valueChanged, this, [this](int t) { choosePosition(t - 1); });
  connect(chart(), &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
    hover(event->position());
    if (view_ == View::position && highlightedToken() >= 0) choosePosition(highlightedToken());
  });
  connect(view_box_, &QComboBox::currentIndexChanged, this, [this](int index) {
    view_ = static_cast<View>(index);
    leave();
    redraw();
  });
  connect(symbol_box_, &QComboBox::activated, this, [this](int index) {
    symbol_ = index;
    redraw();
  });
  connect(context_box_, &QComboBox::activated, this, [this](int index) {
    context_ = context_box_->itemData(index).toString().toStdString();
    redraw();
  });
}

nlohmann::json PredictionPanel::options() const {
  return withProbe({{"view", view_names[static_cast<std::size_t>(view_)]},
                    {"symbol", symbol_},
                    {"context", context_},
                    {"position", position_ + 1}});
}

void PredictionPanel::setOptions(const nlohmann::json& options) {
  const std::int64_t chosen = probeFrom(options);
  const auto symbol = static_cast<int>(optionInteger(options, "prediction", "symbol", symbol_, 0, 63));
  const auto position =
      static_cast<int>(optionInteger(options, "prediction", "position", position_ + 1, 1, longest_sequence)) - 1;
  const std::string view = optionChoice(options, "prediction", "view", view_names[static_cast<std::size_t>(view_)],
                                        {view_names[0], view_names[1], view_names[2]});
  std::string context = context_;
  if (const auto found = options.find("context"); found != options.end()) {
    if (!found->is_string() || !isContextText(found->get<std::string>()))
      throw std::invalid_argument(
          "options.context of the prediction panel must be tokens separated by spaces, or \"\".");
    context = found->get<std::string>();
  }
  setProbe(chosen);
  if (symbol != symbol_ || context != context_ || position != position_) {
    symbol_ = symbol;
    context_ = context;
    position_ = position;
    redraw();
  }
  view_box_->setCurrentIndex(static_cast<int>(std::ranges::find(view_names, view) - view_names.begin()));
}

bool PredictionPanel::prepare(const PanelChange& change) {
  if (change.inspected) readAnswer(answer_);
  return !answer_.tokens.empty() && !answer_.model.data.empty();
}

int PredictionPanel::states() const {
  return static_cast<int>(answer_.model.shape.back());
}
int PredictionPanel::shownSymbol() const {
  return symbol_ < states() ? symbol_ : states() - 1;
}

int PredictionPanel::contextLength() const {
  const int order = static_cast<int>(answer_.order);
  return std::pow(states(), order) <= most_listed_contexts ? order : 1;
}

std::vector<std::int32_t> PredictionPanel::shownContext() const {
  const auto context = parsedContext(context_);
  const bool is_listed = std::ssize(context) == contextLength() &&
                         std::ranges::all_of(context, [this](std::int32_t token) { return token < states(); });
  return is_listed ? context : std::vector<std::int32_t>{};
}

bool PredictionPanel::isShown(int position) const {
  const auto context = shownContext();
  const auto length = static_cast<int>(context.size());
  if (position + 1 < length) return false;
  return std::equal(context.begin(), context.end(), answer_.tokens.begin() + (position + 1 - length));
}

double PredictionPanel::probability(const Tensor& tensor, int position, int symbol) const {
  return static_cast<double>(tensor.data[static_cast<std::size_t>(position * states() + symbol)]);
}
double PredictionPanel::probability(const Tensor& tensor, int position) const {
  return probability(tensor, position, shownSymbol());
}

std::vector<double> PredictionPanel::drawnValues(int position) const {
  if (view_ != View::sequence || !isShown(position)) return {};
  return {probability(answer_.model, position), probability(answer_.add_beta, position),
          probability(answer_.oracle, position)};
}

QVector<QCPGraphData> PredictionPanel::curve(const Tensor& tensor) const {
  QVector<QCPGraphData> points;
  for (int position = 0; position < static_cast<int>(answer_.tokens.size()); ++position)
    if (isShown(position)) points.append({position + 1.0, probability(tensor, position)});
  return points;
}

void PredictionPanel::updateChoices() {
  if (symbol_box_->count() != states()) {
    symbol_box_->clear();
    for (int token = 0; token < states(); ++token) symbol_box_->addItem(tr("P(next = %1)").arg(token));
  }
  symbol_box_->setCurrentIndex(shownSymbol());
  symbol_box_->setVisible(states() > 2 && view_ != View::position);
  const auto listed = contexts(states(), contextLength());
  if (context_box_->count() != static_cast<int>(listed.size()) + 1 ||
      context_box_->itemData(context_box_->count() - 1).toString().toStdString() != listed.back()) {
    context_box_->clear();
    context_box_->addItem(tr("any context"), QString());
    for (const std::string& context : listed)
      context_box_->addItem(tr("after %1").arg(QString::fromStdString(context)), QString::fromStdString(context));
  }
  const int index = context_box_->findData(QString::fromStdString(context_));
  context_box_->setCurrentIndex(std::max(index, 0));
  const bool has_room = height() >= theme().px(height_for_contexts);
  context_box_->setVisible(view_ == View::sequence && (has_room || index > 0));
}

void PredictionPanel::resizeEvent(QResizeEvent* event) {
  if (hasData()) updateChoices();
  TokenPanel::resizeEvent(event);
}

PredictionPanel::Look PredictionPanel::look() const {
  const RunSeries* run = currentRun();
  Look look;
  look.color = theme().runColor(run ? run->palette_index : 0);
  look.marker = run ? run->marker_index : 0;
  look.name = run ? QString::fromStdString(run->title) : tr("model");
  look.model = QPen(look.color, 1.5 * theme().scale());
  look.oracle = theme().referencePen(Reference::oracle, 1);
  look.estimator = QPen(theme().underlay(), 4 * theme().scale());
  look.estimator.setDashPattern({1.5, 0.5});
  look.estimator.setCapStyle(Qt::FlatCap);
  return look;
}

void PredictionPanel::draw() {
  const bool by_context = view_ == View::contexts;
  setAlongTokens(!by_context, view_ == View::sequence);
  updateChoices();
  updateSlider();
  drawTokens();
  if (!by_context) tiles_.setCount(0);
  chart()->setShown(rect(), !by_context);
  for (QCPBars* bars : bars_) bars->setVisible(view_ == View::position);
  graphs().begin();
  if (view_ == View::sequence) drawSequence();
  graphs().end();
  if (view_ == View::position) drawPosition();
  if (by_context) drawContexts();
}

void PredictionPanel::drawSequence() {
  chart()->setAxisTitles(rect(), tr("Position t (tokens)"), tr("P(next token = %1)").arg(shownSymbol()));
  const Look pens = look();
  const bool sparse = !shownContext().empty();
  const auto add = [this](const QPen& pen, const Tensor& tensor) {
    QCPGraph* graph = graphs().next();
    graph->setPen(pen);
    graph->data()->set(curve(tensor), true);
    return graph;
  };
  add(pens.oracle, answer_.oracle);
  add(pens.estimator, answer_.add_beta);
  QCPGraph* model = add(pens.model, answer_.model);
  if (sparse) model->setScatterStyle(scatterStyle(theme(), pens.marker, pens.color, 5));

  std::vector<LegendEntry> legend = {{pens.name, pens.model, sparse ? pens.marker : -1, pens.color},
                                     {estimatorName(data().runs), pens.estimator, -1, {}},
                                     {tr("oracle"), pens.oracle, -1, {}}};
  constexpr int square = 1;
  if (auto entry = switchEntry(square)) legend.push_back(*std::move(entry));
  chart()->flowLegend()->setEntries(std::move(legend));
}

void PredictionPanel::hover(const QPointF& pixel) {
  const auto tile = tiles_.tileAt(pixel);
  if (tile) {
    hoverTile(*tile, pixel);
  } else if (view_ == View::position && rect()->rect().contains(pixel.toPoint())) {
    hoverBars(pixel);
  } else {
    TokenPanel::hover(pixel);
  }
}

QString PredictionPanel::readout(int position) const {
  if (view_ == View::position) return tr("<br>click to see the distributions here");
  if (!isShown(position)) return tr("<br>another context");
  const RunSeries* run = currentRun();
  return tr("<br>model %1<br>%2 %3<br>oracle %4")
      .arg(probabilityText(probability(answer_.model, position)), run ? estimatorName(run->config) : tr("add-β"),
           probabilityText(probability(answer_.add_beta, position)),
           probabilityText(probability(answer_.oracle, position)));
}

QString PredictionPanel::describe() const {
  switch (view_) {
    case View::position:
      return describePosition();
    case View::contexts:
      return describeContexts();
    case View::sequence:
      break;
  }
  return describeSequence();
}

QString PredictionPanel::describeSequence() const {
  double sum = 0, worst = 0;
  int count = 0, worst_at = 0;
  for (int position = 0; position < static_cast<int>(answer_.tokens.size()); ++position) {
    if (!isShown(position)) continue;
    const double difference = std::abs(probability(answer_.model, position) - probability(answer_.add_beta, position));
    sum += difference;
    ++count;
    if (difference >= worst) {
      worst = difference;
      worst_at = position + 1;
    }
  }
  if (count == 0)
    return tr("The context “%1” does not occur in probe sequence %2.")
        .arg(QString::fromStdString(context_))
        .arg(probe() + 1);
  const QString where = shownContext().empty() ? QString() : tr(" after %1").arg(QString::fromStdString(context_));
  return tr("Step %1: the model's P(next = %2)%3 differs from that of %4 by %5 on average over %6, at most "
            "by %7 "
            "at t = %8.")
      .arg(stepText(answer_.step), QString::number(shownSymbol()), where, estimatorName(data().runs),
           probabilityText(sum / count), countText(count, tr("position"), tr("positions")), probabilityText(worst),
           QString::number(worst_at));
}

PanelTable PredictionPanel::table() const {
  if (hasData() && view_ == View::position) return positionTable();
  if (hasData() && view_ == View::contexts) return contextsTable();
  PanelTable table;
  table.columns = {QStringLiteral("t"),       QStringLiteral("token"),      QStringLiteral("symbol"),
                   QStringLiteral("p_model"), QStringLiteral("p_add_beta"), QStringLiteral("p_oracle")};
  if (!hasData()) return table;
  const auto value = [this](const Tensor& tensor, int position) {
    return exactText(tensor.data[static_cast<std::size_t>(position * states() + shownSymbol())]);
  };
  for (int position = 0; position < static_cast<int>(answer_.tokens.size()); ++position) {
    if (!isShown(position)) continue;
    table.rows.push_back({exactText(std::int64_t{position + 1}),
                          exactText(std::int64_t{answer_.tokens[static_cast<std::size_t>(position)]}),
                          exactText(std::int64_t{shownSymbol()}), value(answer_.model, position),
                          value(answer_.add_beta, position), value(answer_.oracle, position)});
  }
  return table;
}

}  // namespace mambarium
