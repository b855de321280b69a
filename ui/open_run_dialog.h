// OpenRunDialog: the runs below a folder of a machine, read by a worker there, or the path of one run.
#pragma once

#include <QDialog>

#include "ui/session/session.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QTreeWidget;

namespace mambarium {

class OpenRunDialog : public QDialog {
  Q_OBJECT
 public:
  explicit OpenRunDialog(Session& session, QWidget* parent = nullptr);

  Machine machine() const;
  QStringList folders() const;  // what was chosen

 private:
  void look();
  void fill(const std::vector<RunSummary>& runs);
  void refreshOpen();

  Session& session_;
  QComboBox* machine_;
  QLineEdit* root_;
  QTreeWidget* list_;
  QLabel* message_;
  QPushButton* open_;
  int question_ = 0;  // only the newest list is shown
};

}  // namespace mambarium
