// How numbers become text: for people with the digits they deserve, for files with all of them.
#pragma once

#include <QString>
#include <cstdint>

namespace mambarium {

QString stepText(std::int64_t step);            // "1,240"
QString natsText(double nats);                  // "0.0007", "−0.0002"; four decimals
QString probabilityText(double p);              // "0.512"; three decimals
QString decayText(double a);                    // "0.9974"; as many decimals as 1 - a needs, at most seven
QString signedText(double value);               // "+0.412", "−0.098"; three decimals
QString fixedText(double value, int decimals);  // with a true minus sign
// "−0.42", "31", "1.2e−05": this many digits that count, fewer where they are zeros.
QString significantText(double value, int digits);
// "98.4 %" of 0.984.
QString percentText(double share, int decimals);
// "1 token", "3 tokens", "1,240 tokens".
QString countText(std::int64_t count, const QString& singular, const QString& plural);

// The shortest text that reads back to the same number, with an ASCII minus; "" for NaN. For CSV.
QString exactText(double value);
QString exactText(float value);
QString exactText(std::int64_t value);

}  // namespace mambarium
