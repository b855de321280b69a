// GraphPool: graphs that are reused from frame to frame. begin(), next() once per curve from back to front, end()
// empties and hides the rest. next() gives a plain line: no markers, no fill.
#pragma once

#include <qcustomplot.h>

#include <vector>

namespace mambarium {

class GraphPool {
 public:
  GraphPool(QCPAxis* x, QCPAxis* y) : x_(x), y_(y) {}
  void begin() { used_ = 0; }
  QCPGraph* next();
  void end();
  void clear();  // the graphs leave the plot: before their axes do

 private:
  QCPAxis* x_;
  QCPAxis* y_;
  std::vector<QCPGraph*> graphs_;
  std::size_t used_ = 0;
};

}  // namespace mambarium
