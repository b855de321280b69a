#include "ui/figure/export_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <QWindow>
#include <algorithm>
#include <stdexcept>

#include "ui/figure/figure_recipe.h"
#include "ui/figure/figure_renderer.h"
#include "ui/plots/number_text.h"
#include "ui/session/application_settings.h"

namespace mambarium {
namespace {

constexpr int preview_width = 440, preview_height = 330;
constexpr int preview_delay_ms = 60;
constexpr int csv_preview_lines = 16;

QDoubleSpinBox* numberBox(double minimum, double maximum, double step, int decimals, const QString& suffix,
                          const QString& name) {
  auto* box = new QDoubleSpinBox;
  box->setRange(minimum, maximum);
  box->setSingleStep(step);
  box->setDecimals(decimals);
  box->setSuffix(suffix);
  box->setAccessibleName(name);
  return box;
}

// gap.pdf, or gap-2.pdf when that is taken.
QString freePath(const QString& folder, const QString& stem, const QString& extension) {
  const QDir directory(folder);
  QString name = stem + u'.' + extension;
  for (int i = 2; directory.exists(name); ++i) name = QStringLiteral("%1-%2.%3").arg(stem).arg(i).arg(extension);
  return directory.filePath(name);
}

}  // namespace

ExportDialog::ExportDialog(const Panel& panel, const QString& folder, QWidget* parent)
    : QDialog(parent),
      figure_(figureOf(panel, figurePresets().front().style)),
      caption_(panel.caption()),
      offered_folder_(folder) {
  setWindowTitle(tr("Export “%1”").arg(panel.title()));
  build();
  restore();
  preview_timer_.setSingleShot(true);
  preview_timer_.setInterval(preview_delay_ms);
  connect(&preview_timer_, &QTimer::timeout, this, &ExportDialog::updatePreview);
  formatChanged();
  updatePreview();
}

void ExportDialog::build() {
  format_ = new QComboBox;
  for (const char* name : {"PDF", "SVG", "PNG", "CSV"})
    format_->addItem(QLatin1String(name), QString::fromLatin1(name).toLower());
  format_->setAccessibleName(tr("Format"));
  preset_ = new QComboBox;
  for (const FigurePreset& preset : figurePresets()) preset_->addItem(preset.title, preset.id);
  preset_->addItem(tr("Other"), QStringLiteral("other"));
  preset_->setAccessibleName(tr("Size preset"));
  width_ = numberBox(30, 1000, 1, 1, tr(" mm"), tr("Width"));
  height_ = numberBox(20, 1000, 1, 1, tr(" mm"), tr("Height"));
  font_ = numberBox(4, 48, 0.5, 1, tr(" pt"), tr("Font size"));
  dpi_ = numberBox(36, 2400, 50, 0, tr(" dpi"), tr("Resolution"));
  palette_ = new QComboBox;
  palette_->addItem(tr("White (paper)"), false);
  palette_->addItem(tr("Dark (slides)"), true);
  palette_->setAccessibleName(tr("Ground"));
  title_ = new QLineEdit;
  title_->setPlaceholderText(tr("none"));
  title_->setAccessibleName(tr("Title above the plot"));
  with_caption_ = new QCheckBox(tr("Caption below the plot"));
  path_ = new QLineEdit;
  path_->setAccessibleName(tr("File"));
  auto* browse_button = new QPushButton(tr("Browse…"));
  browse_button->setAccessibleName(tr("Choose the file"));
  browse_button->setAutoDefault(false);

  auto* file_row = new QHBoxLayout;
  file_row->addWidget(path_, 1);
  file_row->addWidget(browse_button);
  auto* form = new QFormLayout;
  form->setVerticalSpacing(10);
  form->addRow(tr("&Format"), format_);
  form->addRow(tr("&Size"), preset_);
  form->addRow(tr("&Width"), width_);
  form->addRow(tr("&Height"), height_);
  form->addRow(tr("Font si&ze"), font_);
  form->addRow(tr("&Resolution"), dpi_);
  form->addRow(tr("&Ground"), palette_);
  form->addRow(tr("&Title"), title_);
  form->addRow(QString(), with_caption_);

  preview_ = new QLabel;
  preview_->setObjectName(QStringLiteral("preview"));
  preview_->setMinimumSize(preview_width, preview_height);
  preview_->setAccessibleName(tr("Preview"));

  as_of_ = new QLabel;
  as_of_->setObjectName(QStringLiteral("as-of"));
  as_of_->setProperty("role", QStringLiteral("hint"));
  as_of_->setWordWrap(true);
  as_of_->hide();
  note_ = new QLabel;
  note_->setProperty("role", QStringLiteral("hint"));
  note_->setWordWrap(true);
  problem_ = new QLabel;
  problem_->setObjectName(QStringLiteral("problem"));
  problem_->setProperty("role", QStringLiteral("warning"));
  problem_->setWordWrap(true);
  problem_->hide();

  auto* buttons = new QDialogButtonBox;
  save_ = buttons->addButton(tr("Save"), QDialogButtonBox::AcceptRole);
  save_->setProperty("primary", true);
  save_->setDefault(true);
  buttons->addButton(QDialogButtonBox::Cancel);

  auto* columns = new QHBoxLayout;
  columns->setSpacing(24);
  auto* form_column = new QVBoxLayout;
  form_column->addLayout(form);
  form_column->addStretch(1);
  columns->addLayout(form_column);
  columns->addWidget(preview_, 1);
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(16, 16, 16, 16);
  rows->setSpacing(12);
  rows->addLayout(columns, 1);
  auto* file_label = new QLabel(tr("F&ile"));
  file_label->setBuddy(path_);
  file_row->insertWidget(0, file_label);
  rows->addWidget(as_of_);
  rows->addLayout(file_row);
  rows->addWidget(note_);
  rows->addWidget(problem_);
  rows->addWidget(buttons);

  connect(format_, &QComboBox::currentIndexChanged, this, &ExportDialog::formatChanged);
  connect(preset_, &QComboBox::activated, this, &ExportDialog::choosePreset);
  for (QDoubleSpinBox* box : {width_, height_, font_})
    connect(box, &QDoubleSpinBox::valueChanged, this, &ExportDialog::sizeEdited);
  connect(dpi_, &QDoubleSpinBox::valueChanged, this, &ExportDialog::changed);
  connect(palette_, &QComboBox::currentIndexChanged, this, &ExportDialog::changed);
  connect(title_, &QLineEdit::textChanged, this, &ExportDialog::changed);
  connect(with_caption_, &QCheckBox::toggled, this, &ExportDialog::changed);
  connect(path_, &QLineEdit::textChanged, this, &ExportDialog::pathEdited);
  connect(browse_button, &QPushButton::clicked, this, &ExportDialog::browse);
  connect(buttons, &QDialogButtonBox::accepted, this, &ExportDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void ExportDialog::restore() {
  const auto settings = openSettings();
  settings->beginGroup(QStringLiteral("export"));
  const FigureStyle standard = figurePresets().front().style;
  const auto number = [&](const char* key, double missing) {
    return settings->value(QLatin1String(key), missing).toDouble();
  };
  format_->setCurrentIndex(
      std::max(0, format_->findData(settings->value(QStringLiteral("format"), QStringLiteral("pdf")))));
  width_->setValue(number("width_mm", standard.width_mm));
  height_->setValue(number("height_mm", standard.height_mm));
  font_->setValue(number("font_pt", standard.font_pt));
  dpi_->setValue(number("dpi", standard.dpi));
  palette_->setCurrentIndex(settings->value(QStringLiteral("dark"), false).toBool() ? 1 : 0);
  with_caption_->setChecked(settings->value(QStringLiteral("caption"), false).toBool());
  const QString last = settings->value(QStringLiteral("folder")).toString();
  path_->setText(freePath(last.isEmpty() ? offered_folder_ : last, figure_.panel_id, format()));
  sizeEdited();
}

void ExportDialog::remember() const {
  const auto settings = openSettings();
  settings->beginGroup(QStringLiteral("export"));
  settings->setValue(QStringLiteral("format"), format());
  settings->setValue(QStringLiteral("width_mm"), width_->value());
  settings->setValue(QStringLiteral("height_mm"), height_->value());
  settings->setValue(QStringLiteral("font_pt"), font_->value());
  settings->setValue(QStringLiteral("dpi"), dpi_->value());
  settings->setValue(QStringLiteral("dark"), palette_->currentData().toBool());
  settings->setValue(QStringLiteral("caption"), with_caption_->isChecked());
  const QString folder = QFileInfo(path()).absolutePath();
  if (QDir(folder) == QDir(offered_folder_)) {
    settings->remove(QStringLiteral("folder"));
  } else {
    settings->setValue(QStringLiteral("folder"), folder);
  }
}

void ExportDialog::setAsOf(std::int64_t step) {
  as_of_->setText(tr("As of step %1: training goes on, and the figure does not.").arg(stepText(step)));
  as_of_->show();
}

QString ExportDialog::format() const {
  return format_->currentData().toString();
}
QString ExportDialog::path() const {
  return path_->text().trimmed();
}
QString ExportDialog::target() const {
  const QFileInfo info(path());
  return info.fileName().isEmpty() || isFigureFormat(info.suffix()) ? path() : path() + u'.' + format();
}

Figure ExportDialog::figure() const {
  Figure chosen = figure_;
  chosen.style = {width_->value(), height_->value(), font_->value(), palette_->currentData().toBool(), dpi_->value()};
  chosen.title = title_->text().trimmed();
  chosen.caption = with_caption_->isChecked() ? caption_ : QString();
  return chosen;
}

void ExportDialog::choosePreset(int index) {
  if (index >= static_cast<int>(figurePresets().size())) return;
  const FigureStyle& style = figurePresets()[static_cast<std::size_t>(index)].style;
  const QSignalBlocker blockers[] = {QSignalBlocker(width_), QSignalBlocker(height_), QSignalBlocker(font_),
                                     QSignalBlocker(dpi_)};
  width_->setValue(style.width_mm);
  height_->setValue(style.height_mm);
  font_->setValue(style.font_pt);
  dpi_->setValue(style.dpi);
  changed();
}

void ExportDialog::sizeEdited() {
  const auto& presets = figurePresets();
  const auto found = std::find_if(presets.begin(), presets.end(), [this](const FigurePreset& preset) {
    return preset.style.width_mm == width_->value() && preset.style.height_mm == height_->value() &&
           preset.style.font_pt == font_->value();
  });
  preset_->setCurrentIndex(static_cast<int>(found - presets.begin()));
  changed();
}

void ExportDialog::formatChanged() {
  const bool csv = format() == u"csv";
  for (QWidget* control :
       std::initializer_list<QWidget*>{preset_, width_, height_, font_, palette_, title_, with_caption_})
    control->setEnabled(!csv);
  dpi_->setEnabled(format() == u"png");
  const QFileInfo info(path());
  if (isFigureFormat(info.suffix())) {
    const QSignalBlocker blocker(path_);
    path_->setText(QDir(info.path()).filePath(info.completeBaseName() + u'.' + format()));
  }
  pathEdited();
  changed();
}

void ExportDialog::pathEdited() {
  const QFileInfo info(path());
  const int named = format_->findData(info.suffix().toLower());
  if (named >= 0 && named != format_->currentIndex()) {
    format_->setCurrentIndex(named);
    return;
  }
  const bool exists = QFileInfo::exists(target());
  save_->setText(exists ? tr("Replace") : tr("Save"));
  save_->setEnabled(!info.fileName().isEmpty());
  const QString recipe = format() == u"csv" ? QString()
                                            : tr("A recipe that makes the figure again is written beside it: %1.")
                                                  .arg(QFileInfo(recipePathFor(target())).fileName());
  note_->setText(exists ? tr("This file exists and will be replaced. ") + recipe : recipe);
  say({});
}

void ExportDialog::browse() {
  const QString chosen =
      QFileDialog::getSaveFileName(this, tr("Export as"), path(), tr("Figures (*.pdf *.svg *.png *.csv)"), nullptr,
                                   QFileDialog::DontConfirmOverwrite);
  if (!chosen.isEmpty()) path_->setText(chosen);
}

// The preview has the pixels of the screen it is on.
void ExportDialog::showEvent(QShowEvent* event) {
  QDialog::showEvent(event);
  connect(windowHandle(), &QWindow::screenChanged, this, &ExportDialog::changed, Qt::UniqueConnection);
}

void ExportDialog::changed() {
  preview_timer_.start();
}

void ExportDialog::updatePreview() {
  const Figure chosen = figure();
  try {
    if (format() == u"csv") {
      const QStringList lines = QString::fromUtf8(figureCsv(chosen)).split(u'\n', Qt::SkipEmptyParts);
      preview_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
      preview_->setText(
          lines.mid(0, csv_preview_lines).join(u'\n') +
          (lines.size() > csv_preview_lines ? tr("\n… %1 rows in all").arg(lines.size() - 1) : QString()));
      preview_->setAccessibleDescription(tr("The first lines of the file"));
    } else {
      const double fit =
          std::min(preview_->width() / chosen.style.width_mm, preview_->height() / chosen.style.height_mm);
      preview_->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
      QImage image = figureImage(chosen, fit * 25.4 * devicePixelRatioF());
      image.setDevicePixelRatio(devicePixelRatioF());
      preview_->setPixmap(QPixmap::fromImage(image));
      preview_->setAccessibleDescription(caption_);
    }
    say({});
  } catch (const std::exception& problem) {
    preview_->clear();
    say(QString::fromUtf8(problem.what()));
  }
}

void ExportDialog::say(const QString& problem) {
  problem_->setText(problem);
  problem_->setVisible(!problem.isEmpty());
}

void ExportDialog::accept() {
  const Figure chosen = figure();
  const QString file = target();
  std::optional<QString> failure;
  try {
    QDir().mkpath(QFileInfo(file).path());
    failure = saveFigure(chosen, file);
    if (!failure && format() != u"csv") failure = writeFile(recipePathFor(file), recipeBytes(chosen));
  } catch (const std::exception& problem) {
    failure = QString::fromUtf8(problem.what());
  }
  if (failure) {
    say(*failure);
    return;
  }
  remember();
  Q_EMIT saved(file);
  QDialog::accept();
}

}  // namespace mambarium
