#include "ui/plots/decoding_panel.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>

#include "ui/plots/confusion_chart.h"
#include "ui/plots/decoding_scores.h"
#include "ui/plots/decoding_traces.h"

namespace mambarium {
namespace {

constexpr std::int64_t most_outputs = 1024;
constexpr std::size_t most_directions = 8;

bool isOfTheSameKind(const DecodingData& one, const DecodingData& other) {
  return one.outputs == other.outputs && one.output_names == other.output_names &&
         one.model.confusion.shape == other.model.confusion.shape;
}

Decoded decodedBy(const RunSeries& run, DecodingData answer) {
  return {QString::fromStdString(run.title), run.palette_index, run.marker_index, run.config.integer("task.window"),
          std::move(answer)};
}

}  // namespace

DecodingPanel::DecodingPanel(QWidget* parent)
    : PlotPanel(QStringLiteral("decoding"), tr("Decoding"),
                tr("How well the model reads movements from a recording will appear here, beside the ideal decoder. "
                   "Press Play (Space) to train a decoder."),
                parent) {
  compareByAnswers();
  view_box_ =
      addChoice({}, tr("View of the decoder"),
                tr("Which directions are taken for which, the course of what is decoded, or R² of each output"));
  output_box_ = addChoice({}, tr("Output of the decoder"), tr("Which output's course is shown"));
  updateChoices();
  connect(view_box_, &QComboBox::activated, this, [this](int index) {
    choose(views()[static_cast<std::size_t>(index)]);
    redraw();
  });
  connect(output_box_, &QComboBox::activated, this, [this](int index) {
    output_ = index;
    redraw();
  });
}

std::optional<InspectRequest> DecodingPanel::wants() const {
  return InspectRequest{"decoding"};
}

DecodingPanel::View DecodingPanel::view() const {
  return answer().outputs ? of_outputs_ : of_directions_;
}

std::vector<DecodingPanel::View> DecodingPanel::views() const {
  if (answer().outputs) return {View::traces, View::scores};
  return {View::confusion, View::traces};
}

void DecodingPanel::choose(View view) {
  (answer().outputs ? of_outputs_ : of_directions_) = view;
}

nlohmann::json DecodingPanel::options() const {
  return {{"directions", of_directions_ == View::confusion ? "confusion" : "traces"},
          {"outputs", of_outputs_ == View::scores ? "r_squared" : "traces"},
          {"output", output_}};
}

void DecodingPanel::setOptions(const nlohmann::json& options) {
  const nlohmann::json now = this->options();
  const std::string directions =
      optionChoice(options, "decoding", "directions", now["directions"], {"confusion", "traces"});
  const std::string outputs = optionChoice(options, "decoding", "outputs", now["outputs"], {"traces", "r_squared"});
  output_ = optionInteger(options, "decoding", "output", output_, 0, most_outputs);
  of_directions_ = directions == "confusion" ? View::confusion : View::traces;
  of_outputs_ = outputs == "r_squared" ? View::scores : View::traces;
  redraw();
}

bool DecodingPanel::prepare(const PanelChange& change) {
  try {
    if (change.runs || change.inspected) readPicture();
  } catch (...) {
    picture_ = {};
    updateChoices();
    throw;
  }
  picture_.output.reset();
  if (answer().outputs && output_ > 0 && output_ <= static_cast<std::int64_t>(picture_.answers()))
    picture_.output = static_cast<std::size_t>(output_ - 1);
  updateChoices();
  return decodes();
}

void DecodingPanel::readPicture() {
  picture_ = {};
  DecodingData read;
  readAnswer(read);
  const RunSeries* const run = currentRun();
  picture_.current = run ? decodedBy(*run, std::move(read)) : Decoded{.title = tr("model"), .answer = std::move(read)};
  if (!decodes()) return;
  const bool of_sessions = run && run->config.text("task.recording") != "windows";  // files of windows have labels
  picture_.angles = of_sessions && !answer().outputs && picture_.answers() == most_directions;
  for (std::size_t i = 0; i < data().runs.size(); ++i) {
    const auto found = data().others.find(data().runs[i].folder);
    if (i == data().current || found == data().others.end()) continue;
    DecodingData other = found->second.get<DecodingData>();
    if (isOfTheSameKind(answer(), other)) picture_.others.push_back(decodedBy(data().runs[i], std::move(other)));
  }
}

void DecodingPanel::updateChoices() {
  const auto fill = [](QComboBox* box, const QStringList& items, int chosen, bool shown) {
    QStringList there;
    for (int index = 0; index < box->count(); ++index) there << box->itemText(index);
    if (there != items) {
      box->clear();
      box->addItems(items);
    }
    box->setCurrentIndex(chosen);
    box->setVisible(shown);
  };
  QStringList names;
  for (const View one : views())
    names << (one == View::confusion ? tr("Confusion") : one == View::traces ? tr("Traces") : tr("R² per output"));
  const std::vector<View> all = views();
  fill(view_box_, names, static_cast<int>(std::ranges::find(all, view()) - all.begin()), decodes());
  QStringList outputs = {tr("All outputs")};
  for (const std::string& name : answer().output_names) outputs << QString::fromStdString(name);
  fill(output_box_, outputs, picture_.output ? static_cast<int>(*picture_.output) + 1 : 0,
       decodes() && view() == View::traces && answer().output_names.size() > 1);
}

void DecodingPanel::draw() {
  if (drawn_ != view()) {
    chart_view_.reset();  // it leaves the chart before the next one comes
    switch (view()) {
      case View::confusion:
        chart_view_ = std::make_unique<ConfusionChart>(chart());
        break;
      case View::traces:
        chart_view_ = std::make_unique<DecodingTraces>(chart());
        break;
      case View::scores:
        chart_view_ = std::make_unique<DecodingScores>(chart());
        break;
    }
    drawn_ = view();
  }
  chart_view_->draw(picture_);
}

void DecodingPanel::hover(const QPointF& pixel) {
  if (const auto readout = chart_view_->read(picture_, pixel))
    hoverLabel()->showAt(readout->text, readout->anchor, readout->avoid, chart()->viewport());
  else
    leave();
}

void DecodingPanel::leave() {
  PlotPanel::leave();
  if (chart_view_) chart_view_->leave();
}

QString DecodingPanel::describe() const {
  return answer().outputs ? describeOutputs() : describeDirections();
}

PanelTable DecodingPanel::table() const {
  if (!hasData() || view() == View::confusion) return confusionTable();
  return view() == View::traces ? tracesTable() : scoresTable();
}

}  // namespace mambarium
