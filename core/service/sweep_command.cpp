#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <span>

#include "core/contract/text.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/duration_text.h"
#include "core/service/help_text.h"
#include "core/service/sweep_progress.h"
#include "core/sweep/sweep_merge.h"

namespace mambarium {

namespace fs = std::filesystem;

namespace {

struct SweepOptions {
  std::string file, out, shard;
  std::size_t workers = 0;  // 0: as many as cores
  std::vector<std::string> merge;
};

struct Shard {
  std::size_t number = 1, count = 1;
};

Shard shard_of(const std::string& text) {
  if (text.empty()) return {};
  const auto parts = split(text, '/');
  const auto number = integer_from(parts.front()), count = integer_from(parts.back());
  if (parts.size() != 2 || !number || !count || *number < 1 || *count < *number)
    throw bad_input("--shard: " + in_quotes(text) + " is not a shard such as 2/4, from 1/4 to 4/4");
  return {static_cast<std::size_t>(*number), static_cast<std::size_t>(*count)};
}

std::string names_of(const std::vector<const SweepPoint*>& points) {
  constexpr std::size_t most = 10;
  std::string names;
  for (std::size_t index = 0; index < std::min(most, points.size()); ++index)
    names.append(index == 0 ? "" : ", ").append(points[index]->id);
  return names + (points.size() > most ? " and " + std::to_string(points.size() - most) + " more" : "");
}

void tell_results(const SweepFolder& folder, std::size_t points) {
  fmt::print("All {} points are there. The results are in {} and results.csv\n", points,
             (folder.path() / "results.json").string());
}

int merge(const SweepOptions& options, const ParsedSweep& parsed, const fs::path& out) {
  const std::vector<fs::path> sources(options.merge.begin(), options.merge.end());
  std::error_code error;
  for (const fs::path& source : sources)
    if (!fs::is_directory(source / "points", error))
      throw bad_input("--merge: " + source.string() + " is not a sweep's folder: it holds no points");
  const SweepFolder folder(out);
  copy_points(sources, folder, parsed.points);
  const auto missing = folder.write_results(parsed.sweep, parsed.points);
  if (!missing.empty())
    throw CommandError(exit_code::failure, fmt::format("{} of {} points are in none of these folders: {}",
                                                       missing.size(), parsed.points.size(), names_of(missing)));
  tell_results(folder, parsed.points.size());
  return exit_code::success;
}

void tell_settings_without_effect(const std::vector<SweepPoint>& points) {
  for (const Property& property : property_table()) {
    const std::string key(property.key);
    if (std::ranges::any_of(points, [&](const SweepPoint& point) { return point.config.applies(key); })) continue;
    for (const SweepPoint& point : points) {
      const std::vector<std::string> notes = without_effect(point.config, std::span(&key, 1));
      if (notes.empty()) continue;
      fmt::print(stderr, "{}\n", notes.front());
      break;
    }
  }
}

int report(const ParsedSweep& parsed, const SweepFolder& folder, const Shard& shard, const SweepOutcome& outcome) {
  if (outcome.interrupted) return tell_interrupted();
  const auto missing = folder.write_results(parsed.sweep, parsed.points);
  if (!outcome.failures.empty())
    throw CommandError(exit_code::failure,
                       fmt::format("{} of {} points failed, why is said above; their runs are in {}. When that is "
                                   "mended, the same command computes what is missing",
                                   outcome.failures.size(), parsed.points.size(), (folder.path() / "runs").string()));
  if (missing.empty())
    tell_results(folder, parsed.points.size());
  else
    fmt::print("Shard {}/{} is done. {} points of others are not in {} yet\n", shard.number, shard.count,
               missing.size(), folder.path().string());
  return exit_code::success;
}

int compute(const SweepOptions& options, const ParsedSweep& parsed, const fs::path& out) {
  const Shard shard = shard_of(options.shard);
  const std::size_t workers = options.workers > 0 ? options.workers : usable_cores();
  const SweepFolder folder(out);
  folder.write_plan(parsed.sweep, parsed.points);
  tell_settings_without_effect(parsed.points);
  std::size_t in_shard = 0;
  std::vector<const SweepPoint*> to_do;
  for (std::size_t index = shard.number - 1; index < parsed.points.size(); index += shard.count) {
    ++in_shard;
    if (!folder.measures(parsed.points[index])) to_do.push_back(&parsed.points[index]);
  }
  fmt::print("{}: {}{}, {} of them done, {} at a time, in {}\n", parsed.sweep.title, count_text(in_shard, "point"),
             shard.count > 1 ? fmt::format(" in shard {}/{}", shard.number, shard.count) : "", in_shard - to_do.size(),
             workers, out.string());
  std::fflush(stdout);
  const SignalWatcher signals;
  SweepProgress progress(in_shard, in_shard - to_do.size(), to_do);
  return report(parsed, folder, shard, compute_points(folder, to_do, workers, signals, progress.listener()));
}

int sweep(const SweepOptions& options) {
  const ParsedSweep parsed = sweep_from_file(options.file);
  if (!parsed.problems.empty()) throw bad_input(parsed.problems);
  const fs::path out = options.out.empty() ? fs::path("sweeps") / parsed.sweep.name : fs::path(options.out);
  return options.merge.empty() ? compute(options, parsed, out) : merge(options, parsed, out);
}

}  // namespace

Command add_sweep_command(CLI::App& program) {
  auto* command = program.add_subcommand("sweep", "Train every experiment of a grid, and gather what they measure");
  const auto options = std::make_shared<SweepOptions>();
  command->add_option("file", options->file, "What varies: see docs/sweeps.md")->type_name("FILE")->required();
  refuse_empty(command->add_option("--out", options->out, "The sweep's folder. Default: sweeps/<its name>."))
      ->type_name("FOLDER");
  constexpr std::size_t most_workers = 4096;
  auto* workers = command->add_option("--workers", options->workers, "Runs at a time. Default: one for each core.")
                      ->type_name("N")
                      ->check(CLI::Range(std::size_t{1}, most_workers));
  auto* shard = command
                    ->add_option("--shard", options->shard,
                                 wrapped("Compute only the i-th of n parts of the points; the "
                                         "parts may share a folder, at the same time and on several machines."))
                    ->type_name("i/n");
  command
      ->add_option("--merge", options->merge,
                   wrapped("Compute nothing: gather the points of these sweep folders and "
                           "write the results."))
      ->type_name("FOLDER...")
      ->excludes(workers)
      ->excludes(shard);
  return {command, [options] { return sweep(*options); }};
}

}  // namespace mambarium
