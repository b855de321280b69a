// ExperimentForm: the settings of the draft, one row each, generated wholly from the property table.
//
// Groups and rows stand in the table's order; what does not apply under the current values is disabled, or not there
// where it belongs to another task, model or coupling; what is wrong is said in a sentence below its row. Above them:
// the presets, with the description of the one that is set.
#pragma once

#include <QScrollArea>
#include <QString>
#include <vector>

#include "core/contract/preset.h"
#include "ui/session/experiment_draft.h"

class QComboBox;
class QGridLayout;
class QLabel;
class QVBoxLayout;

namespace mambarium {

class PropertyEditor;

class ExperimentForm : public QScrollArea {
  Q_OBJECT
 public:
  ExperimentForm(ExperimentDraft& draft, std::vector<Preset> presets, QWidget* parent = nullptr);

  void choosePreset(int index);
  const std::vector<Preset>& presets() const { return presets_; }
  QWidget* field(std::string_view key) const;       // nullptr for an unknown key
  QString problemText(std::string_view key) const;  // what stands below the row, "" when nothing does
  // While a change of a part forks the run that trains, a line above the parts says so.
  void setForking(bool forking);
  // Whether runs read files of this computer: then a file that is not there is said below its row.
  void setFilesAreHere(bool here);

 protected:
  bool event(QEvent* event) override;

 private:
  struct Row {
    PropertyEditor* editor;
    QLabel *label, *unit, *problem;
  };

  void addHeader(QVBoxLayout& column);
  void addGroupTitle(QGridLayout& grid, std::string_view group);
  void addRow(QGridLayout& grid, const Property& property);
  void refresh();
  void refreshPreset();
  bool isOfAnotherKind(const Property& property) const;
  QString problemOfFiles(const PropertyEditor& editor) const;  // "" when there is none

  ExperimentDraft& draft_;
  std::vector<Preset> presets_;
  std::vector<Row> rows_;
  std::vector<std::pair<std::string_view, QLabel*>> titles_;  // of the groups
  QComboBox* preset_box_ = nullptr;
  QLabel* preset_text_ = nullptr;
  QLabel* fork_hint_ = nullptr;
  QLabel* other_problems_ = nullptr;
  bool files_are_here_ = false;
};

}  // namespace mambarium
