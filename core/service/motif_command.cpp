#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/text.h"
#include "core/motif/connection_matrix.h"
#include "core/motif/motif_target.h"
#include "core/motif/warm_up.h"
#include "core/random/stream.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/help_text.h"
#include "core/service/motif_tables.h"

namespace mambarium {

namespace {

// What both commands share.
struct EdgeOptions {
  std::optional<double> beta, theta;
  std::string edges = "index", normalise = "triples";

  EdgeRule rule() const {
    EdgeRule rule;
    if (beta) rule.beta = *beta;
    if (theta) rule.theta = *theta;
    rule.edges = edges == "causal" ? EdgeConvention::causal : EdgeConvention::index;
    return rule;
  }
  CensusShare share() const { return normalise == "connected" ? CensusShare::connected : CensusShare::triples; }
};

struct CensusOptions {
  std::string file, list, format = "text";
  std::optional<double> threshold;
  EdgeOptions edge;
};

struct WarmUpOptions {
  std::string target = "021U", ranks = "1-4", loss = "sse", format = "text";
  std::size_t n = 16;
  std::uint64_t seeds = 5;
  std::optional<double> fraction;
  double k0 = 1e-4, deviation = 0.01;
  EdgeOptions edge;
  WarmUpSettings settings;
};

constexpr std::size_t most_nodes = 256;

std::size_t rank_in(std::string_view text, std::size_t n) {
  const auto rank = integer_from(trimmed(text));
  if (!rank || *rank < 1 || *rank > static_cast<std::int64_t>(n))
    throw bad_input("--rank: " + in_quotes(text) + " is not a rank; with " + std::to_string(n) + " nodes it is 1 to " +
                    std::to_string(n) + ", as in 2 or 1,2,4 or 1-4");
  return static_cast<std::size_t>(*rank);
}

std::vector<std::size_t> ranks_in(std::string_view text, std::size_t n) {
  std::vector<std::size_t> ranks;
  for (const std::string_view piece : split(text, ',')) {
    const auto ends = split(piece, '-');
    if (ends.size() > 2) rank_in(piece, n);
    const std::size_t first = rank_in(ends.front(), n), last = rank_in(ends.back(), n);
    if (last < first) throw bad_input("--rank: " + in_quotes(piece) + " goes down; write the smaller rank first");
    for (std::size_t rank = first; rank <= last; ++rank) ranks.push_back(rank);
  }
  return ranks;
}

int census(const CensusOptions& options) {
  EdgeRule rule = options.edge.rule();
  if (options.threshold && options.edge.theta)
    throw bad_input("--threshold is the square root of --theta, so only one of the two can be given");
  if (options.threshold) {
    constexpr double most = 1e150;  // its square is a number
    if (!(*options.threshold >= 0 && *options.threshold <= most))
      throw bad_input("--threshold is " + shortest(*options.threshold) + "; it must be a number from 0 to 1e150");
    rule.theta = *options.threshold * *options.threshold;
  }
  std::optional<std::size_t> listed;
  if (!options.list.empty()) listed = find_triad(options.list);
  print_census(take_census(options.file, read_connection_matrix(options.file), rule, options.edge.share(), listed),
               options.format);
  return exit_code::success;
}

int warm_up(const WarmUpOptions& options) {
  WarmUpReport report;
  report.target = motif_target(options.target, options.fraction.value_or(0.25));
  if (options.fraction && !report.target.name.starts_with("Motif-"))
    throw bad_input("--fraction is the share of a single motif, and --target is " + report.target.name);
  report.n = options.n;
  report.loss = {options.loss == "r2" ? MotifLossKind::r_squared : MotifLossKind::sse, options.edge.share(),
                 options.edge.rule()};
  report.settings = options.settings;
  for (const std::size_t rank : ranks_in(options.ranks, options.n)) {
    report.ranks.push_back({rank, {}});
    for (std::uint64_t seed = 0; seed < options.seeds; ++seed) {
      const auto normal = [seed](std::string_view name, std::span<double> out) {
        Stream(seed, "warm-up " + std::string(name)).normal(out);
      };
      Coupling start = draw_coupling(options.n, rank, normal, options.k0, options.deviation);
      report.ranks.back().runs.push_back(run_warm_up(std::move(start), report.target, report.loss, report.settings));
    }
  }
  print_warm_ups(report, options.format);
  return exit_code::success;
}

void add_edge_flags(CLI::App& command, EdgeOptions& edge) {
  command.add_option("--theta", edge.theta, "An edge is where M_ij^2 is above this. Default 5e-05.");
  command.add_option("--beta", edge.beta, "How steeply soft edges set in around theta. Default 1e5.");
  accept_only(command.add_option("--edges", edge.edges,
                                 wrapped("What M_ij is: index, the edge i -> j; causal, j -> i, as M h mixes a state. "
                                         "Default index.")),
              {"index", "causal"});
  accept_only(command.add_option("--normalise", edge.normalise,
                                 wrapped("Shares of all triples, or of those that are connected. Default triples.")),
              {"triples", "connected"});
}

CommandBody refusing_extras(CLI::App* command, CommandBody body) {
  return [command, body = std::move(body)] {
    if (const auto extras = command->remaining(); !extras.empty())
      throw bad_input((extras.front().starts_with("--") ? "there is no flag " : "there is no place for ") +
                      in_quotes(extras.front()) + "; mambarium-worker motif " + command->get_name() +
                      " --help shows what there is");
    return body();
  };
}

Command add_census_command(CLI::App& motif) {
  auto* command = motif.add_subcommand("census", "How often each triad is in a square matrix, hard and soft");
  const auto options = std::make_shared<CensusOptions>();
  command
      ->add_option("file", options->file,
                   wrapped("Rows of numbers, with or without names: CSV, semicolons or white space"))
      ->type_name("FILE")
      ->required();
  command->add_option("--threshold", options->threshold, "Instead of --theta: an edge is where |M_ij| is above this.");
  add_edge_flags(*command, options->edge);
  refuse_empty(
      command->add_option("--list", options->list,
                          wrapped("Also the nodes of every triple of one triad, 10000 at most: 021U, 2 or Motif-2")))
      ->type_name("TRIAD");
  accept_only(command->add_option("--format", options->format, "Default text."), {"text", "csv", "json"});
  return {command, refusing_extras(command, [options] { return census(*options); })};
}

Command add_warm_up_command(CLI::App& motif) {
  auto* command = motif.add_subcommand("warm-up", "Trains couplings k P Q on the motif loss alone");
  const auto options = std::make_shared<WarmUpOptions>();
  WarmUpSettings& settings = options->settings;
  settings.max_steps = 3000;
  refuse_empty(command->add_option("--target", options->target,
                                   wrapped("A motif (021U, 2 or Motif-2), a profile (FRP, MOP, AVE) or 13 shares "
                                           "separated by commas. Default 021U.")));
  command->add_option("--fraction", options->fraction, "The share of a single motif. Default 0.25.");
  refuse_empty(command->add_option("--rank", options->ranks, "Ranks of P Q: 2, 1,2,4 or 1-4. Default 1-4."))
      ->type_name("RANKS");
  command->add_option("--n", options->n, "Nodes, the size of the state. Default 16.")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{3}, most_nodes));
  command->add_option("--seeds", options->seeds, "Couplings drawn for each rank. Default 5.")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--steps", settings.max_steps, "Steps at most. Default 3000.")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--stop", settings.stop_fraction,
                      wrapped("Stop at this part of the first loss; 0 goes on to the last step. Default 0.1."));
  // Beyond, all edges are whole from the first step on, and nothing has a gradient any more.
  constexpr double most = 10;
  accept_positive(command->add_option("--lr", settings.learning_rate, "Of AdamW. Default 0.001."), most);
  accept_positive(command->add_option("--k0", options->k0, "k at the start. Default 1e-4."), most);
  accept_positive(
      command->add_option("--std", options->deviation, "Standard deviation of P and Q at the start. Default 0.01."),
      most);
  accept_only(command->add_option("--loss", options->loss,
                                  wrapped("sse: squared errors of the motifs that have a target; r2: 1 - R^2 over all "
                                          "13. Default sse.")),
              {"sse", "r2"});
  add_edge_flags(*command, options->edge);
  accept_only(command->add_option("--format", options->format, "Default text."), {"text", "csv", "json"});
  return {command, refusing_extras(command, [options] { return warm_up(*options); })};
}

}  // namespace

Command add_motif_command(CLI::App& program) {
  auto* command = program.add_subcommand("motif", "Triads of three nodes in matrices, and couplings trained on them");
  command->require_subcommand(0, 1);
  std::vector<Command> parts = {add_census_command(*command), add_warm_up_command(*command)};
  for (const Command& part : parts) part.app->allow_extras();
  return {command, [parts] {
            for (const Command& part : parts)
              if (part.app->parsed()) return part.run();
            throw bad_input("motif is to do one of two things; write motif census or motif warm-up");
          }};
}

}  // namespace mambarium
