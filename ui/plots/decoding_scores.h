// DecodingScores: R^2 of each decoded output on the test part, as bars: the current run's, those of other runs that
// have answered, and the ideal decoder's; 0 is always answering the mean, 1 no error. Lines are R^2 over all outputs at
// once (multivariate), of the current run and the ideal decoder. The axis ends at -1: a number below that stands at the
// output's name, where there is room all numbers of the current run do.
#pragma once

#include <memory>
#include <vector>

#include "ui/plots/decoding_view.h"
#include "ui/plots/graph_pool.h"

namespace mambarium {

class DecodingScores : public DecodingView {
 public:
  explicit DecodingScores(Chart* chart);
  ~DecodingScores() override;
  void draw(const DecodingPicture& picture) override;
  std::optional<DecodingReadout> read(const DecodingPicture& picture, const QPointF& pixel) override;
  void leave() override {}

 private:
  void setSeries(std::size_t count);
  void drawBars(const DecodingPicture& picture);
  void drawLevels(const DecodingPicture& picture);
  void nameOutputs(const DecodingPicture& picture);
  QCPAxis* xAxis() const { return rect_->axis(QCPAxis::atBottom); }
  QCPAxis* yAxis() const { return rect_->axis(QCPAxis::atLeft); }

  QCPAxisRect* rect_;
  std::vector<QCPBars*> bars_;  // a series each: the current run, the others, the ideal decoder
  std::unique_ptr<GraphPool> levels_;
  std::unique_ptr<EndLabels> names_;
};

}  // namespace mambarium
