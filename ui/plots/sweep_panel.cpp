#include "ui/plots/sweep_panel.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QToolButton>
#include <stdexcept>

#include "ui/plots/sweep_curves.h"
#include "ui/plots/sweep_dots.h"
#include "ui/plots/sweep_heat.h"
#include "ui/plots/sweep_lines.h"
#include "ui/plots/sweep_matrix.h"
#include "ui/plots/sweep_text.h"

namespace mambarium {
namespace {

struct Chosen {
  QString title, name;
};

// The first entry stands for the choice that follows from the axes.
void fill(QComboBox* box, const std::vector<Chosen>& entries, const std::string& chosen) {
  const QSignalBlocker blocker(box);
  box->clear();
  for (const Chosen& entry : entries) box->addItem(entry.title, entry.name);
  box->setCurrentIndex(std::max(0, box->findData(QString::fromStdString(chosen))));
}

}  // namespace

SweepPanel::SweepPanel(QWidget* parent)
    : PlotPanel(QStringLiteral("sweep"), tr("Sweep"),
                tr("What the models of a sweep measure will appear here when the first of them is trained."), parent),
      canvas_(chart()),
      chart_box_(addChoice({}, tr("Chart"), tr("How the sweep is drawn"))),
      measure_box_(addChoice({}, tr("Measure"), tr("What is drawn of every trained model"))),
      x_box_(addChoice({}, tr("Along x"), tr("Which axis of the sweep lies along x"))),
      by_box_(addChoice({}, tr("Series by"), tr("Which axis of the sweep the series begin with"))),
      log_button_(
          addToggle(tr("Log"), tr("Logarithmic scale"), tr("Logarithmic or linear scale of the measure"), false)) {
  fill(chart_box_,
       {{tr("Chart that fits"), {}},
        {tr("Heat map"), QStringLiteral("heat")},
        {tr("Lines"), QStringLiteral("lines")},
        {tr("Dots"), QStringLiteral("dots")},
        {tr("Training curves"), QStringLiteral("curves")},
        {tr("Small multiples"), QStringLiteral("matrix")}},
       {});
  for (QComboBox* box : {measure_box_, x_box_, by_box_}) {
    constexpr int letters = 14;
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(letters);
  }
  const auto connectBox = [this](QComboBox* box, std::string SweepChoice::*member) {
    connect(box, &QComboBox::activated, this, [this, box, member] { choose(member, box); });
  };
  connectBox(chart_box_, &SweepChoice::chart);
  connectBox(measure_box_, &SweepChoice::measure);
  connectBox(x_box_, &SweepChoice::x);
  connectBox(by_box_, &SweepChoice::by);
  connect(log_button_, &QToolButton::toggled, this, [this](bool on) {
    choice_.log = on;
    redraw();
  });
}

void SweepPanel::choose(std::string SweepChoice::*member, const QComboBox* box) {
  choice_.*member = box->currentData().toString().toStdString();
  // One axis cannot lie along x and make the series: the newer choice wins.
  if (choice_.x == choice_.by) (member == &SweepChoice::x ? choice_.by : choice_.x).clear();
  redraw();
}

nlohmann::json SweepPanel::options() const {
  return to_options(choice_);
}

void SweepPanel::setOptions(const nlohmann::json& options) {
  SweepChoice chosen = choice_;
  chosen.chart =
      optionChoice(options, "sweep", "chart", chosen.chart, {"", "heat", "lines", "dots", "curves", "matrix"});
  for (const auto& [key, member] : {std::pair("measure", &SweepChoice::measure), std::pair("x", &SweepChoice::x),
                                    std::pair("by", &SweepChoice::by), std::pair("reference", &SweepChoice::reference)})
    chosen.*member = optionText(options, "sweep", key, chosen.*member);
  chosen.log = optionBool(options, "sweep", "log", chosen.log);
  if (chosen == choice_) return;
  choice_ = chosen;
  {
    const QSignalBlocker blocker(log_button_);
    log_button_->setChecked(choice_.log);
  }
  redraw();
}

void SweepPanel::fillChoices() {
  const SweepResult& result = data().sweep->result;
  chart_box_->setCurrentIndex(std::max(0, chart_box_->findData(QString::fromStdString(choice_.chart))));
  std::vector<Chosen> measures, x = {{tr("x that fits"), {}}}, by = {{tr("series that fit"), {}}};
  for (const SweepMeasure& measure : result.measures)
    measures.push_back({QString::fromStdString(measure.label), QString::fromStdString(measure.name)});
  for (const SweepAxis& axis : result.axes) {
    const QString title = QString::fromStdString(axis.title), name = QString::fromStdString(axis.name);
    x.push_back({tr("x: %1").arg(title), name});
    by.push_back({tr("by %1").arg(title), name});
  }
  fill(measure_box_, measures, choice_.measure);
  fill(x_box_, x, choice_.x);
  fill(by_box_, by, choice_.by);
  const bool has_axes =
      slice_ && slice_->chart() != SweepChartKind::curves && slice_->chart() != SweepChartKind::matrix;
  x_box_->setVisible(has_axes && result.axes.size() > 1);
  by_box_->setVisible(has_axes && result.axes.size() > 2);
}

bool SweepPanel::needsCurves() const {
  return slice_ && slice_->chart() == SweepChartKind::curves && data().sweep->curves.empty();
}

bool SweepPanel::prepare(const PanelChange&) {
  slice_.reset();
  if (!data().sweep) return false;
  const SweepData& sweep = *data().sweep;
  try {
    slice_.emplace(sweep.result, choice_);
    if (slice_->chart() == SweepChartKind::curves) curveOf(slice_->measure());
  } catch (const std::invalid_argument&) {
    fillChoices();
    throw;
  }
  fillChoices();
  if (slice_->chart() == SweepChartKind::curves) return !sweep.curves.empty();
  return slice_->chart() == SweepChartKind::matrix || sweep.done > 0;
}

void SweepPanel::draw() {
  canvas_.clear();
  switch (slice_->chart()) {
    case SweepChartKind::heat:
      return drawSweepHeat(canvas_, *slice_);
    case SweepChartKind::lines:
      return drawSweepLines(canvas_, *slice_);
    case SweepChartKind::dots:
      return drawSweepDots(canvas_, *slice_);
    case SweepChartKind::curves:
      return drawSweepCurves(canvas_, *data().sweep, *slice_);
    case SweepChartKind::matrix:
      return drawSweepMatrix(canvas_, *slice_);
  }
}

QString SweepPanel::emptyText() const {
  return needsCurves() ? tr("The runs of this sweep, with their curves, are not in its folder.")
                       : PlotPanel::emptyText();
}

QString SweepPanel::describe() const {
  return describeSweep(*data().sweep, *slice_);
}

PanelTable SweepPanel::table() const {
  if (!slice_) return {};
  return slice_->chart() == SweepChartKind::curves ? sweepCurvesTable(*data().sweep, *slice_) : sweepTable(*slice_);
}

void SweepPanel::hover(const QPointF& pixel) {
  const SweepMark* mark = canvas_.nearest(pixel);
  if (!mark) return leave();
  hoverLabel()->showAt(mark->readout, canvas_.pixelOf(*mark), {}, chart()->viewport());
}

}  // namespace mambarium
