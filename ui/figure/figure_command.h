// A figure without a window: of a recipe, or of a run folder or a sweep, then with its recipe beside it.
//
//   mambarium figure RECIPE -o FILE
//   mambarium figure --run FOLDER --panel PANEL [--inspected FILE] -o FILE
//   mambarium figure --sweep FOLDER [--chart CHART] [--measure MEASURE] [--x AXIS] [--by AXIS] -o FILE
#pragma once

#include <QStringList>

namespace mambarium {

// `arguments` begins with the program's name, then "figure". Makes its own QApplication on the offscreen platform
// (unless QT_QPA_PLATFORM says otherwise), so no other may exist. Returns 0, 1 (cannot write) or 2 (bad input or
// usage); prints one sentence to stderr when it is not 0.
int figureCommand(const QStringList& arguments);

// The same, inside an application that exists already.
int runFigureCommand(const QStringList& arguments);

}  // namespace mambarium
