// FlowPanel: how z = Q h of one channel flows: the field v(z) with its streamlines, the trajectory of a probe sequence
// running through it, and the fixed point of the input that stands still.
//
// Plane: a strip of tokens above two coordinates of z, speed as colour (with r = 1 the curve v(z)). It needs no OpenGL
// and is what figures are exported of. Space: the same in 3-D (flow_space_view.h), alone or beside another run's field
// with locked cameras; where there is no OpenGL the panel says so and shows the plane. The field follows the token
// under the mouse, since that token's input is what v(z) depends on; Hold keeps the input of one token. Play runs
// through the sequence. A click reads z and v and sends a streamline from there. options: {"probe": 0-7, "view":
// "plane" or "space", "field": "near_rest", "steady_state", "minimum_norm" or "empirical",
//   "dimension": 2-3, "principal": bool, "which": three different coordinates of z from 0, "layer": 0-63,
//   "channel": 0-65535, "glyphs": bool, "hold": -1 or a token, "lines": 0-1000}
#pragma once

#include <QPointer>
#include <QTimer>

#include "ui/plots/channel_panel.h"
#include "ui/scene/flow_space_view.h"
#include "ui/scene/flow_study.h"

class QLabel;

namespace mambarium {

class FlowPlaneLabel;
class FlowPlaneMarks;

class FlowPanel : public ChannelPanel {
  Q_OBJECT
 public:
  explicit FlowPanel(QWidget* parent = nullptr);
  PanelTable table() const override;
  nlohmann::json options() const override;
  void setOptions(const nlohmann::json& options) override;
  void highlightToken(int position) override;

  const std::optional<FlowStudy>& study() const { return study_; }
  std::int64_t inputToken() const;  // whose input stands still
  FlowSpaceView* space() const { return space_; }
  bool isPlaying() const { return playing_.isActive(); }
  // What a click read: z, and v there.
  struct Reading {
    std::vector<double> z, v;
  };
  const std::optional<Reading>& reading() const { return reading_; }

 public Q_SLOTS:
  void play(bool on);

 protected:
  bool prepare(const PanelChange& change) override;
  void draw() override;
  QString describe() const override;
  void hover(const QPointF& pixel) override;
  const std::vector<std::int32_t>& tokens() const override { return answer_.tokens; }
  QString readout(int position) const override;
  std::vector<double> drawnValues(int) const override { return {}; }
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void addControls();
  QLabel* addTextRow(const QString& name);
  static void setRowText(QLabel* row, const QString& text);  // "": no row
  void updateChoices();
  void updateCoordinates();
  void updateRows();                   // of text and choices: a low panel leaves its room to the field
  void tell(const QString& sentence);  // what was saved or could not be, until an option changes
  void updateNote();
  void chooseCoordinate(std::size_t axis, std::int64_t coordinate);  // one that is chosen already changes places
  void restudy();
  void advance();
  void read(const std::vector<double>& y);
  QString readingText() const;  // or, where there is room, how to get one; "" where there is nothing to read
  FlowChoices choices() const;
  bool drawsSpace() const;
  void drawPlane();
  void drawCurve();  // r = 1
  void drawSpeed();
  void drawMarks();
  void drawHeads();  // of the streamlines, and what was read
  void drawCursor();
  void drawHeld();
  void drawSpace();
  void leaveSpace();
  // Of the run beside this one, as marked as this; nothing where there is none, or where it cannot be drawn.
  std::optional<std::pair<FlowStudy, FlowPicture>> second(const FlowMarks& marks);
  void clearPlane();
  QCPCurve* addCurve(const std::vector<double>& x, const std::vector<double>& y, const QPen& pen);
  QString fixedPointText() const;

  FlowData answer_;
  std::optional<FlowStudy> study_;
  std::optional<Reading> reading_;
  Streamline read_line_;  // through what was read
  FlowFieldChoice field_ = FlowFieldChoice::near_rest;
  bool in_space_ = true, principal_ = false, glyphs_ = false;
  std::int64_t dimension_ = 3, lines_ = 120;
  std::array<std::int64_t, 3> which_{0, 1, 2};
  std::optional<std::int64_t> held_;
  std::string beside_;  // folder of the run on the right; "" for none
  int cursor_ = -1;
  QTimer playing_;

  QComboBox *view_box_, *field_box_, *axes_box_, *beside_box_;
  std::array<QComboBox*, 3> coordinate_boxes_;
  QToolButton *play_, *hold_, *glyphs_box_;
  QWidget* choices_row_;
  QLabel *reading_label_, *note_label_;
  QString note_, second_fault_;
  QPointer<FlowSpaceView> space_;
  CellMap* speed_cells_;
  QCPGraph *ball_, *fixed_mark_;
  FlowPlaneLabel* fixed_label_;  // the chart's, as are these
  FlowPlaneMarks* plane_marks_;
  QCPItemRect* held_mark_;  // on the strip
  std::vector<QCPAbstractPlottable*> drawn_;
};

}  // namespace mambarium
