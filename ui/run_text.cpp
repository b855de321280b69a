#include "ui/run_text.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "ui/plots/loss_unit.h"
#include "ui/plots/number_text.h"

namespace mambarium {

namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("RunText", text);
}

// Compared with the evaluations before: by how much must a gap move to count as moving?
constexpr double noticeable = 0.02;
constexpr std::size_t rows_looked_back = 3;

QString trend(const std::vector<MetricsRow>& rows) {
  if (rows.size() <= rows_looked_back) return {};
  const double now = rows.back().gap_add_beta, before = rows[rows.size() - 1 - rows_looked_back].gap_add_beta;
  const double scale = std::max(std::abs(before), 1e-4);
  if (now < before - noticeable * scale) return tr(" and falling");
  if (now > before + noticeable * scale) return tr(" and rising");
  return tr(" and steady");
}

QString gapSentence(const Run& run) {
  const QString gap = gapText(run);
  if (gap.isEmpty()) return {};
  return tr(" Gap to the best possible predictor %1 %2%3.")
      .arg(gap, lossUnit(run.config()), run.isTraining() ? trend(run.rows()) : QString());
}

bool showsLoading(const Run& run) {
  return run.isLoading() && (run.state() == Run::State::saved || run.state() == Run::State::starting);
}

QString stateSentence(const Run& run) {
  if (showsLoading(run)) return tr("Loading…");
  const QString step = stepText(run.step()), steps = stepText(run.steps());
  switch (run.state()) {
    case Run::State::starting:
      return run.preparation().isEmpty() ? tr("The worker is starting.") : tr("%1…").arg(run.preparation());
    case Run::State::training:
      return tr("Step %1 of %2.").arg(step, steps);
    case Run::State::finished:
      return tr("Finished after %1.").arg(countText(run.steps(), tr("step"), tr("steps")));
    case Run::State::failed:
      return tr("Training failed at step %1.").arg(step);
    case Run::State::died:
      return tr("The worker was lost at step %1 of %2.").arg(step, steps);
    case Run::State::saved:
      if (run.isInUseElsewhere()) {
        return tr("In use elsewhere, another window or command may be training it; read at step %1 of %2.")
            .arg(step, steps);
      }
      [[fallthrough]];
    case Run::State::paused:
      return tr("Paused at step %1 of %2.").arg(step, steps);
  }
  return {};
}

}  // namespace

QString rateText(double tokens_per_second) {
  if (!(tokens_per_second > 0)) return {};
  if (tokens_per_second >= 1e6) return tr("%1 M tokens/s").arg(fixedText(tokens_per_second / 1e6, 1));
  if (tokens_per_second >= 1e3) return tr("%1 k tokens/s").arg(fixedText(tokens_per_second / 1e3, 0));
  return tr("%1 tokens/s").arg(fixedText(tokens_per_second, 0));
}

QString durationText(double seconds) {
  if (!(seconds >= 0) || seconds > 1e7) return {};
  const auto whole = static_cast<qint64>(std::ceil(seconds));
  const auto two = [](qint64 number) { return QStringLiteral("%1").arg(number, 2, 10, QLatin1Char('0')); };
  if (whole < 3600) return QStringLiteral("%1:%2").arg(whole / 60).arg(two(whole % 60));
  return QStringLiteral("%1:%2:%3").arg(whole / 3600).arg(two(whole / 60 % 60), two(whole % 60));
}

QString tempoText(double steps_per_second) {
  if (steps_per_second <= 0) return tr("full speed");
  if (steps_per_second < 1.5) return tr("1 step/s");
  return tr("%1 steps/s").arg(fixedText(steps_per_second, 0));
}

QString stateText(const Run& run) {
  if (run.isInUseElsewhere()) return tr("In use elsewhere");
  if (showsLoading(run)) return tr("Loading…");
  return toText(run.state());
}

QString gapText(const Run& run) {
  const std::optional<double> gap = run.gap();
  return gap && !std::isnan(*gap) ? natsText(*gap) : QString();
}

QString silenceSentence(const Session& session) {
  const Run* const run = session.runs().current();
  const int seconds = run ? run->silentSeconds() : 0;
  if (seconds == 0) return {};
  if (const QString preparation = run->preparation(); !preparation.isEmpty())
    return tr("%1… (%2 s)").arg(preparation).arg(seconds);
  const QString said = tr("No word from the worker for %1 s: ").arg(seconds);
  if (run->isOpening()) return said + tr("it is slow to start, or it hangs.");
  if (run->isPausing()) return said + tr("it was asked to pause; a step may be long, or it hangs.");
  return said + tr("a step may be long, or it hangs. Pause asks it to stop.");
}

QString runSentence(const Session& session) {
  const QString obstacle = session.playObstacle();
  const Run* const run = session.runs().current();
  const bool of_run = run && session.draftIsCurrentRun();
  if (!obstacle.isEmpty() && !of_run)
    return tr("Play has to wait. %1").arg(QString(obstacle).replace(QLatin1Char('\n'), QLatin1Char(' ')));
  if (!run) return tr("Press play to train the experiment on the left.");
  QString sentence = stateSentence(*run) + gapSentence(*run);
  if (const QString rate = rateText(run->tokensPerSecond()); !rate.isEmpty())
    sentence += QStringLiteral(" %1.").arg(rate);
  if (const auto checkpoint = session.feed().checkpoint()) {
    sentence = tr("Replay: the model panels show step %1. ").arg(stepText(*checkpoint)) + sentence;
  }
  if (!of_run) sentence += tr(" The settings on the left differ from this run: play starts a new one.");
  return sentence;
}

}  // namespace mambarium
