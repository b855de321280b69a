#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <span>

#include "core/contract/resources.h"
#include "core/contract/text.h"
#include "core/reproduce/report.h"
#include "core/service/child_process.h"
#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/duration_text.h"
#include "core/service/help_text.h"
#include "core/service/machine.h"
#include "core/service/sweep_progress.h"
#include "core/training/durable_file.h"

namespace mambarium {

namespace fs = std::filesystem;

namespace {

struct ReproduceOptions {
  std::vector<std::string> what;
  std::string budget = "quick", out = "reproduction", from;
  std::size_t workers = 0;  // 0: as many as cores
};

std::vector<ReproducedFigure> known_figures(const ReproduceOptions& options) {
  const fs::path folder = options.from.empty() ? resource_directory() / "reproduce" : fs::path(options.from);
  LoadedFigures loaded = load_reproduced_figures(folder, options.budget == "paper" ? Budget::paper : Budget::quick);
  if (!loaded.problems.empty()) throw bad_input(loaded.problems);
  return std::move(loaded.figures);
}

// The ids, and the groups after them.
std::string names_of(const std::vector<ReproducedFigure>& figures) {
  std::vector<std::string> names;
  for (const ReproducedFigure& figure : figures) names.push_back(figure.id);
  for (const ReproducedFigure& figure : figures)
    if (!figure.group.empty() && std::ranges::count(names, figure.group) == 0) names.push_back(figure.group);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<ReproducedFigure> chosen_figures(const ReproduceOptions& options, std::span<const std::string> names) {
  const std::vector<ReproducedFigure> known = known_figures(options);
  std::vector<ReproducedFigure> chosen;
  for (const std::string& name : names) {
    bool found = name == "all";
    for (const ReproducedFigure& figure : known) {
      const bool is_meant =
          name == "all" || figure.id == name || figure.group == name || std::ranges::count(figure.names, name) > 0;
      if (!is_meant) continue;
      found = true;
      if (std::ranges::count(chosen, figure.id, &ReproducedFigure::id) == 0) chosen.push_back(figure);
    }
    if (!found)
      throw bad_input(in_quotes(name) + " is no figure that can be reproduced; there are " + names_of(known) +
                      ", and all");
  }
  return chosen;
}

// Equal experiments of several figures are one point.
std::vector<const SweepPoint*> distinct_points(std::span<const ReproducedFigure> figures) {
  std::vector<const SweepPoint*> points;
  std::set<std::string> ids;
  for (const ReproducedFigure& figure : figures)
    for (const ParsedSweep& sweep : figure.sweeps)
      for (const SweepPoint& point : sweep.points)
        if (ids.insert(point.id).second) points.push_back(&point);
  return points;
}

void list_line(const std::string& group, const std::string& id, const std::string& names, std::size_t runs,
               std::size_t claims, const std::string& title) {
  fmt::print("{:<7} {:<21} {:<32} {:>4} runs, {:>2} claims  {}\n", group, id, names, runs, claims, title);
}

int list(const std::vector<ReproducedFigure>& figures) {
  std::size_t claims = 0;
  for (const ReproducedFigure& figure : figures) {
    list_line(figure.group, figure.id, fmt::format("{}", fmt::join(figure.names, ", ")),
              distinct_points({&figure, 1}).size(), figure.claims.size(), figure.title);
    claims += figure.claims.size();
  }
  if (figures.size() > 1)
    list_line("", "together", "", distinct_points(figures).size(), claims, "a run that figures share counts once");
  return exit_code::success;
}

// Curves are drawn from the runs beside the results.
void link_runs(const fs::path& folder, const fs::path& out) {
  std::error_code error;
  fs::create_directory_symlink(fs::relative(out / "runs", folder), folder / "runs", error);
}

class Reporter {
 public:
  Reporter(const fs::path& out, const SweepFolder& points, const std::vector<SweepFailure>& failures,
           const SignalWatcher& signals)
      : out_(out), points_(points), failures_(failures), signals_(signals) {}

  ReportedFigure figure(const ReproducedFigure& figure) const {
    ReportedFigure reported{&figure, {}, {}, {}, {}, "runs"};
    std::vector<SweepResult> results;
    for (const ParsedSweep& parsed : figure.sweeps) {
      const fs::path folder = folder_of(figure, parsed.sweep.name);
      const auto missing = points_.write_results(parsed.sweep, parsed.points, folder);
      for (const SweepPoint* point : missing) reported.troubles.push_back(trouble(*point));
      if (!missing.empty()) continue;  // what lies there is of another budget
      ReadSweepResult read = read_sweep_result(folder);
      if (!read.problems.empty()) continue;
      link_runs(folder, out_);
      reported.numbers.push_back(relative(folder / "results.csv"));
      results.push_back(std::move(read.result));
    }
    if (!reported.troubles.empty()) return reported;
    for (const Claim& claim : figure.claims) reported.claims.push_back(decide(claim, results));
    for (const Picture& picture : figure.pictures) draw(figure, picture, reported);
    return reported;
  }

 private:
  fs::path folder_of(const ReproducedFigure& figure, const std::string& sweep) const {
    return out_ / "figures" / figure.id / sweep;
  }
  std::string relative(const fs::path& path) const { return path.lexically_relative(out_).string(); }

  std::string trouble(const SweepPoint& point) const {
    const auto failure = std::ranges::find(failures_, point.id, &SweepFailure::point);
    return point.id + (failure == failures_.end() ? " was not computed" : " failed: " + failure->reason);
  }

  // 2-D figures are the window's business: its program draws them without a display.
  void draw(const ReproducedFigure& figure, const Picture& picture, ReportedFigure& reported) const {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path() / "mambarium";
    if (!fs::exists(program, error)) {
      reported.troubles.push_back("pictures need the program mambarium beside this one, and " + program.string() +
                                  " is not there");
      return;
    }
    const std::string sweep = picture.sweep.empty() ? figure.sweeps.front().sweep.name : picture.sweep;
    for (const char* const format : {".svg", ".pdf"}) {
      const fs::path path = out_ / "figures" / figure.id / (picture.name + format);
      std::vector<std::string> arguments = {"figure", "--sweep", folder_of(figure, sweep).string(), "-o",
                                            path.string()};
      arguments.insert(arguments.end(), picture.arguments.begin(), picture.arguments.end());
      ChildProcess drawing(arguments, program.string());
      ChildProcess* one[] = {&drawing};
      while (!drawing.ended()) {
        ChildProcess::wait_for_any(one, 100);
        if (signals_.signalled()) return;
      }
      if (drawing.exit_code() != exit_code::success) {
        const std::string reason(trimmed(drawing.errors()));
        reported.troubles.push_back(
            picture.name + " could not be drawn: " +
            (reason.empty() ? fmt::format("{} ended with exit code {}", program.string(), drawing.exit_code())
                            : reason));
        return;
      }
      if (path.extension() == ".svg") reported.pictures.push_back(relative(path));
    }
  }

  const fs::path& out_;
  const SweepFolder& points_;
  const std::vector<SweepFailure>& failures_;
  const SignalWatcher& signals_;
};

ReportHead head_of(const ReproduceOptions& options, double seconds) {
  const Machine machine = this_machine();
  return {machine.program_version + " (" + machine.revision + ")",
          fmt::format("{}, {} cores", machine.cpu, machine.cores),
          fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::now())), options.budget,
          "the last call took " + clock_text(seconds)};
}

void tell(const std::vector<ReportedFigure>& reported) {
  for (const ReportedFigure& figure : reported) {
    for (const std::string& trouble : figure.troubles) fmt::print(stderr, "{}: {}\n", figure.figure->id, trouble);
    for (std::size_t index = 0; index < figure.claims.size(); ++index)
      fmt::print("{}: {}: {}\n", figure.figure->id, figure.figure->claims[index].text,
                 to_string(figure.claims[index].verdict));
  }
}

int reproduce_figures(const ReproduceOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  const std::vector<ReproducedFigure> figures = chosen_figures(options, options.what);
  const fs::path out = options.out;
  const SweepFolder folder(out);
  const auto points = distinct_points(figures);
  std::vector<const SweepPoint*> to_do;
  for (const SweepPoint* point : points)
    if (!folder.measures(*point)) to_do.push_back(point);
  std::ranges::stable_sort(to_do, std::ranges::greater(),
                           [](const SweepPoint* point) { return training_tokens(*point); });
  const std::size_t workers = options.workers > 0 ? options.workers : usable_cores();
  fmt::print("{}, {}, {} of them done, {} at a time, in {}\n", count_text(figures.size(), "figure"),
             count_text(points.size(), "run"), points.size() - to_do.size(), workers, out.string());
  std::fflush(stdout);
  const SignalWatcher signals;
  SweepProgress progress(points.size(), points.size() - to_do.size(), to_do);
  const SweepOutcome outcome = compute_points(folder, to_do, workers, signals, progress.listener());
  if (outcome.interrupted) return tell_interrupted();
  std::vector<ReportedFigure> reported;
  const Reporter reporter(out, folder, outcome.failures, signals);
  for (const ReproducedFigure& figure : figures) {
    reported.push_back(reporter.figure(figure));
    if (signals.signalled()) return tell_interrupted();
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begun;
  const ReportHead head = head_of(options, elapsed.count());
  write_whole_file(out / "report.md", report_markdown(head, reported));
  write_whole_file(out / "report.html", report_html(head, reported));
  tell(reported);
  fmt::print("The report is in {} and report.md\n", (out / "report.html").string());
  const bool complete = std::ranges::all_of(reported, [](const auto& figure) { return figure.troubles.empty(); });
  return complete ? exit_code::success : exit_code::failure;
}

int reproduce(const ReproduceOptions& options) {
  if (options.what.front() != "list") return reproduce_figures(options);
  const auto named = std::span(options.what).subspan(1);
  return list(named.empty() ? known_figures(options) : chosen_figures(options, named));
}

}  // namespace

Command add_reproduce_command(CLI::App& program) {
  auto* command =
      program.add_subcommand("reproduce", "Train what a paper's figures need, draw them, decide its claims");
  const auto options = std::make_shared<ReproduceOptions>();
  command
      ->add_option("figure", options->what,
                   wrapped("all, a paper (markov, motif), or figures by name: window or fig3b; list says which there "
                           "are, list motif those of a paper"))
      ->type_name("FIGURE...")
      ->required();
  accept_only(command->add_option(
                  "--budget", options->budget,
                  wrapped("quick: shorter sequences and fewer seeds; on two cores markov takes up to 40 minutes and "
                          "motif hours. paper: the papers' own sizes. Default quick.")),
              {"quick", "paper"});
  refuse_empty(command->add_option("--out", options->out, "Where report, figures and runs go. Default: reproduction."))
      ->type_name("FOLDER");
  refuse_empty(
      command->add_option("--from", options->from, "Figures of your own: a folder of files as in resources/reproduce"))
      ->type_name("FOLDER");
  constexpr std::size_t most_workers = 4096;
  command->add_option("--workers", options->workers, "Runs at a time. Default: one for each core.")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, most_workers));
  return {command, [options] { return reproduce(*options); }};
}

}  // namespace mambarium
