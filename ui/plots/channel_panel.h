// ChannelPanel: a TokenPanel of one channel of a Motif-Mamba (flow, reconstruction), with the controls that say which:
// a choice of layers in the header, hidden where there is one, and a number of channels, which the panel places.
//
// Layers and channels are from 0 in the program and in options, from 1 where a person reads them. A number beyond the
// current run's is kept and asks for its last one.
#pragma once

#include "ui/plots/token_panel.h"

class QSpinBox;

namespace mambarium {

class ChannelPanel : public TokenPanel {
  Q_OBJECT
 public:
  std::optional<InspectRequest> wants() const override;

 protected:
  struct ChannelControls {
    QString layer_name, layer_tip, channel_name, channel_tip;  // accessible names and tool tips
  };
  ChannelPanel(const QString& id, const QString& title, const QString& empty_text, const ChannelControls& controls,
               QWidget* parent);

  struct Chosen {
    std::int64_t layer = 0, channel = 0;
    bool operator==(const Chosen&) const = default;
  };
  const Chosen& chosen() const { return chosen_; }
  void choose(const Chosen& chosen);                         // draws nothing
  Chosen channelFrom(const nlohmann::json& options) const;   // throws as setOptions does
  nlohmann::json withChannel(nlohmann::json options) const;  // and with the probe
  void fillChannels();                                       // from the current run, whenever runs changed
  int states() const override;
  QComboBox* layerBox() const { return layer_box_; }
  QSpinBox* channelBox() const { return channel_box_; }

 private:
  Chosen chosen_;
  QComboBox* layer_box_;
  QSpinBox* channel_box_;
};

}  // namespace mambarium
