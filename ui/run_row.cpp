#include "ui/run_row.h"

#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/icons.h"
#include "ui/plots/loss_unit.h"
#include "ui/run_text.h"

namespace mambarium {

namespace {

// A title breaks between its parts and not inside "order 1"; what comes before them breaks anywhere.
QString breakable(const QString& title) {
  constexpr QChar unbreakable(0x00a0);
  QStringList parts = title.split(QStringLiteral(" · "));
  for (auto part = parts.begin() + 1; part != parts.end(); ++part) part->replace(QLatin1Char(' '), unbreakable);
  return parts.join(unbreakable + QStringLiteral("· "));
}

}  // namespace

// Its colour and its marker, painted anew on whatever screen the window comes to.
class RunRow::Swatch : public QWidget {
 public:
  void draw(const QIcon& icon, int side) {
    icon_ = icon;
    setFixedSize(side, side);
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    icon_.paint(&painter, rect());
  }

 private:
  QIcon icon_;
};

RunRow::RunRow(Run& run, QWidget* parent) : QFrame(parent), run_(run) {
  setObjectName(QStringLiteral("run-row"));
  setFocusPolicy(Qt::TabFocus);
  eye_ = new QToolButton;
  eye_->setObjectName(QStringLiteral("eye"));
  eye_->setFocusPolicy(Qt::TabFocus);
  menu_ = new QToolButton;
  menu_->setObjectName(QStringLiteral("run-menu"));
  menu_->setFocusPolicy(Qt::TabFocus);
  menu_->setToolTip(tr("More about this run"));
  swatch_ = new Swatch;
  title_ = new QLabel;
  title_->setWordWrap(true);
  title_->setObjectName(QStringLiteral("run-title"));
  state_ = new QLabel;
  state_->setProperty("role", QStringLiteral("hint"));
  state_->setObjectName(QStringLiteral("run-state"));
  gap_ = new QLabel;
  gap_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  gap_->setObjectName(QStringLiteral("run-gap"));
  note_ = new QLineEdit;
  note_->setObjectName(QStringLiteral("run-note"));
  note_->setPlaceholderText(tr("Add a note"));
  note_->setFrame(false);
  note_->setTextMargins(-2, 0, 0, 0);

  auto* const first = new QHBoxLayout;
  first->setSpacing(4);
  first->addWidget(eye_);
  first->addWidget(swatch_);
  first->addWidget(state_, 1);
  first->addWidget(gap_);
  first->addWidget(menu_);
  auto* const details = new QVBoxLayout;
  details->setContentsMargins(8, 0, 8, 0);
  details->setSpacing(2);
  details->addWidget(title_);
  details->addWidget(note_);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(4, 4, 4, 6);
  column->setSpacing(2);
  column->addLayout(first);
  column->addLayout(details);

  connect(eye_, &QToolButton::clicked, this, [this] { run_.setShown(!run_.isShown()); });
  connect(menu_, &QToolButton::clicked, this,
          [this] { Q_EMIT menuRequested(menu_->mapToGlobal(menu_->rect().bottomLeft())); });
  connect(note_, &QLineEdit::textEdited, &run_, &Run::setNote);
  connect(note_, &QLineEdit::returnPressed, note_, &QWidget::clearFocus);
  connect(&run_, &Run::changed, this, &RunRow::refresh);
  connect(&run_, &Run::lookChanged, this, &RunRow::refreshLook);
  setTheme(theme_);
}

void RunRow::setTheme(const Theme& theme) {
  theme_ = theme;
  title_->setFont(theme.font());
  gap_->setFont(theme.font());
  state_->setFont(theme.axisFont());
  note_->setFont(theme.axisFont());
  const QSize size(theme.px(16), theme.px(16));
  eye_->setIconSize(size);
  menu_->setIconSize(size);
  setCurrent(current_);
}

void RunRow::setCurrent(bool current) {
  current_ = current;
  const QString ground = current ? theme_.panel().name() : QStringLiteral("transparent");
  const QString edge = current ? theme_.line().name() : QStringLiteral("transparent");
  setStyleSheet(QStringLiteral("#run-row { background: %1; border: 1px solid %2; border-radius: 6px; }"
                               "#run-row:focus { border-color: %3; }"
                               "QLineEdit { background: transparent; border: none; padding: 0; }"
                               "QLineEdit:focus { background: %4; }")
                    .arg(ground, edge, theme_.accent().name(), theme_.window().name()));
  refreshLook();
}

void RunRow::refreshLook() {
  const QColor off = theme_.palette().color(QPalette::Disabled, QPalette::Text);
  eye_->setIcon(signIcon(run_.isShown() ? Sign::shown : Sign::hidden, theme_.mutedText(), off));
  const QString eye = run_.isShown() ? tr("Hide the curves of %1") : tr("Show the curves of %1");
  eye_->setAccessibleName(eye.arg(run_.title()));
  eye_->setToolTip(run_.isShown() ? tr("Hide its curves") : tr("Show its curves"));
  menu_->setIcon(signIcon(Sign::menu, theme_.mutedText(), off));
  menu_->setAccessibleName(tr("Menu of %1").arg(run_.title()));
  note_->setAccessibleName(tr("Note on %1").arg(run_.title()));
  if (note_->text() != run_.note()) note_->setText(run_.note());
  const int side = theme_.px(18);
  swatch_->draw(theme_.runIcon(run_.paletteIndex(), run_.markerIndex(), side), side);
  QFont font = theme_.font();
  if (current_) font.setWeight(QFont::DemiBold);
  title_->setFont(font);
  title_->setText((run_.fork() ? QStringLiteral("↳ ") : QString()) + breakable(run_.title()));
  refresh();
}

void RunRow::refresh() {
  const QString state = stateText(run_);
  if (state_->text() != state) state_->setText(state);
  const QString gap = gapText(run_);
  if (gap_->text() != gap) gap_->setText(gap);
  const QString unit = lossUnit(run_.config());
  gap_->setToolTip(tr("Gap to the best possible predictor, %1").arg(unit));
  const QString spoken = gap.isEmpty() ? tr("%1, %2").arg(run_.title(), state)
                                       : tr("%1, %2, gap %3 %4").arg(run_.title(), state, gap, unit);
  if (accessibleName() != spoken) setAccessibleName(spoken);
  const QString tip =
      run_.folder().isEmpty() ? run_.title() : QStringLiteral("%1\n%2").arg(run_.title(), run_.folder());
  if (toolTip() != tip) setToolTip(tip);
}

void RunRow::editNote() {
  note_->setFocus();
  note_->selectAll();
}

void RunRow::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) Q_EMIT chosen();
}

void RunRow::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      Q_EMIT chosen();
      break;
    case Qt::Key_Up:
      focusPreviousChild();
      break;
    case Qt::Key_Down:
      focusNextChild();
      break;
    default:
      QFrame::keyPressEvent(event);
  }
}

void RunRow::contextMenuEvent(QContextMenuEvent* event) {
  Q_EMIT menuRequested(event->globalPos());
}

}  // namespace mambarium
