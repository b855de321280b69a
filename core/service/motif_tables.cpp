#include "core/service/motif_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/contract/text.h"
#include "core/motif/soft_census.h"

namespace mambarium {

namespace {

using nlohmann::json;

std::string motif_number(const Triad& triad) {
  return triad.motif == 0 ? "-" : std::to_string(triad.motif);
}

const char* name_of(CensusShare share) {
  return share == CensusShare::triples ? "all triples" : "connected triples";
}

// "1 triple", "560 triples".
std::string triples_of(std::size_t nodes) {
  const double count = triple_count(nodes);
  return fmt::format("{:.0f} triple{}", count, count == 1 ? "" : "s");
}

std::string node_name(const CensusReport& report, std::size_t node) {
  return report.matrix.names.empty() ? std::to_string(node + 1) : report.matrix.names[node];
}

// In double quotes where a cell needs them.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char byte : text) cell.append(byte == '"' ? "\"\"" : std::string(1, byte));
  return cell + "\"";
}

void print_census_text(const CensusReport& report) {
  const Census hard = shares(as_real(report.hard), report.matrix.n, report.share);
  const Census soft = shares(report.soft, report.matrix.n, report.share);
  fmt::print("{}: {} nodes, {}; M_ij is the edge {}\n", report.name, report.matrix.n, triples_of(report.matrix.n),
             report.rule.edges == EdgeConvention::index ? "i -> j" : "j -> i");
  fmt::print("hard: edges where |M_ij| > {:.6g}, density {:.4f}\n", std::sqrt(report.rule.theta), report.edge_density);
  fmt::print("soft: sigmoid({} (M_ij^2 - {})), mean entropy of an edge {:.4f} bits\n", shortest(report.rule.beta),
             shortest(report.rule.theta), report.mean_edge_entropy);
  fmt::print("shares are of {}\n\n", name_of(report.share));
  fmt::print("{:>5}  {:<5}{:>14}{:>17}{:>12}{:>12}  {}\n", "motif", "MAN", "hard", "soft", "hard share", "soft share",
             "edges");
  for (std::size_t i = 0; i < triad_count; ++i) {
    const Triad& triad = triads()[i];
    fmt::print("{:>5}  {:<5}{:>14}{:>17.4f}{:>12.6f}{:>12.6f}  {}\n", motif_number(triad), triad.name, report.hard[i],
               report.soft[i], hard[i], soft[i], triad.description);
  }
  if (!report.listed) return;
  fmt::print("\n{}, nodes a, b, c of \"{}\"\n\n", triad_title(*report.listed), triads()[*report.listed].description);
  for (const TriadInstance& nodes : report.instances)
    fmt::print("{}  {}  {}\n", node_name(report, nodes[0]), node_name(report, nodes[1]), node_name(report, nodes[2]));
}

void print_census_csv(const CensusReport& report) {
  if (report.listed) {
    fmt::print("a,b,c\n");
    for (const TriadInstance& nodes : report.instances)
      fmt::print("{},{},{}\n", csv_cell(node_name(report, nodes[0])), csv_cell(node_name(report, nodes[1])),
                 csv_cell(node_name(report, nodes[2])));
    return;
  }
  const Census hard = shares(as_real(report.hard), report.matrix.n, report.share);
  const Census soft = shares(report.soft, report.matrix.n, report.share);
  fmt::print("motif,man,hard,soft,hard_share,soft_share\n");
  for (std::size_t i = 0; i < triad_count; ++i)
    fmt::print("{},{},{},{},{},{}\n", triads()[i].motif == 0 ? "" : motif_number(triads()[i]), triads()[i].name,
               report.hard[i], shortest(report.soft[i]), shortest(hard[i]), shortest(soft[i]));
}

json census_json(const CensusReport& report) {
  const Census hard = shares(as_real(report.hard), report.matrix.n, report.share);
  const Census soft = shares(report.soft, report.matrix.n, report.share);
  json document = {{"file", report.name},
                   {"nodes", report.matrix.n},
                   {"beta", report.rule.beta},
                   {"theta", report.rule.theta},
                   {"edges", report.rule.edges == EdgeConvention::index ? "index" : "causal"},
                   {"normalise", report.share == CensusShare::triples ? "triples" : "connected"},
                   {"edge_density", report.edge_density},
                   {"mean_edge_entropy", report.mean_edge_entropy}};
  for (std::size_t i = 0; i < triad_count; ++i) {
    json row = {{"man", triads()[i].name},
                {"hard", report.hard[i]},
                {"soft", report.soft[i]},
                {"hard_share", hard[i]},
                {"soft_share", soft[i]}};
    if (triads()[i].motif != 0) row["motif"] = triads()[i].motif;
    document["census"].push_back(std::move(row));
  }
  if (!report.listed) return document;
  document["instances"] = {{"man", triads()[*report.listed].name}, {"nodes", json::array()}};
  for (const TriadInstance& nodes : report.instances)
    document["instances"]["nodes"].push_back(
        {node_name(report, nodes[0]), node_name(report, nodes[1]), node_name(report, nodes[2])});
  return document;
}

// The mean of a number of every run.
template <typename Number>
double mean_of(const WarmUpRank& rank, const Number& number) {
  double sum = 0;
  for (const WarmUpResult& run : rank.runs) sum += number(run);
  return sum / static_cast<double>(rank.runs.size());
}

// The share of its motifs that have a target.
double wanted_share(const Census& counts, const WarmUpReport& report) {
  const Census found = shares(counts, report.n, report.loss.share);
  double sum = 0;
  for (std::size_t i = 0; i < motif_count; ++i)
    if (report.target.fractions[i] > 0) sum += found[i];
  return sum;
}

double wanted_share(const MotifTarget& target) {
  double sum = 0;
  for (const double fraction : target.fractions) sum += fraction;
  return sum;
}

std::string steps_text(const WarmUpRank& rank, const WarmUpReport& report) {
  const auto median = rank.median_steps();
  return median ? std::to_string(*median) : ">" + std::to_string(report.settings.max_steps);
}

void print_ends(const WarmUpReport& report) {
  fmt::print("{:>4}{:>9}{:>14}{:>11}{:>9}{:>12}{:>12}{:>9}{:>9}{:>11}{:>11}\n", "rank", "reached", "median steps",
             "loss left", "R^2", "soft share", "hard share", "density", "entropy", "||M||_2", "hard 030C");
  for (const WarmUpRank& rank : report.ranks) {
    const bool has_r_squared = rank.runs.front().r_squared.has_value();
    fmt::print(
        "{:>4}{:>9}{:>14}{:>11.4g}{:>9}{:>12.4f}{:>12.4f}{:>9.3f}{:>9.3f}{:>11.4g}{:>11.1f}\n", rank.rank,
        fmt::format("{}/{}", rank.reached(), rank.runs.size()), steps_text(rank, report),
        mean_of(rank, [](const auto& run) { return run.final_loss / run.initial_loss; }),
        has_r_squared ? fmt::format("{:.3f}", mean_of(rank, [](const auto& run) { return *run.r_squared; })) : "-",
        mean_of(rank, [&](const auto& run) { return wanted_share(run.soft, report); }),
        mean_of(rank, [&](const auto& run) { return wanted_share(as_real(run.hard), report); }),
        mean_of(rank, [](const auto& run) { return run.edge_density; }),
        mean_of(rank, [](const auto& run) { return run.mean_edge_entropy; }),
        mean_of(rank, [](const auto& run) { return spectral_norm(run.coupling); }),
        mean_of(rank, [](const auto& run) { return static_cast<double>(run.hard[triad_030c]); }));
  }
}

void print_warm_ups_text(const WarmUpReport& report) {
  fmt::print("Warm-up on {}: {} of {} together, {} nodes, loss {}, stop at {} of the first loss or {} steps\n",
             report.target.name, fmt::format("{:.6g}", wanted_share(report.target)), name_of(report.loss.share),
             report.n, report.loss.kind == MotifLossKind::sse ? "sse" : "1 - R^2",
             shortest(report.settings.stop_fraction), report.settings.max_steps);
  fmt::print("Means over {} seeds; soft share and hard share: of the motifs that have a target\n\n",
             report.ranks.front().runs.size());
  print_ends(report);
  fmt::print("\nCensuses at the end, {}, means over the seeds\n\n{:>5}  {:<5}{:>9}", triples_of(report.n), "motif",
             "MAN", "target");
  for (const WarmUpRank& rank : report.ranks) fmt::print("{:>12}{:>8}", fmt::format("r={} soft", rank.rank), "hard");
  fmt::print("\n");
  for (std::size_t i = 0; i < triad_count; ++i) {
    const double target = i < motif_count ? report.target.fractions[i] : 0;
    fmt::print("{:>5}  {:<5}{:>9}", motif_number(triads()[i]), triads()[i].name,
               target > 0 ? fmt::format("{:.4f}", target) : "");
    for (const WarmUpRank& rank : report.ranks)
      fmt::print("{:>12.2f}{:>8.1f}", mean_of(rank, [i](const auto& run) { return run.soft[i]; }),
                 mean_of(rank, [i](const auto& run) { return static_cast<double>(run.hard[i]); }));
    fmt::print("\n");
  }
}

void print_warm_ups_csv(const WarmUpReport& report) {
  fmt::print("rank,seed,steps,reached,initial_loss,final_loss,r_squared,k,norm,edge_density,mean_edge_entropy");
  for (const char* kind : {"soft", "hard"})
    for (const Triad& triad : triads()) fmt::print(",{}_{}", kind, triad.name);
  fmt::print("\n");
  for (const WarmUpRank& rank : report.ranks)
    for (std::size_t seed = 0; seed < rank.runs.size(); ++seed) {
      const WarmUpResult& run = rank.runs[seed];
      fmt::print("{},{},{},{},{},{},{},{},{},{},{}", rank.rank, seed, run.steps, run.reached ? 1 : 0,
                 shortest(run.initial_loss), shortest(run.final_loss), run.r_squared ? shortest(*run.r_squared) : "",
                 shortest(run.coupling.k), shortest(spectral_norm(run.coupling)), shortest(run.edge_density),
                 shortest(run.mean_edge_entropy));
      for (const double count : run.soft) fmt::print(",{}", shortest(count));
      for (const std::int64_t count : run.hard) fmt::print(",{}", count);
      fmt::print("\n");
    }
}

json run_json(const WarmUpResult& run, std::size_t seed) {
  json row = {{"seed", seed},
              {"steps", run.steps},
              {"reached", run.reached},
              {"initial_loss", run.initial_loss},
              {"final_loss", run.final_loss},
              {"k", run.coupling.k},
              {"norm", spectral_norm(run.coupling)},
              {"edge_density", run.edge_density},
              {"mean_edge_entropy", run.mean_edge_entropy}};
  if (run.r_squared) row["r_squared"] = *run.r_squared;
  for (std::size_t i = 0; i < triad_count; ++i) {
    row["soft"][std::string(triads()[i].name)] = run.soft[i];
    row["hard"][std::string(triads()[i].name)] = run.hard[i];
  }
  return row;
}

json warm_ups_json(const WarmUpReport& report) {
  json document = {{"target", report.target.name},
                   {"fractions", report.target.fractions},
                   {"nodes", report.n},
                   {"loss", report.loss.kind == MotifLossKind::sse ? "sse" : "r2"},
                   {"max_steps", report.settings.max_steps}};
  for (const WarmUpRank& rank : report.ranks) {
    const auto median = rank.median_steps();
    json row = {{"rank", rank.rank}, {"reached", rank.reached()}, {"median_steps", median ? json(*median) : json()}};
    for (std::size_t seed = 0; seed < rank.runs.size(); ++seed) row["runs"].push_back(run_json(rank.runs[seed], seed));
    document["ranks"].push_back(std::move(row));
  }
  return document;
}

}  // namespace

