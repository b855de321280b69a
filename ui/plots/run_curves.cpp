#include "ui/plots/run_curves.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace mambarium {
namespace {

constexpr double MetricsRow::*averaged[] = {
    &MetricsRow::seconds,     &MetricsRow::train_loss,   &MetricsRow::test_loss,  &MetricsRow::add_beta_loss,
    &MetricsRow::oracle_loss, &MetricsRow::gap_add_beta, &MetricsRow::gap_oracle, &MetricsRow::learning_rate};

std::int64_t stepOf(const MetricsRow& row) {
  return row.step;
}
std::int64_t stepOf(const std::pair<std::int64_t, double>& loss) {
  return loss.first;
}

// Items of both at equal steps, both sorted by step.
template <typename Item, typename Visit>
void atCommonSteps(const std::vector<Item>& one, const std::vector<Item>& other, const Visit& visit) {
  auto a = one.begin();
  auto b = other.begin();
  while (a != one.end() && b != other.end()) {
    if (stepOf(*a) < stepOf(*b)) {
      ++a;
    } else if (stepOf(*b) < stepOf(*a)) {
      ++b;
    } else {
      visit(*a++, *b++);
    }
  }
}

// For every step that all members have, the items there, in the order of members.
template <typename Item>
std::vector<std::vector<const Item*>> commonItems(const std::vector<const std::vector<Item>*>& members) {
  std::map<std::int64_t, std::vector<const Item*>> at;
  for (const auto* items : members)
    for (const Item& item : *items) at[stepOf(item)].push_back(&item);
  std::vector<std::vector<const Item*>> common;
  for (auto& [step, items] : at)
    if (items.size() == members.size()) common.push_back(std::move(items));
  return common;
}

RunSeries difference(const RunSeries& run, const RunSeries& less) {
  RunSeries result = run;
  result.rows.clear();
  result.train_losses.clear();
  atCommonSteps(run.rows, less.rows, [&](const MetricsRow& one, const MetricsRow& other) {
    result.rows.push_back(one);
    for (const auto field : averaged) result.rows.back().*field -= other.*field;
  });
  atCommonSteps(run.train_losses, less.train_losses, [&](const auto& one, const auto& other) {
    result.train_losses.emplace_back(one.first, one.second - other.second);
  });
  return result;
}

// What the titles begin with, without a last word that tells the seeds apart: "mamba2 · order 1".
std::string commonTitle(const std::vector<const RunSeries*>& runs) {
  const std::string& first = runs.front()->title;
  std::size_t length = first.size();
  for (const RunSeries* run : runs) {
    const auto end = first.begin() + static_cast<std::ptrdiff_t>(length);
    length = static_cast<std::size_t>(std::mismatch(first.begin(), end, run->title.begin(), run->title.end()).first -
                                      first.begin());
  }
  if (length == first.size()) return first;
  const auto inside_a_character = [&] { return (static_cast<unsigned char>(first[length]) & 0xC0U) == 0x80U; };
  while (length > 0 && inside_a_character()) --length;
  std::string title = first.substr(0, length);
  constexpr std::string_view tails[] = {" ", "\u00b7", ",", "seed", "-", "("};
  const auto cut = [&title](std::string_view tail) {
    if (!title.ends_with(tail)) return false;
    title.erase(title.size() - tail.size());
    return true;
  };
  while (std::ranges::any_of(tails, cut)) {
  }
  return title.empty() ? first : title;
}

}  // namespace

bool differInSeedOnly(const ExperimentConfig& one, const ExperimentConfig& other) {
  return std::ranges::all_of(property_table(), [&](const Property& property) {
    return property.key == "training.seed" || property.key.starts_with("run.") || !one.applies(property.key) ||
           one.value(property.key) == other.value(property.key);
  });
}

std::vector<std::vector<std::size_t>> seedGroups(const std::vector<RunSeries>& runs) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto akin = std::ranges::find_if(groups, [&](const auto& group) {
      const RunSeries& first = runs[group.front()];
      return first.parent == runs[i].parent && differInSeedOnly(first.config, runs[i].config);
    });
    if (akin == groups.end()) {
      groups.push_back({i});
    } else {
      akin->push_back(i);
    }
  }
  return groups;
}

RunCurve RunCurves::meanOf(const std::vector<RunSeries>& runs, const std::vector<std::size_t>& members) {
  std::vector<const RunSeries*> series;
  std::vector<const std::vector<MetricsRow>*> rows;
  std::vector<const std::vector<std::pair<std::int64_t, double>>*> losses;
  for (const std::size_t member : members) {
    series.push_back(&runs[member]);
    rows.push_back(&runs[member].rows);
    losses.push_back(&runs[member].train_losses);
  }
  const auto count = static_cast<double>(members.size());
  RunSeries mean = runs[members.front()];
  mean.title = commonTitle(series);
  mean.rows.clear();
  mean.train_losses.clear();
  RunCurve curve{nullptr, {}, members};
  for (const auto& items : commonItems(rows)) {
    MetricsRow middle = *items.front(), deviation = *items.front();
    for (const auto field : averaged) {
      double sum = 0, squares = 0;
      for (const MetricsRow* item : items) sum += item->*field;
      middle.*field = sum / count;
      for (const MetricsRow* item : items) squares += std::pow(item->*field - middle.*field, 2);
      deviation.*field = std::sqrt(squares / (count - 1));
    }
    mean.rows.push_back(middle);
    curve.deviations.push_back(deviation);
  }
  for (const auto& items : commonItems(losses)) {
    double sum = 0;
    for (const auto* item : items) sum += item->second;
    mean.train_losses.emplace_back(items.front()->first, sum / count);
  }
  derived_.push_back(std::move(mean));
  curve.run = &derived_.back();
  return curve;
}

void RunCurves::update(const std::vector<RunSeries>& runs, const View& view) {
  curves_.clear();
  derived_.clear();
  reference_.reset();
  std::vector<std::vector<std::size_t>> groups;
  if (view.means) {
    groups = seedGroups(runs);
  } else {
    for (std::size_t i = 0; i < runs.size(); ++i) groups.push_back({i});
  }
  const auto is_chosen = [&](std::size_t index) { return !view.minus.empty() && runs[index].folder == view.minus; };
  const auto chosen =
      std::ranges::find_if(groups, [&](const auto& group) { return std::ranges::any_of(group, is_chosen); });
  std::vector<RunSeries> less;
  if (chosen != groups.end()) {
    reference_ = view.means ? *meanOf(runs, *chosen).run : runs[chosen->front()];
    groups.erase(chosen);
    for (const RunSeries& run : runs) less.push_back(difference(run, *reference_));
  }
  for (const auto& group : groups) {
    if (view.means) {
      curves_.push_back(meanOf(reference_ ? less : runs, group));
    } else if (reference_) {
      curves_.push_back({&derived_.emplace_back(std::move(less[group.front()])), {}, group});
    } else {
      curves_.push_back({&runs[group.front()], {}, group});
    }
  }
}

const RunCurve* RunCurves::curveOf(std::size_t run) const {
  const auto found = std::ranges::find_if(
      curves_, [run](const RunCurve& curve) { return std::ranges::count(curve.members, run) > 0; });
  return found == curves_.end() ? nullptr : &*found;
}

}  // namespace mambarium
