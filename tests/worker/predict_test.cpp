#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "../contract/sentence.h"
#include "worker_process.h"

using namespace mambarium;
using nlohmann::json;

namespace {

std::vector<std::vector<double>> csv_numbers(const QByteArray& text) {
  std::vector<std::vector<double>> rows;
  for (const QByteArray& line : text.trimmed().split('\n').mid(1)) {
    std::vector<double> row;
    for (const QByteArray& field : line.split(',')) row.push_back(field.toDouble());
    rows.push_back(std::move(row));
  }
  return rows;
}

bool near(double a, double b) {
  return std::abs(a - b) < 1e-6;
}

}  // namespace

class PredictTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // 0 and 1 are first seen without history; 1 was then followed by 1 once, 0 by 1 once: (1 + 1) / (1 + 2).
  void addBetaCountsTransitions() {
    const Finished finished = run_worker({"predict", "--estimator", "add_beta", "--tokens", "0,1,1,0"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    QVERIFY(finished.out.startsWith("sequence,position,token,p_0,p_1\n"));
    const auto rows = csv_numbers(finished.out);
    QCOMPARE(rows.size(), std::size_t{4});
    const std::vector<double> expected = {0.5, 0.5, 2.0 / 3, 2.0 / 3};
    for (std::size_t t = 0; t < 4; ++t) {
      QCOMPARE(rows[t][1], static_cast<double>(t));
      QVERIFY(near(rows[t][3] + rows[t][4], 1));
      QVERIFY2(near(rows[t][4], expected[t]), finished.out.constData());
    }
  }

  void constructionsAreTheEstimatorsTheyAreWrittenFor() {
    const QStringList tokens{"--tokens", "0,1,1,2,0,1,2,2,1,0,1,1", "--task.states", "3"};
    const auto probabilities = [&](const QStringList& who) {
      const Finished finished = run_worker(QStringList{"predict"} + who + tokens);
      return finished.code == 0 ? csv_numbers(finished.out) : std::vector<std::vector<double>>();
    };
    const QStringList order{"--task.order", "2"};
    for (const auto& [model, estimator] :
         {std::pair{QStringList{"--model", "theorem1"}, QStringList{"--estimator", "add_beta"}},
          std::pair{QStringList{"--model", "higher_order"} + order, QStringList{"--estimator", "add_beta"} + order}}) {
      const auto found = probabilities(model), expected = probabilities(estimator);
      QCOMPARE(found.size(), std::size_t{12});
      for (std::size_t t = 0; t < found.size(); ++t) {
        for (std::size_t column = 3; column < 6; ++column) QVERIFY(near(found[t][column], expected[t][column]));
      }
    }
    const auto after_a_switch = csv_numbers(
        run_worker({"predict", "--model", "switching", "--task.p_switch", "0.1", "--tokens", "0,0,0,2,0"}).out);
    QCOMPARE(after_a_switch.size(), std::size_t{5});
    QVERIFY(near(after_a_switch[2][3], 0.9 * 3 / 4) && near(after_a_switch[2][5], 0.1));
    QVERIFY(near(after_a_switch[3][3], 0.45) && near(after_a_switch[4][3], 0.45));
  }

  void bayesIsTheBestPredictorOfTheTask() {
    const auto probabilities = [&](const QStringList& more) {
      const Finished finished = run_worker(QStringList{"predict"} + more);
      return finished.code == 0 ? csv_numbers(finished.out) : std::vector<std::vector<double>>();
    };
    const QStringList chain{"--tokens", "0,1,1,0,1"};
    const auto bayes = probabilities(QStringList{"--estimator", "bayes"} + chain);
    QCOMPARE(bayes.size(), std::size_t{5});
    QVERIFY(bayes == probabilities(QStringList{"--estimator", "add_beta"} + chain));

    const QStringList switching{"--tokens", "0,0,0,2,0,0", "--task.kind", "switching", "--task.p_switch", "0.1"};
    const auto forgets = probabilities(QStringList{"--estimator", "bayes"} + switching);
    QCOMPARE(forgets.size(), std::size_t{6});
    for (const auto& row : forgets) QVERIFY(near(row[5], 0.1));
    QVERIFY(near(forgets[2][3], 0.9 * 3 / 4) && near(forgets[3][3], 0.45) && near(forgets[4][3], 0.45));
    QVERIFY(near(forgets[5][3], 0.9 * 2 / 3));
    // Over three tokens, and 0 has been followed by 0 twice and by 2 once.
    const auto counts_on = probabilities(QStringList{"--estimator", "add_beta"} + switching);
    QVERIFY(near(counts_on[4][3], 3.0 / 6) && near(counts_on[4][5], 2.0 / 6));
    QVERIFY(near(probabilities(QStringList{"--estimator", "uniform"} + switching)[0][5], 1.0 / 3));
  }

  void severalSequencesFromStandardInput() {
    const Finished finished = run_worker(
        {"predict", "--estimator", "uniform", "--task.states", "4", "--format", "json"}, "# probes\n0 1 2 3\n\n3,3\n");
    QVERIFY2(finished.code == 0, finished.err.constData());
    const json document = json::parse(finished.out.toStdString());
    QCOMPARE(document.size(), std::size_t{2});
    QCOMPARE(document[1]["tokens"], json({3, 3}));
    QCOMPARE(document[0]["probabilities"][2], json({0.25, 0.25, 0.25, 0.25}));
  }

  void theOracleSaysItsRows() {
    const QString kernel = write("kernel.json", "[[0.9, 0.1], [0.2, 0.8]]");
    const Finished finished = run_worker({"predict", "--kernel", kernel, "--tokens", "0,1,0", "--tokens", "1"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    const auto rows = csv_numbers(finished.out);
    QCOMPARE(rows.size(), std::size_t{4});
    QVERIFY(near(rows[0][3], 0.9) && near(rows[1][3], 0.2) && near(rows[2][3], 0.9) && near(rows[3][3], 0.2));
    QCOMPARE(rows[3][0], 1.0);
  }

  void anOracleOfOrderTwoIsUniformAtFirst() {
    const QString kernel = write("kernel2.json", "[[1, 0], [0.5, 0.5], [0.25, 0.75], [0, 1]]");
    const auto rows = csv_numbers(run_worker({"predict", "--kernel", kernel, "--tokens", "1,0,1"}).out);
    QCOMPARE(rows.size(), std::size_t{3});
    QVERIFY(near(rows[0][3], 0.5) && near(rows[1][3], 0.25) && near(rows[2][3], 0.5));
  }

  void badInputIsOneSentence_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, QStringList arguments, const char* says) {
      QTest::newRow(name) << std::move(arguments) << QString(says);
    };
    row("nobody", {"--tokens", "0"}, "--run FOLDER");
    row("outside", {"--estimator", "add_beta", "--tokens", "0,2"},
        "\"2\" is not a token, tokens are the whole numbers 0 to 1");
    row("negative", {"--estimator", "add_beta", "--tokens=-1"}, "\"-1\" is not a token");
    row("a word", {"--estimator", "add_beta", "--tokens", "0,one"}, "\"one\" is not a token");
    row("empty", {"--estimator", "add_beta", "--tokens", " "}, "no tokens");
    row("a token is missing", {"--estimator", "add_beta", "--tokens", "0,,1"}, "a token is missing");
    row("no input", {"--estimator", "add_beta"}, "standard input");
    row("no file", {"--estimator", "add_beta", "--tokens-file", "/nowhere"}, "/nowhere");
    row("line", {"--estimator", "add_beta", "--tokens-file", write("lines", "0 1\n0 5\n")}, "lines:2");
    row("estimator", {"--estimator", "magic", "--tokens", "0"}, "magic");
    row("construction", {"--model", "theorem7", "--tokens", "0"}, "theorem7");
    row("construction of another order", {"--model", "theorem1", "--task.order", "2", "--tokens", "0"}, "higher_order");
    row("construction and run", {"--model", "theorem1", "--run", "r", "--tokens", "0"}, "--model");
    row("epsilon of another", {"--model", "theorem1", "--epsilon", "0.1", "--tokens", "0"}, "theorem4");
    row("epsilon", {"--model", "theorem4", "--epsilon", "2", "--tokens", "0"}, "between 1e-12 and 1");
    row("two predictors", {"--estimator", "uniform", "--kernel", "k.json", "--tokens", "0"}, "--kernel");
    row("task of a run", {"--run", "runs/a", "--task.order=2", "--tokens", "0"}, "--task.order");
    row("at of nothing", {"--estimator", "uniform", "--at", "3", "--tokens", "0"}, "--run");
    row("no run", {"--run", "/nowhere", "--tokens", "0"}, "/nowhere");
    row("format", {"--estimator", "uniform", "--format", "xml", "--tokens", "0"}, "xml");
    const std::vector<std::pair<const char*, const char*>> kernels = {{"[[0.9, 0.1], [0.2]]", "row 1"},
                                                                      {"[[0.9, 0.1]]", "1 rows of 2"},
                                                                      {"[[0.9, 0.3], [0.2, 0.8]]", "sums to 1.2"},
                                                                      {"[[1.1, -0.1], [0.2, 0.8]]", "-0.1"},
                                                                      {"{\"rows\": []}", "list of rows"},
                                                                      {"[[0.5, 0.5], [0.2, \"x\"]]", "\"x\""},
                                                                      {"[[1], [1]]", "at least 2"},
                                                                      {"[[0.5, 0.5]", "not valid JSON"},
                                                                      {"[]", "list of rows"}};
    int number = 0;
    for (const auto& [text, says] : kernels) {
      const QString file = write("kernel" + QString::number(100 + number++), text);
      row(text, {"--kernel", file, "--tokens", "0"}, says);
    }
  }
  void badInputIsOneSentence() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, says);
    const Finished finished = run_worker(QStringList{"predict"} + arguments);
    QCOMPARE(finished.code, 2);
    QVERIFY2(finished.out.isEmpty(), finished.out.constData());
    QVERIFY2(finished.complaints().size() == 1, finished.err.constData());
    const std::string complaint = finished.complaints()[0];
    QVERIFY2(is_one_sentence(complaint) && mentions(complaint, says.toStdString()), complaint.c_str());
  }

 private:
  QString write(const QString& name, const char* text) {
    QFile file(folder_.filePath(name));
    if (file.open(QIODevice::WriteOnly)) file.write(text);
    return file.fileName();
  }

  QTemporaryDir folder_;
};

QTEST_GUILESS_MAIN(PredictTest)
#include "predict_test.moc"
