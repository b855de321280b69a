// CircuitPanel: how the states of one channel are wired. The coupling M = k P Q as a map, blue-white-vermillion about
// zero with its diagonal greyed (it acts but is not counted) and the entries that are edges, |M_ij| > sqrt(theta),
// outlined; the graph of these edges, in the colours of their signs and the more opaque the larger they are; and how
// often each of the 13 connected triads is there, by soft edges and by hard ones, beside what was asked for. In a high
// panel the graph stands below the map, and R^2 of the motif over training at the foot. A narrow panel leaves out the
// colour scale, whose ends are then in the legend, and after it the graph; a low one second lines and the names of
// triads that are not there.
//
// A click on a triad, or Up, Down and Enter once the panel has the focus, lights up all its instances in map and graph;
// each further one lights up a single instance, at most most_instances of them, and Escape none. States, layers and
// channels are numbered from 1 where a person reads them. How states of other channels are wired is another question:
// where all share the coupling, a channel still has its own dt, and so its own bound and Picard errors.
// options: {"layer": 0-63, "channel": 0-4095, "triad": motif 1-13, 0 for none, "instance": 1-200, 0 for all}
#pragma once

#include <optional>

#include "ui/plots/axis_range.h"
#include "ui/plots/circuit.h"
#include "ui/plots/circuit_graph.h"
#include "ui/plots/color_scale.h"
#include "ui/plots/graph_pool.h"
#include "ui/plots/plot_panel.h"

namespace mambarium {

class CircuitPanel : public PlotPanel {
  Q_OBJECT
 public:
  static constexpr std::size_t most_instances = 200;

  explicit CircuitPanel(QWidget* parent = nullptr);
  std::optional<InspectRequest> wants() const override;
  PanelTable table() const override;
  nlohmann::json options() const override;
  void setOptions(const nlohmann::json& options) override;

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

  bool prepare(const PanelChange& change) override;
  void draw() override;
  QString describe() const override;
  void hover(const QPointF& pixel) override;

 private:
  std::size_t states() const { return circuit_.size(); }
  double entry(std::size_t row, std::size_t column) const;
  double threshold() const;  // sqrt(theta)
  bool isLit() const { return triad_ > 0; }
  std::vector<TriadInstance> lit() const;  // what is lit up, all of them or one
  std::size_t litInstance() const;         // 1 on; 0: all
  void light(int triad, int instance);
  void lightNext(int triad);
  bool takesKey(int key) const;
  std::optional<int> triadAt(const QPointF& pixel) const;  // a motif, 1 to 13
  void updateChoices();

  // circuit_panel_views.cpp
  void arrange();  // what there is room for
  void stackGraph(bool below);
  void drawMatrix();
  void drawGraph();
  void drawTriads();
  void drawCursor();
  void drawTraining();
  bool isLow() const;
  QString fitting(const QString& heading) const;
  AxisRange mapRange() const;  // of the colours
  QString matrixHeading() const;
  QString graphHeading() const;
  QString readout(std::size_t row, std::size_t column) const;
  QString stateReadout(std::size_t state) const;
  QString triadReadout(int triad) const;
  QString sharesSentence() const;
  bool mayGrow() const { return answer_.norm > answer_.bound; }
  bool edgeAt(std::size_t row, std::size_t column) const;
  std::vector<std::pair<double, double>> training() const;  // (step, R^2) of the current run, where there is one

  CircuitData answer_;
  Circuit circuit_;
  std::vector<TriadInstance> instances_;  // of the triad that is lit up
  std::int64_t layer_ = 0, channel_ = 0;
  int triad_ = 0, instance_ = 0;  // as in the options
  int cursor_ = 1;                // the triad that Enter lights up

  QComboBox *layer_box_, *channel_box_;
  QCPAxisRect *matrix_, *wiring_, *triads_, *training_;
  QCPLayoutGrid *left_, *upper_;    // left_: upper_, a place for the graph, training_; upper_: matrix_, scale, another
  QCPLayoutElement* vacant_;        // in that place which the graph has not
  QCPMarginGroup *edges_, *lower_;  // of what stands beside the matrix
  ColorScale scale_;
  CellMap* cells_;
  CircuitGraph* graph_;
  QCPBars *soft_, *hard_;
  QCPItemRect *cursor_band_, *lit_band_;
  GraphPool targets_, training_lines_;
};

}  // namespace mambarium
