#include "ui/form/experiment_form.h"

#include <QComboBox>
#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <QVBoxLayout>
#include <set>
#include <utility>

#include "ui/form/path_field.h"
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

// What does not fit ends in an ellipsis; Qt itself cuts it off in the middle of a letter.
class PresetBox : public QComboBox {
 protected:
  void initStyleOption(QStyleOptionComboBox* option) const override {
    QComboBox::initStyleOption(option);
    const QRect room = style()->subControlRect(QStyle::CC_ComboBox, option, QStyle::SC_ComboBoxEditField, this);
    constexpr int breath = 4;  // the style draws a little inside that rectangle
    option->currentText = option->fontMetrics.elidedText(option->currentText, Qt::ElideRight, room.width() - breath);
  }
};

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
  column->setContentsMargins(16, 8, 4, 16);
  column->setSpacing(8);
  addHeader(*column);
  auto* const grid = new QGridLayout;
  grid->setHorizontalSpacing(6);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(0, 1);
  std::string_view group;
  for (const Property& property : property_table()) {
    if (property.group != group) addGroupTitle(*grid, property.group);
    group = property.group;
    addRow(*grid, property);
  }
  column->addLayout(grid);
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
  preset_box_ = new PresetBox;
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

void ExperimentForm::addGroupTitle(QGridLayout& grid, std::string_view group) {
  auto* const title = withRole(new QLabel(fromView(group)), "title");
  title->setContentsMargins(0, 12, 0, 0);
  titles_.emplace_back(group, title);
  grid.addWidget(title, grid.rowCount(), 0, 1, 3);
  if (group != "Parts") return;
  fork_hint_ = withRole(
      new QLabel(tr("A change here forks this run; with Shift, the new run begins at step 0. Undo takes it back.")),
      "hint");
  fork_hint_->setObjectName(QStringLiteral("fork-hint"));
  fork_hint_->setWordWrap(true);
  fork_hint_->hide();
  grid.addWidget(fork_hint_, grid.rowCount(), 0, 1, 3);
}

void ExperimentForm::setForking(bool forking) {
  fork_hint_->setVisible(forking);
}

void ExperimentForm::setFilesAreHere(bool here) {
  if (here == std::exchange(files_are_here_, here)) return;
  refresh();
}

QString ExperimentForm::problemOfFiles(const PropertyEditor& editor) const {
  const std::optional<PathKind> kind = editor.pathKind();
  const std::string_view key = editor.property().key;
  if (!files_are_here_ || !kind || !draft_.config().applies(key)) return {};
  return problemOfPath(*kind, QString::fromStdString(draft_.config().text(key)));
}

void ExperimentForm::addRow(QGridLayout& grid, const Property& property) {
  Row row{};
  row.label = new QLabel(fromView(property.label));
  row.label->setToolTip(fromView(property.help));
  row.editor = new PropertyEditor(property, draft_);
  row.label->setBuddy(row.editor->field());
  const bool unit_says_more = fromView(property.label).compare(fromView(property.unit), Qt::CaseInsensitive) != 0;
  row.unit = withRole(new QLabel(unit_says_more ? fromView(property.unit) : QString()), "hint");
  row.problem = withRole(new QLabel, "warning");
  row.problem->setWordWrap(true);
  row.problem->hide();

  const int line = grid.rowCount();
  if (property.type == PropertyType::text) {
    grid.addWidget(row.label, line, 0, 1, 3);
    grid.addWidget(row.editor, line + 1, 0, 1, 3);
  } else {
    grid.addWidget(row.label, line, 0);
    const bool is_number = property.type == PropertyType::integer || property.type == PropertyType::real;
    grid.addWidget(row.editor, line, 1, 1, is_number ? 1 : 2);
    if (is_number) grid.addWidget(row.unit, line, 2);
  }
  grid.addWidget(row.problem, line + 2, 0, 1, 3);
  rows_.push_back(row);
}

void ExperimentForm::choosePreset(int index) {
  const Preset& preset = presets_.at(static_cast<std::size_t>(index));
  draft_.replace(preset.config, tr("Preset %1").arg(QString::fromStdString(preset.title)), true);
  refreshPreset();
}

// Settings of another task, model or coupling would fill the form with grey: they come with the choice that needs them.
// What a part beside it switches off stays in its place.
bool ExperimentForm::isOfAnotherKind(const Property& property) const {
  if (draft_.config().applies(property.key)) return false;
  return property.group == "Task" || property.group == "Coupling" ||
         property.applies_when.find("model.kind") != std::string_view::npos;
}

void ExperimentForm::refresh() {
  std::vector<Problem> problems = draft_.problems();
  std::set<std::string_view> groups;
  for (const Row& row : rows_) {
    const Property& property = row.editor->property();
    row.editor->refresh();
    const bool applies = draft_.config().applies(property.key);
    for (QWidget* const part :
         {static_cast<QWidget*>(row.label), static_cast<QWidget*>(row.editor), static_cast<QWidget*>(row.unit)}) {
      part->setEnabled(applies);
      if (part->parentWidget()) part->setVisible(!isOfAnotherKind(property));
    }
    if (!isOfAnotherKind(property)) groups.insert(property.group);
    QStringList sentences;
    std::erase_if(problems, [&](const Problem& problem) {
      if (problem.where != property.key) return false;
      sentences.append(withoutPlace(problem));
      return true;
    });
    if (sentences.isEmpty()) sentences.append(problemOfFiles(*row.editor));
    sentences.removeAll(QString());
    row.problem->setText(sentences.join(QLatin1Char('\n')));
    row.problem->setVisible(!sentences.isEmpty());
    row.editor->field()->setProperty("invalid", !sentences.isEmpty());
    row.editor->field()->setAccessibleDescription(sentences.isEmpty() ? fromView(property.help)
                                                                      : sentences.join(QLatin1Char(' ')));
  }
  for (const auto& [group, title] : titles_) title->setVisible(groups.contains(group));
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

bool ExperimentForm::event(QEvent* event) {
  // As wide as its rows are, whatever the font: nothing is cut off on the right, nothing scrolls sideways.
  if (widget() && (event->type() == QEvent::LayoutRequest || event->type() == QEvent::FontChange ||
                   event->type() == QEvent::Polish)) {
    setMinimumWidth(widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width());
  }
  if (event->type() == QEvent::WindowActivate) refresh();  // files may have come or gone meanwhile
  return QScrollArea::event(event);
}

}  // namespace mambarium
