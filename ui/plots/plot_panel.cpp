#include "ui/plots/plot_panel.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QStackedLayout>
#include <QStyleOptionComboBox>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <stdexcept>

#include "ui/plots/header_layout.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

// Where there is little room it is as wide as what is chosen, not as the widest choice. Only the title of a run may be
// cut, which can be of any length.
class ChoiceBox : public QComboBox {
 public:
  explicit ChoiceBox(QWidget* parent) : QComboBox(parent) {
    connect(this, &QComboBox::currentTextChanged, this, [this] { updateGeometry(); });
  }

  QSize minimumSizeHint() const override {
    constexpr int air = 6, most_letters = 24;  // air: styles draw a text a little narrower than they say
    QStyleOptionComboBox option;
    initStyleOption(&option);
    const int longest = most_letters * fontMetrics().averageCharWidth();
    const QSize text(std::min(fontMetrics().horizontalAdvance(currentText()), longest) + air, fontMetrics().height());
    const QSize all = sizeHint();
    return {std::min(style()->sizeFromContents(QStyle::CT_ComboBox, &option, text, this).width(), all.width()),
            all.height()};
  }
};

std::invalid_argument badOption(const char* panel, const char* key, const std::string& right) {
  return std::invalid_argument("options." + std::string(key) + " of the " + panel + " panel must be " + right + ".");
}

}  // namespace

PlotPanel::PlotPanel(const QString& id, const QString& title, const QString& empty_text, QWidget* parent)
    : Panel(parent), id_(id), title_(title), empty_text_(empty_text) {
  setObjectName(id + QStringLiteral("Panel"));
  setProperty("role", QStringLiteral("panel"));
  setAttribute(Qt::WA_StyledBackground);
  setAccessibleName(title);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(1, 1, 1, 1);
  column->setSpacing(0);

  header_ = new HeaderLayout;
  header_->setContentsMargins(12, 6, 6, 0);
  header_->setSpacing(4);
  column->addLayout(header_);
  title_label_ = new QLabel(title, this);
  title_label_->setProperty("role", QStringLiteral("title"));
  header_->setTitle(title_label_);

  auto* body = new QWidget(this);
  stack_ = new QStackedLayout(body);
  empty_label_ = new QLabel(empty_text, body);
  empty_label_->setProperty("role", QStringLiteral("hint"));
  empty_label_->setAlignment(Qt::AlignCenter);
  empty_label_->setWordWrap(true);
  empty_label_->setMargin(24);
  empty_label_->setMinimumSize(1, 1);
  stack_->addWidget(empty_label_);
  chart_ = new Chart(body);
  chart_->setAccessibleName(title);
  stack_->addWidget(chart_);
  hover_ = new HoverLabel(chart_);
  column->addWidget(body, 1);

  footer_ = new QHBoxLayout;
  footer_->setContentsMargins(12, 0, 12, 6);
  footer_->setSpacing(8);
  column->addLayout(footer_);

  export_button_ = new QToolButton(this);
  export_button_->setText(tr("Export"));
  export_button_->setObjectName(QStringLiteral("exportButton"));
  export_button_->setAccessibleName(tr("Export the figure “%1”").arg(title));
  export_button_->setToolTip(tr("Save this panel as PDF, SVG, PNG or CSV"));
  export_button_->setFocusPolicy(Qt::TabFocus);
  connect(export_button_, &QToolButton::clicked, this, &Panel::exportRequested);
  header_->addToCorner(export_button_);
  corner_.push_back(export_button_);

  connect(chart_, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) {
    last_mouse_ = event->position();
    if (has_data_) hover(last_mouse_);
  });
  connect(chart_, &Chart::resized, this, [this] {
    if (has_data_) draw();
  });
  connect(chart_, &Chart::mouseLeft, this, &PlotPanel::leave);
  setTheme(Theme());
}

void PlotPanel::addToHeader(QWidget* control) {
  header_->addToCorner(control);
  corner_.push_back(control);
  orderTabs();
}

void PlotPanel::setTabOrderBelow(const std::vector<QWidget*>& controls) {
  below_.insert(below_.begin(), controls.begin(), controls.end());
  orderTabs();
}

// All of it each time: Qt forgets an order when the panel is put into a window.
void PlotPanel::orderTabs() {
  QWidget* before = nullptr;
  for (const auto* const group : {&controls_, &corner_, &below_}) {
    for (QWidget* const control : *group) {
      if (control == nullptr) continue;
      if (before) setTabOrder(before, control);
      before = control;
    }
  }
}

bool PlotPanel::event(QEvent* event) {
  const bool has_menu = corner_.size() > 1;
  if (has_menu && (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest))
    export_button_->setVisible(header_->widthOfOneRow(export_button_) <=
                               contentsRect().marginsRemoved(layout()->contentsMargins()).width());
  return Panel::event(event);
}

const RunSeries* PlotPanel::currentRun() const {
  return data().current < data().runs.size() ? &data().runs[data().current] : nullptr;
}

void PlotPanel::show(const PanelData& data) {
  const PanelChange change = store_.update(data);
  if (change.any()) refresh(change);
}

