#include "ui/plots/graph_pool.h"

namespace mambarium {

QCPGraph* GraphPool::next() {
  if (used_ == graphs_.size()) {
    QCPGraph* graph = x_->parentPlot()->addGraph(x_, y_);
    graph->setSelectable(QCP::stNone);
    graph->setAdaptiveSampling(true);
    graphs_.push_back(graph);
  }
  QCPGraph* graph = graphs_[used_++];
  graph->setVisible(true);
  graph->setScatterStyle(QCPScatterStyle::ssNone);
  graph->setScatterSkip(0);
  graph->setLineStyle(QCPGraph::lsLine);
  graph->setBrush(Qt::NoBrush);
  graph->setChannelFillGraph(nullptr);
  return graph;
}

void GraphPool::end() {
  for (std::size_t i = used_; i < graphs_.size(); ++i) {
    graphs_[i]->data()->clear();
    graphs_[i]->setVisible(false);
  }
}

void GraphPool::clear() {
  for (QCPGraph* graph : graphs_) x_->parentPlot()->removeGraph(graph);
  graphs_.clear();
  used_ = 0;
}

}  // namespace mambarium
