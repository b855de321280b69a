#include "ui/session/problem_text.h"

#include <QStringList>

#include "core/contract/property.h"

namespace mambarium {

QString fromView(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString withoutPlace(const Problem& problem) {
  QString message = QString::fromStdString(problem.message);
  if (message.isEmpty()) return message;
  message[0] = message[0].toUpper();
  if (!message.endsWith(QLatin1Char('.'))) message += QLatin1Char('.');
  return message;
}

QString toSentence(const Problem& problem) {
  if (problem.where.empty()) return withoutPlace(problem);
  const Property* const property = find_property(problem.where);
  const QString place = property ? fromView(property->label) : QString::fromStdString(problem.where);
  QString message = QString::fromStdString(problem.message);
  if (!message.endsWith(QLatin1Char('.'))) message += QLatin1Char('.');
  return place + QStringLiteral(": ") + message;
}

QString toSentences(const std::vector<Problem>& problems) {
  QStringList sentences;
  for (const Problem& problem : problems) sentences.append(toSentence(problem));
  return sentences.join(QLatin1Char('\n'));
}

}  // namespace mambarium
