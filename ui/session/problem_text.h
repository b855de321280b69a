// Problems as the window says them: with the setting's label instead of its key, as a sentence.
#pragma once

#include <QString>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

QString fromView(std::string_view text);
QString toSentence(const Problem& problem);                 // "Order k: 9 is not a whole number from 1 to 8."
QString withoutPlace(const Problem& problem);               // the same for a message that stands beside its field
QString toSentences(const std::vector<Problem>& problems);  // one line each

}  // namespace mambarium