void PlotPanel::refresh(const PanelChange& change) {
  problem_.clear();
  try {
    has_data_ = prepare(change);
  } catch (const std::exception& error) {
    has_data_ = false;
    problem_ = QString::fromUtf8(error.what());
    if (!problem_.endsWith(u'.')) problem_ += u'.';
  }
  if (has_data_) {
    draw();
    chart_->requestReplot();
    if (hover_->isVisible()) hover(last_mouse_);
  } else {
    const QString text = textInstead();
    if (empty_label_->text() != text) empty_label_->setText(text);
    leave();
  }
  stack_->setCurrentWidget(has_data_ ? static_cast<QWidget*>(chart_) : empty_label_);
  updateCaption();
}

void PlotPanel::redraw() {
  refresh({});
  Q_EMIT optionsChanged();
}

void PlotPanel::setTheme(const Theme& theme) {
  title_label_->setFont(theme.titleFont());
  empty_label_->setFont(theme.font());
  chart_->setTheme(theme);
  hover_->setTheme(theme);
  if (has_data_) {
    draw();
    chart_->requestReplot();
  }
}

QString PlotPanel::caption() const {
  return has_data_ ? describe() : textInstead();
}

QString PlotPanel::textInstead() const {
  if (!problem_.isEmpty()) return problem_;
  if (const RunSeries* run = currentRun(); run && wants()) {
    if (const auto reason = nothing_to_inspect(run->config, wants()->what))
      return QString::fromStdString(*reason + ".");
  }
  return loading_ ? tr("Loading…") : emptyText();
}

void PlotPanel::setLoading(bool loading) {
  if (loading == loading_) return;
  loading_ = loading;
  if (has_data_) return;
  empty_label_->setText(textInstead());
  updateCaption();
}

void PlotPanel::updateCaption() {
  const QString text = caption();
  if (text == last_caption_) return;
  last_caption_ = text;
  setAccessibleDescription(text);
  chart_->setAccessibleDescription(text);
  Q_EMIT captionChanged();
}

void PlotPanel::leave() {
  hover_->hide();
}

void PlotPanel::addControl(QWidget* control) {
  control->setFocusPolicy(qobject_cast<QAbstractButton*>(control) ? Qt::TabFocus : Qt::StrongFocus);
  header_->addControl(control);
  controls_.push_back(control);
  orderTabs();
}

QToolButton* PlotPanel::addToggle(const QString& text, const QString& accessible_name, const QString& tip, bool on) {
  auto* button = new QToolButton(this);
  button->setText(text);
  button->setCheckable(true);
  button->setChecked(on);
  button->setAccessibleName(accessible_name);
  button->setToolTip(tip);
  addControl(button);
  return button;
}

QComboBox* PlotPanel::addChoice(const QStringList& items, const QString& accessible_name, const QString& tip) {
  auto* box = new ChoiceBox(this);
  box->addItems(items);
  box->setAccessibleName(accessible_name);
  box->setToolTip(tip);
  box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  addControl(box);
  return box;
}

void PlotPanel::fillNumbered(QComboBox* box, const QString& pattern, std::int64_t count, std::int64_t chosen) {
  if (box->count() != count) {
    box->clear();
    for (std::int64_t number = 1; number <= count; ++number) box->addItem(pattern.arg(number));
  }
  box->setCurrentIndex(static_cast<int>(std::min(chosen, count - 1)));
  box->setVisible(count > 1);
}

bool optionBool(const nlohmann::json& options, const char* panel, const char* key, bool current) {
  const auto found = options.find(key);
  if (found == options.end()) return current;
  if (!found->is_boolean()) throw badOption(panel, key, "true or false");
  return found->get<bool>();
}

std::int64_t optionInteger(const nlohmann::json& options, const char* panel, const char* key, std::int64_t current,
                           std::int64_t minimum, std::int64_t maximum) {
  const auto found = options.find(key);
  if (found == options.end()) return current;
  if (!found->is_number_integer() || found->get<std::int64_t>() < minimum || found->get<std::int64_t>() > maximum)
    throw badOption(panel, key, "a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum));
  return found->get<std::int64_t>();
}

double optionReal(const nlohmann::json& options, const char* panel, const char* key, double current, double minimum,
                  double maximum) {
  const auto found = options.find(key);
  if (found == options.end()) return current;
  if (!found->is_number() || !(found->get<double>() >= minimum && found->get<double>() <= maximum))
    throw badOption(panel, key,
                    "a number from " + exactText(minimum).toStdString() + " to " + exactText(maximum).toStdString());
  return found->get<double>();
}

std::string optionChoice(const nlohmann::json& options, const char* panel, const char* key, const std::string& current,
                         std::initializer_list<const char*> choices) {
  const auto found = options.find(key);
  if (found == options.end()) return current;
  std::string list;
  for (const char* choice : choices) {
    if (found->is_string() && found->get<std::string>() == choice) return choice;
    list += (list.empty() ? "\"" : ", \"") + std::string(choice) + "\"";
  }
  throw badOption(panel, key, "one of " + list);
}

std::string optionText(const nlohmann::json& options, const char* panel, const char* key, const std::string& current) {
  const auto found = options.find(key);
  if (found == options.end()) return current;
  if (!found->is_string()) throw badOption(panel, key, "text");
  return found->get<std::string>();
}

}  // namespace mambarium
