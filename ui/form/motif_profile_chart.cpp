#include "ui/form/motif_profile_chart.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QSignalBlocker>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "core/contract/text.h"
#include "ui/session/problem_text.h"

namespace mambarium {

namespace {

constexpr double rounding = 1e-9;

QString written(double share) {
  return QString::fromStdString(shortest(share));
}

// 3 * 0.1 is not the double that "0.3" reads as: go through the text a person would write.
double asWritten(double share) {
  return QString::number(share, 'g', 6).toDouble();
}

}  // namespace

MotifProfileChart::MotifProfileChart(QWidget* parent) : QWidget(parent), exact_(new QLineEdit(this)) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Profile as bars"));
  shares_.fill(QStringLiteral("0"));
  exact_->setObjectName(QStringLiteral("exact-share"));
  exact_->setAccessibleName(tr("Share"));
  exact_->hide();
  exact_->installEventFilter(this);
  connect(exact_, &QLineEdit::editingFinished, this, [this] { closeExact(true); });
  refresh();
}

void MotifProfileChart::setProfile(const QString& text) {
  const QStringList read = text.split(QLatin1Char(','));
  std::array<QString, motif_count> shares;
  for (std::size_t triad = 0; triad < motif_count; ++triad) {
    shares[triad] = read.value(static_cast<qsizetype>(triad)).trimmed();
  }
  if (shares == shares_) return;
  shares_ = shares;
  if (!swept_) fitTop();
  refresh();
}

void MotifProfileChart::draw(const std::array<double, motif_count>& shares) {
  endSteps();
  Q_EMIT settled();
  for (std::size_t triad = 0; triad < motif_count; ++triad) set(triad, written(shares[triad]));
  report();
  Q_EMIT settled();
}

QString MotifProfileChart::profile() const {
  QStringList shares;
  for (const QString& share : shares_) shares.append(share.isEmpty() ? QStringLiteral("0") : share);
  return shares.join(QLatin1Char(','));
}

std::optional<double> MotifProfileChart::share(std::size_t triad) const {
  return real_from(shares_[triad].toStdString());
}

double MotifProfileChart::sum() const {
  double sum = 0;
  for (std::size_t triad = 0; triad < motif_count; ++triad) sum += share(triad).value_or(0);
  return sum;
}

bool MotifProfileChart::isAllowed() const {
  for (std::size_t triad = 0; triad < motif_count; ++triad) {
    const double of_triad = share(triad).value_or(0);
    if (!(of_triad >= 0 && of_triad <= 1)) return false;
  }
  return sum() <= 1 + rounding;
}

void MotifProfileChart::choose(std::size_t triad) {
  chosen_ = std::min(triad, motif_count - 1);
  refresh();
}

QString MotifProfileChart::describe(std::size_t triad) const {
  QString roles = fromView(triads()[triad].description);
  roles.replace(QStringLiteral("<->"), QStringLiteral("↔")).replace(QStringLiteral("->"), QStringLiteral("→"));
  return tr("%1, %2: %3").arg(QString::fromStdString(triad_title(triad)), roles, shares_[triad]);
}

void MotifProfileChart::refresh() {
  setAccessibleDescription(
      tr("%1. Left and Right choose a bar, Up and Down change it, a digit types it exactly.").arg(describe(chosen_)));
  update();
}

// A round number with some room above the highest bar, to draw into.
void MotifProfileChart::fitTop() {
  constexpr std::array<double, 4> tops = {0.1, 0.2, 0.5, 1};
  constexpr double filled = 0.8;
  double highest = 0;
  for (std::size_t triad = 0; triad < motif_count; ++triad) highest = std::max(highest, share(triad).value_or(0));
  const auto* const fitting =
      std::ranges::find_if(tops, [&](double top) { return highest <= filled * top + rounding; });
  top_ = fitting == tops.end() ? 1 : *fitting;
  if (highest <= 0) top_ = 0.5;
}

