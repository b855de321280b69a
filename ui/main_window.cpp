#include "ui/main_window.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSlider>
#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QKeyEvent>
#include <QMenuBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QScreen>
#include <QSettings>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/contract/preset.h"
#include "core/contract/resources.h"
#include "ui/command_palette.h"
#include "ui/form/experiment_form.h"
#include "ui/notice_area.h"
#include "ui/panel_area.h"
#include "ui/run_text.h"
#include "ui/runs_view.h"
#include "ui/session/application_settings.h"
#include "ui/session/problem_text.h"
#include "ui/sweep_dialog.h"
#include "ui/timeline.h"
#include "ui/transport_bar.h"

namespace mambarium {

namespace {

// For a projector: as large as its panels still fit.
double presentationZoom(const QScreen& screen) {
  const QSize size = screen.availableSize();
  return std::clamp(std::min(size.width() / 1280.0, size.height() / 720.0), 1.15, 2.0);
}

constexpr QMargins window_frame(4, 32, 4, 4);  // not known before a window is shown: about what one takes

constexpr int flash_milliseconds = 4000;
constexpr int shut_down_milliseconds = 3000;

// A message from a worker as a sentence: it may come without capital and full stop.
QString asSentence(QString message) {
  if (message.isEmpty()) return message;
  const QString first_word = message.section(QLatin1Char(' '), 0, 0);
  if (!first_word.contains(QRegularExpression(QStringLiteral("[./_:]")))) message[0] = message[0].toUpper();
  if (!message.endsWith(QLatin1Char('.'))) message += QLatin1Char('.');
  return message;
}

// Keys that a focused control needs for itself although they are shortcuts of the window.
bool needsKey(const QWidget* focused, int key) {
  const bool button = qobject_cast<const QAbstractButton*>(focused) != nullptr;
  const bool list = qobject_cast<const QAbstractItemView*>(focused) || qobject_cast<const QComboBox*>(focused);
  if (key == Qt::Key_Space) return button || list;
  if (key == Qt::Key_Right || key == Qt::Key_Left) return list || qobject_cast<const QAbstractSlider*>(focused);
  return false;
}

}  // namespace

MainWindow::MainWindow(Session& session, QWidget* parent)
    : QMainWindow(parent),
      session_(session),
      system_is_dark_(QApplication::palette().window().color().lightness() < 128) {
  setObjectName(QStringLiteral("main-window"));
  arrange();
  makeActions();
  connectSession();
  flash_timer_.setSingleShot(true);
  flash_timer_.setInterval(flash_milliseconds);
  connect(&flash_timer_, &QTimer::timeout, this, [this] {
    flashed_.clear();
    refreshSentence();
  });
  qApp->installEventFilter(this);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    if (now) clicked_.clear();
  });
  applyTheme();
  resize(1440, 900);
  fitToScreen();
  refreshTitle();
  refreshSentence();
}

MainWindow::~MainWindow() {
  qApp->removeEventFilter(this);
}

