#include "ui/plots/prediction_panel.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/estimator_name.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr int most_listed_contexts = 32;

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
                 parent) {
  symbol_box_ = addChoice({}, tr("Predicted token"), tr("Of which token the probability is shown"));
  context_box_ = addChoice({tr("any context")}, tr("Context of the prediction"),
                           tr("Show only positions after these tokens: one row of the chain's kernel"));
  symbol_box_->hide();
  yAxis()->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker));
  yAxis()->setRange(0, 1);
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
  return {{"probe", probe()}, {"symbol", symbol_}, {"context", context_}};
}

void PredictionPanel::setOptions(const nlohmann::json& options) {
  const std::int64_t chosen = optionInteger(options, "prediction", "probe", probe(), 0, probe_count - 1);
  const auto symbol = static_cast<int>(optionInteger(options, "prediction", "symbol", symbol_, 0, 63));
  std::string context = context_;
  if (const auto found = options.find("context"); found != options.end()) {
    if (!found->is_string() || !isContextText(found->get<std::string>()))
      throw std::invalid_argument(
          "options.context of the prediction panel must be tokens separated by spaces, or \"\".");
    context = found->get<std::string>();
  }
  setProbe(chosen);
  if (symbol == symbol_ && context == context_) return;
  symbol_ = symbol;
  context_ = context;
  redraw();
}

bool PredictionPanel::prepare(const PanelChange& change) {
  if (change.inspected) {
    answer_ = {};
    if (data().inspected) answer_ = data().inspected->get<PredictionData>();
  }
  return !answer_.tokens.empty() && !answer_.model.data.empty();
}

int PredictionPanel::states() const {
  return static_cast<int>(answer_.model.shape.back());
}
int PredictionPanel::shownSymbol() const {
  return symbol_ < states() ? symbol_ : states() - 1;
}

std::vector<std::int32_t> PredictionPanel::shownContext() const {
  const auto context = parsedContext(context_);
  const bool fits =
      std::all_of(context.begin(), context.end(), [this](std::int32_t token) { return token < states(); });
  return fits ? context : std::vector<std::int32_t>{};
}

bool PredictionPanel::isShown(int position) const {
  const auto context = shownContext();
  const auto length = static_cast<int>(context.size());
  if (position + 1 < length) return false;
  return std::equal(context.begin(), context.end(), answer_.tokens.begin() + (position + 1 - length));
}

double PredictionPanel::probability(const Tensor& tensor, int position) const {
  return static_cast<double>(tensor.data[static_cast<std::size_t>(position * states() + shownSymbol())]);
}

std::vector<double> PredictionPanel::drawnValues(int position) const {
  if (!isShown(position)) return {};
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
  symbol_box_->setVisible(states() > 2);

  const int order = static_cast<int>(answer_.order);
  const bool all_fit = std::pow(states(), order) <= most_listed_contexts;
  const auto listed = contexts(states(), all_fit ? order : 1);
  if (context_box_->count() != static_cast<int>(listed.size()) + 1 ||
      context_box_->itemData(context_box_->count() - 1).toString().toStdString() != listed.back()) {
    context_box_->clear();
    context_box_->addItem(tr("any context"), QString());
    for (const std::string& context : listed)
      context_box_->addItem(tr("after %1").arg(QString::fromStdString(context)), QString::fromStdString(context));
  }
  const int index = context_box_->findData(QString::fromStdString(context_));
  context_box_->setCurrentIndex(std::max(index, 0));
}

void PredictionPanel::draw() {
  updateChoices();
  drawTokens();
  chart()->setAxisTitles(rect(), tr("Position t (tokens)"), tr("P(next token = %1)").arg(shownSymbol()));

  const RunSeries* run = currentRun();
  const int palette = run ? run->palette_index : 0;
  const int marker = run ? run->marker_index : 0;
  const bool sparse = !shownContext().empty();
  const QPen model_pen(theme().runColor(palette), 1.5 * theme().scale());
  QPen oracle_pen = theme().referencePen(Reference::oracle, 1);
  QPen estimator_pen(theme().underlay(), 4 * theme().scale());
  estimator_pen.setDashPattern({1.5, 0.5});
  estimator_pen.setCapStyle(Qt::FlatCap);

  graphs().begin();
  QCPGraph* oracle = graphs().next();
  oracle->setPen(oracle_pen);
  oracle->data()->set(curve(answer_.oracle), true);
  QCPGraph* estimator = graphs().next();
  estimator->setPen(estimator_pen);
  estimator->data()->set(curve(answer_.add_beta), true);
  QCPGraph* model = graphs().next();
  model->setPen(model_pen);
  if (sparse) model->setScatterStyle(scatterStyle(theme(), marker, theme().runColor(palette), 5));
  model->data()->set(curve(answer_.model), true);
  graphs().end();

  std::vector<LegendEntry> legend = {{run ? QString::fromStdString(run->title) : tr("model"), model_pen,
                                      sparse ? marker : -1, theme().runColor(palette)},
                                     {estimatorName(data().runs), estimator_pen, -1, {}},
                                     {tr("oracle"), oracle_pen, -1, {}}};
  constexpr int square = 1;
  if (auto entry = switchEntry(square)) legend.push_back(*std::move(entry));
  chart()->flowLegend()->setEntries(std::move(legend));
}

QString PredictionPanel::readout(int position) const {
  if (!isShown(position)) return tr("<br>another context");
  const RunSeries* run = currentRun();
  return tr("<br>model %1<br>%2 %3<br>oracle %4")
      .arg(probabilityText(probability(answer_.model, position)), run ? estimatorName(run->config) : tr("add-β"),
           probabilityText(probability(answer_.add_beta, position)),
           probabilityText(probability(answer_.oracle, position)));
}

QString PredictionPanel::describe() const {
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
  return tr("Step %1: the model's P(next = %2)%3 differs from that of %4 by %5 on average over %6 positions, at most "
            "by %7 "
            "at t = %8.")
      .arg(stepText(answer_.step), QString::number(shownSymbol()), where, estimatorName(data().runs),
           probabilityText(sum / count), QString::number(count), probabilityText(worst), QString::number(worst_at));
}

PanelTable PredictionPanel::table() const {
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
