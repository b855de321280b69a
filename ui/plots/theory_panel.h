// TheoryPanel: what the paper's theorems say, with the model beside it. Three views, each asking only for what it
// shows.
//
// Lower bound (Theorem 2): the bits that a recurrent model of a chain of order k must carry to be within epsilon of the
// best predictor, against k, logarithmic; every run stands at its order (several of one order side by side) and at the
// bits it has, d numbers of p bits (the sliders are epsilon and p). Nothing is asked of a model. Quantisation: the gap
// of the current model when every number of its state is rounded to p bits after every token, against p, with its
// standard error; the dashed line is float32. Construction (Theorem 4): the divergence of the written-down model from
// the best predictor, measured, below the epsilon that the theorem promises (the sliders are epsilon and beta).
// options: {"view": "bound", "quantisation" or "construction", "epsilon": 1e-6-0.3, "bits": 1-64, "beta": 0.01-100}
#pragma once

#include "ui/plots/axis_range.h"
#include "ui/plots/graph_pool.h"
#include "ui/plots/plot_panel.h"

class QSlider;

namespace mambarium {

class LogStripTicker;

class TheoryPanel : public PlotPanel {
  Q_OBJECT
 public:
  explicit TheoryPanel(QWidget* parent = nullptr);
  std::optional<InspectRequest> wants() const override;
  PanelTable table() const override;
  nlohmann::json options() const override;
  void setOptions(const nlohmann::json& options) override;

 protected:
  bool prepare(const PanelChange& change) override;
  void draw() override;
  QString describe() const override;
  QString emptyText() const override;
  void hover(const QPointF& pixel) override;

 private:
  enum class View { bound, quantisation, construction };
  // A dot that the mouse reads off.
  struct Point {
    double x, y;
    QString text;
  };
  // A number that a slider sets: whole, or `steps` positions for each factor of ten.
  struct Setting {
    QString name;
    double* value = nullptr;
    int steps = 0;  // 0: whole numbers
    QLabel* label = nullptr;
    QSlider* slider = nullptr;
    int positionOf(double of) const;
  };
  Setting addSetting(const QString& name, const QString& tip, double* value, double minimum, double maximum, int steps);
  void updateSettings();

  // theory_panel_views.cpp
  void drawBound();
  void drawQuantisation();
  void drawConstruction();
  QString describeBound() const;
  QString describeQuantisation() const;
  QString describeConstruction() const;
  PanelTable boundTable() const;
  PanelTable quantisationTable() const;
  PanelTable constructionTable() const;
  std::vector<std::int64_t> alphabets() const;  // of the shown runs, each once
  std::int64_t lastOrder() const;
  void drawLogAxis(const LogRange& range, const QString& strip_label);
  void drawDots(const std::vector<Point>& dots, const QColor& color, int marker, const LogRange* range);

  QCPAxis* xAxis() const { return rect_->axis(QCPAxis::atBottom); }
  QCPAxis* yAxis() const { return rect_->axis(QCPAxis::atLeft); }

  View view_ = View::bound;
  double epsilon_ = 0.01, bits_ = 32, beta_ = 1;
  std::optional<QuantisationData> quantised_;
  std::optional<TheoremData> theorem_;
  std::vector<Point> points_;

  QComboBox* view_box_;
  Setting epsilon_setting_, bits_setting_, beta_setting_;
  QCPAxisRect* rect_;
  EndLabels* end_labels_;
  QCPErrorBars* errors_;
  GraphPool graphs_;
  QSharedPointer<LogStripTicker> log_ticker_;
};

}  // namespace mambarium
