#include "ui/form/property_editor.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPushButton>
#include <algorithm>

#include "ui/form/motif_profile_chart.h"
#include "ui/form/motif_profile_editor.h"
#include "ui/form/number_box.h"
#include "ui/session/problem_text.h"

namespace mambarium {

namespace {

Beginning beginningOfClick() {
  return QApplication::keyboardModifiers().testFlag(Qt::ShiftModifier) ? Beginning::step_0 : Beginning::now;
}

}  // namespace

PropertyEditor::PropertyEditor(const Property& property, ExperimentDraft& draft, QWidget* parent)
    : QWidget(parent), property_(property), draft_(draft) {
  auto* const row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  switch (property.type) {
    case PropertyType::boolean:
      makeCheckBox();
      break;
    case PropertyType::integer:
    case PropertyType::real:
      makeNumberBox();
      break;
    case PropertyType::choice:
      makeComboBox();
      break;
    case PropertyType::choice_set:
      makeSet();
      break;
    case PropertyType::text:
      if (const std::optional<PathKind> kind = pathKind()) {
        makePathField(*kind);
      } else if (property.key == "model.motif_profile") {
        makeMotifProfile();
      } else {
        makeLineEdit(new QLineEdit);
      }
      break;
  }
  setFocusProxy(field_);
  setToolTip(fromView(property.help));
  refresh();
}

void PropertyEditor::adopt(QWidget* field) {
  if (!field_) field_ = field;
  if (field->accessibleName().isEmpty()) {
    QString name = fromView(property_.label);
    if (!property_.unit.empty()) name += QStringLiteral(" (%1)").arg(fromView(property_.unit));
    field->setAccessibleName(name);
  }
  for (QLineEdit* const inner : field->findChildren<QLineEdit*>()) inner->setAccessibleName(field->accessibleName());
  field->setAccessibleDescription(fromView(property_.help));
  field->setObjectName(fromView(property_.key));
  field->installEventFilter(this);
  layout()->addWidget(field);
}

void PropertyEditor::makeCheckBox() {
  auto* const box = new QCheckBox;
  box->setFocusPolicy(Qt::TabFocus);  // a click must not take the space bar away from play
  adopt(box);
  connect(box, &QCheckBox::clicked, this, [this](bool on) { draft_.edit(property_.key, on, beginningOfClick()); });
  refresh_ = [this, box] { box->setChecked(draft_.config().boolean(property_.key)); };
}

void PropertyEditor::makeNumberBox() {
  auto* const box = new NumberBox(property_);
  adopt(box);
  connect(box, &NumberBox::typed, this, [this](const QString& text) { draft_.editText(property_.key, text); });
  connect(box, &NumberBox::settled, this, [this] { draft_.settle(property_.key); });
  refresh_ = [this, box] {
    if (!draft_.isRefused(property_.key)) box->setValue(draft_.config().value(property_.key));
  };
}

void PropertyEditor::makeComboBox() {
  auto* const box = new QComboBox;
  box->setFocusPolicy(Qt::StrongFocus);
  box->setMinimumContentsLength(4);
  box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  for (const std::string_view choice : property_.choices) box->addItem(fromView(choice));
  adopt(box);
  connect(box, &QComboBox::activated, this,
          [this, box] { draft_.edit(property_.key, box->currentText().toStdString(), beginningOfClick()); });
  refresh_ = [this, box] { box->setCurrentText(QString::fromStdString(draft_.config().text(property_.key))); };
}

void PropertyEditor::makeSet() {
  std::vector<QCheckBox*> boxes;
  for (const std::string_view choice : property_.choices) {
    auto* const box = new QCheckBox(fromView(choice));
    box->setFocusPolicy(Qt::TabFocus);
    box->setAccessibleName(QStringLiteral("%1 %2").arg(fromView(property_.label), fromView(choice)));
    adopt(box);
    box->setObjectName(QStringLiteral("%1.%2").arg(fromView(property_.key), fromView(choice)));
    boxes.push_back(box);
  }
  const auto report = [this, boxes] {
    QStringList items;
    for (const QCheckBox* const box : boxes) {
      if (box->isChecked()) items.append(box->text());
    }
    const QString set = items.isEmpty() ? QStringLiteral("none") : items.join(QLatin1Char(','));
    draft_.edit(property_.key, set.toStdString(), beginningOfClick());
  };
  for (const QCheckBox* const box : boxes) connect(box, &QCheckBox::clicked, this, report);

  auto* const all = new QCheckBox(tr("all"));
  all->setFocusPolicy(Qt::TabFocus);
  all->setAccessibleName(tr("%1 all").arg(fromView(property_.label)));
  adopt(all);
  all->setObjectName(QStringLiteral("%1.all").arg(fromView(property_.key)));
  connect(all, &QCheckBox::clicked, this, [boxes, report] {
    const bool none = std::ranges::none_of(boxes, &QCheckBox::isChecked);
    for (QCheckBox* const box : boxes) box->setChecked(none);
    report();
  });
  refresh_ = [this, boxes, all] {
    for (QCheckBox* const box : boxes) {
      box->setChecked(draft_.config().includes(property_.key, box->text().toStdString()));
    }
    const auto on = std::ranges::count_if(boxes, &QCheckBox::isChecked);
    all->setCheckState(on == 0 ? Qt::Unchecked : on == std::ssize(boxes) ? Qt::Checked : Qt::PartiallyChecked);
  };
}

std::optional<PathKind> PropertyEditor::pathKind() const {
  if (property_.key == "task.file") return PathKind::file;
  if (property_.key == "task.files") return PathKind::files;
  if (property_.key == "run.out") return PathKind::folder;
  return std::nullopt;
}

void PropertyEditor::makePathField(PathKind kind) {
  const QString filter =
      kind == PathKind::files ? tr("Recordings (*.npz *.mat);;All files (*)") : tr("Text (*.txt *.csv);;All files (*)");
  auto* const edit = new PathField(kind, fromView(property_.label), filter);
  makeLineEdit(edit);
  connect(edit, &PathField::chosen, this, [this](const QString& path) {
    draft_.startStep();
    draft_.editText(property_.key, path);
    draft_.startStep();
  });
  auto* const button = new QPushButton(tr("Choose…"));
  button->setObjectName(QStringLiteral("%1.choose").arg(fromView(property_.key)));
  button->setAccessibleName(tr("Choose: %1").arg(fromView(property_.label)));
  button->setToolTip(tr("Look for it on this computer. On another machine, type the path that it has there."));
  button->setFocusPolicy(Qt::TabFocus);
  connect(button, &QPushButton::clicked, edit, &PathField::choose);
  layout()->addWidget(button);
}

void PropertyEditor::makeMotifProfile() {
  auto* const bars = new MotifProfileEditor;
  static_cast<QBoxLayout*>(layout())->setDirection(QBoxLayout::TopToBottom);
  layout()->addWidget(bars);
  bars->chart()->installEventFilter(this);
  makeLineEdit(new QLineEdit);
  connect(bars, &MotifProfileEditor::changed, this,
          [this](const QString& profile) { draft_.editText(property_.key, profile); });
  connect(bars, &MotifProfileEditor::settled, this, [this] { draft_.startStep(); });
  refresh_ = [this, bars, refresh_text = std::move(refresh_)] {
    refresh_text();
    bars->setProfile(QString::fromStdString(draft_.config().text(property_.key)));
  };
}

void PropertyEditor::makeLineEdit(QLineEdit* edit) {
  adopt(edit);
  connect(edit, &QLineEdit::textEdited, this, [this](const QString& text) { draft_.editText(property_.key, text); });
  refresh_ = [this, edit] {
    const QString text = QString::fromStdString(draft_.config().text(property_.key));
    if (draft_.isRefused(property_.key) || edit->text().trimmed() == text) return;
    edit->setText(text);
    edit->setCursorPosition(0);
  };
}

void PropertyEditor::refresh() {
  refresh_();
}

bool PropertyEditor::eventFilter(QObject* object, QEvent* event) {
  // Undo belongs to the experiment, not to the letters of one field.
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* const key = static_cast<QKeyEvent*>(event);
    if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) return true;
  }
  // Scrolling the form must not change the settings that pass below the mouse.
  if (event->type() == QEvent::Wheel && !static_cast<QWidget*>(object)->hasFocus()) {
    event->ignore();
    return true;
  }
  return QWidget::eventFilter(object, event);
}

}  // namespace mambarium
