#include "ui/sweep_dialog.h"

#include <QClipboard>
#include <QCloseEvent>
#include <QDir>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/figure/export_dialog.h"
#include "ui/figure/figure_renderer.h"
#include "ui/plots/number_text.h"
#include "ui/run_text.h"
#include "ui/session/sweep_reader.h"

namespace mambarium {

namespace {

constexpr int read_delay_milliseconds = 250;

QPushButton* addButton(QHBoxLayout* row, const QString& text, const char* name) {
  auto* const button = new QPushButton(text);
  button->setObjectName(QLatin1String(name));
  button->setAutoDefault(false);
  row->addWidget(button);
  return button;
}

}  // namespace

QString SweepDialog::sweepFileIn(const QString& folder) {
  return QDir(folder).filePath(QStringLiteral("sweep.json"));
}

SweepDialog::SweepDialog(const Machine& machine, const QString& folder, const Theme& theme, QWidget* parent)
    : QDialog(parent), machine_(machine), folder_(folder) {
  setAttribute(Qt::WA_DeleteOnClose);
  setObjectName(QStringLiteral("sweep"));
  build();
  setTheme(theme);
  read_soon_.setSingleShot(true);
  read_soon_.setInterval(read_delay_milliseconds);
  connect(&read_soon_, &QTimer::timeout, this, &SweepDialog::read);
  connect(&process_, &SweepProcess::progressed, this, [this] {
    if (!read_soon_.isActive()) read_soon_.start();
  });
  connect(&process_, &SweepProcess::ended, this, [this](const QString& problem) {
    say(problem);
    read();
  });
  connect(panel_, &Panel::captionChanged, this, [this] { caption_->setText(panel_->caption()); });
  connect(panel_, &Panel::exportRequested, this, &SweepDialog::exportFigure);
  connect(panel_, &Panel::optionsChanged, this, [this] {
    if (panel_->needsCurves()) read();
  });
  read();
}

void SweepDialog::build() {
  panel_ = new SweepPanel;
  caption_ = new QLabel;
  caption_->setObjectName(QStringLiteral("sweep-caption"));
  caption_->setWordWrap(true);
  caption_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  standing_ = new QLabel;
  standing_->setObjectName(QStringLiteral("sweep-standing"));
  bar_ = new QProgressBar;
  bar_->setTextVisible(false);
  bar_->setAccessibleName(tr("Models trained"));
  problem_ = new QLabel;
  problem_->setObjectName(QStringLiteral("sweep-problem"));
  problem_->setProperty("role", QStringLiteral("warning"));
  problem_->setWordWrap(true);
  problem_->hide();

  auto* const progress = new QHBoxLayout;
  progress->addWidget(standing_);
  progress->addWidget(bar_, 1);
  stop_ = addButton(progress, tr("Stop"), "sweep-stop");
  go_on_ = addButton(progress, tr("Go on"), "sweep-go-on");
  auto* const buttons = new QHBoxLayout;
  connect(addButton(buttons, tr("Copy the numbers"), "sweep-copy"), &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(QString::fromUtf8(figureCsv(figureOf(*panel_, {})))); });
  connect(addButton(buttons, tr("Copy the caption"), "sweep-copy-caption"), &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(panel_->caption()); });
  buttons->addStretch(1);
  connect(addButton(buttons, tr("Close"), "sweep-close"), &QPushButton::clicked, this, &QWidget::close);
  connect(stop_, &QPushButton::clicked, this, [this] {
    process_.stop();
    refresh();
  });
  connect(go_on_, &QPushButton::clicked, this, &SweepDialog::goOn);

  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(16, 16, 16, 16);
  column->setSpacing(12);
  column->addLayout(progress);
  column->addWidget(panel_, 1);
  column->addWidget(caption_);
  column->addWidget(problem_);
  column->addLayout(buttons);
  resize(940, 640);
}

void SweepDialog::setTheme(const Theme& theme) {
  panel_->setTheme(theme);
}

QString SweepDialog::problem() const {
  return problem_->isHidden() ? QString() : problem_->text();
}

QString SweepDialog::standing() const {
  if (!data_) return process_.isRunning() ? tr("Starting") : QString();
  const std::size_t all = data_->result.rows.size();
  if (data_->done == all) return {};
  QString text =
      tr("%1 of %2").arg(data_->done).arg(countText(static_cast<std::int64_t>(all), tr("model"), tr("models")));
  if (process_.isStopping()) return text + tr(", stopping with checkpoints");
  if (!process_.isRunning() || data_->done <= done_at_start_) return text;
  const double each = process_.seconds() / static_cast<double>(data_->done - done_at_start_);
  return text + tr(", %1 left").arg(durationText(each * static_cast<double>(all - data_->done)));
}

void SweepDialog::goOn() {
  if (process_.isRunning() || (data_ && data_->done == data_->result.rows.size())) return;
  say({});
  done_at_start_ = data_ ? data_->done : 0;
  process_.start(machine_, sweepFileIn(folder_), folder_);
  refresh();
}

void SweepDialog::read() {
  const QDir folder(folder_);
  const bool begun = folder.exists(QStringLiteral("plan.json")) || folder.exists(QStringLiteral("results.json"));
  if (begun) {
    try {
      const bool curves = panel_->needsCurves() || (data_ && !data_->curves.empty());
      data_ = readSweep(folder_, curves);
      PanelData shown;
      shown.sweep = data_;
      panel_->show(shown);
      setWindowTitle(QString::fromStdString(data_->result.title));
    } catch (const std::invalid_argument& problem) {
      say(QString::fromUtf8(problem.what()));
    }
  } else if (!QFileInfo::exists(sweepFileIn(folder_))) {
    say(tr("%1 is not the folder of a sweep: there is no results.json, plan.json or sweep.json in it.").arg(folder_));
  }
  refresh();
}

void SweepDialog::refresh() {
  const bool complete = data_ && data_->done == data_->result.rows.size();
  const bool runs = process_.isRunning();
  standing_->setText(standing());
  standing_->setVisible(!complete);
  bar_->setVisible(!complete);
  bar_->setMaximum(data_ ? static_cast<int>(data_->result.rows.size()) : 1);
  bar_->setValue(data_ ? static_cast<int>(data_->done) : 0);
  stop_->setVisible(runs);
  stop_->setEnabled(!process_.isStopping());
  go_on_->setVisible(!runs && !complete && QFileInfo::exists(sweepFileIn(folder_)));
  caption_->setText(panel_->caption());
  for (const char* const name : {"sweep-copy", "sweep-copy-caption"})
    findChild<QPushButton*>(QLatin1String(name))->setEnabled(panel_->hasData());
}

void SweepDialog::say(const QString& problem) {
  problem_->setText(problem);
  problem_->setVisible(!problem.isEmpty());
}

void SweepDialog::exportFigure() {
  auto* const dialog = new ExportDialog(*panel_, QDir(folder_).filePath(QStringLiteral("figures")), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
}

void SweepDialog::closeEvent(QCloseEvent* event) {
  process_.stopAndWait();
  QDialog::closeEvent(event);
}

}  // namespace mambarium
