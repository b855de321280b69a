#include "ui/figure/sweep_figure.h"

#include "ui/session/sweep_reader.h"

namespace mambarium {

Figure figureOfSweep(const QString& path, const SweepChoice& choice) {
  Figure figure;
  figure.panel_id = QStringLiteral("sweep");
  figure.options = to_options(choice);
  figure.data.sweep = readSweep(path, false);
  const SweepSlice slice(figure.data.sweep->result, choice);
  if (slice.chart() == SweepChartKind::curves) figure.data.sweep = readSweep(path, true);
  return figure;
}

}  // namespace mambarium
