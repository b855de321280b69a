// PlotPanel: what all panels on a Chart share: the header with title and controls, the empty state, the store, the
// theme, the hover readout, and the highlighted token. A panel adds its controls, says when it has data, and draws.
#pragma once

#include <QPointer>
#include <functional>

#include "ui/plots/chart.h"
#include "ui/plots/hover_label.h"
#include "ui/plots/panel.h"
#include "ui/plots/panel_store.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QStackedLayout;
class QToolButton;

namespace mambarium {

class HeaderLayout;

class PlotPanel : public Panel {
  Q_OBJECT
 public:
  QString id() const final { return id_; }
  QString title() const final { return title_; }
  void show(const PanelData& data) final;
  using QWidget::show;
  void setTheme(const Theme& theme) final;
  void setLoading(bool loading) final;
  const PanelData& data() const final { return store_.data(); }
  std::vector<QCustomPlot*> plots() const final { return {chart_}; }
  QString caption() const final;
  // A panel that is given a menu has Export there too: the button is then only seen where there is room for it.
  void addToHeader(QWidget* control) final;
  bool hasData() const final { return has_data_; }

 protected:
  PlotPanel(const QString& id, const QString& title, const QString& empty_text, QWidget* parent);

  Chart* chart() const { return chart_; }
  const Theme& theme() const { return chart_->theme(); }
  HoverLabel* hoverLabel() const { return hover_; }
  void compareByAnswers() { store_.rememberOthers(); }  // data().others is filled
  const RunSeries* currentRun() const;                  // nullptr when there is none

  // Reads data() (say, parses the answer); true when there is something to draw. An exception's text is shown instead
  // of the plot, so a malformed answer is a sentence and not a crash.
  virtual bool prepare(const PanelChange& change) = 0;
  virtual void draw() = 0;                       // all of it, from data(), options and theme; only with data
  virtual QString describe() const = 0;          // caption() when there is data
  virtual void hover(const QPointF& pixel) = 0;  // the mouse is over the chart
  virtual void leave();                          // the mouse has left: hides the readout
  virtual QString emptyText() const { return empty_text_; }

  // Reads data().inspected; `answer` is empty where there is none, and where it is malformed, which throws.
  template <class Answer>
  void readAnswer(Answer& answer) const {
    answer = {};
    if (data().inspected) answer = data().inspected->get<Answer>();
  }

  void redraw();  // after an option changed: draw, replot, tell the listeners
  void refresh(const PanelChange& change);

  QToolButton* addToggle(const QString& text, const QString& accessible_name, const QString& tip, bool on);
  QComboBox* addChoice(const QStringList& items, const QString& accessible_name, const QString& tip);
  // Items 1 to `count` of a pattern ("Layer %1"), at `chosen` (from 0) or the last one before it; hidden where there is
  // no choice.
  static void fillNumbered(QComboBox* box, const QString& pattern, std::int64_t count, std::int64_t chosen);
  // In the header. A click on a button leaves the focus where it is: the space bar stays with Play.
  void addControl(QWidget* control);
  QHBoxLayout* footer() const { return footer_; }  // below the plot
  // Tab goes on from the header to these, in this order, and then to those of the call before.
  void setTabOrderBelow(const std::vector<QWidget*>& controls);
  bool event(QEvent* event) override;
  // Says the caption anew where it changed. refresh() does so itself; for what a panel shows without one.
  void updateCaption();

 private:
  void orderTabs();
  QString textInstead() const;  // of the plot, while there is none

  QString id_, title_, empty_text_, problem_, last_caption_;
  bool has_data_ = false, loading_ = false;
  QPointF last_mouse_;  // so that the readout follows the data while the mouse rests
  PanelStore store_;
  QLabel* title_label_ = nullptr;
  QLabel* empty_label_ = nullptr;
  HeaderLayout* header_ = nullptr;
  QToolButton* export_button_ = nullptr;
  std::vector<QPointer<QWidget>> controls_, corner_, below_;  // each in the order of Tab
  QHBoxLayout* footer_ = nullptr;
  QStackedLayout* stack_ = nullptr;
  Chart* chart_ = nullptr;
  HoverLabel* hover_ = nullptr;
};

// Reads options[key] into `value` if it is there; throws std::invalid_argument naming panel, key and what would be
// right.
bool optionBool(const nlohmann::json& options, const char* panel, const char* key, bool current);
std::int64_t optionInteger(const nlohmann::json& options, const char* panel, const char* key, std::int64_t current,
                           std::int64_t minimum, std::int64_t maximum);
double optionReal(const nlohmann::json& options, const char* panel, const char* key, double current, double minimum,
                  double maximum);
std::string optionChoice(const nlohmann::json& options, const char* panel, const char* key, const std::string& current,
                         std::initializer_list<const char*> choices);

std::string optionText(const nlohmann::json& options, const char* panel, const char* key, const std::string& current);

}  // namespace mambarium