void MotifProfileChart::set(std::size_t triad, const QString& text) {
  shares_[triad] = text;
}

void MotifProfileChart::set(std::size_t triad, double share) {
  set(triad, written(asWritten(std::clamp(share, 0.0, 1.0))));
}

void MotifProfileChart::report() {
  if (!swept_) fitTop();
  refresh();
  Q_EMIT changed(profile());
}

MotifProfileChart::Point MotifProfileChart::pointAt(const QPointF& pixel) const {
  const QRectF bars = plot();
  const double across = (pixel.x() - bars.left()) / bars.width() * static_cast<double>(motif_count);
  const double height = (bars.bottom() - pixel.y()) / bars.height();
  constexpr double grades = 100;  // of the height: about a pixel each
  return {static_cast<std::size_t>(std::clamp(across, 0.0, static_cast<double>(motif_count - 1))),
          std::clamp(std::round(height * grades) / grades, 0.0, 1.0) * top_};
}

std::optional<std::size_t> MotifProfileChart::triadAt(const QPointF& pixel) const {
  for (std::size_t triad = 0; triad < motif_count; ++triad) {
    if (column(triad).contains(pixel)) return triad;
  }
  return std::nullopt;
}

void MotifProfileChart::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const std::optional<std::size_t> triad = triadAt(event->position());
  if (!triad) return;
  endSteps();
  choose(*triad);
  if (event->position().y() > plot().bottom() + 1) return;  // on its name
  before_ = profile();
  swept_ = pointAt(event->position());
  Q_EMIT settled();
  set(swept_->triad, swept_->share);
  report();
}

void MotifProfileChart::mouseMoveEvent(QMouseEvent* event) {
  hovered_ = triadAt(event->position());
  if (!swept_) {
    update();
    return;
  }
  const Point from = *swept_, to = pointAt(event->position());
  const std::size_t distance = to.triad > from.triad ? to.triad - from.triad : from.triad - to.triad;
  for (std::size_t passed = 1; passed < distance; ++passed) {
    const std::size_t triad = to.triad > from.triad ? from.triad + passed : from.triad - passed;
    const double part = static_cast<double>(passed) / static_cast<double>(distance);
    set(triad, from.share + part * (to.share - from.share));
  }
  set(to.triad, to.share);
  swept_ = to;
  chosen_ = to.triad;
  report();
}

void MotifProfileChart::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) endSweep();
}

void MotifProfileChart::endSweep() {
  if (!swept_) return;
  swept_.reset();
  fitTop();
  update();
  Q_EMIT settled();
}

void MotifProfileChart::leaveEvent(QEvent* event) {
  hovered_.reset();
  update();
  QWidget::leaveEvent(event);
}

void MotifProfileChart::wheelEvent(QWheelEvent* event) {
  if (!hasFocus() || swept_) {
    event->ignore();
    return;
  }
  constexpr int notch = 120;
  wheel_ += event->angleDelta().y();
  const int notches = wheel_ / notch;
  wheel_ -= notches * notch;
  if (notches != 0) stepBy(notches * step);
}

// Steps of one bar in a row are one change.
void MotifProfileChart::stepBy(double amount) {
  if (stepped_ != chosen_) {
    Q_EMIT settled();
    stepped_ = chosen_;
  }
  set(chosen_, share(chosen_).value_or(0) + amount);
  report();
}

void MotifProfileChart::endSteps() {
  if (stepped_) Q_EMIT settled();
  stepped_.reset();
}