void MainWindow::arrange() {
  const LoadedPresets loaded = load_presets(preset_directory());
  form_ = new ExperimentForm(session_.draft(), loaded.presets);
  panels_ = new PanelArea(makePanels(nullptr));
  for (Panel* const panel : panels_->panels()) {
    session_.feed().addPanel(panel);
    connect(panel, &Panel::captionChanged, this, [this, panel] {
      if (hovered_ == panel || panels_->maximised() == panel) refreshSentence();
    });
  }
  notices_ = new NoticeArea;
  if (!loaded.problems.empty()) {
    noticeProblem(tr("A preset file cannot be used and is left out. %1").arg(toSentences(loaded.problems)), {});
  }
  runs_view_ = new RunsView(session_);
  transport_ = new TransportBar(session_);

  auto* const middle = new QWidget;
  middle->setMinimumWidth(400);
  auto* const column = new QVBoxLayout(middle);
  column->setContentsMargins(4, 8, 4, 0);
  column->setSpacing(8);
  column->addWidget(notices_);
  column->addWidget(panels_, 1);

  split_ = new QSplitter(Qt::Horizontal);
  split_->setObjectName(QStringLiteral("columns"));
  split_->setHandleWidth(8);
  split_->setChildrenCollapsible(false);
  split_->addWidget(form_);
  split_->addWidget(middle);
  split_->addWidget(runs_view_);
  split_->setStretchFactor(0, 0);
  split_->setStretchFactor(1, 1);
  split_->setStretchFactor(2, 0);
  split_->setSizes({1, 100'000, 1});  // the sides as narrow as they can be

  auto* const body = new QWidget;
  auto* const rows = new QVBoxLayout(body);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  rows->addWidget(split_, 1);
  rows->addWidget(transport_);
  setCentralWidget(body);

  palette_button_ = new QToolButton;
  palette_button_->setObjectName(QStringLiteral("palette-button"));
  palette_button_->setText(tr("Commands  Ctrl+K"));
  palette_button_->setAccessibleName(tr("Commands"));
  palette_button_->setToolTip(tr("Every command by name (Ctrl+K)"));
  palette_button_->setFocusPolicy(Qt::TabFocus);
  menuBar()->setCornerWidget(palette_button_);
  palette_box_ = new CommandPalette(this);
  connect(palette_button_, &QToolButton::clicked, palette_box_, &CommandPalette::open);
}

void MainWindow::connectSession() {
  connect(&session_, &Session::changed, this, &MainWindow::refreshSentence);
  connect(&session_, &Session::changed, this, &MainWindow::refreshActions);
  connect(&session_, &Session::changed, form_, [this] {
    form_->setForking(session_.forksParts());
    form_->setFilesAreHere(runsHere(session_.machines().selected()));
  });
  connect(&session_.runs(), &RunList::currentChanged, this, &MainWindow::refreshTitle);
  connect(&session_.feed(), &PanelFeed::checkpointChanged, this, &MainWindow::refreshSentence);
  connect(&session_, &Session::workerDied, this, &MainWindow::noticeDeath);
  connect(&session_, &Session::runProblem, this,
          [this](Run* run, const QString& message, const QString& hint) { noticeProblem(message, hint, run); });
  connect(&session_, &Session::runLogged, this,
          [this](Run* run, const QString& text) { noticeProblem(text, {}, run); });
  connect(&session_, &Session::folderProblem, this, &MainWindow::noticeFolder);
  connect(&session_.feed(), &PanelFeed::inspectionProblem, this,
          [this](const QString& message, const QString& hint) { noticeProblem(message, hint); });
  connect(&session_.library(), &RunLibrary::unavailable, this, &MainWindow::noticeUnavailable);
  connect(&session_.runs(), &RunList::added, this, &MainWindow::watch);
  for (int index = 0; index < session_.runs().count(); ++index) watch(session_.runs().at(index));
  connect(panels_, &PanelArea::exportRequested, this, &MainWindow::exportFigure);
  connect(runs_view_, &RunsView::exportRequested, this, [this] {
    session_.feed().frame();  // the run has just become current: the panels do not show it yet
    exportFigure(panelInQuestion());
  });
  connect(panels_, &PanelArea::captionCopied, this, [this] { flash(tr("The caption is on the clipboard.")); });
  connect(runs_view_, &RunsView::messageRequested, this, &MainWindow::flash);
}

void MainWindow::watch(Run* run) {
  connect(run, &Run::opened, this, [this, run] { notices_->removeAbout(run); });
  connect(run, &Run::lookChanged, this, &MainWindow::refreshTitle);
  connect(run, &Run::opened, this, &MainWindow::refreshTitle);
  if (hint_) hint_->leave();
}

void MainWindow::noticeDeath(Run* run, const QString& reason, const QString& hint, const QString& last_words) {
  Notice notice{reason, hint, last_words, {}, run};
  if (run->state() == Run::State::died) {
    const QString text = run->folder().isEmpty() ? tr("Try again") : tr("Continue from the last checkpoint");
    notice.actions.push_back({text, [this, run] { session_.continueRun(run); }});
    if (!run->folder().isEmpty()) {
      notice.message = tr("%1: %2 Its evaluations are kept.").arg(run->title(), reason);
    }
  }
  notices_->add(notice);
}

void MainWindow::noticeProblem(const QString& message, const QString& hint, QObject* about) {
  notices_->add({asSentence(message), asSentence(hint), {}, {}, about});
}

// However many folders are opened at once, what is wrong with each of them stays to be read: one notice, a line each.
void MainWindow::noticeFolder(const QString& message, const QString& hint) {
  QStringList lines, hints;
  for (const NoticeBar* const bar : notices_->bars()) {
    if (bar->notice().about != &session_.library()) continue;
    lines = bar->notice().message.split(QLatin1Char('\n'));
    hints = bar->notice().hint.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  }
  lines << asSentence(message);
  if (!hint.isEmpty()) hints << asSentence(hint);
  for (QStringList* const texts : {&lines, &hints}) texts->removeDuplicates();
  notices_->removeAbout(&session_.library());
  noticeProblem(lines.join(QLatin1Char('\n')), hints.join(QLatin1Char('\n')), &session_.library());
}

void MainWindow::noticeUnavailable(const QString& reason, const QString& hint, const QString& last_words) {
  notices_->add({reason,
                 hint,
                 last_words,
                 {{tr("Try again"), [this] { session_.library().prepare(session_.machines().selected()); }},
                  {tr("Settings…"), [this] { editSettings(); }}},
                 nullptr});
}

void MainWindow::setThemeChoice(ThemeChoice choice) {
  theme_choice_ = choice;
  applyTheme();
  refreshActions();
}

void MainWindow::applyTheme() {
  const bool dark = theme_choice_ == ThemeChoice::dark || (theme_choice_ == ThemeChoice::system && system_is_dark_);
  theme_ =
      Theme::screen(dark ? Appearance::dark : Appearance::light, presentation_ ? presentationZoom(*screen()) : 1.0);
  theme_.applyTo(*qApp);
  panels_->setTheme(theme_);
  runs_view_->setTheme(theme_);
  transport_->setTheme(theme_);
  for (SweepDialog* const sweep : findChildren<SweepDialog*>()) sweep->setTheme(theme_);
}

void MainWindow::setPresentation(bool on) {
  if (on == presentation_) return;
  presentation_ = on;
  form_->setVisible(!on && action(QStringLiteral("show-form"))->isChecked());
  runs_view_->setVisible(!on && action(QStringLiteral("show-runs"))->isChecked());
  menuBar()->setVisible(!on);
  setFocus();
  applyTheme();
  setWindowState(on ? windowState() | Qt::WindowFullScreen : windowState() & ~Qt::WindowFullScreen);
  refreshActions();
  if (on) flash(tr("Presentation: F11 or Escape goes back."));
}

void MainWindow::refreshTitle() {
  const Run* const run = session_.runs().current();
  setWindowTitle(run ? run->title() : QApplication::applicationDisplayName());
}

void MainWindow::refreshSentence() {
  const Panel* const panel = hovered_ ? hovered_.data() : panels_->maximised();
  if (!flashed_.isEmpty()) {
    transport_->setSentence(flashed_);
  } else if (const QString silence = silenceSentence(session_); !silence.isEmpty()) {
    transport_->setSentence(silence);
  } else if (panel && session_.runs().current()) {
    transport_->setSentence(panel->caption());
  } else {
    transport_->setSentence(runSentence(session_));
  }
}

void MainWindow::flash(const QString& text) {
  flashed_ = text;
  flash_timer_.start();
  refreshSentence();
}

void MainWindow::showHint() {
  hint_ =
      new HintBubble(tr("Press play (or the space bar). A small Mamba learns to predict random Markov chains; within a "
                        "minute its loss meets the best possible predictor."),
                     transport_->playButton(), theme_);
  connect(hint_, &HintBubble::dismissed, this,
          [] { openSettings()->setValue(QStringLiteral("window/hint-shown"), true); });
}

QRect MainWindow::fitted(const QRect& wanted, const QRect& available) {
  const QRect inner = available.marginsRemoved(window_frame);
  QRect fitting(wanted.topLeft(), wanted.size().boundedTo(inner.size()));
  if (fitting.right() > inner.right()) fitting.moveRight(inner.right());
  if (fitting.bottom() > inner.bottom()) fitting.moveBottom(inner.bottom());
  if (fitting.left() < inner.left()) fitting.moveLeft(inner.left());
  if (fitting.top() < inner.top()) fitting.moveTop(inner.top());
  return fitting;
}

void MainWindow::fitToScreen() {
  if (windowState() & (Qt::WindowMaximized | Qt::WindowFullScreen)) return;
  const QRect fitting = fitted(geometry(), screen()->availableGeometry());
  if (fitting.size() != size()) resize(fitting.size());
  if (testAttribute(Qt::WA_Moved) && fitting.topLeft() != geometry().topLeft()) setGeometry(fitting);
}

void MainWindow::restore(const QSettings& settings) {
  theme_choice_ = themeChoiceFrom(settings.value(QStringLiteral("window/theme")).toString());
  restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
  fitToScreen();
  split_->restoreState(settings.value(QStringLiteral("window/columns")).toByteArray());
  for (const char* const name : {"show-form", "show-runs"}) {
    action(QLatin1String(name))
        ->setChecked(settings.value(QStringLiteral("window/%1").arg(QLatin1String(name)), true).toBool());
  }
  panels_->restore(settings);
  applyTheme();
  refreshActions();
  refreshTitle();
  if (!settings.value(QStringLiteral("window/hint-shown"), false).toBool()) {
    QMetaObject::invokeMethod(this, &MainWindow::showHint, Qt::QueuedConnection);
  }
}

void MainWindow::save(QSettings& settings) {
  settings.setValue(QStringLiteral("window/theme"), toKey(theme_choice_));
  if (!presentation_) settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
  settings.setValue(QStringLiteral("window/columns"), split_->saveState());
  for (const char* const name : {"show-form", "show-runs"}) {
    settings.setValue(QStringLiteral("window/%1").arg(QLatin1String(name)), action(QLatin1String(name))->isChecked());
  }
  panels_->save(settings);
  session_.save(settings);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  save(*openSettings());
  hide();
  for (SweepDialog* const sweep : findChildren<SweepDialog*>()) sweep->close();
  session_.shutDown(shut_down_milliseconds);
  event->accept();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    if (presentation_) {
      setPresentation(false);
    } else if (panels_->maximised()) {
      panels_->maximise(nullptr);
      refreshActions();
    }
    return;
  }
  QMainWindow::keyPressEvent(event);
}

bool MainWindow::focusNextPrevChild(bool next) {
  if (clicked_ && clicked_->isVisible() && clicked_->isEnabled()) clicked_->setFocus(Qt::OtherFocusReason);
  return QMainWindow::focusNextPrevChild(next);
}

bool MainWindow::eventFilter(QObject* object, QEvent* event) {
  switch (event->type()) {
    case QEvent::MouseButtonPress:
      if (auto* const widget = qobject_cast<QWidget*>(object); widget && widget->window() == this)
        clicked_ = widget->focusPolicy() == Qt::TabFocus ? widget : nullptr;
      break;
    case QEvent::ShortcutOverride:
      if (needsKey(qobject_cast<QWidget*>(object), static_cast<QKeyEvent*>(event)->key())) {
        event->accept();
        return true;
      }
      break;
    case QEvent::Enter:
    case QEvent::Leave:
      if (auto* const panel = qobject_cast<Panel*>(object)) {
        hovered_ = event->type() == QEvent::Enter ? panel : nullptr;
        refreshSentence();
      }
      break;
    default:
      break;
  }
  return QMainWindow::eventFilter(object, event);
}

}  // namespace mambarium
