// PanelStore: a panel's own copy of its data, and what changed since the last frame.
//
// Rows are only ever appended while a run is alive, so a frame usually copies a handful of numbers; when the stored
// rows are no prefix of the new ones (a reset, another run) the run is copied whole.
#pragma once

#include "ui/plots/panel_data.h"

namespace mambarium {

struct PanelChange {
  bool runs = false;       // which runs, their names, colours or configurations
  bool rows = false;       // numbers were added
  bool inspected = false;  // another answer
  bool sweep = false;      // another sweep, or more of it
  bool any() const { return runs || rows || inspected || sweep; }
};

class PanelStore {
 public:
  PanelChange update(const PanelData& data);
  const PanelData& data() const { return data_; }
  // From now on the last answer of every run is remembered: data().others has those of the other runs that are shown.
  void rememberOthers() { remembers_ = true; }

 private:
  bool updateOthers();  // true when they are other ones

  PanelData data_;
  bool remembers_ = false;
  std::map<std::string, nlohmann::json> remembered_;  // by folder
};

}  // namespace mambarium
