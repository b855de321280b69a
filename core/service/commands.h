// The commands of mambarium-worker. Each adds itself to the program, with its flags, help and what to do; what it does
// returns an exit code or throws CommandError.
#pragma once

#include <CLI/App.hpp>
#include <functional>

#include "core/models/sequence_model.h"

namespace mambarium {

// A command that was chosen on the command line; called after parsing.
using CommandBody = std::function<int()>;
struct Command {
  CLI::App* app = nullptr;
  CommandBody run;
};

Command add_train_command(CLI::App& program);      // trains a run, on a terminal with progress and time left
Command add_evaluate_command(CLI::App& program);   // test loss and gaps of a trained model
Command add_predict_command(CLI::App& program);    // P(next) along given token sequences
Command add_inspect_command(CLI::App& program);    // what a panel would be sent
Command add_sweep_command(CLI::App& program);      // trains every experiment of a grid, several at a time
Command add_reproduce_command(CLI::App& program);  // a paper's figures: runs, pictures, claims decided
Command add_bench_command(CLI::App& program);      // tokens a second, beside LibTorch operators in the same run
Command add_selftest_command(CLI::App& program);   // every kernel against float64, on this machine
Command add_theory_command(CLI::App& program);     // constructions beside their estimators, and what cannot be done
Command add_motif_command(CLI::App& program);      // triads of a matrix, and couplings trained on them
Command add_info_command(CLI::App& program);       // versions, CPU, CUDA
Command add_settings_command(CLI::App& program);   // docs/settings.md
Command add_serve_command(CLI::App& program);      // the protocol on standard input and output

// --engine auto|fused|torch
void add_engine_flag(CLI::App& command, Engine& engine);

}  // namespace mambarium
