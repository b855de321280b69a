// ExportDialog: a panel as a file. Format, size in millimetres, font, ground, title and caption, with a live preview
// that is drawn by the same code as the file.
//
// It shows what the panel showed when the dialog opened: a run that goes on does not change the figure under the hand.
// What was chosen last is offered next time (openSettings(), group "export"); the folder, if it is not the one that was
// offered. Everything is reached by Tab; Enter saves. A recipe is written beside every PDF, SVG and PNG. A failure is
// said in the dialog, which stays open.
#pragma once

#include <QDialog>
#include <QTimer>

#include "ui/figure/figure.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace mambarium {

class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  // `folder`: where files go unless another one was chosen before; it is made when it is missing.
  ExportDialog(const Panel& panel, const QString& folder, QWidget* parent = nullptr);

  // Says that training goes on while the figure stays at this step.
  void setAsOf(std::int64_t step);

  Figure figure() const;  // as chosen now
  QString path() const;

 public Q_SLOTS:
  void accept() override;  // writes; closes only when all is written

 Q_SIGNALS:
  void saved(const QString& path);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void build();
  void restore();
  void remember() const;
  void choosePreset(int index);
  void sizeEdited();
  void formatChanged();
  void pathEdited();
  void browse();
  void changed();  // asks for a new preview soon
  void updatePreview();
  QString format() const;
  QString target() const;  // the file that is written: path(), with the format's ending where it has none
  void say(const QString& problem);

  Figure figure_;
  QString caption_;         // of the panel
  QString offered_folder_;  // where files go while nobody has chosen another
  QComboBox* format_ = nullptr;
  QComboBox* preset_ = nullptr;
  QDoubleSpinBox* width_ = nullptr;
  QDoubleSpinBox* height_ = nullptr;
  QDoubleSpinBox* font_ = nullptr;
  QDoubleSpinBox* dpi_ = nullptr;
  QComboBox* palette_ = nullptr;
  QLineEdit* title_ = nullptr;
  QCheckBox* with_caption_ = nullptr;
  QLineEdit* path_ = nullptr;
  QLabel* preview_ = nullptr;
  QLabel* as_of_ = nullptr;
  QLabel* note_ = nullptr;
  QLabel* problem_ = nullptr;
  QPushButton* save_ = nullptr;
  QTimer preview_timer_;
};

}  // namespace mambarium
