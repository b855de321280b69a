#include "ui/plots/panel.h"

#include "ui/plots/decay_panel.h"
#include "ui/plots/filters_panel.h"
#include "ui/plots/gap_panel.h"
#include "ui/plots/loss_panel.h"
#include "ui/plots/prediction_panel.h"
#include "ui/plots/sweep_panel.h"

namespace mambarium {

void Panel::setOptions(const nlohmann::json&) {}
void Panel::setLoading(bool) {}
void Panel::highlightToken(int) {}
void Panel::setCheckpoints(const std::vector<std::int64_t>&) {}
void Panel::setCheckpoint(std::optional<std::int64_t>) {}
void Panel::setProbe(std::int64_t) {}
void Panel::addToHeader(QWidget* control) {
  control->setParent(this);
}

std::vector<Panel*> makePanels(QWidget* parent) {
  return {new LossPanel(parent), new GapPanel(parent), new PredictionPanel(parent), new DecayPanel(parent),
          new FiltersPanel(parent)};
}

Panel* makePanel(const QString& id, QWidget* parent) {
  if (id == u"loss") return new LossPanel(parent);
  if (id == u"gap") return new GapPanel(parent);
  if (id == u"prediction") return new PredictionPanel(parent);
  if (id == u"decay") return new DecayPanel(parent);
  if (id == u"filters") return new FiltersPanel(parent);
  if (id == u"sweep") return new SweepPanel(parent);
  return nullptr;
}

}  // namespace mambarium
