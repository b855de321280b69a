// What the window says about a run in words and numbers. Pure functions.
#pragma once

#include <QString>

#include "ui/session/session.h"

namespace mambarium {

QString rateText(double tokens_per_second);  // "2.1 M tokens/s"; "" for 0
QString durationText(double seconds);        // "0:12", "1:02:03"; "" when it is not known
QString tempoText(double steps_per_second);  // "5 steps/s", "full speed"
QString stateText(const Run& run);           // "Training", "In use elsewhere", "Loading…"
QString gapText(const Run& run);  // "0.0007", or "" before the first evaluation and where no best one is known

// What to know while the current run's worker says nothing: "No word from the worker for 12 s: ...", or what it said it
// would be doing, "Reading the recording… (12 s)"; else "".
QString silenceSentence(const Session& session);

// The sentence below the plots: where the current run stands, and what stands against pressing play.
QString runSentence(const Session& session);

}  // namespace mambarium
