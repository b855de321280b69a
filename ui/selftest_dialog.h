// SelftestDialog: has the selected machine's worker check its kernels against float64, and shows the table as it grows.
//
// The worker is started with "selftest" where a run would say "serve", so that a remote machine checks itself. Closing
// the dialog ends it. GUI thread only.
#pragma once

#include <QDialog>
#include <QProcess>

#include "ui/session/machine.h"

class QLabel;
class QPlainTextEdit;

namespace mambarium {

class SelftestDialog : public QDialog {
  Q_OBJECT
 public:
  explicit SelftestDialog(const Machine& machine, QWidget* parent = nullptr);
  ~SelftestDialog() override;

  bool isRunning() const { return process_.state() != QProcess::NotRunning; }
  QString verdict() const;  // one sentence; what it is doing while it runs
  QString table() const;

 private:
  void append();
  void finish(const QString& verdict);

  QProcess process_;
  QByteArray errors_;
  QLabel* verdict_ = nullptr;
  QPlainTextEdit* table_ = nullptr;
};

}  // namespace mambarium
