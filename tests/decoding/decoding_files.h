// What the tests of decoding's files share: the files that other libraries wrote (make_data.py), what make_data.py says
// is in them, damaged copies, and the sentence a refusal gives.
#pragma once

#include <QByteArray>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QString>
#include <QTemporaryDir>
#include <functional>
#include <stdexcept>
#include <string>

inline QString data_path(const QString& name) {
  return QStringLiteral(MAMBARIUM_SOURCE_DIR "/tests/decoding/data/") + name;
}

inline QByteArray data_bytes(const QString& name) {
  QFile file(data_path(name));
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

inline QJsonObject expected() {
  return QJsonDocument::fromJson(data_bytes("expected.json")).object();
}

inline std::string written(const QTemporaryDir& folder, const QString& name, const QByteArray& bytes) {
  QFile file(folder.filePath(name));
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) throw std::runtime_error("cannot write");
  return file.fileName().toStdString();
}

// "" where nothing is refused.
inline std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}
