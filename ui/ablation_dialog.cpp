#include "ui/ablation_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "ui/figure/figure_renderer.h"
#include "ui/plots/number_text.h"
#include "ui/session/problem_text.h"
#include "ui/sweep_dialog.h"

namespace mambarium {

namespace {

constexpr int most_seeds = 10;

QSpinBox* makeBox(std::int64_t value, int minimum, int maximum, const char* name) {
  auto* const box = new QSpinBox;
  box->setObjectName(QLatin1String(name));
  box->setRange(minimum, maximum);
  box->setGroupSeparatorShown(true);
  box->setValue(static_cast<int>(value));
  return box;
}

}  // namespace

AblationDialog::AblationDialog(const ExperimentConfig& draft, const Machine& machine, QWidget* parent)
    : QDialog(parent), draft_(draft), machine_(machine), parts_(ablationParts(draft)) {
  setWindowTitle(tr("Ablate parts"));
  setObjectName(QStringLiteral("ablate"));
  const Property& steps = *find_property("training.steps");
  seeds_ = makeBox(3, 1, most_seeds, "ablate-seeds");
  steps_ = makeBox(draft.integer("training.steps"), static_cast<int>(steps.minimum), static_cast<int>(steps.maximum),
                   "ablate-steps");
  auto* const introduction = new QLabel(
      tr("Every combination of what is ticked is trained beside the model as it stands in the form, with the "
         "same seeds: equal seeds give equal data, and equal weights in every part two models share."));
  introduction->setWordWrap(true);
  sentence_ = new QLabel;
  sentence_->setObjectName(QStringLiteral("ablate-sentence"));
  sentence_->setWordWrap(true);
  auto* const numbers = new QFormLayout;
  numbers->addRow(tr("&Seeds"), seeds_);
  numbers->addRow(tr("S&teps"), steps_);
  auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  train_ = buttons->addButton(tr("Train"), QDialogButtonBox::AcceptRole);
  train_->setObjectName(QStringLiteral("ablate-train"));
  train_->setProperty("primary", true);
  train_->setDefault(true);

  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(24, 24, 24, 16);
  column->setSpacing(16);
  column->addWidget(introduction);
  column->addWidget(makeParts());
  column->addLayout(numbers);
  column->addWidget(sentence_);
  column->addWidget(buttons);
  for (QSpinBox* const box : {seeds_, steps_}) connect(box, &QSpinBox::valueChanged, this, &AblationDialog::refresh);
  connect(buttons, &QDialogButtonBox::accepted, this, &AblationDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  refresh();
}

QWidget* AblationDialog::makeParts() {
  auto* const parts = new QWidget;
  auto* const form = new QFormLayout(parts);
  form->setContentsMargins(0, 0, 0, 0);
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const Property& property = *find_property(parts_[part].key);
    auto* const boxes = new QHBoxLayout;
    for (const PropertyValue& value : parts_[part].alternatives) {
      const QString text = QString::fromStdString(value_to_string(value));
      auto* const box = new QCheckBox(text);
      box->setObjectName(QStringLiteral("ablate %1 %2").arg(QString::fromStdString(parts_[part].key), text));
      box->setAccessibleName(tr("%1: %2").arg(fromView(property.label), text));
      connect(box, &QCheckBox::toggled, this, &AblationDialog::refresh);
      boxes->addWidget(box);
      choices_.push_back({part, value, box});
    }
    boxes->addStretch(1);
    auto* const label = new QLabel(
        tr("%1: %2, or").arg(fromView(property.label), QString::fromStdString(value_to_string(parts_[part].present))));
    label->setToolTip(fromView(property.help));
    form->addRow(label, boxes);
  }
  return parts;
}

Ablation AblationDialog::ablation() const {
  Ablation chosen{draft_, {}, seeds_->value(), steps_->value()};
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    AblationPart varied{parts_[part].key, parts_[part].present, {}};
    for (const Choice& choice : choices_)
      if (choice.part == part && choice.box->isChecked()) varied.alternatives.push_back(choice.value);
    if (!varied.alternatives.empty()) chosen.parts.push_back(std::move(varied));
  }
  return chosen;
}

void AblationDialog::refresh() {
  const Ablation chosen = ablation();
  const QString against = obstacle(chosen);
  train_->setEnabled(against.isEmpty());
  if (!against.isEmpty()) {
    sentence_->setText(against);
    return;
  }
  sentence_->setText(
      tr("%1 with %2 make %3 of %4, as many at a time as the machine has cores.")
          .arg(countText(static_cast<std::int64_t>(chosen.combinations()), tr("combination"), tr("combinations")),
               countText(chosen.seeds, tr("seed"), tr("seeds")),
               countText(static_cast<std::int64_t>(chosen.models()), tr("model"), tr("models")),
               countText(chosen.steps, tr("step"), tr("steps"))));
}

void AblationDialog::accept() {
  const Ablation chosen = ablation();
  if (!obstacle(chosen).isEmpty()) return;
  const QString folder = QDir(machine_.runs_folder).absoluteFilePath(folderName(chosen));
  QString problem;
  if (!QDir().mkpath(folder))
    problem = tr("The folder %1 cannot be made: check where the machine's runs go.").arg(folder);
  if (problem.isEmpty()) problem = writeFile(SweepDialog::sweepFileIn(folder), sweepFile(chosen)).value_or(QString());
  if (!problem.isEmpty()) {
    sentence_->setText(problem);
    return;
  }
  folder_ = folder;
  QDialog::accept();
}

}  // namespace mambarium
