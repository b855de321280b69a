#include "ui/panel_area.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QProxyStyle>
#include <QResizeEvent>
#include <QScrollArea>
#include <QSettings>
#include <QSplitter>
#include <QStyleOption>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/icons.h"

namespace mambarium {

namespace {

// Curves over training, what is wired and what the theory says on the left; what the model does with a sequence on the
// right.
bool standsOnTheLeft(const Panel& panel) {
  static const QStringList left = {QStringLiteral("loss"),           QStringLiteral("gap"),
                                   QStringLiteral("inner-products"), QStringLiteral("circuit"),
                                   QStringLiteral("extrapolation"),  QStringLiteral("theory")};
  return left.contains(panel.id());
}

bool isThereAtFirst(const Panel& panel) {
  static const QStringList first = {QStringLiteral("loss"), QStringLiteral("gap"), QStringLiteral("prediction"),
                                    QStringLiteral("decay"), QStringLiteral("filters")};
  return first.contains(panel.id());
}

constexpr int narrowest_panel = 330, lowest_panel = 196, lowest_in_one_column = 260;

// A row of buttons leaves no more than a bare strip for its "More" button; here it has room for the word.
class ChooserStyle : public QProxyStyle {
 public:
  explicit ChooserStyle(const QString& word) : QProxyStyle(QStringLiteral("fusion")), word_(word) {}

  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
    constexpr int beside_the_word = 10;  // padding and border of a tool button, and a little air
    if (metric == PM_ToolBarExtensionExtent && widget)
      return widget->fontMetrics().horizontalAdvance(word_) + 2 * beside_the_word;
    return QProxyStyle::pixelMetric(metric, option, widget);
  }

 private:
  QString word_;
};

QSplitter* makeSplitter(Qt::Orientation orientation) {
  auto* const splitter = new QSplitter(orientation);
  splitter->setHandleWidth(8);
  splitter->setChildrenCollapsible(false);
  return splitter;
}

}  // namespace

PanelArea::PanelArea(std::vector<Panel*> panels, QWidget* parent)
    : QWidget(parent),
      panels_(std::move(panels)),
      chooser_(new QToolBar),
      scroll_(new QScrollArea),
      columns_(makeSplitter(Qt::Horizontal)),
      left_(makeSplitter(Qt::Vertical)),
      right_(makeSplitter(Qt::Vertical)) {
  setObjectName(QStringLiteral("panels"));
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setWidget(columns_);
  chooser_->setAccessibleName(tr("Panels to show"));
  chooser_->setMovable(false);
  if (QToolButton* const more = morePanels()) {
    more->setAccessibleName(tr("More panels"));
    more->setToolTip(tr("More panels: those for which there is no room here"));
    more->setFocusPolicy(Qt::TabFocus);
    more->setToolButtonStyle(Qt::ToolButtonTextOnly);
    more->setText(tr("More ▾"));
    auto* const style = new ChooserStyle(more->text());
    style->setParent(chooser_);  // made after the button, so it outlives it
    chooser_->setStyle(style);
    more->setStyle(style);
  }
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(chooser_);
  column->addWidget(scroll_, 1);
  columns_->addWidget(left_);
  columns_->addWidget(right_);
  QWidget* before = nullptr;
  for (Panel* const panel : panels_) {
    (standsOnTheLeft(*panel) ? left_ : right_)->addWidget(panel);
    auto* const action = new QAction(panel->title(), this);
    action->setCheckable(true);
    action->setChecked(isThereAtFirst(*panel));
    action->setToolTip(tr("Show or hide the panel “%1”").arg(panel->title()));
    connect(action, &QAction::toggled, this, [this, panel](bool shown) { showOrHide(panel, shown); });
    shown_[panel] = action;
    chooser_->addAction(action);
    QWidget* const button = chooser_->widgetForAction(action);
    button->setObjectName(QStringLiteral("choose-") + panel->id());
    button->setAccessibleName(tr("Panel %1").arg(panel->title()));
    button->setFocusPolicy(Qt::TabFocus);  // the space bar stays with Play after a click
    if (before) setTabOrder(before, button);
    before = button;
    addMenuButton(panel);
  }
  if (QToolButton* const more = morePanels(); more && before) setTabOrder(before, more);
  for (QSplitter* const splitter : {columns_, left_, right_}) splitter->setSizes(QList<int>(splitter->count(), 1000));
  right_->setSizes({1000, 1000, 1250, 1000});  // a filter map needs the height
  connectPanels();
  arrange();
}

QToolButton* PanelArea::morePanels() const {
  return chooser_->findChild<QToolButton*>(QStringLiteral("qt_toolbar_ext_button"));
}

void PanelArea::connectPanels() {
  for (Panel* const from : panels_) {
    for (Panel* const to : panels_) {
      connect(from, &Panel::tokenHovered, to, &Panel::highlightToken);
      connect(from, &Panel::probeChosen, to, &Panel::setProbe);
    }
    connect(from, &Panel::exportRequested, this, [this, from] { Q_EMIT exportRequested(from); });
    from->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(from, &QWidget::customContextMenuRequested, this,
            [this, from](const QPoint& where) { makeMenu(from)->popup(from->mapToGlobal(where)); });
  }
}

