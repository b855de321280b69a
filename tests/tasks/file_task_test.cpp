#include "core/tasks/file_task.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <set>
#include <stdexcept>

#include "core/contract/experiment_config.h"
#include "core/estimators/known_task.h"

using namespace mambarium;

namespace {

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

// Every token says where it stands: 0 1 2 ... 63 0 1 2 ...
SymbolFile counting(std::size_t length, std::size_t symbols) {
  SymbolFile file;
  for (std::size_t s = 0; s < symbols; ++s) file.symbols.push_back(std::to_string(s));
  for (std::size_t t = 0; t < length; ++t) file.tokens.push_back(static_cast<std::int32_t>(t % symbols));
  return file;
}

}  // namespace

class FileTaskTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void charactersAreSymbols() {
    const SymbolFile file = parse_symbols("GAT\nTACA \r\n", SymbolForm::characters, "dna.txt");
    QCOMPARE(file.symbols, (std::vector<std::string>{"A", "C", "G", "T"}));
    QCOMPARE(file.tokens, (std::vector<std::int32_t>{2, 0, 3, 3, 0, 1, 0}));
  }

  void charactersOfAnyAlphabet() {
    const SymbolFile file = parse_symbols("\xEF\xBB\xBFαβαγ", SymbolForm::characters, "greek.txt");
    QCOMPARE(file.symbols, (std::vector<std::string>{"α", "β", "γ"}));
    QCOMPARE(file.tokens, (std::vector<std::int32_t>{0, 1, 0, 2}));
  }

  void wordsStandBetweenSeparators() {
    const SymbolFile file = parse_symbols("up,down;up\r\nflat, up\n\n", SymbolForm::words, "prices.csv");
    QCOMPARE(file.symbols, (std::vector<std::string>{"down", "flat", "up"}));
    QCOMPARE(file.tokens, (std::vector<std::int32_t>{2, 0, 2, 1, 2}));
  }

  void faultsAreNamed_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("empty") << QByteArray() << "f: a chain needs at least two different symbols, there is none";
    QTest::newRow("one symbol") << QByteArray("aaa")
                                << "f: a chain needs at least two different symbols, there is only \"a\"";
    QTest::newRow("control") << QByteArray("ab\na\x01")
                             << "f: line 2, column 2 is a control character; it must be text";
    QTest::newRow("not UTF-8") << QByteArray("ab\xFF")
                               << "f is not UTF-8 text; a file of symbols is plain text, such as that of a book";
    QByteArray many;
    for (int i = 0; i < 70; ++i) many += static_cast<char>('0' + i);
    QTest::newRow("too many") << many
                              << "f: \"p\" on line 1 is symbol number 65; at most 64 different ones can be read, as "
                                 "words if they are longer than a character";
  }
  void faultsAreNamed() {
    QFETCH(QByteArray, text);
    QFETCH(QString, sentence);
    QCOMPARE(QString::fromStdString(refusal([&] { parse_symbols(text.toStdString(), SymbolForm::characters, "f"); })),
             sentence);
  }

  void sequencesComeFromTheirPart() {
    const std::size_t length = 1000, symbols = 64;
    const SymbolFile file = counting(length, symbols);
    const MarkovTask chain(1, symbols, 1.0, 20);
    for (const Split split : {Split::training, Split::test}) {
      const FileTask task(file, "f", chain, split);
      SequenceBatch batch;
      task.generate(Stream(1, "data"), 0, 500, false, batch);
      std::set<std::int32_t> starts;
      for (std::int64_t i = 0; i < batch.batch; ++i) {
        const auto tokens = batch.sequence(i);
        QCOMPARE(tokens.size(), std::size_t{21});
        for (std::size_t t = 1; t < tokens.size(); ++t)
          QCOMPARE(tokens[t], static_cast<std::int32_t>((static_cast<std::size_t>(tokens[t - 1]) + 1) % symbols));
        starts.insert(tokens[0]);
      }
      // 800 and 200 tokens have every phase of the count, but for the last 20 no sequence can begin at.
      QCOMPARE(starts.size(), symbols);
    }
  }

  void trainingAndTestDoNotOverlap() {
    SymbolFile file{{"a", "b", "c", "d"}, {}};
    for (int t = 0; t < 800; ++t) file.tokens.push_back(t % 2);
    for (int t = 0; t < 200; ++t) file.tokens.push_back(2 + t % 2);
    SequenceBatch batch;
    FileTask(file, "f", MarkovTask(1, 4, 1.0, 199), Split::test).generate(Stream(1, "t"), 0, 50, false, batch);
    QVERIFY(*std::ranges::min_element(batch.tokens) == 2);
    FileTask(file, "f", MarkovTask(1, 4, 1.0, 199), Split::training).generate(Stream(1, "t"), 0, 50, false, batch);
    QVERIFY(*std::ranges::max_element(batch.tokens) == 1);
  }

  void theKernelIsTheFileS() {
    const SymbolFile file = parse_symbols("aabababbbaabaaabba", SymbolForm::characters, "f");
    SequenceBatch batch;
    FileTask(file, "f", MarkovTask(2, 2, 1.0, 2), Split::test).generate(Stream(1, "t"), 0, 2, true, batch);
    std::vector<std::vector<double>> counts(4, std::vector<double>(2));
    for (std::size_t t = 2; t < file.tokens.size(); ++t) {
      const auto context = static_cast<std::size_t>(2 * file.tokens[t - 2] + file.tokens[t - 1]);
      ++counts[context][static_cast<std::size_t>(file.tokens[t])];
    }
    const auto kernel = batch.kernel(1);
    for (std::size_t context = 0; context < 4; ++context) {
      const double sum = counts[context][0] + counts[context][1];
      QVERIFY(sum > 0);
      for (std::size_t s = 0; s < 2; ++s) QVERIFY(std::abs(kernel[2 * context + s] - counts[context][s] / sum) < 1e-6);
    }
  }

  void anExperimentReadsIt() {
    const QTemporaryDir folder;
    const QString path = folder.filePath("chain.csv");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    for (int t = 0; t < 400; ++t) file.write(t % 3 ? "sun," : "rain\n");
    file.close();
    ExperimentConfig config;
    QVERIFY(!config.set("task.kind", std::string("file")));
    QVERIFY(!config.set("task.file", path.toStdString()));
    QVERIFY(!config.set("task.symbols", std::string("words")));
    QVERIFY(!config.set("task.length", std::int64_t{50}));
    const auto task = make_task(config, Split::test);
    SequenceBatch batch;
    task->generate(Stream(1, "test"), 0, 8, true, batch);
    // After rain comes sun, always: what is left to the oracle is half of the sun.
    const EstimatorLosses losses = task->losses(batch);
    QVERIFY(losses.oracle[0] < losses.add_beta[0]);
    QVERIFY(std::abs(losses.oracle[0] - 2.0 / 3 * std::log(2.0)) < 0.05);

    QVERIFY(!config.set("task.states", std::int64_t{3}));
    QCOMPARE(
        QString::fromStdString(refusal([&] { make_task(config, Split::test); })),
        QStringLiteral("task.states: %1 has 2 different symbols (\"rain\" \"sun\"), so the states must be 2, not 3")
            .arg(path));
    QVERIFY(!config.set("task.states", std::int64_t{2}));
    QVERIFY(!config.set("task.length", std::int64_t{80}));
    QVERIFY(refusal([&] { make_task(config, Split::test); }).starts_with("task.length: "));
    QVERIFY(!config.set("task.file", std::string("/nowhere/at/all")));
    QCOMPARE(refusal([&] { make_task(config, Split::test); }),
             std::string("/nowhere/at/all: there is no file of symbols that can be read"));
  }
};

QTEST_GUILESS_MAIN(FileTaskTest)
#include "file_task_test.moc"
