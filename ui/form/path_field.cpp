#include "ui/form/path_field.h"

#include <QCollator>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QMimeData>
#include <QUrl>
#include <algorithm>

namespace mambarium {

namespace {

constexpr QLatin1Char between_files(';');

QStringList pathsIn(PathKind kind, const QString& text) {
  QStringList paths = kind == PathKind::files ? text.split(between_files) : QStringList(text);
  for (QString& path : paths) path = path.trimmed();
  paths.removeAll(QString());
  return paths;
}

}  // namespace

QString problemOfPath(PathKind kind, const QString& text) {
  if (kind == PathKind::folder) return {};
  for (const QString& path : pathsIn(kind, text)) {
    const QFileInfo file(path);
    const QString whole = QDir::toNativeSeparators(file.absoluteFilePath());
    if (!file.exists()) return PathField::tr("There is no file %1 on this computer.").arg(whole);
    if (file.isDir()) return PathField::tr("%1 is a folder; a file is wanted.").arg(whole);
    if (!file.isReadable()) return PathField::tr("You may not read %1.").arg(whole);
  }
  return {};
}

PathField::PathField(PathKind kind, const QString& title, const QString& filter, QWidget* parent)
    : QLineEdit(parent), kind_(kind), title_(title), filter_(filter) {
  setAcceptDrops(true);
}

QFileDialog* PathField::choose() {
  const QStringList present = pathsIn(kind_, text());
  const QFileInfo first(present.isEmpty() ? QString() : present.first());
  const QString folder = kind_ == PathKind::folder && first.isDir() ? first.absoluteFilePath() : first.absolutePath();
  auto* const dialog = new QFileDialog(this, title_, QFileInfo(folder).isDir() ? folder : QDir::currentPath(), filter_);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(kind_ == PathKind::folder  ? QFileDialog::Directory
                      : kind_ == PathKind::files ? QFileDialog::ExistingFiles
                                                 : QFileDialog::ExistingFile);
  if (kind_ == PathKind::folder) dialog->setOption(QFileDialog::ShowDirsOnly);
  connect(dialog, &QFileDialog::filesSelected, this, &PathField::take);
  dialog->open();
  return dialog;
}

void PathField::take(QStringList paths) {
  QCollator by_name(QLocale(QLocale::English));  // of a language: the C locale knows no numbers in names
  by_name.setNumericMode(true);                  // day 2 before day 10
  std::ranges::sort(paths, [&](const QString& one, const QString& other) { return by_name(one, other); });
  setText(paths.join(between_files));
  Q_EMIT chosen(text());
}

QStringList PathField::droppable(const QDropEvent& event) const {
  QStringList paths;
  for (const QUrl& url : event.mimeData()->urls()) {
    if (!url.isLocalFile()) return {};
    paths.append(QDir::cleanPath(url.toLocalFile()));
  }
  if (kind_ != PathKind::files && paths.size() > 1) return {};
  const bool fit = std::ranges::all_of(
      paths, [this](const QString& path) { return QFileInfo(path).isDir() == (kind_ == PathKind::folder); });
  return fit ? paths : QStringList();
}

void PathField::dragEnterEvent(QDragEnterEvent* event) {
  if (!event->mimeData()->hasUrls()) {
    QLineEdit::dragEnterEvent(event);
  } else if (droppable(*event).isEmpty()) {
    event->ignore();
  } else {
    event->acceptProposedAction();
  }
}

void PathField::dragMoveEvent(QDragMoveEvent* event) {
  if (!event->mimeData()->hasUrls()) QLineEdit::dragMoveEvent(event);
}

void PathField::dropEvent(QDropEvent* event) {
  if (!event->mimeData()->hasUrls()) {
    QLineEdit::dropEvent(event);
    return;
  }
  const QStringList paths = droppable(*event);
  if (paths.isEmpty()) return;
  event->acceptProposedAction();
  take(paths);
}

}  // namespace mambarium
