// A panel that remembers what it was shown.
#pragma once

#include "ui/plots/panel.h"

namespace mambarium {

// A panel that wants something and remembers what it was shown.
class ProbePanel : public Panel {
 public:
  explicit ProbePanel(const QString& what) : what_(what) {}
  QString id() const override { return what_; }
  QString title() const override { return what_; }
  std::optional<InspectRequest> wants() const override {
    if (what_ == QStringLiteral("loss")) return std::nullopt;
    return InspectRequest{what_.toStdString(), 0, {}};
  }
  void show(const PanelData& data) override {
    data_ = data;
    ++shown;
  }
  using Panel::show;
  PanelTable table() const override { return {}; }
  QString caption() const override { return {}; }
  void setTheme(const Theme&) override {}
  const PanelData& data() const override { return data_; }
  std::vector<QCustomPlot*> plots() const override { return {}; }
  bool wantsEarlier() const override { return wants_earlier; }
  std::int64_t inspectedStep() const { return data_.inspected ? data_.inspected->value("step", std::int64_t{-1}) : -1; }

  int shown = 0;
  bool wants_earlier = false;

 private:
  QString what_;
  PanelData data_;
};

}  // namespace mambarium