CensusReport take_census(std::string name, ConnectionMatrix matrix, const EdgeRule& rule, CensusShare share,
                         std::optional<std::size_t> listed) {
  CensusReport report{std::move(name), std::move(matrix), rule, share, {}, {}, 0, 0, listed, {}};
  const std::size_t n = report.matrix.n;
  const std::vector<double> soft = soft_adjacency(report.matrix.weights, n, rule);
  const std::vector<std::uint8_t> hard = hard_adjacency(report.matrix.weights, n, rule);
  report.hard = hard_census(hard, n);
  report.soft = SoftCensus(soft, n).counts();
  report.edge_density = edge_density(hard, n);
  report.mean_edge_entropy = mean_edge_entropy(soft, n);
  if (listed) report.instances = triad_instances(hard, n, *listed);
  return report;
}

void print_census(const CensusReport& report, const std::string& format) {
  if (format == "json")
    fmt::print("{}\n", census_json(report).dump(2, ' ', false, json::error_handler_t::replace));
  else if (format == "csv")
    print_census_csv(report);
  else
    print_census_text(report);
}

std::size_t WarmUpRank::reached() const {
  return static_cast<std::size_t>(std::ranges::count_if(runs, &WarmUpResult::reached));
}

std::optional<std::int64_t> WarmUpRank::median_steps() const {
  std::vector<std::int64_t> steps;
  for (const WarmUpResult& run : runs)
    if (run.reached) steps.push_back(run.steps);
  std::ranges::sort(steps);
  // Those that did not get there come after all others.
  const std::size_t middle = runs.size() / 2;
  return middle < steps.size() ? std::optional(steps[middle]) : std::nullopt;
}

void print_warm_ups(const WarmUpReport& report, const std::string& format) {
  if (format == "json")
    fmt::print("{}\n", warm_ups_json(report).dump(2, ' ', false, json::error_handler_t::replace));
  else if (format == "csv")
    print_warm_ups_csv(report);
  else
    print_warm_ups_text(report);
}

}  // namespace mambarium
