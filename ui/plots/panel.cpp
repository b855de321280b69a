#include "ui/plots/panel.h"

#include "ui/plots/circuit_panel.h"
#include "ui/plots/decay_panel.h"
#include "ui/plots/decoding_panel.h"
#include "ui/plots/extrapolation_panel.h"
#include "ui/plots/filters_panel.h"
#include "ui/plots/gap_panel.h"
#include "ui/plots/inner_products_panel.h"
#include "ui/plots/loss_panel.h"
#include "ui/plots/prediction_panel.h"
#include "ui/plots/reconstruction_panel.h"
#include "ui/plots/state_panel.h"
#include "ui/plots/sweep_panel.h"
#include "ui/plots/theory_panel.h"
#include "ui/scene/flow_panel.h"

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

namespace {

template <class Kind>
Panel* make(QWidget* parent) {
  return new Kind(parent);
}

struct Maker {
  const char* id;
  Panel* (*make)(QWidget* parent);
};
constexpr Maker makers[] = {{"loss", make<LossPanel>},
                            {"gap", make<GapPanel>},
                            {"prediction", make<PredictionPanel>},
                            {"decay", make<DecayPanel>},
                            {"filters", make<FiltersPanel>},
                            {"state", make<StatePanel>},
                            {"inner-products", make<InnerProductsPanel>},
                            {"circuit", make<CircuitPanel>},
                            {"flow", make<FlowPanel>},
                            {"reconstruction", make<ReconstructionPanel>},
                            {"extrapolation", make<ExtrapolationPanel>},
                            {"decoding", make<DecodingPanel>},
                            {"theory", make<TheoryPanel>}};

}  // namespace

const QStringList& panelIds() {
  static const QStringList ids = [] {
    QStringList all;
    for (const Maker& maker : makers) all << QLatin1String(maker.id);
    return all;
  }();
  return ids;
}

std::vector<Panel*> makePanels(QWidget* parent) {
  std::vector<Panel*> panels;
  for (const Maker& maker : makers) panels.push_back(maker.make(parent));
  return panels;
}

Panel* makePanel(const QString& id, QWidget* parent) {
  if (id == u"sweep") return new SweepPanel(parent);
  const auto index = panelIds().indexOf(id);
  return index < 0 ? nullptr : makers[index].make(parent);
}

}  // namespace mambarium
