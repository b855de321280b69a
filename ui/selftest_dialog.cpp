#include "ui/selftest_dialog.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace mambarium {

SelftestDialog::SelftestDialog(const Machine& machine, QWidget* parent) : QDialog(parent) {
  setAttribute(Qt::WA_DeleteOnClose);
  setObjectName(QStringLiteral("selftest"));
  setWindowTitle(tr("Kernels against float64 - %1").arg(machine.name));
  resize(780, 560);

  verdict_ = new QLabel;
  verdict_->setObjectName(QStringLiteral("selftest-verdict"));
  verdict_->setWordWrap(true);
  table_ = new QPlainTextEdit;
  table_->setObjectName(QStringLiteral("selftest-table"));
  table_->setAccessibleName(tr("Checks"));
  table_->setReadOnly(true);
  table_->setLineWrapMode(QPlainTextEdit::NoWrap);
  table_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  QPushButton* const copy = buttons->addButton(tr("Copy"), QDialogButtonBox::ActionRole);
  connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(table()); });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(24, 24, 24, 16);
  column->setSpacing(16);
  column->addWidget(verdict_);
  column->addWidget(table_, 1);
  column->addWidget(buttons);

  WorkerCommand command = workerCommand(machine);
  if (!command.found()) {
    finish(command.problem + QLatin1Char(' ') + command.hint);
    return;
  }
  command.arguments.last() = QStringLiteral("selftest");
  verdict_->setText(tr("Every kernel is held against its float64 reference; this takes about a minute."));
  connect(&process_, &QProcess::readyReadStandardOutput, this, &SelftestDialog::append);
  connect(&process_, &QProcess::readyReadStandardError, this, [this] { errors_ += process_.readAllStandardError(); });
  connect(&process_, &QProcess::errorOccurred, this, [this, command](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) finish(tr("%1 could not be started.").arg(command.program));
  });
  connect(&process_, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    append();
    if (status == QProcess::CrashExit) return finish(tr("The worker died before it was done."));
    if (code == 0) return finish(tr("Every kernel agrees with float64 on this machine."));
    const QString said = QString::fromUtf8(errors_).trimmed();
    finish(said.isEmpty() ? tr("Some kernels do not agree with float64: numbers computed on this machine cannot be "
                               "trusted. The lines that say FAILED tell which.")
                          : said);
  });
  process_.start(command.program, command.arguments);
}

SelftestDialog::~SelftestDialog() {
  process_.disconnect(this);
  constexpr int patience_milliseconds = 1000;
  if (isRunning()) {
    process_.kill();
    process_.waitForFinished(patience_milliseconds);
  }
}

QString SelftestDialog::verdict() const {
  return verdict_->text();
}

QString SelftestDialog::table() const {
  return table_->toPlainText();
}

void SelftestDialog::append() {
  const QString text = QString::fromUtf8(process_.readAllStandardOutput());
  if (text.isEmpty()) return;
  QTextCursor end(table_->document());
  end.movePosition(QTextCursor::End);
  end.insertText(text);
  table_->setTextCursor(end);
}

void SelftestDialog::finish(const QString& verdict) {
  verdict_->setText(verdict);
}

}  // namespace mambarium
