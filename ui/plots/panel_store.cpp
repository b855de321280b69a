#include "ui/plots/panel_store.h"

namespace mambarium {
namespace {

bool sameNumber(double a, double b) {
  return a == b || (a != a && b != b);
}

bool sameItem(const MetricsRow& a, const MetricsRow& b) {
  return a.step == b.step && sameNumber(a.test_loss, b.test_loss);
}
bool sameItem(const std::pair<std::int64_t, double>& a, const std::pair<std::int64_t, double>& b) {
  return a.first == b.first && sameNumber(a.second, b.second);
}

template <typename Item>
bool isPrefix(const std::vector<Item>& stored, const std::vector<Item>& incoming) {
  if (stored.size() > incoming.size()) return false;
  return stored.empty() ||
         (sameItem(stored.front(), incoming.front()) && sameItem(stored.back(), incoming[stored.size() - 1]));
}

// True when anything changed.
template <typename Item>
bool appendTail(std::vector<Item>& stored, const std::vector<Item>& incoming) {
  if (!isPrefix(stored, incoming)) {
    stored = incoming;
    return true;
  }
  if (stored.size() == incoming.size()) return false;
  stored.insert(stored.end(), incoming.begin() + static_cast<std::ptrdiff_t>(stored.size()), incoming.end());
  return true;
}

bool sameHead(const RunSeries& a, const RunSeries& b) {
  return a.title == b.title && a.folder == b.folder && a.parent == b.parent && a.palette_index == b.palette_index &&
         a.marker_index == b.marker_index && a.config == b.config;
}

}  // namespace

bool PanelStore::updateOthers() {
  std::map<std::string, nlohmann::json> others;
  for (std::size_t i = 0; i < data_.runs.size(); ++i) {
    const std::string& folder = data_.runs[i].folder;
    if (folder.empty()) continue;
    if (i == data_.current) {
      if (data_.inspected) remembered_[folder] = *data_.inspected;
    } else if (const auto found = remembered_.find(folder); found != remembered_.end()) {
      others.insert(*found);
    }
  }
  if (others == data_.others) return false;
  data_.others = std::move(others);
  return true;
}

PanelChange PanelStore::update(const PanelData& data) {
  PanelChange change;
  change.runs = data_.runs.size() != data.runs.size() || data_.current != data.current;
  data_.runs.resize(data.runs.size());
  data_.current = data.current;
  for (std::size_t i = 0; i < data.runs.size(); ++i) {
    RunSeries& stored = data_.runs[i];
    const RunSeries& incoming = data.runs[i];
    if (!sameHead(stored, incoming)) {
      change.runs = true;
      stored = incoming;
      continue;
    }
    change.rows = appendTail(stored.rows, incoming.rows) || change.rows;
    change.rows = appendTail(stored.train_losses, incoming.train_losses) || change.rows;
  }
  if (data_.inspected != data.inspected || data_.earlier != data.earlier) {
    data_.inspected = data.inspected;
    data_.earlier = data.earlier;
    change.inspected = true;
  }
  for (const auto& [folder, answer] : data.others) remembered_[folder] = answer;
  if (remembers_) change.inspected = updateOthers() || change.inspected;
  if (data_.sweep != data.sweep) {
    data_.sweep = data.sweep;
    change.sweep = true;
  }
  return change;
}

}  // namespace mambarium
