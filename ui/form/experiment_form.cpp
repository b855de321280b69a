#include "ui/form/experiment_form.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "ui/form/property_editor.h"
#include "ui/session/problem_text.h"

namespace mambarium {

namespace {

bool sameButForMachine(ExperimentConfig one, const ExperimentConfig& other) {
  for (const Property& property : property_table()) {
    if (property.group == "Run") one.set(property.key, other.value(property.key));
  }
  return one == other;
}

QLabel* withRole(QLabel* label, const char* role) {
  label->setProperty("role", QLatin1String(role));
  return label;
}

}  // namespace

ExperimentForm::ExperimentForm(ExperimentDraft& draft, std::vector<Preset> presets, QWidget* parent)
    : QScrollArea(parent), draft_(draft), presets_(std::move(presets)) {
  setObjectName(QStringLiteral("experiment-form"));
  setAccessibleName(tr("Experiment"));
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFrameShape(QFrame::NoFrame);

  auto* const body = new QWidget;
  body->setProperty("role", QStringLiteral("sidebar"));
  auto* const column = new QVBoxLayout(body);
  column->setContentsMargins(16, 8, 12, 16);
  column->setSpacing(8);
  addHeader(*column);
  std::string_view group;
  for (const Property& property : property_table()) {
    if (property.group == group) continue;
    group = property.group;
    addGroup(*column, group);
  }
  other_problems_ = withRole(new QLabel, "warning");
  other_problems_->setWordWrap(true);
  column->addWidget(other_problems_);
  column->addStretch(1);
  setWidget(body);

  connect(&draft_, &ExperimentDraft::changed, this, &ExperimentForm::refresh);
  refresh();
}

void ExperimentForm::addHeader(QVBoxLayout& column) {
  column.addWidget(withRole(new QLabel(tr("Experiment")), "title"));
  preset_box_ = new QComboBox;
  preset_box_->setObjectName(QStringLiteral("presets"));
  preset_box_->setAccessibleName(tr("Preset"));
  preset_box_->setPlaceholderText(tr("Own settings"));
  preset_box_->setMinimumContentsLength(12);
  preset_box_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  preset_box_->setFocusPolicy(Qt::StrongFocus);
  for (const Preset& preset : presets_) {
    preset_box_->addItem(QString::fromStdString(preset.title));
    preset_box_->setItemData(preset_box_->count() - 1, QString::fromStdString(preset.description), Qt::ToolTipRole);
  }
  connect(preset_box_, &QComboBox::activated, this, &ExperimentForm::choosePreset);
  column.addWidget(preset_box_);
  preset_text_ = withRole(new QLabel, "hint");
  preset_text_->setWordWrap(true);
  column.addWidget(preset_text_);
}

void ExperimentForm::addGroup(QVBoxLayout& column, std::string_view group) {
  auto* const title = withRole(new QLabel(fromView(group)), "title");
  title->setContentsMargins(0, 8, 0, 0);
  column.addWidget(title);
  auto* const grid = new QGridLayout;
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(0, 1);
  for (const Property& property : property_table()) {
    if (property.group == group) addRow(*grid, property);
  }
  column.addLayout(grid);
}

void ExperimentForm::addRow(QGridLayout& grid, const Property& property) {
  Row row{};
  row.label = new QLabel(fromView(property.label));
  row.label->setToolTip(fromView(property.help));
  row.editor = new PropertyEditor(property, draft_);
  row.label->setBuddy(row.editor->field());
  row.unit = withRole(new QLabel(fromView(property.unit)), "hint");
  row.problem = withRole(new QLabel, "warning");
  row.problem->setWordWrap(true);
  row.problem->hide();

  const int line = grid.rowCount();
  const bool wide = property.type == PropertyType::text;
  if (wide) {
    grid.addWidget(row.label, line, 0, 1, 3);
    grid.addWidget(row.editor, line + 1, 0, 1, 3);
  } else {
    grid.addWidget(row.label, line, 0);
    grid.addWidget(row.editor, line, 1, 1, property.unit.empty() ? 2 : 1);
    if (property.unit.empty()) {
      row.unit->setParent(row.editor);
      row.unit->hide();
    } else {
      grid.addWidget(row.unit, line, 2);
    }
  }
  grid.addWidget(row.problem, line + 2, 0, 1, 3);
  rows_.push_back(row);
}

void ExperimentForm::choosePreset(int index) {
  const Preset& preset = presets_.at(static_cast<std::size_t>(index));
  draft_.replace(preset.config, tr("Preset %1").arg(QString::fromStdString(preset.title)), true);
  refreshPreset();
}

void ExperimentForm::refresh() {
  std::vector<Problem> problems = draft_.problems();
  for (const Row& row : rows_) {
    const Property& property = row.editor->property();
    row.editor->refresh();
    const bool applies = draft_.config().applies(property.key);
    for (QWidget* const part :
         {static_cast<QWidget*>(row.label), static_cast<QWidget*>(row.editor), static_cast<QWidget*>(row.unit)}) {
      part->setEnabled(applies);
    }
    QStringList sentences;
    std::erase_if(problems, [&](const Problem& problem) {
      if (problem.where != property.key) return false;
      sentences.append(withoutPlace(problem));
      return true;
    });
    row.problem->setText(sentences.join(QLatin1Char('\n')));
    row.problem->setVisible(!sentences.isEmpty());
    row.editor->field()->setProperty("invalid", !sentences.isEmpty());
    row.editor->field()->setAccessibleDescription(sentences.isEmpty() ? fromView(property.help)
                                                                      : sentences.join(QLatin1Char(' ')));
  }
  other_problems_->setText(toSentences(problems));
  other_problems_->setVisible(!problems.empty());
  refreshPreset();
}

void ExperimentForm::refreshPreset() {
  int shown = -1;
  for (std::size_t index = 0; index < presets_.size() && shown < 0; ++index) {
    if (sameButForMachine(presets_[index].config, draft_.config())) shown = static_cast<int>(index);
  }
  preset_box_->setCurrentIndex(shown);
  const QString text =
      shown >= 0 ? QString::fromStdString(presets_[static_cast<std::size_t>(shown)].description) : QString();
  preset_text_->setText(text);
  preset_text_->setVisible(!text.isEmpty());
}

QWidget* ExperimentForm::field(std::string_view key) const {
  for (const Row& row : rows_) {
    if (row.editor->property().key == key) return row.editor->field();
  }
  return nullptr;
}

QString ExperimentForm::problemText(std::string_view key) const {
  for (const Row& row : rows_) {
    if (row.editor->property().key == key) return row.problem->text();
  }
  return {};
}

void ExperimentForm::focusFirstProblem() {
  for (const Row& row : rows_) {
    if (row.problem->text().isEmpty()) continue;
    ensureWidgetVisible(row.editor);
    row.editor->field()->setFocus();
    return;
  }
}

QSize ExperimentForm::sizeHint() const {
  return {widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width(), 400};
}

}  // namespace mambarium
