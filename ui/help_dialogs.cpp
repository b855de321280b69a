#include "ui/help_dialogs.h"

#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include "core/contract/messages.h"
#include "mambarium/version.h"

namespace mambarium {

namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("Help", text);
}

QDialog* makeDialog(const QString& title, QWidget* content, QWidget* parent) {
  auto* const dialog = new QDialog(parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(title);
  auto* const column = new QVBoxLayout(dialog);
  column->setContentsMargins(24, 24, 24, 16);
  column->setSpacing(16);
  column->addWidget(content, 1);
  auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  column->addWidget(buttons);
  return dialog;
}

QLabel* makeText(const QString& html) {
  auto* const text = new QLabel(html);
  text->setTextFormat(Qt::RichText);
  text->setWordWrap(true);
  text->setTextInteractionFlags(Qt::TextBrowserInteraction);
  text->setOpenExternalLinks(true);
  text->setMinimumWidth(480);
  return text;
}

}  // namespace

QDialog* makeAboutDialog(QWidget* parent) {
  const QString html =
      tr("<h2>Mambarium %1</h2>"
         "<p>A vivarium for sequence models: train Mamba-family models on tasks whose best possible answer is known, "
         "watch them learn, take parts out, and carry the figures into a paper.</p>"
         "<p>Revision %2. Protocol version %3. Qt %4.</p>"
         "<p>Figures are drawn with QCustomPlot by Emanuel Eichhammer. Text is set in Inter by Rasmus Andersson (SIL "
         "Open Font "
         "License). Models are trained with LibTorch, in a program of its own.</p>"
         "<p>Free software under the GNU General Public License, version 3 or later; it comes without any warranty. "
         "<a href=\"https://www.gnu.org/licenses/gpl-3.0.html\">The licence</a>.</p>")
          .arg(QLatin1String(version), QLatin1String(revision))
          .arg(protocol_version)
          .arg(QLatin1String(qVersion()));
  QDialog* const dialog = makeDialog(tr("About Mambarium"), makeText(html), parent);
  dialog->setObjectName(QStringLiteral("about"));
  return dialog;
}

QDialog* makeShortcutsDialog(const QList<QAction*>& actions, QWidget* parent) {
  auto* const table = new QWidget;
  auto* const grid = new QGridLayout(table);
  grid->setHorizontalSpacing(32);
  grid->setVerticalSpacing(8);
  grid->setColumnStretch(1, 1);
  int line = 0;
  const auto add = [&](const QString& keys, const QString& text) {
    auto* const key = new QLabel(keys);
    key->setProperty("role", QStringLiteral("title"));
    grid->addWidget(key, line, 0);
    grid->addWidget(new QLabel(text), line, 1);
    ++line;
  };
  for (const QAction* const action : actions) {
    QString text = action->text();
    text.remove(QLatin1Char('&')).remove(QStringLiteral("…"));
    const QString shown = action->property("keys").toString();
    const QString keys = shown.isEmpty() ? action->shortcut().toString(QKeySequence::NativeText) : shown;
    if (!keys.isEmpty()) add(keys, text);
  }
  add(tr("Left, Right"), tr("On the timeline: the checkpoint before or after"));
  add(tr("Up, Down"), tr("In a number field: the next round number"));
  add(tr("Arrows, digits"), tr("On the bars of a motif profile: choose one and change it, type its exact share"));
  add(tr("Shift and click"), tr("On a part of the model: the fork of the run begins at step 0"));
  add(tr("Escape"), tr("Leave a field, the palette or presentation mode"));
  QDialog* const dialog = makeDialog(tr("Keyboard shortcuts"), table, parent);
  dialog->setObjectName(QStringLiteral("shortcuts"));
  return dialog;
}

QDialog* makeFirstStepsDialog(QWidget* parent) {
  const QString html = tr(
      "<h3>The first five minutes</h3>"
      "<ol>"
      "<li><b>Press play.</b> A one-layer Mamba trains on random Markov chains, a new one in every sequence. To "
      "predict "
      "the next token it has to count what followed what.</li>"
      "<li><b>Watch the gap.</b> The best possible predictor counts and adds beta (Laplace's rule). The loss gap is "
      "what the "
      "model still loses against it; within a minute it is nearly nothing.</li>"
      "<li><b>See why.</b> The decay factors rise towards 1, so that counts are kept; the convolution filters learn to "
      "look at "
      "the token before.</li>"
      "<li><b>Take a part out.</b> While it trains, clear the box \"all\" of \"Convolution on\": the run forks. A "
      "second "
      "one goes on from the same weights without the part, in another colour, and stays far above the first: without "
      "the convolution the model cannot tell what followed what. Undo takes the fork back.</li>"
      "<li><b>Go back in time.</b> Drag the timeline below the panels: every model panel shows the checkpoint below "
      "the "
      "mouse.</li>"
      "<li><b>Carry it away.</b> Export on a panel writes PDF, SVG, PNG and the numbers as CSV.</li>"
      "</ol>");
  QDialog* const dialog = makeDialog(tr("First steps"), makeText(html), parent);
  dialog->setObjectName(QStringLiteral("first-steps"));
  return dialog;
}

}  // namespace mambarium
