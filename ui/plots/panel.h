// Panel: one view of a run or of several. It draws values, offers its numbers and says in words what can be seen.
//
// A panel never talks to a worker: it says what it wants, and the window's frame timer fetches it while the panel is
// visible. show() is called at most once a frame with everything there is; it must be cheap when nothing changed.
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

// The numbers behind a panel, as a table: what the CSV export writes, in full precision.
struct PanelTable {
  QStringList columns;
  std::vector<QStringList> rows;
};

class Panel : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;

  virtual QString id() const = 0;     // "loss", "gap", "prediction", "decay", "filters"
  virtual QString title() const = 0;  // sentence case
  virtual std::optional<InspectRequest> wants() const { return std::nullopt; }
  virtual void show(const PanelData& data) = 0;
  using QWidget::show;
  virtual PanelTable table() const = 0;
  virtual QString caption() const = 0;  // one sentence; empty panels say what would appear and what to press
  virtual nlohmann::json options() const { return nlohmann::json::object(); }  // view choices (log axis, stems ...) for recipes
  virtual void setOptions(const nlohmann::json& options);
  virtual void setTheme(const Theme& theme) = 0;
  virtual const PanelData& data() const = 0;
  virtual std::vector<QCustomPlot*> plots() const = 0;  // top to bottom: what the figure export draws

 public Q_SLOTS:
  virtual void highlightToken(int position);                             // -1: none
  virtual void setCheckpoints(const std::vector<std::int64_t>& steps);   // steps that can be replayed
  virtual void setCheckpoint(std::optional<std::int64_t> step);          // nothing: now

 Q_SIGNALS:
  void tokenHovered(int position);
  void checkpointChosen(std::optional<std::int64_t> step);
  void wantsChanged();
};

// The panels of this version, in the order of the window. The caller owns them (or gives them a parent).
std::vector<Panel*> makePanels(QWidget* parent);
Panel* makePanel(const QString& id, QWidget* parent);  // nullptr for an unknown id

}  // namespace mambarium
