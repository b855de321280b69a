// The part of DecodingPanel that puts its views into words and tables.

#include <algorithm>
#include <cmath>

#include "ui/plots/decoding_panel.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

QString percent(double share) {
  return percentText(share, 1);
}

QString score(double r_squared) {
  return fixedText(r_squared, 3);
}

// The direction that is told worst, and what it is taken for most often.
struct Hardest {
  std::size_t truth = 0, mistaken_for = 0;
  double right = 1;
};

Hardest hardestOf(const Tensor& confusion) {
  const auto count = static_cast<std::size_t>(confusion.shape[0]);
  Hardest found;
  for (std::size_t truth = 0; truth < count; ++truth) {
    const double right = rowShare(confusion, truth, truth);
    if (!(right < found.right)) continue;
    found = {truth, truth, right};
    for (std::size_t answer = 0; answer < count; ++answer)
      if (answer != truth && (found.mistaken_for == truth ||
                              rowShare(confusion, truth, answer) > rowShare(confusion, truth, found.mistaken_for)))
        found.mistaken_for = answer;
  }
  return found;
}

}  // namespace

QString DecodingPanel::describeDirections() const {
  const DecodingData& data = answer();
  QString text =
      tr("Step %1: %2 of %3 are decoded right")
          .arg(stepText(data.step), percent(data.model.accuracy), countText(data.windows, tr("window"), tr("windows")));
  if (const ShareInterval interval = picture_.current.interval(); std::isfinite(interval.low))
    text += tr(" (95 % interval %1 to %2)").arg(fixedText(100 * interval.low, 1), percent(interval.high));
  if (picture_.knowsIdeal()) text += tr(", by the ideal decoder %1").arg(percent(data.ideal.accuracy));
  text += tr(", by guessing %1").arg(percent(picture_.guessing()));
  if (const Hardest hardest = hardestOf(data.model.confusion); hardest.right < 1)
    text +=
        tr("; hardest is %1 with %2, taken for %3 most often")
            .arg(picture_.answerName(hardest.truth), percent(hardest.right), picture_.answerName(hardest.mistaken_for));
  return text + u'.';
}

QString DecodingPanel::describeOutputs() const {
  const DecodingData& data = answer();
  const std::vector<double>& scores = data.model.r_squared;
  QString text = tr("Step %1: R² = %2 on %3")
                     .arg(stepText(data.step), score(data.model.r_squared_of_all),
                          countText(data.windows, tr("window"), tr("windows")));
  if (scores.size() > 1)
    text = tr("Step %1: over all %2 outputs R² = %3 on %4")
               .arg(stepText(data.step))
               .arg(scores.size())
               .arg(score(data.model.r_squared_of_all), countText(data.windows, tr("window"), tr("windows")));
  if (picture_.knowsIdeal()) text += tr(", the ideal decoder's %1").arg(score(data.ideal.r_squared_of_all));
  std::optional<std::size_t> best, worst;  // of those that change
  for (std::size_t output = 0; output < scores.size(); ++output) {
    if (!std::isfinite(scores[output])) continue;
    if (!best || scores[output] > scores[*best]) best = output;
    if (!worst || scores[output] < scores[*worst]) worst = output;
  }
  if (best && best != worst)
    text +=
        tr("; best is %1 with %2, worst %3 with %4")
            .arg(picture_.answerName(*best), score(scores[*best]), picture_.answerName(*worst), score(scores[*worst]));
  return text + u'.';
}

PanelTable DecodingPanel::confusionTable() const {
  PanelTable table;
  table.columns = {QStringLiteral("run"),  QStringLiteral("step"),    QStringLiteral("quantity"),
                   QStringLiteral("true"), QStringLiteral("decoded"), QStringLiteral("value")};
  if (!hasData()) return table;
  const auto addMatrix = [&](const char* quantity, const Tensor& confusion) {
    const auto count = static_cast<std::size_t>(confusion.shape[0]);
    for (std::size_t truth = 0; truth < count; ++truth)
      for (std::size_t decoded = 0; decoded < count; ++decoded)
        table.rows.push_back({picture_.current.title, exactText(answer().step), QLatin1String(quantity),
                              picture_.answerName(truth), picture_.answerName(decoded),
                              exactText(confusion.data[truth * count + decoded])});
  };
  const auto add = [&](const Decoded& run, const char* quantity, double value) {
    if (!std::isnan(value))
      table.rows.push_back({run.title, exactText(run.answer.step), QLatin1String(quantity), {}, {}, exactText(value)});
  };
  addMatrix("windows", answer().model.confusion);
  addMatrix("windows_of_the_ideal", answer().ideal.confusion);
  const auto addScores = [&](const Decoded& run) {
    const ShareInterval interval = run.interval();
    add(run, "accuracy", run.answer.model.accuracy);
    add(run, "accuracy_low", interval.low);
    add(run, "accuracy_high", interval.high);
    add(run, "macro_f1", run.answer.model.macro_f1);
    add(run, "ideal_accuracy", run.answer.ideal.accuracy);
    add(run, "ideal_macro_f1", run.answer.ideal.macro_f1);
    add(run, "guessing", picture_.guessing());
  };
  addScores(picture_.current);
  for (const Decoded& other : picture_.others) addScores(other);
  return table;
}

PanelTable DecodingPanel::tracesTable() const {
  const DecodingData& data = answer();
  PanelTable table;
  table.columns = {QStringLiteral("bin"),      QStringLiteral("seconds"), QStringLiteral("output"),
                   QStringLiteral("recorded"), QStringLiteral("ideal"),   QStringLiteral("decoded")};
  const auto columns = static_cast<std::size_t>(data.truth.shape[1]);
  const bool knows_ideal = !data.ideal.trace.data.empty();
  for (std::size_t window = 0; window < data.bins.size(); ++window)
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t cell = window * columns + column;
      const double seconds = static_cast<double>(data.bins[window]) * data.bin_seconds;
      table.rows.push_back(
          {exactText(data.bins[window]), data.bin_seconds > 0 ? exactText(seconds) : QString(),
           data.outputs ? picture_.answerName(column) : QStringLiteral("class"), exactText(data.truth.data[cell]),
           knows_ideal ? exactText(data.ideal.trace.data[cell]) : QString(), exactText(data.model.trace.data[cell])});
    }
  return table;
}

PanelTable DecodingPanel::scoresTable() const {
  PanelTable table;
  table.columns = {QStringLiteral("run"), QStringLiteral("step"), QStringLiteral("output"),
                   QStringLiteral("ideal_r_squared"), QStringLiteral("r_squared")};
  const auto addRun = [&](const Decoded& run) {
    const DecodingData& data = run.answer;
    const auto add = [&](const QString& output, double ideal, double model) {
      table.rows.push_back({run.title, exactText(data.step), output, exactText(ideal), exactText(model)});
    };
    for (std::size_t output = 0; output < data.model.r_squared.size(); ++output)
      add(picture_.answerName(output),
          output < data.ideal.r_squared.size() ? data.ideal.r_squared[output] : std::nan(""),
          data.model.r_squared[output]);
    add(QStringLiteral("all"), data.ideal.r_squared_of_all, data.model.r_squared_of_all);
  };
  addRun(picture_.current);
  for (const Decoded& other : picture_.others) addRun(other);
  return table;
}

}  // namespace mambarium
