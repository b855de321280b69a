// Panel: one view of a run or of several. It draws values, offers its numbers and says in words what can be seen.
//
// A panel never talks to a worker: it says what it wants, and the window's frame timer fetches it while the panel is
// visible. show() is called at most once a frame with everything there is; it is cheap when nothing changed (it
// compares sizes and last rows, and draws nothing twice), so a timer may call it every frame without asking. The window
// wires the panels to each other: tokenHovered -> everyone's highlightToken, probeChosen -> everyone's setProbe,
// checkpointChosen -> everyone's setCheckpoint and its own timeline.
// Keys: L switches the gap panel's axis from anywhere in its window; everything else is reached by Tab.
// GUI thread only.
#pragma once

#include <QString>
#include <QStringList>
#include <QWidget>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/contract/inspection.h"
#include "ui/plots/panel_data.h"

class QCustomPlot;

namespace mambarium {

class Theme;  // ui/plots/theme.h: colours, fonts and pens for light, dark and print

// The numbers behind a panel, as a table: what the CSV export writes, in full precision (never smoothed, never
// floored).
struct PanelTable {
  QStringList columns;
  std::vector<QStringList> rows;
};

class Panel : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;

  virtual QString id() const = 0;     // one of panelIds()
  virtual QString title() const = 0;  // sentence case
  // Looked at every frame; which checkpoint (`at`) is asked about is the window's to say.
  virtual std::optional<InspectRequest> wants() const { return std::nullopt; }
  // Whether the same question is of interest at other steps too: those of checkpoints, and those that were live once.
  virtual bool wantsEarlier() const { return false; }
  virtual void show(const PanelData& data) = 0;
  using QWidget::show;
  virtual bool hasData() const { return true; }  // false: only the empty state is to be seen
  virtual PanelTable table() const = 0;
  virtual QString caption() const = 0;  // one sentence; empty panels say what would appear and what to press

  // View choices (log axis, stems, probe ...), for recipes and saved layouts. setOptions takes any subset of the keys
  // options() has and ignores keys it does not know; a value of the wrong type or out of range throws
  // std::invalid_argument with one sentence, and changes nothing.
  virtual nlohmann::json options() const { return nlohmann::json::object(); }
  virtual void setOptions(const nlohmann::json& options);

  virtual void setTheme(const Theme& theme) = 0;
  virtual const PanelData& data() const = 0;
  virtual std::vector<QCustomPlot*> plots() const = 0;  // top to bottom: what the figure export draws
  // While what it will show is on its way: an empty panel says so instead of what to press.
  virtual void setLoading(bool loading);
  virtual void addToHeader(QWidget* control);  // at the right end of the panel's header; the panel takes it over

 public Q_SLOTS:
  virtual void highlightToken(int position);                            // -1: none
  virtual void setCheckpoints(const std::vector<std::int64_t>& steps);  // steps that can be replayed
  virtual void setCheckpoint(std::optional<std::int64_t> step);         // nothing: now
  virtual void setProbe(std::int64_t probe);                            // which probe sequence, 0 .. probe_count-1

 Q_SIGNALS:
  void tokenHovered(int position);
  void checkpointChosen(std::optional<std::int64_t> step);
  void probeChosen(std::int64_t probe);
  void optionsChanged();
  void captionChanged();   // when the sentence is another one, at most once a frame
  void exportRequested();  // the panel's own Export button
};

// The panels of this version, in the order of the window. The caller owns what is made (or gives it a parent).
const QStringList& panelIds();
std::vector<Panel*> makePanels(QWidget* parent);
// One of those by its id, or the panel of sweeps, "sweep", which has windows of its own; nullptr for an unknown id.
Panel* makePanel(const QString& id, QWidget* parent);

}  // namespace mambarium
