#include "core/training/blas_kernels.h"

#include <QProcess>
#include <QTest>

using namespace mambarium;

class BlasKernelsTest : public QObject {
  Q_OBJECT

  static QString info(const QStringList& environment) {
    QProcess worker;
    QStringList all = QProcess::systemEnvironment();
    all.removeIf([](const QString& variable) { return variable.startsWith("OPENBLAS_CORETYPE="); });
    worker.setEnvironment(all + environment);
    worker.start(MAMBARIUM_BIN_DIR "/mambarium-worker", {"info"});
    if (!worker.waitForFinished(60000) || worker.exitCode() != 0) return {};
    const QString text = worker.readAllStandardOutput();
    const qsizetype at = text.indexOf("OpenBLAS"), end = text.indexOf('\n', at);
    return at < 0 ? "none" : text.mid(at, end - at).section(' ', -1);
  }

 private Q_SLOTS:
  void kernelsFromBeforeAvxAreReplacedByWhatTheProcessorHas() {
    using Better = std::optional<std::string>;
    QCOMPARE(better_blas_kernels("Prescott", true), Better("Haswell"));
    QCOMPARE(better_blas_kernels("Nehalem", true), Better("Haswell"));
    QCOMPARE(better_blas_kernels("Prescott", false), Better());
    for (const char* chosen : {"Haswell", "SkylakeX", "Cooperlake", "Zen", "Sandybridge", "neoversen1", ""})
      QCOMPARE(better_blas_kernels(chosen, true), Better());
  }

  void theWorkerStartsWithThem() {
    const QString kernels = info({});
    QVERIFY2(!kernels.isEmpty(), "info answers");
    if (kernels == "none") QSKIP("LibTorch has another BLAS here");
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2")) QSKIP("this processor has no AVX2");
    QVERIFY2(!better_blas_kernels(kernels.toStdString(), true), qPrintable(kernels));
#endif
  }

  void whatTheUserChoseStays() {
    if (info({}) == "none") QSKIP("LibTorch has another BLAS here");
#if defined(__x86_64__)
    QCOMPARE(info({"OPENBLAS_CORETYPE=Nehalem"}), QString("Nehalem"));
#endif
  }
};

QTEST_GUILESS_MAIN(BlasKernelsTest)
#include "blas_kernels_test.moc"
