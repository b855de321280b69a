// Square matrices as people write them down.
#include "core/motif/connection_matrix.h"

#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <stdexcept>

#include "tests/contract/sentence.h"

using namespace mambarium;

namespace {

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;

const Numbers plain = {0, 1, 0.5, -2, 0, 1e-3, 0, 0, 4};

std::string refusal(std::string_view text) {
  try {
    parse_connection_matrix(text, "brain.csv");
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace

class ConnectionMatrixTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void commasSemicolonsAndBlanksSeparate() {
    for (const char* text :
         {"0,1,.5\n-2,0,1e-3\n0,0,4\n", "0;1;0.5\r\n-2;0;0.001\r\n0;0;4", "0 1  0.5\n -2\t0 1e-3\n0 0 4",
          "0\t1\t0.5\n-2\t0\t1e-3\n\n0\t0\t+4\n", "# a brain\n0, 1, 0.5\n-2, 0, 1E-3\n0, 0, \"4\"\n",
          "\xEF\xBB\xBF"
          "0,1,0.5\n-2,0,1e-3\n0,0,4\n"}) {
      const ConnectionMatrix matrix = parse_connection_matrix(text, "brain.csv");
      QCOMPARE(matrix.n, std::size_t{3});
      QCOMPARE(matrix.weights, plain);
      QVERIFY(matrix.names.empty());
    }
  }

  void namesOfRowsAndColumnsAreKept() {
    for (const char* text :
         {"V1,V2,M1\n0,1,0.5\n-2,0,1e-3\n0,0,4\n", "V1,0,1,0.5\nV2,-2,0,1e-3\nM1,0,0,4\n",
          ",V1,V2,M1\nV1,0,1,0.5\nV2,-2,0,1e-3\nM1,0,0,4\n", "area,V1,V2,M1\nV1,0,1,0.5\nV2,-2,0,1e-3\nM1,0,0,4\n",
          "\"V1\" \"V2\" \"M1\"\n\"V1\" 0 1 0.5\n\"V2\" -2 0 1e-3\n\"M1\" 0 0 4\n"}) {
      const ConnectionMatrix matrix = parse_connection_matrix(text, "brain.csv");
      QCOMPARE(matrix.weights, plain);
      QCOMPARE(matrix.names, (Names{"V1", "V2", "M1"}));
    }
  }

  void anEmptyCornerMakesNumbersNames() {
    const ConnectionMatrix matrix = parse_connection_matrix(",0,1,2\n0,0,1,0.5\n1,-2,0,1e-3\n2,0,0,4\n", "brain.csv");
    QCOMPARE(matrix.weights, plain);
    QCOMPARE(matrix.names, (Names{"0", "1", "2"}));
  }

  void aSeparatorInQuotesIsPartOfAName() {
    const ConnectionMatrix matrix =
        parse_connection_matrix("\"V1, left\",0,1,0.5\n\"V1, right\",-2,0,1e-3\nM1,0,0,4\n", "brain.csv");
    QCOMPARE(matrix.weights, plain);
    QCOMPARE(matrix.names.front(), std::string("V1, left"));
  }

  void whatIsNoSquareMatrixIsRefusedInOneSentence() {
    const auto refused = [](std::string_view text, std::string_view words) {
      const std::string message = refusal(text);
      return is_one_sentence(message) && message.starts_with("brain.csv") && mentions(message, words);
    };
    QVERIFY(refused("", "no numbers"));
    QVERIFY(refused("\n# nothing\n", "no numbers"));
    QVERIFY(refused("1,2\n3,4\n", "2 rows"));
    QVERIFY(refused("1,2,3,4\n1,2,3,4\n1,2,3,4\n", "3 rows of 4 numbers"));
    QVERIFY(refused("1,2,3\n1,2\n1,2,3\n", "line 2 has 2 numbers"));
    QVERIFY(refused("1,2,3\n1,,3\n1,2,3\n", "line 2, column 2 is empty"));
    QVERIFY(refused("1,2,3\n1,x,3\n1,2,3\n", "line 2, column 2 is \"x\""));
    QVERIFY(refused("1,2,3\n1,nan,3\n1,2,3\n", "\"nan\""));
    QVERIFY(refused("1,2,3\n1,inf,3\n1,2,3\n", "\"inf\""));
    QVERIFY(refused("1;2;3\n1;0,5;3\n1;2;3\n", "\"0,5\""));
    QVERIFY(refused("a,b\n1,2,3\n1,2,3\n1,2,3\n", "names 2 columns"));
    QVERIFY(refused("0,x,1\n1,0,1\n1,1,0\n0,0,1\n", "line 1, column 2"));
    QVERIFY(refused("1,2,\xff\n1,2,3\n1,2,3\n", "UTF-8"));
    QVERIFY(refused("a,b,c\na,b,c\na,b,c\na,b,c\n", "brain.csv: "));
  }

  void aFileIsReadAndAMissingOneIsRefused() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("brain.csv").toStdString();
    std::ofstream(path) << "0,1,0.5\n-2,0,1e-3\n0,0,4\n";
    QCOMPARE(read_connection_matrix(path).weights, plain);
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, read_connection_matrix(path + ".gone"));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, read_connection_matrix(folder.path().toStdString()));
  }
};

QTEST_APPLESS_MAIN(ConnectionMatrixTest)
#include "connection_matrix_test.moc"
