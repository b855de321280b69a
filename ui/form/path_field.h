// PathField: a line edit for the path of a file, of several files or of a folder.
//
// Typing and pasting work as in any line edit. What is dropped onto it from a file manager, or chosen in the dialog
// that choose() opens, takes the place of the whole text and is reported by chosen(). Several files stand in the order
// of their names, with a semicolon between them.
#pragma once

#include <QLineEdit>

class QFileDialog;

namespace mambarium {

enum class PathKind { file, files, folder };

// What stands against reading the files that a text names, on this computer: one sentence about the first that is not
// there or cannot be read, with its full path. "": nothing, or a folder, which need not exist yet.
QString problemOfPath(PathKind kind, const QString& text);

class PathField : public QLineEdit {
  Q_OBJECT
 public:
  // `title` and `filter` ("Recordings (*.npz *.mat)") are the dialog's.
  PathField(PathKind kind, const QString& title, const QString& filter, QWidget* parent = nullptr);

  PathKind kind() const { return kind_; }
  QFileDialog* choose();  // opens it, in the folder of the present text where there is one

 Q_SIGNALS:
  void chosen(const QString& text);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  QStringList droppable(const QDropEvent& event) const;
  void take(QStringList paths);

  PathKind kind_;
  QString title_, filter_;
};

}  // namespace mambarium