bool MotifProfileChart::takesKey(const QKeyEvent& event) {
  if ((event.modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier) return false;
  switch (event.key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Home:
    case Qt::Key_End:
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Period:
    case Qt::Key_Comma:
      return true;
    default:
      return event.key() >= Qt::Key_0 && event.key() <= Qt::Key_9;
  }
}

void MotifProfileChart::keyPressEvent(QKeyEvent* event) {
  if (swept_) {
    if (event->key() == Qt::Key_Escape) {
      setProfile(before_);
      Q_EMIT changed(before_);
      endSweep();
    }
    return;
  }
  if (!takesKey(*event)) {
    QWidget::keyPressEvent(event);
    return;
  }
  switch (event->key()) {
    case Qt::Key_Left:
      choose(chosen_ > 0 ? chosen_ - 1 : 0);
      break;
    case Qt::Key_Right:
      choose(chosen_ + 1);
      break;
    case Qt::Key_Home:
      choose(0);
      break;
    case Qt::Key_End:
      choose(motif_count - 1);
      break;
    case Qt::Key_Up:
      stepBy(step);
      break;
    case Qt::Key_Down:
      stepBy(-step);
      break;
    case Qt::Key_PageUp:
      stepBy(page);
      break;
    case Qt::Key_PageDown:
      stepBy(-page);
      break;
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
      endSteps();
      Q_EMIT settled();
      set(chosen_, 0.0);
      report();
      Q_EMIT settled();
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      openExact(shares_[chosen_]);
      exact_->selectAll();
      break;
    default:
      openExact(event->text());
  }
}

void MotifProfileChart::openExact(const QString& text) {
  endSteps();
  const QSize size(fontMetrics().horizontalAdvance(QStringLiteral("0.000000")) + 16, exact_->sizeHint().height());
  const QRectF bar = column(chosen_);
  const int left = static_cast<int>(bar.center().x()) - size.width() / 2;
  exact_->setGeometry(QRect(
      QPoint(std::clamp(left, 2, std::max(width() - size.width() - 2, 2)), static_cast<int>(plot().top())), size));
  exact_->setAccessibleName(tr("Share of %1").arg(QString::fromStdString(triad_title(chosen_))));
  exact_->setText(text);
  exact_->show();
  exact_->setFocus(Qt::OtherFocusReason);
}

void MotifProfileChart::closeExact(bool take) {
  if (exact_->isHidden()) return;
  const bool had_focus = exact_->hasFocus();
  {
    const QSignalBlocker quiet(exact_);  // it is finished again when the focus goes
    if (had_focus) setFocus(Qt::OtherFocusReason);
    exact_->hide();
  }
  const QString typed = exact_->text().trimmed().replace(QLatin1Char(','), QLatin1Char('.'));
  if (!take || typed.isEmpty() || typed == shares_[chosen_]) return;
  Q_EMIT settled();
  set(chosen_, typed);
  report();
  Q_EMIT settled();
}

bool MotifProfileChart::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    // A line edit passes Enter on, and the chart would open it again.
    const bool takes = key == Qt::Key_Return || key == Qt::Key_Enter;
    if (takes || key == Qt::Key_Escape) {
      event->accept();
      if (event->type() == QEvent::KeyPress) closeExact(takes);
      return true;
    }
  }
  return QWidget::eventFilter(object, event);
}

bool MotifProfileChart::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto& key = static_cast<const QKeyEvent&>(*event);
    if (takesKey(key) || (swept_ && key.key() == Qt::Key_Escape)) {
      event->accept();
      return true;
    }
  }
  if (event->type() == QEvent::ToolTip) {
    const auto* const help = static_cast<QHelpEvent*>(event);
    if (const std::optional<std::size_t> triad = triadAt(help->pos())) {
      QToolTip::showText(help->globalPos(), describe(*triad), this, column(*triad).toAlignedRect());
      return true;
    }
  }
  return QWidget::event(event);
}

void MotifProfileChart::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) updateGeometry();
  if (event->type() == QEvent::EnabledChange) endSweep();
  QWidget::changeEvent(event);
}

void MotifProfileChart::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void MotifProfileChart::focusOutEvent(QFocusEvent* event) {
  endSteps();
  wheel_ = 0;
  QWidget::focusOutEvent(event);
  update();
}

}  // namespace mambarium
