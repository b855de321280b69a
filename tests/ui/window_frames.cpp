// How the window draws while the worker trains at full speed: not a test, a measurement (scripts/measure-window).
//
//   window_frames [THREADS [SECONDS]]
//
// The published experiment is trained with THREADS threads. For SECONDS, every 33 ms, all plots are drawn anew and the
// whole window painted, as when a pointer moves over every panel at once. Printed: frames a second, the longest time
// between two of them, the processor time of one, and the worker's tokens a second meanwhile and before.
#include <qcustomplot.h>

#include <QElapsedTimer>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "window_fixture.h"

using namespace mambarium;

namespace {

constexpr std::int64_t batch = 64, length = 512;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double tokens_per_second(const Run& run, int milliseconds) {
  const std::int64_t before = run.step();
  QElapsedTimer clock;
  clock.start();
  QTest::qWait(milliseconds);
  const double tokens = static_cast<double>((run.step() - before) * batch * length);
  return tokens * 1000 / static_cast<double>(clock.elapsed());
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  const QStringList arguments = application.arguments();
  const int threads = arguments.value(1, QStringLiteral("1")).toInt();
  const int seconds = arguments.value(2, QStringLiteral("5")).toInt();

  WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
  it.set("run.threads", std::int64_t{threads});
  it.set("training.batch", batch);
  it.set("task.length", length);
  it.set("training.steps", std::int64_t{1'000'000});
  it.click(it.play());
  if (!QTest::qWaitFor([&] { return it.run() && it.run()->step() > 200; }, 60'000)) return 1;
  const double undisturbed = tokens_per_second(*it.run(), 3000);

  const auto plots = it.window->findChildren<QCustomPlot*>();
  std::vector<double> frames;
  QElapsedTimer clock;
  QTimer frame;
  frame.setTimerType(Qt::PreciseTimer);
  QObject::connect(&frame, &QTimer::timeout, [&] {
    for (QCustomPlot* const plot : plots) {
      if (plot->isVisible()) plot->replot(QCustomPlot::rpImmediateRefresh);
    }
    it.window->repaint();
    frames.push_back(static_cast<double>(clock.nsecsElapsed()) * 1e-6);
  });
  const double processor = processor_seconds();
  clock.start();
  frame.start(33);
  const double meanwhile = tokens_per_second(*it.run(), seconds * 1000);
  frame.stop();
  const double share = (processor_seconds() - processor) / static_cast<double>(frames.size());
  double longest = 0;
  for (std::size_t i = 1; i < frames.size(); ++i) longest = std::max(longest, frames[i] - frames[i - 1]);
  std::printf(
      "%d thread(s): %.1f frames/s of %lld plots at %dx%d, longest pause %.0f ms, %.1f ms of processor a frame; "
      "%.0f tokens/s meanwhile, %.0f before\n",
      threads, static_cast<double>(frames.size()) * 1000 / frames.back(), static_cast<long long>(plots.size()),
      it.window->width(), it.window->height(), longest, share * 1000, meanwhile, undisturbed);
  return 0;
}
