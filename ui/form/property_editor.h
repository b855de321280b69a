// PropertyEditor: the field of one setting, chosen by its type.
//
//   boolean -> check box   integer, real -> NumberBox   choice -> combo box
//   choice_set -> one check box per item and one for all of them   text -> line edit,
//   with a button for a file dialog where it is a path, below 13 bars to draw where it is a motif profile
// It shows what the draft holds and reports edits to it; it has no value of its own. Shift held in a click asks for
// what the edit brings about to begin at step 0.
#pragma once

#include <QWidget>
#include <functional>
#include <optional>

#include "core/contract/property.h"
#include "ui/form/path_field.h"
#include "ui/session/experiment_draft.h"

namespace mambarium {

class PropertyEditor : public QWidget {
  Q_OBJECT
 public:
  PropertyEditor(const Property& property, ExperimentDraft& draft, QWidget* parent = nullptr);

  void refresh();                            // from the draft
  QWidget* field() const { return field_; }  // what takes the focus
  const Property& property() const { return property_; }
  std::optional<PathKind> pathKind() const;  // of a text that is a path

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void makeCheckBox();
  void makeNumberBox();
  void makeComboBox();
  void makeSet();
  void makeLineEdit(QLineEdit* edit);
  void makePathField(PathKind kind);
  void makeMotifProfile();
  void adopt(QWidget* field);

  const Property& property_;
  ExperimentDraft& draft_;
  QWidget* field_ = nullptr;
  std::function<void()> refresh_;
};

}  // namespace mambarium