void PanelArea::addMenuButton(Panel* panel) {
  auto* const button = new QToolButton;
  button->setObjectName(QStringLiteral("panel-menu"));
  button->setAccessibleName(tr("Menu of %1").arg(panel->title()));
  button->setToolTip(tr("More about this panel"));
  button->setFocusPolicy(Qt::TabFocus);
  connect(button, &QToolButton::clicked, this,
          [this, panel, button] { makeMenu(panel)->popup(button->mapToGlobal(button->rect().bottomLeft())); });
  panel->addToHeader(button);
  menus_[panel] = button;
}

QMenu* PanelArea::makeMenu(Panel* panel) {
  auto* const menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(tr("Export…"), this, [this, panel] { Q_EMIT exportRequested(panel); });
  menu->addAction(tr("Copy caption"), this, [this, panel] {
    QApplication::clipboard()->setText(panel->caption());
    Q_EMIT captionCopied();
  });
  menu->addSeparator();
  const bool is_maximised = panel == maximised_;
  menu->addAction(is_maximised ? tr("Restore") : tr("Maximise"), this,
                  [this, panel, is_maximised] { maximise(is_maximised ? nullptr : panel); });
  menu->addAction(tr("Hide"), this, [this, panel, is_maximised] {
    if (is_maximised) maximise(nullptr);
    shown_[panel]->setChecked(false);
  });
  return menu;
}

Panel* PanelArea::panel(const QString& id) const {
  const auto found =
      std::find_if(panels_.begin(), panels_.end(), [&](const Panel* panel) { return panel->id() == id; });
  return found == panels_.end() ? nullptr : *found;
}

QAction* PanelArea::showAction(const Panel* panel) const {
  return shown_.value(panel);
}

void PanelArea::maximise(Panel* panel) {
  maximised_ = panel;
  arrange();
}

void PanelArea::showOrHide(Panel* panel, bool shown) {
  if (shown || maximised_ == panel) maximised_ = nullptr;
  arrange();
  if (!shown) return;
  makeRoomFor(panel);
  scroll_->ensureWidgetVisible(panel);
}

void PanelArea::makeRoomFor(Panel* panel) {
  auto* const side = qobject_cast<QSplitter*>(panel->parentWidget());
  QList<int> sizes = side->sizes();
  int total = 0, there = 0;
  for (int i = 0; i < side->count(); ++i) {
    if (side->widget(i)->isHidden()) continue;
    total += sizes[i];
    ++there;
  }
  int& own = sizes[side->indexOf(panel)];
  own = std::max(own, total / std::max(there, 1));
  side->setSizes(sizes);
}

void PanelArea::arrange() {
  for (Panel* const panel : panels_) {
    panel->setVisible(maximised_ ? panel == maximised_ : shown_[panel]->isChecked());
  }
  for (QSplitter* const side : {left_, right_}) {
    const auto is_there = [](const QObject* child) {
      const auto* const widget = qobject_cast<const Panel*>(child);
      return widget && !widget->isHidden();
    };
    side->setVisible(std::any_of(side->children().begin(), side->children().end(), is_there));
  }
}

void PanelArea::resizeEvent(QResizeEvent* event) {
  const bool two_columns = event->size().width() >= theme_.px(2 * narrowest_panel) + columns_->handleWidth();
  const Qt::Orientation orientation = two_columns ? Qt::Horizontal : Qt::Vertical;
  if (columns_->orientation() != orientation) {
    columns_->setOrientation(orientation);
    columns_->setSizes(QList<int>(columns_->count(), 1000));
  }
  for (Panel* const panel : panels_) {
    panel->setMinimumSize(theme_.px(narrowest_panel), theme_.px(two_columns ? lowest_panel : lowest_in_one_column));
  }
  QWidget::resizeEvent(event);
}

void PanelArea::setTheme(const Theme& theme) {
  theme_ = theme;
  const QColor off = theme.palette().color(QPalette::Disabled, QPalette::Text);
  const QIcon menu = signIcon(Sign::menu, theme.mutedText(), off);
  for (Panel* const panel : panels_) {
    panel->setTheme(theme);
    menus_[panel]->setIcon(menu);
    menus_[panel]->setIconSize(QSize(theme.px(14), theme.px(14)));
  }
}

void PanelArea::save(QSettings& settings) const {
  settings.setValue(QStringLiteral("panels/columns"), columns_->saveState());
  settings.setValue(QStringLiteral("panels/left"), left_->saveState());
  settings.setValue(QStringLiteral("panels/right"), right_->saveState());
  for (const Panel* const panel : panels_) {
    settings.setValue(QStringLiteral("panels/%1/shown").arg(panel->id()), shown_[panel]->isChecked());
    settings.setValue(QStringLiteral("panels/%1/options").arg(panel->id()),
                      QString::fromStdString(panel->options().dump()));
  }
}

void PanelArea::restore(const QSettings& settings) {
  columns_->restoreState(settings.value(QStringLiteral("panels/columns")).toByteArray());
  left_->restoreState(settings.value(QStringLiteral("panels/left")).toByteArray());
  right_->restoreState(settings.value(QStringLiteral("panels/right")).toByteArray());
  for (Panel* const panel : panels_) {
    shown_[panel]->setChecked(
        settings.value(QStringLiteral("panels/%1/shown").arg(panel->id()), isThereAtFirst(*panel)).toBool());
    const std::string saved =
        settings.value(QStringLiteral("panels/%1/options").arg(panel->id())).toString().toStdString();
    try {
      if (!saved.empty()) panel->setOptions(nlohmann::json::parse(saved));
    } catch (const std::exception&) {
      // Options that another version wrote: the panel keeps its own.
    }
  }
  arrange();
}

}  // namespace mambarium
