#include "ui/scene/vtk_events.h"

#include <vtkCommand.h>
#include <vtkObject.h>
#include <vtkSmartPointer.h>

#include <utility>

namespace mambarium {
namespace {

class Caller : public vtkCommand {
 public:
  static vtkSmartPointer<Caller> made(std::function<void(void*)> then) {
    auto caller = vtkSmartPointer<Caller>::Take(new Caller);
    caller->then_ = std::move(then);
    return caller;
  }
  void Execute(vtkObject*, unsigned long, void* data) override { then_(data); }

 private:
  std::function<void(void*)> then_;
};

}  // namespace

void onVtkEvent(vtkObject& object, unsigned long event, std::function<void(void*)> then) {
  object.AddObserver(event, Caller::made(std::move(then)));
}

}  // namespace mambarium
