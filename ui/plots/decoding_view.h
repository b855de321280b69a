// DecodingView: one view of the decoding panel. It stands on the panel's chart from its construction to its
// destruction, which leaves nothing of it there. GUI thread only.
#pragma once

#include <QCoreApplication>
#include <optional>
#include <vector>

#include "ui/plots/chart.h"
#include "ui/plots/decoding_picture.h"

namespace mambarium {

struct DecodingReadout {
  QString text;  // HTML
  QPointF anchor;
  std::vector<QPointF> avoid = {};  // pixels that the readout should not cover
};

class DecodingView {
  Q_DECLARE_TR_FUNCTIONS(DecodingView)
 public:
  explicit DecodingView(Chart* chart) : chart_(chart) {}
  virtual ~DecodingView() = default;
  DecodingView(const DecodingView&) = delete;
  DecodingView& operator=(const DecodingView&) = delete;

  // All of it, legend too; `picture` need not outlive the call.
  virtual void draw(const DecodingPicture& picture) = 0;
  // What is at the pixel; the view marks it on the chart's highlight layer, until leave().
  virtual std::optional<DecodingReadout> read(const DecodingPicture& picture, const QPointF& pixel) = 0;
  virtual void leave() = 0;

 protected:
  Chart* chart() const { return chart_; }
  const Theme& theme() const { return chart_->theme(); }
  // In pixels of the 13-pixel design.
  double width() const { return chart_->viewport().width() / theme().scale(); }
  double height() const { return chart_->viewport().height() / theme().scale(); }

 private:
  Chart* chart_;
};

}  // namespace mambarium
