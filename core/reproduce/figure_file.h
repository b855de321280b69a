// What `reproduce` makes of one figure or table of a paper, as a file in resources/reproduce:
//
//   {"id": "window", "names": ["fig3b"], "title": "...", "paper": "Figure 3b", "about": "...",
//    "group": "markov", "article": "From Markov to Laplace",     both or none: the paper, by a word and by its title
//    "sweeps": [{a sweep's file, docs/sweeps.md}, ...],          as for the quick budget
//    "paper_budget": {"base": {...}, "seeds": [...]},            merged into every sweep for the paper's budget, and
//                                                                by a sweep's name into that one: {"sweeps": {"NAME":
//                                                                {...}}}
//    "pictures": [{"name": "window", "sweep": "", "arguments": ["--chart", "heat", "--measure", "gap_oracle"]}],
//    "claims": [{"claim": "...", "paper": "...", "measure": "gap_add_beta", "below": 0.004, "cells": [...]}]}
//
// Nothing else says what a claim needs: no number of a result stands in the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/reproduce/claim.h"
#include "core/sweep/sweep_file.h"

namespace mambarium {

enum class Budget { quick, paper };

struct Picture {
  std::string name, sweep;  // the file's stem; the sweep's name, "" for the first
  std::vector<std::string> arguments;
};

struct ReproducedFigure {
  std::string id;
  std::vector<std::string> names;  // by which it can be asked for too
  std::string title, paper, about;
  std::vector<ParsedSweep> sweeps;  // without problems
  std::vector<Picture> pictures;
  std::vector<Claim> claims;
  std::string group = {}, article = {};  // one title for each group; "" where the file names none
};

struct LoadedFigures {
  std::vector<ReproducedFigure> figures;  // in the order of their files' names
  std::vector<Problem> problems;
};
LoadedFigures load_reproduced_figures(const std::filesystem::path& directory, Budget budget);

}  // namespace mambarium
