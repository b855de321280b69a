// For a test class that runs as a whole once for every set of vector instructions this processor has: call the first in
// initTestCase_data(), the second in init(), use_simd_target("") in cleanup().
#pragma once

#include <QTest>

#include "core/kernels/simd.h"

inline void add_simd_targets() {
  QTest::addColumn<QString>("target");
  for (const std::string& target : mambarium::kernels::simd_targets()) {
    QTest::newRow(target.c_str()) << QString::fromStdString(target);
  }
}

inline void use_fetched_simd_target() {
  QFETCH_GLOBAL(QString, target);
  mambarium::kernels::use_simd_target(target.toStdString());
}
