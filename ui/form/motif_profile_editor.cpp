#include "ui/form/motif_profile_editor.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>
#include <cmath>

#include "core/motif/motif_target.h"
#include "ui/form/motif_profile_chart.h"

namespace mambarium {

MotifProfileEditor::MotifProfileEditor(QWidget* parent)
    : QWidget(parent), chart_(new MotifProfileChart), sum_(new QLabel), begin_(new QPushButton(tr("Begin with"))) {
  chart_->setObjectName(QStringLiteral("profile-chart"));
  sum_->setObjectName(QStringLiteral("profile-sum"));
  sum_->setProperty("role", QStringLiteral("hint"));
  begin_->setObjectName(QStringLiteral("profile-begin"));
  begin_->setAccessibleName(tr("Begin with a profile"));
  begin_->setToolTip(tr("Set all 13 bars at once"));
  begin_->setProperty("menu", true);  // room for the sign of one
  begin_->setFocusPolicy(Qt::TabFocus);
  fillMenu();

  auto* const below = new QHBoxLayout;
  below->setContentsMargins(0, 0, 0, 0);
  below->addWidget(sum_, 1);
  below->addWidget(begin_);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  column->addWidget(chart_);
  column->addLayout(below);

  connect(chart_, &MotifProfileChart::changed, this, [this](const QString& profile) {
    refresh();
    Q_EMIT changed(profile);
  });
  connect(chart_, &MotifProfileChart::settled, this, &MotifProfileEditor::settled);
  refresh();
}

void MotifProfileEditor::fillMenu() {
  auto* const menu = new QMenu(begin_);
  const auto add = [this](QMenu* to, const QString& title, const MotifTarget& target) {
    to->addAction(title, chart_, [this, target] { chart_->draw(target.fractions); });
  };
  add(menu, tr("FRP, frontal pole"), motif_target("FRP"));
  add(menu, tr("MOP, primary motor cortex"), motif_target("MOP"));
  add(menu, tr("AVE, the mean of both"), motif_target("AVE"));
  QMenu* const single = menu->addMenu(tr("A single motif"));
  for (std::size_t triad = 0; triad < motif_count; ++triad) {
    add(single, QString::fromStdString(triad_title(triad)), single_motif_target(triad));
  }
  add(menu, tr("Zeros"), {});
  menu->addSeparator();
  to_one_ = menu->addAction(tr("These bars, to the sum 1"), chart_, [this] {
    std::array<double, motif_count> shares{};
    constexpr double places = 1e6;  // rounded down, so that together they are not above 1
    for (std::size_t triad = 0; triad < motif_count; ++triad) {
      shares[triad] = std::floor(chart_->share(triad).value_or(0) / chart_->sum() * places) / places;
    }
    chart_->draw(shares);
  });
  begin_->setMenu(menu);
}

void MotifProfileEditor::setProfile(const QString& text) {
  chart_->setProfile(text);
  refresh();
}

void MotifProfileEditor::refresh() {
  const double sum = chart_->sum();
  sum_->setText(tr("Sum %1, at most 1").arg(QString::number(sum, 'g', 6)));
  to_one_->setEnabled(sum > 0);
}

}  // namespace mambarium
