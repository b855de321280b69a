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
  return {"x", {}, "Orders | windows", "Figure 9", "Whether a < b & c.", {}, {}, {claim}, "letters", "On *Letters*"};
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
         {"# On \\*Letters\\*, reproduced", "Mambarium 1.0 (abc), budget quick, a CPU, 2 cores, 2026-01-02",
          "1 claims: 0 hold, 1 do not hold, in 0 no difference was found, 0 are not decidable",
          "| On \\*Letters\\* | Figure 9 | It counts | 0.0066 | does not hold |",
          "## On \\*Letters\\*, Figure 9: Orders \\| windows", "Whether a \\< b & c.",
          "![Orders \\| windows](figures/x/x.svg)", "the claim holds where it is \\< 0.004",
          "| k = 1 | 0.0066 | 0.0012 \\[0.0008, 0.0016\\] (3 seeds) | holds |  |",
          "| k = 2 |  | 0.250 (1 seed) | does not hold | run-b |"})
      QVERIFY2(page.contains(text), qPrintable(QString(text) + "\nis not in\n" + page));
  }

  void htmlSaysTheSame() {
    const ReproducedFigure one = figure();
    const ReportedFigure figures[] = {reported(one)};
    const QString page = QString::fromStdString(report_html(head, figures));
    QVERIFY(page.startsWith("<!DOCTYPE html>") && page.endsWith("</html>\n"));
    for (const char* const text :
         {"<h2>On *Letters*, Figure 9: Orders | windows</h2>", "<p>Whether a &lt; b &amp; c.</p>",
          "<img src=\"figures/x/x.svg\" alt=\"Orders | windows\">", "<td>0.0012 [0.0008, 0.0016] (3 seeds)</td>",
          "<td>run-b</td>"})
      QVERIFY2(page.contains(text), qPrintable(QString(text) + "\nis not in\n" + page));
  }

  // Two comparisons: Holm doubles the smaller p, and the other one is no smaller than that.
  void comparisonsHaveTheirTestAndHolmsCorrection() {
    ReproducedFigure one = figure();
    one.claims[0].inequality = {Inequality::Kind::above, 0};
    for (ClaimCell& cell : one.claims[0].cells) cell.is_difference = true;
    DecidedClaim decided;
    decided.verdict = Verdict::no_difference;
    decided.cells = {
        {{0.2, 0.01, 3, 0.157, 0.243}, Verdict::holds, {"run-a"}, PairedTest{3, 20, 0.0025}},
        {{0.01, 0.007, 3, -0.0201, 0.0401}, Verdict::no_difference, {"run-b"}, PairedTest{3, 1.4286, 0.289331}}};
    const ReportedFigure figures[] = {{&one, {decided}, {}, {}, {}, "runs"}};
    const QString page = QString::fromStdString(report_markdown(head, figures));
    for (const char* const text :
         {"in 1 no difference was found", "| 0.0066 | no difference found |",
          "| Where | Paper | Measured | Difference from 0 | Verdict | Run to look at |",
          "| k = 1 | 0.0066 | 0.200 \\[0.157, 0.243\\] (3 seeds) | found, p = 0.0025, Holm = 0.005 (3 pairs) | holds | "
          " |",
          "| k = 2 |  | 0.0100 \\[-0.0201, 0.0401\\] (3 seeds) | none found, p = 0.29, Holm = 0.29 (3 pairs) "
          "| no difference found | run-b |"})
      QVERIFY2(page.contains(text), qPrintable(QString(text) + "\nis not in\n" + page));
  }

  // A count that every seed agrees on is no test: it has no p, and Holm's family is one smaller.
  void whatAllSeedsAgreeOnIsNotTested() {
    ReproducedFigure one = figure();
    one.claims[0].inequality = {Inequality::Kind::above, 0};
    ClaimCell third = one.claims[0].cells[1];
    third.name = "k = 3";
    one.claims[0].cells.push_back(third);
    for (ClaimCell& cell : one.claims[0].cells) cell.is_difference = true;
    const PairedTest untested{3, no_number, no_number, true};
    DecidedClaim decided;
    decided.verdict = Verdict::no_difference;
    decided.cells = {{{1560, 0, 3, 1560, 1560}, Verdict::holds, {"run-a"}, untested},
                     {{0.2, 0.01, 3, 0.157, 0.243}, Verdict::holds, {"run-b"}, PairedTest{3, 20, 0.0025}},
                     {{0, 0, 3, 0, 0}, Verdict::no_difference, {"run-c"}, untested}};
    const ReportedFigure figures[] = {{&one, {decided}, {}, {}, {}, "runs"}};
    const auto has = [](const std::string& page, const QStringList& cells) {
      for (const QString& cell : cells)
        QVERIFY2(page.find(cell.toStdString()) != std::string::npos,
                 (cell.toStdString() + "\nis not in\n" + page).c_str());
    };
    has(report_markdown(head, figures),
        {"| found, the same in all 3 seeds | holds |", "| found, p = 0.0025, Holm = 0.0025 (3 pairs) | holds |",
         "| none found, the same in all 3 seeds | no difference found |"});
    has(report_html(head, figures),
        {"<td>found, the same in all 3 seeds</td>", "<td>found, p = 0.0025, Holm = 0.0025 (3 pairs)</td>",
         "<td>none found, the same in all 3 seeds</td>"});
  }

  void cellsWithTheirOwnInequalityShowIt() {
    ReproducedFigure one = figure();
    one.claims[0].cells[1].inequality = Inequality{Inequality::Kind::between, 143, 193};
    one.claims[0].over_seeds = OverSeeds::median;
    ReportedFigure own = reported(one);
    const QString page = QString::fromStdString(report_markdown(head, {&own, 1}));
    for (const char* const text :
         {"median over seeds and its 95 % interval; the claim holds where it is as the table says",
          "| Where | Paper | Measured | Holds where | Verdict | Run to look at |", "(3 seeds) | \\< 0.004 | holds |",
          "(1 seed) | from 143 to 193 | does not hold |"})
      QVERIFY2(page.contains(text), qPrintable(QString(text) + "\nis not in\n" + page));
  }

  void twoPapersShareATitle() {
    const ReproducedFigure one = figure();
    ReproducedFigure other = figure();
    other.article = "Numbers";
    const ReportedFigure figures[] = {reported(one), reported(other), reported(one)};
    QVERIFY(
        QString::fromStdString(report_html(head, figures)).contains("<title>On *Letters* and Numbers, reproduced<"));
  }

  void whatIsNotCompleteIsNotDecided() {
    const ReproducedFigure one = figure();
    ReportedFigure partial{&one, {}, {}, {}, {"point-1 failed: the disk is full"}, "runs"};
    const QString page = QString::fromStdString(report_markdown(head, {&partial, 1}));
    QVERIFY(page.contains("| Figure 9 | It counts | 0.0066 | not decidable |") && !page.contains("Difference from 0"));
    QVERIFY(page.contains("Not complete: point-1 failed: the disk is full"));
  }
};

QTEST_GUILESS_MAIN(ReportTest)
#include "report_test.moc"
