// AblationDialog: which parts of the draft are taken out, over how many seeds and steps; it says how many models that
// makes. Accepting it writes the sweep's file into a folder of its own below the machine's runs.
#pragma once

#include <QDialog>

#include "ui/session/ablation.h"
#include "ui/session/machine.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace mambarium {

class AblationDialog : public QDialog {
  Q_OBJECT
 public:
  AblationDialog(const ExperimentConfig& draft, const Machine& machine, QWidget* parent = nullptr);

  Ablation ablation() const;                         // as chosen now
  const QString& folder() const { return folder_; }  // once accepted: it holds sweep.json

 public Q_SLOTS:
  void accept() override;  // closes only when the file is written

 private:
  struct Choice {
    std::size_t part;
    PropertyValue value;
    QCheckBox* box;
  };
  QWidget* makeParts();
  void refresh();

  ExperimentConfig draft_;
  Machine machine_;
  std::vector<AblationPart> parts_;
  std::vector<Choice> choices_;
  QString folder_;
  QSpinBox* seeds_;
  QSpinBox* steps_;
  QLabel* sentence_;
  QPushButton* train_;
};

}  // namespace mambarium
