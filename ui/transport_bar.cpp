#include "ui/transport_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>
#include <cmath>

#include "ui/icons.h"
#include "ui/plots/number_text.h"
#include "ui/run_text.h"
#include "ui/timeline.h"

namespace mambarium {

namespace {

constexpr double fastest_tempo = 1000;  // steps a second just below full speed

QToolButton* makeTool(const QString& name, const QString& tip) {
  auto* const button = new QToolButton;
  button->setAccessibleName(name);
  button->setToolTip(tip);
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

QLabel* makeNumber(const QString& name) {
  auto* const label = new QLabel;
  label->setAccessibleName(name);
  label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  return label;
}

}  // namespace

double tempoOf(int slider_value) {
  if (slider_value >= full_tempo) return 0;
  const double raw = std::pow(fastest_tempo, slider_value / (full_tempo - 1.0));
  return raw < 20 ? std::round(raw) : raw < 200 ? 5 * std::round(raw / 5) : 50 * std::round(raw / 50);
}

int sliderValueOf(double steps_per_second) {
  if (steps_per_second <= 0) return full_tempo;
  const double value = (full_tempo - 1) * std::log(std::max(1.0, steps_per_second)) / std::log(fastest_tempo);
  return std::min(full_tempo - 1, static_cast<int>(std::lround(value)));
}

TransportBar::TransportBar(Session& session, QWidget* parent) : QWidget(parent), session_(session) {
  setObjectName(QStringLiteral("transport"));
  reset_ =
      makeTool(tr("Reset"),
               tr("Go back to where this run began and wait for play; what it has trained stays in its old folder"));
  play_ = new QPushButton;
  play_->setProperty("primary", true);
  play_->setFocusPolicy(Qt::TabFocus);
  play_->setObjectName(QStringLiteral("play"));
  step_ = makeTool(tr("Step"), tr("Take one training step (right arrow)"));
  reset_->setObjectName(QStringLiteral("reset"));
  step_->setObjectName(QStringLiteral("step"));

  tempo_ = new QSlider(Qt::Horizontal);
  tempo_->setObjectName(QStringLiteral("tempo"));
  tempo_->setRange(0, full_tempo);
  tempo_->setPageStep(10);
  tempo_->setFocusPolicy(Qt::TabFocus);
  tempo_->setAccessibleName(tr("Tempo"));
  tempo_->setToolTip(tr("From one step a second, to watch every one of them, to full speed"));
  tempo_text_ = new QLabel;
  tempo_text_->setProperty("role", QStringLiteral("hint"));
  tempo_text_->setAccessibleName(tr("Tempo in steps per second"));

  timeline_ = new Timeline;
  timeline_->setObjectName(QStringLiteral("timeline"));
  timeline_->setAccessibleName(tr("Timeline of checkpoints"));
  timeline_->setToolTip(tr("Drag back to see the model as it was at a checkpoint; the right end is now"));
  progress_ = makeNumber(tr("Step"));
  left_ = makeNumber(tr("Time left"));
  sentence_ = new QLabel;
  sentence_->setObjectName(QStringLiteral("sentence"));
  sentence_->setAccessibleName(tr("What can be seen"));
  sentence_->setProperty("role", QStringLiteral("hint"));
  sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  sentence_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  sentence_->setContentsMargins(4, 0, 4, 0);

  auto* const row = new QHBoxLayout;
  row->setSpacing(8);
  for (QWidget* const widget :
       {static_cast<QWidget*>(reset_), static_cast<QWidget*>(play_), static_cast<QWidget*>(step_)})
    row->addWidget(widget);
  row->addSpacing(8);
  row->addWidget(tempo_);
  row->addWidget(tempo_text_);
  row->addSpacing(8);
  row->addWidget(timeline_, 1);
  for (QWidget* const widget : {progress_, left_}) row->addWidget(widget);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(16, 8, 16, 8);
  column->setSpacing(4);
  column->addLayout(row);
  column->addWidget(sentence_);

  connect(reset_, &QToolButton::clicked, &session_, &Session::reset);
  connect(play_, &QPushButton::clicked, &session_, &Session::togglePlay);
  connect(step_, &QToolButton::clicked, &session_, &Session::step);
  connect(tempo_, &QSlider::valueChanged, this, [this](int value) { session_.setTempo(tempoOf(value)); });
  connect(timeline_, &Timeline::chosen, &session_.feed(), &PanelFeed::setCheckpoint);
  connect(&session_.feed(), &PanelFeed::checkpointChanged, timeline_, &Timeline::setShown);
  connect(&session_.feed(), &PanelFeed::checkpointChanged, this, &TransportBar::refresh);
  connect(&session_, &Session::changed, this, &TransportBar::refresh);
  setTheme(theme_);
}

void TransportBar::setTheme(const Theme& theme) {
  theme_ = theme;
  timeline_->setTheme(theme);
  const QColor off = theme.palette().color(QPalette::Disabled, QPalette::Text);
  reset_->setIcon(signIcon(Sign::reset, theme.text(), off));
  step_->setIcon(signIcon(Sign::step, theme.text(), off));
  const QSize size(theme.px(16), theme.px(16));
  for (QAbstractButton* const button : {static_cast<QAbstractButton*>(reset_), static_cast<QAbstractButton*>(play_),
                                        static_cast<QAbstractButton*>(step_)}) {
    button->setIconSize(size);
  }
  for (QLabel* const label : {tempo_text_, progress_, left_, sentence_}) label->setFont(theme.font());
  tempo_->setFixedWidth(theme.px(96));
  fixWidths();
  refresh();
}

void TransportBar::fixWidths() {
  const QFontMetrics metrics(theme_.font());
  const auto fix = [&](QLabel* label, const QString& widest) {
    label->setFixedWidth(metrics.horizontalAdvance(widest) + theme_.px(4));
  };
  fix(tempo_text_, tr("1,000 steps/s"));
  const Run* const run = session_.runs().current();
  const QString steps = stepText(run ? run->steps() : 2000);
  fix(progress_, tr("%1 of %1").arg(steps));
  const QString usual = tr("00:00 left"), left = left_->text();
  fix(left_, metrics.horizontalAdvance(left) > metrics.horizontalAdvance(usual) ? left : usual);
  QFont bold = theme_.font();
  bold.setWeight(QFont::DemiBold);
  play_->setFixedWidth(QFontMetrics(bold).horizontalAdvance(tr("Pause")) + theme_.px(60));
}

void TransportBar::refresh() {
  refreshButtons();
  refreshNumbers();
}

void TransportBar::refreshButtons() {
  const Run* const run = session_.runs().current();
  const bool pauses = session_.playPauses();
  const QString obstacle = pauses ? QString() : session_.playObstacle();
  play_->setText(pauses ? tr("Pause") : tr("Play"));
  play_->setAccessibleName(play_->text());
  play_->setEnabled(obstacle.isEmpty());
  play_->setToolTip(!obstacle.isEmpty() ? obstacle : pauses ? tr("Pause training (space)") : tr("Train (space)"));
  const QColor off = theme_.palette().color(QPalette::Disabled, QPalette::Text);
  if (play_->icon().isNull() || shows_pause_ != pauses || play_->property("drawn-in") != theme_.accentText()) {
    play_->setIcon(signIcon(pauses ? Sign::pause : Sign::play, theme_.accentText(), off));
    play_->setProperty("drawn-in", theme_.accentText());
    shows_pause_ = pauses;
  }
  step_->setEnabled(obstacle.isEmpty() && !pauses);
  reset_->setEnabled(run != nullptr);
  tempo_text_->setText(tempoText(session_.tempo()));
  if (const int value = sliderValueOf(session_.tempo()); tempoOf(tempo_->value()) != session_.tempo()) {
    const QSignalBlocker blocker(tempo_);
    tempo_->setValue(value);
  }
}

void TransportBar::refreshNumbers() {
  const Run* const run = session_.runs().current();
  timeline_->setEnabled(run && !run->checkpoints().empty());
  if (!run) {
    timeline_->setProgress(0, 1);
    timeline_->setCheckpoints({});
    for (QLabel* const label : {progress_, left_}) label->clear();
    return;
  }
  timeline_->setProgress(run->step(), run->steps());
  timeline_->setCheckpoints(run->checkpoints());
  progress_->setText(tr("%1 of %2").arg(stepText(run->step()), stepText(run->steps())));
  const QString left = run->isTraining() ? durationText(run->secondsLeft()) : QString();
  left_->setText(left.isEmpty() ? QString() : tr("%1 left").arg(left));
  for (const QLabel* const label : {progress_, left_}) {
    if (label->fontMetrics().horizontalAdvance(label->text()) > label->width()) fixWidths();
  }
}

void TransportBar::setSentence(const QString& sentence) {
  if (sentence == sentence_->text()) return;
  sentence_->setText(sentence);
  sentence_->setToolTip(sentence);
}

}  // namespace mambarium
