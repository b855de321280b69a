#include "ui/plots/channel_panel.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QSpinBox>
#include <algorithm>

namespace mambarium {

ChannelPanel::ChannelPanel(const QString& id, const QString& title, const QString& empty_text,
                           const ChannelControls& controls, QWidget* parent)
    : TokenPanel(id, title, empty_text, parent),
      layer_box_(addChoice({}, controls.layer_name, controls.layer_tip)),
      channel_box_(new QSpinBox(this)) {
  channel_box_->setAccessibleName(controls.channel_name);
  channel_box_->setToolTip(controls.channel_tip);
  channel_box_->setPrefix(tr("Channel "));
  channel_box_->setMinimum(1);
  channel_box_->setFocusPolicy(Qt::StrongFocus);
  fillChannels();
  connect(layer_box_, &QComboBox::activated, this, [this](int index) {
    chosen_.layer = index;
    redraw();
  });
  connect(channel_box_, &QSpinBox::valueChanged, this, [this](int number) {
    chosen_.channel = number - 1;
    redraw();
  });
}

std::optional<InspectRequest> ChannelPanel::wants() const {
  InspectRequest request = *TokenPanel::wants();
  const RunSeries* const run = currentRun();
  request.layer = run ? std::min(chosen_.layer, run->config.integer("model.layers") - 1) : chosen_.layer;
  request.head = run ? std::min(chosen_.channel, d_inner_of(run->config) - 1) : chosen_.channel;
  return request;
}

void ChannelPanel::choose(const Chosen& chosen) {
  chosen_ = chosen;
  fillChannels();
}

ChannelPanel::Chosen ChannelPanel::channelFrom(const nlohmann::json& options) const {
  constexpr std::int64_t most_layers = 63, most_channels = 65535;
  const std::string panel = id().toStdString();
  return {optionInteger(options, panel.c_str(), "layer", chosen_.layer, 0, most_layers),
          optionInteger(options, panel.c_str(), "channel", chosen_.channel, 0, most_channels)};
}

nlohmann::json ChannelPanel::withChannel(nlohmann::json options) const {
  options["layer"] = chosen_.layer;
  options["channel"] = chosen_.channel;
  return withProbe(std::move(options));
}

void ChannelPanel::fillChannels() {
  const RunSeries* const run = currentRun();
  fillNumbered(layer_box_, tr("Layer %1"), run ? run->config.integer("model.layers") : 1, chosen_.layer);
  const QSignalBlocker blocker(channel_box_);
  channel_box_->setMaximum(static_cast<int>(run ? d_inner_of(run->config) : chosen_.channel + 1));
  channel_box_->setValue(static_cast<int>(chosen_.channel) + 1);
}

int ChannelPanel::states() const {
  if (const RunSeries* const run = currentRun()) return static_cast<int>(alphabet_of(run->config));
  return tokens().empty() ? 1 : *std::ranges::max_element(tokens()) + 1;
}

}  // namespace mambarium
