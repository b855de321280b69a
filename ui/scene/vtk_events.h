// onVtkEvent: a function that is called when a VTK object raises an event. Only for sources that use VTK anyway.
#pragma once

#include <functional>

class vtkObject;

namespace mambarium {

// `event` is one of vtkCommand's; `data` is the event's own. The connection ends with the object.
void onVtkEvent(vtkObject& object, unsigned long event, std::function<void(void* data)> then);

}  // namespace mambarium
