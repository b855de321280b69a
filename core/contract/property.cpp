#include "core/contract/property.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

namespace mambarium {

using enum PropertyType;

namespace {

using View = std::string_view;
using Views = std::vector<std::string_view>;

struct Minimum {
  double value;
  bool excluded;
};
constexpr Minimum from(double value) {
  return {value, false};
}
constexpr Minimum above(double value) {
  return {value, true};
}

Property plain_property(PropertyType type, View key, View group, PropertyValue value, View label, View help,
                        View applies_when) {
  Property property;
  property.key = key;
  property.group = group;
  property.type = type;
  property.default_value = std::move(value);
  property.applies_when = applies_when;
  property.label = label;
  property.help = help;
  return property;
}
Property numeric(PropertyType type, View key, View group, PropertyValue value, Minimum minimum, double maximum,
                 View label, View unit, View help, View applies_when) {
  Property property = plain_property(type, key, group, std::move(value), label, help, applies_when);
  property.minimum = minimum.value;
  property.minimum_excluded = minimum.excluded;
  property.maximum = maximum;
  property.unit = unit;
  return property;
}
Property whole(View key, View group, std::int64_t value, double minimum, double maximum, View label, View unit,
               View help, View applies_when = "") {
  return numeric(integer, key, group, value, from(minimum), maximum, label, unit, help, applies_when);
}
Property number(View key, View group, double value, Minimum minimum, double maximum, View label, View unit, View help,
                View applies_when = "") {
  return numeric(real, key, group, value, minimum, maximum, label, unit, help, applies_when);
}
Property with_choices(PropertyType type, View key, View group, View value, Views choices, View label, View help,
                      View applies_when) {
  Property property = plain_property(type, key, group, std::string(value), label, help, applies_when);
  property.choices = std::move(choices);
  return property;
}
Property one_of(View key, View group, View value, Views choices, View label, View help, View applies_when = "") {
  return with_choices(choice, key, group, value, std::move(choices), label, help, applies_when);
}
Property any_of(View key, View group, View value, Views choices, View label, View help, View applies_when = "") {
  return with_choices(choice_set, key, group, value, std::move(choices), label, help, applies_when);
}
Property free_text(View key, View group, View value, View label, View help, View applies_when = "") {
  return with_choices(text, key, group, value, {}, label, help, applies_when);
}
Property on_off(View key, View group, bool value, View label, View help, View applies_when = "") {
  return plain_property(boolean, key, group, value, label, help, applies_when);
}

// The 13 triads by the paper's numbers, in the order of those.
Property also_by_motif_number(Property property) {
  constexpr std::array<std::array<View, 3>, 13> motifs = {{{"021D", "1", "Motif-1"},
                                                           {"021U", "2", "Motif-2"},
                                                           {"021C", "3", "Motif-3"},
                                                           {"030T", "4", "Motif-4"},
                                                           {"111U", "5", "Motif-5"},
                                                           {"111D", "6", "Motif-6"},
                                                           {"120U", "7", "Motif-7"},
                                                           {"120D", "8", "Motif-8"},
                                                           {"201", "9", "Motif-9"},
                                                           {"030C", "10", "Motif-10"},
                                                           {"120C", "11", "Motif-11"},
                                                           {"210", "12", "Motif-12"},
                                                           {"300", "13", "Motif-13"}}};
  for (const auto& [name, number, title] : motifs)
    for (const View other : {number, title}) property.other_names.emplace_back(other, name);
  property.other_names_text = "or a motif's number, 1 to 13, also as Motif-2";
  return property;
}

}  // namespace

std::span<const Property> property_table() {
  constexpr View with_weights = "model.kind!=ngram";
  constexpr View of_mamba = "model.kind=mamba2 | model.kind=mamba_zero | model.kind=mamba1";
  constexpr View with_parts = "model.kind=mamba2 | model.kind=mamba1";
  constexpr View of_chains = "task.kind!=induction & task.kind!=decoding", of_tokens = "task.kind!=decoding";
  constexpr View of_recording = "task.kind=decoding", of_simulated = "task.recording=simulated";
  constexpr View of_motif = "model.motif!=none";
  static const std::vector<Property> table = {
      one_of(
          "task.kind", "Task", "markov", {"markov", "switching", "file", "induction", "decoding"}, "Task",
          "What the sequences are. markov: every sequence is a Markov chain with a random kernel of its own. "
          "switching: now and then a switch token, the last of the alphabet, comes, and after it a new chain begins. "
          "file: sequences are cut from a file of your own symbols. induction: random tokens in which one key comes "
          "twice, and what followed it the first time is the answer after the second. decoding: windows of a neural "
          "recording, from which the direction or the course of a movement is read."),
      whole("task.order", "Task", 1, 1, 8, "Order k", "tokens", "How many tokens back the next token depends on.",
            of_chains),
      whole("task.states", "Task", 2, 2, 64, "States S", "tokens",
            "States of the chain: tokens are 0 to S-1, and in the switching task S is the switch token. Of a file, how "
            "many different symbols it has. In induction the vocabulary, 64 in the paper: tokens 1 to S-1 are drawn.",
            of_tokens),
      number("task.beta", "Task", 1.0, from(1e-6), 1000, "Dirichlet beta", "",
             "Rows of every kernel are drawn from Dirichlet(beta): 1 is uniform, less gives more predictable chains. "
             "The best possible predictor uses the same number.",
             of_chains),
      number("task.p_switch", "Task", 0.01, above(0), 0.5, "Switch rate p_switch", "",
             "Probability that the switch token comes, the same at every position.", "task.kind=switching"),
      one_of("task.kernels", "Task", "random", {"random", "holdout", "fixed"}, "Kernels",
             "random: every sequence has its own. holdout: two states, trained with P(1) in [0, 0.5] and tested with "
             "P(1) in [0.5, 1] after every context. fixed: one kernel, the seed's, for all sequences.",
             "task.kind=markov"),
      one_of("task.start", "Task", "uniform", {"uniform", "stationary"}, "First k tokens",
             "uniform: they say nothing of the chain. stationary: drawn from its stationary distribution, at most 64 "
             "contexts S^k.",
             "task.kind=markov"),
      free_text("task.file", "Task", "symbols.txt", "File of symbols",
                "UTF-8 text on the machine where the worker runs: its first four fifths train, the last fifth tests.",
                "task.kind=file"),
      one_of("task.symbols", "Task", "characters", {"characters", "words"}, "A symbol is",
             "characters: each one but white space. words: what stands between white space, commas and semicolons, as "
             "in a CSV file.",
             "task.kind=file"),
      whole("task.length", "Task", 128, 2, 65536, "Length T", "tokens",
            "Tokens in a sequence; each of them has the token after it as its target.", of_tokens),
      one_of("task.recording", "Task", "simulated", {"simulated", "windows", "xds"}, "Recording",
             "simulated: reaches to eight targets and the units that count along, of which the best decoder is known. "
             "windows: .npz files, one a day, with neural_activity and classification_label. xds: MAT-files with the "
             "struct xds.",
             of_recording),
      free_text("task.files", "Task", "recording.npz", "Files",
                "On the machine where the worker runs, one for each day in the order of the days, separated by "
                "semicolons.",
                "task.recording=windows | task.recording=xds"),
      one_of("task.answer", "Task", "direction", {"direction", "outputs"}, "Answer",
             "direction: which of the eight targets (in windows: of the labels) the movement goes to. outputs: what "
             "moved or pulled in the window's last bin, cursor, force or muscles.",
             of_recording),
      whole("task.window", "Task", 30, 2, 1000, "Window", "bins",
            "Bins of a window, all that a decoder sees. Files of windows have theirs, which this must be.",
            of_recording),
      number("task.bin", "Task", 0.05, above(0), 1, "Bin", "seconds",
             "How long a bin is: a whole multiple of the file's own.", "task.recording=xds"),
      one_of("task.smoothing", "Task", "none", {"none", "causal", "gaussian"}, "Smoothing",
             "Of the counts over time, before windows are cut. causal: the half of a Gaussian that looks back alone. "
             "gaussian: it looks ahead as well, which no decoder can that runs while the hand moves.",
             "task.recording=simulated | task.recording=xds"),
      number("task.smoothing_width", "Task", 0.1, above(0), 10, "Width of it", "seconds",
             "Standard deviation of the Gaussian.", "task.smoothing!=none"),
      whole("task.day", "Task", 0, 0, 365, "Day", "",
            "Which day of the simulated animal is recorded: from day to day the units' tuning drifts.", of_simulated),
      whole("task.trials", "Task", 1200, 20, 5000, "Trials", "",
            "Reaches in the day. The first four fifths train, the last fifth tests.", of_simulated),
      whole("task.channels", "Task", 96, 1, 1024, "Channels", "", "Units that are recorded.", of_simulated),
      number("task.tuned", "Task", 0.7, from(0), 1, "Share of tuned units", "",
             "Those that know of the reach; the others only make noise.", of_simulated),
      number("task.rate", "Task", 12, above(0), 100, "Firing rate", "spikes/s", "Median over the units at rest.",
             of_simulated),
      number("task.modulation", "Task", 1.5, from(0), 3, "Modulation", "",
             "How strongly a tuned unit's logarithmic rate follows the reach, on average.", of_simulated),

      one_of(
          "model.kind", "Model", "mamba2", {"mamba2", "mamba_zero", "mamba1", "transformer", "lstm", "rwkv4", "ngram"},
          "Model",
          "mamba2: the full block, every part of which can be switched off. mamba_zero: the paper's simplification, "
          "a convolution and the state space alone, without activations, gate, norms or MLP. mamba1: the selective "
          "scan with a decay for every channel and state. The states of mamba1 and mamba2 can be coupled "
          "(Motif-Mamba). transformer: attention and MLP. lstm, rwkv4: the recurrent baselines. ngram: no model but "
          "the add-beta estimator, to compare with. Transformer, lstm and rwkv4 run on LibTorch operators with either "
          "engine."),
      whole("model.ngram_order", "Model", 1, 0, 8, "n-gram order", "tokens",
            "How many tokens back the add-beta estimator looks. Its beta is the task's.", "model.kind=ngram"),
      whole("model.d_model", "Model", 8, 1, 4096, "Width d_model", "channels", "The width of the residual stream.",
            with_weights),
      whole("model.d_state", "Model", 8, 1, 1024, "State size d_state", "numbers",
            "State size N: the recurrent state of a layer holds expand x d_model x N numbers.", of_mamba),
      whole("model.expand", "Model", 2, 1, 16, "Expansion e", "", "The inner width is d_inner = expand x d_model.",
            of_mamba),
      whole("model.headdim", "Model", 0, 0, 65536, "Head width headdim", "channels",
            "Channels of a head: those that share one decay factor, or one attention. It must divide d_inner, in a "
            "transformer d_model. 0: one head of them all.",
            "model.kind=mamba2 | model.kind=mamba_zero | model.kind=transformer"),
      whole("model.layers", "Model", 1, 1, 64, "Layers", "layers", "How many blocks stand on top of each other.",
            with_weights),

      one_of("model.start", "Model", "random", {"random", "theorem1", "theorem4", "higher_order", "switching"},
             "Initial weights",
             "What the model is before the first step. random: drawn from the seed. The others: the best predictor, "
             "written down as weights, from which training goes on; each needs settings of its own, as in its preset.",
             "model.kind=mamba2 & task.kind!=decoding | model.kind=mamba_zero & task.kind!=decoding"),

      one_of("model.attention", "Parts", "softmax", {"softmax", "linear"}, "Attention",
             "softmax: weights exp(q.k / sqrt(headdim)) over the tokens so far, divided by their sum. linear: weights "
             "f(q).f(k) with f = elu + 1, divided by their sum, which a state of constant size can keep.",
             "model.kind=transformer"),
      one_of("model.positions", "Parts", "learned", {"learned", "sinusoidal"}, "Positions",
             "learned: a vector for each of the T positions, none beyond. sinusoidal: fixed waves, for any length.",
             "model.kind=transformer"),
      any_of("model.conv_qkv", "Parts", "none", {"Q", "K", "V"}, "Convolution of Q, K, V",
             "Which of queries, keys and values pass through a short causal convolution without bias.",
             "model.kind=transformer"),
      any_of(
          "model.conv", "Parts", "x,B,C", {"x", "B", "C"}, "Convolution on",
          "Which of the inputs x, B and C pass through the short causal convolution. In mamba1 x alone has one, and B "
          "and C are made from it.",
          of_mamba),
      whole("model.d_conv", "Parts", 2, 1, 32, "Window w", "tokens",
            "Taps of the convolution: the current token and the w-1 before it. Order k needs w = k+1.",
            "model.conv!=none | model.conv_qkv!=none"),
      one_of("model.conv_filters", "Parts", "per_channel", {"per_channel", "shared", "fixed"}, "Filters",
             "per_channel: a filter for every channel. shared: one for all channels of x, one for B, one for C. fixed: "
             "taps 1, 2, 4 and so on from the oldest token to the current one, with bias 1, not trained.",
             "model.conv!=none & model.kind=mamba2 | model.conv!=none & model.kind=mamba_zero"),
      one_of("model.activation", "Parts", "silu", {"silu", "relu", "none"}, "Activation",
             "The non-linearity after the convolution, in the gate and in the MLP.", with_parts),
      on_off("model.gate", "Parts", true, "Gate",
             "Multiply the output of the state space by an activated projection of the input.", with_parts),
      one_of("model.decay", "Parts", "learned", {"learned", "one"}, "Decay a_t",
             "learned: a_t = exp(-a dt_t) depends on the token. one: a_t = 1, nothing is ever forgotten.", of_mamba),
      one_of(
          "model.norm", "Parts", "layer", {"layer", "none"}, "Norms",
          "Layer norms before each block part, after the state space and before the read-out. In mamba1 with bias, and "
          "none after the state space.",
          with_parts),
      one_of("model.mlp", "Parts", "gated", {"gated", "plain", "none"}, "MLP",
             "The MLP after each mixer, four times as wide as the model: gated, plain, or left out.",
             "model.kind=mamba2"),
      on_off(
          "model.skip", "Parts", false, "D skip",
          "Add D x_t to the output of the state space, with one learned D per head (in mamba1 per channel), as Mamba "
          "does. The first paper leaves it out.",
          with_parts),
      one_of("model.readout", "Parts", "softmax", {"softmax", "l1"}, "Read-out",
             "How logits become probabilities. l1: (relu(logit) + 1e-5) divided by its sum, as in the paper's theory.",
             "model.kind!=ngram & task.kind!=decoding"),
      number(
          "model.input_dropout", "Parts", 0.5, from(0), 0.95, "Input dropout", "",
          "The share of a window's numbers that a training step sets to 0, at random, with the others raised to make "
          "up for it.",
          of_recording),

      one_of("model.coupling", "Coupling", "none", {"none", "euler", "etd"}, "Coupling M_I M_J",
             "A low-rank path between the states of a channel: h_t += k P (Q h_t-1) scaled by dt (euler, as the public "
             "code has it) or by (1 - exp(-a dt)) / a (etd, stable for every dt).",
             with_parts),
      whole("model.rank", "Coupling", 2, 1, 16, "Rank r", "", "How many numbers z = Q h the states meet in.",
            "model.coupling!=none"),
      number("model.coupling_scale", "Coupling", 1e-4, from(0), 10, "First scale k", "",
             "What k is before training; P and Q are drawn from N(0, 0.01^2). 0 is plain Mamba.",
             "model.coupling!=none"),
      number("model.coupling_cap", "Coupling", 0, from(0), 1, "Cap on M", "",
             "After every step M is scaled back, by its k, to a largest singular value of at most this share of the "
             "slowest decay min |A| it acts on: 0.9, say. 0: there is no cap.",
             "model.coupling!=none & model.decay=learned"),
      one_of("model.coupling_of", "Coupling", "layer", {"layer", "channel"}, "One coupling for each",
             "layer: all channels of a layer share P, Q and k. channel: every channel has its own.",
             "model.coupling!=none"),
      also_by_motif_number(one_of(
          "model.motif", "Coupling", "none",
          {"none", "021D", "021U", "021C", "030T", "111U", "111D", "120U", "120D", "201", "030C", "120C", "210", "300",
           "FRP", "MOP", "AVE", "profile"},
          "Motif",
          "Which wiring of M = k P Q a second loss asks for: one of the 13 connected triads by its MAN name or the "
          "paper's number (021U, 2 or Motif-2; 210, 12 or Motif-12), a cortical profile, or one of your own. none: the "
          "coupling learns as it likes (Motifblank).",
          "model.coupling!=none")),
      number("model.motif_fraction", "Coupling", 0.25, above(0), 1, "Share of the triads", "",
             "The share of all triples that should be the one motif asked for.",
             "model.motif!=none & model.motif!=FRP & model.motif!=MOP & model.motif!=AVE & model.motif!=profile"),
      free_text("model.motif_profile", "Coupling", "0,0.25,0,0,0,0,0,0,0,0,0,0,0", "Profile",
                "13 shares of all triples, in the order of the motifs' numbers, separated by commas.",
                "model.motif=profile"),
      one_of("model.motif_loss", "Coupling", "sse", {"sse", "r2"}, "Motif loss",
             "sse: squared differences from the shares that are asked for, as the public code has it. r2: 1 - R^2 over "
             "all 13 shares, as the paper says.",
             of_motif),
      number("model.motif_weight", "Coupling", 0.1, from(0), 1e9, "Weight lambda", "",
             "What the motif loss is multiplied with before it joins the task's.", of_motif),
      number("model.motif_beta", "Coupling", 1e5, above(0), 1e9, "Steepness beta", "",
             "An edge counts as sigmoid(beta (M_ij^2 - theta)).", of_motif),
      number("model.motif_theta", "Coupling", 5e-5, from(0), 1, "Threshold theta", "",
             "M_ij is a whole edge where its square is above this.", "model.coupling!=none"),
      one_of("model.motif_edges", "Coupling", "index", {"index", "causal"}, "Direction of edges",
             "index: M_ij is an edge from i to j, as in the public code. causal: from j to i, the way the state flows.",
             "model.coupling!=none"),
      one_of("model.motif_shares", "Coupling", "triples", {"triples", "connected"}, "Shares are of",
             "triples: of all triples of states, as in the public code. connected: of the 13 connected kinds alone.",
             of_motif),
      whole("model.motif_warmup", "Coupling", 5000, 0, 1000000, "Warm-up at most", "steps",
            "Before the first step P, Q and k alone are trained on the motif loss until it is a tenth of what it was, "
            "in at most so many steps.",
            of_motif),

      whole("training.steps", "Training", 2000, 1, 100000000, "Steps", "steps", "Optimiser steps of the whole run."),
      whole("training.batch", "Training", 64, 1, 65536, "Batch B", "sequences", "Fresh sequences in every step."),
      whole(
          "training.first_length", "Training", 0, 0, 65536, "First length", "tokens",
          "0: sequences are as long as the task's from the start. Else they begin with so many tokens and double until "
          "they are, with as many tokens of each length. Test sequences always have the task's length.",
          "task.kind!=decoding & model.kind!=ngram"),
      number("training.lr", "Training", 0.002, above(0), 10, "Learning rate", "",
             "The highest learning rate of the schedule.", with_weights),
      one_of("training.schedule", "Training", "onecycle", {"onecycle", "constant"}, "Schedule",
             "onecycle: 2 % warm-up from lr/100, then a cosine down to lr/5. constant: always lr.", with_weights),
      number("training.weight_decay", "Training", 0.001, from(0), 10, "Weight decay", "",
             "AdamW's decay, on the weights of linear maps only.", with_weights),
      number("training.clip", "Training", 1.0, from(0), 1e6, "Gradient clip", "",
             "Gradients are scaled down to this norm. 0: never.", with_weights),
      whole("training.seed", "Training", 0, 0, 2147483647, "Seed", "",
            "Fixes data, test set and initial weights. Equal seeds give equal weights in every part two models share."),
      whole("training.eval_every", "Training", 50, 1, 100000000, "Evaluate every", "steps",
            "Steps between two evaluations on the test set, each of which is a row of metrics.csv."),
      whole("training.test_sequences", "Training", 512, 512, 1048576, "Test sequences", "sequences",
            "The fixed test set, a different kernel in every sequence.", of_tokens),
      whole("training.checkpoint_every", "Training", 100, 1, 100000000, "Checkpoint every", "steps",
            "Steps between two checkpoints: what can be replayed and gone on from."),

      whole("run.threads", "Run", 1, 1, 256, "Threads", "threads",
            "CPU threads of the computation. No result depends on it, unless LibTorch operators compute: a "
            "transformer, or any model with --engine torch."),
      one_of("run.device", "Run", "cpu", {"cpu", "cuda", "auto"}, "Device",
             "Where the model is computed. auto: the GPU if this program and machine can use one, else the CPU."),
      free_text("run.out", "Run", "runs", "Run folders in",
                "The directory in which every run makes a folder, on the machine where the worker runs."),
  };
  return table;
}

const Property* find_property(std::string_view key) {
  const auto table = property_table();
  const auto found = std::ranges::find(table, key, &Property::key);
  return found == table.end() ? nullptr : &*found;
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// "DConv" and "d_conv" are the same word to a hurried hand.
std::string plain(std::string_view key) {
  std::string letters;
  for (const char character : key)
    if (character != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  return letters;
}

}  // namespace

std::optional<std::string_view> nearest_key(std::string_view key) {
  constexpr std::size_t longest_sensible_key = 100;
  if (key.empty() || key.size() > longest_sensible_key) return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t best = std::max<std::size_t>(2, key.size() / 4) + 1;
  for (const Property& property : property_table()) {
    // A forgotten or wrong group ("order", "training.d_conv") is nearer than any spelling mistake.
    const auto leaf = [](std::string_view path) { return path.substr(path.rfind('.') + 1); };
    std::size_t distance = edit_distance(plain(key), plain(property.key));
    if (plain(leaf(property.key)) == plain(leaf(key))) distance = std::min(distance, std::size_t{1});
    if (distance < best) {
      best = distance;
      nearest = property.key;
    }
  }
  return nearest;
}

}  // namespace mambarium
