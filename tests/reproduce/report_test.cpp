#include "core/reproduce/report.h"

#include <QTest>
#include <limits>

using namespace mambarium;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

ReproducedFigure figure() {
  const Claim claim{"It counts",
                    "gap_add_beta",
                    "0.0066",
                    {Inequality::Kind::below, 0.004},
                    {{"k = 1", {}, false, {}, "0.0066"}, {"k = 2", {}, false, {}, ""}}};
  return {"x", {}, "Orders | windows", "Figure 9", "Whether a < b & c.", {}, {}, {claim}};
}

ReportedFigure reported(const ReproducedFigure& figure) {
  DecidedClaim decided;
  decided.verdict = Verdict::does_not_hold;
  decided.cells = {{{0.0012, 0.0001, 3, 0.0008, 0.0016}, Verdict::holds, {"run-a"}},
                   {{0.25, no_number, 1, no_number, no_number}, Verdict::does_not_hold, {"run-b"}}};
  return {&figure, {decided}, {"figures/x/s/results.csv"}, {"figures/x/x.svg"}, {}, "runs"};
}

const ReportHead head{"1.0 (abc)", "a CPU, 2 cores", "2026-01-02", "quick", "the last call took 1:00"};

}  // namespace

class ReportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void markdownSaysWhatWasFound() {
    const ReproducedFigure one = figure();
    const ReportedFigure figures[] = {reported(one)};
    const QString page = QString::fromStdString(report_markdown(head, figures));
    for (const char* const text :
         {"# From Markov to Laplace, reproduced", "Mambarium 1.0 (abc), budget quick, a CPU, 2 cores, 2026-01-02",
          "1 claims: 0 hold, 1 do not hold, 0 are not decidable", "| Figure 9 | It counts | 0.0066 | does not hold |",
          "## Figure 9: Orders \\| windows", "Whether a \\< b & c.", "![Orders \\| windows](figures/x/x.svg)",
          "the claim holds where it is \\< 0.004",
          "| k = 1 | 0.0066 | 0.0012 \\[0.0008, 0.0016\\] (3 seeds) | holds |  |",
          "| k = 2 |  | 0.250 (1 seed) | does not hold | run-b |"})
      QVERIFY2(page.contains(text), qPrintable(QString(text) + "\nis not in\n" + page));
  }

  void htmlSaysTheSame() {
    const ReproducedFigure one = figure();
    const ReportedFigure figures[] = {reported(one)};
    const QString page = QString::fromStdString(report_html(head, figures));
    QVERIFY(page.startsWith("<!DOCTYPE html>") && page.endsWith("</html>\n"));
    for (const char* const text : {"<h2>Figure 9: Orders | windows</h2>", "<p>Whether a &lt; b &amp; c.</p>",
                                   "<img src=\"figures/x/x.svg\" alt=\"Orders | windows\">",
                                   "<td>0.0012 [0.0008, 0.0016] (3 seeds)</td>", "<td>run-b</td>"})
      QVERIFY2(page.contains(text), qPrintable(QString(text) + "\nis not in\n" + page));
  }

  void whatIsNotCompleteIsNotDecided() {
    const ReproducedFigure one = figure();
    ReportedFigure partial{&one, {}, {}, {}, {"point-1 failed: the disk is full"}, "runs"};
    const QString page = QString::fromStdString(report_markdown(head, {&partial, 1}));
    QVERIFY(page.contains("| Figure 9 | It counts | 0.0066 | not decidable |"));
    QVERIFY(page.contains("Not complete: point-1 failed: the disk is full"));
  }
};

QTEST_GUILESS_MAIN(ReportTest)
#include "report_test.moc"
