#include "core/reproduce/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace mambarium {

namespace {

using Row = std::vector<std::string>;

class Page {
 public:
  virtual ~Page() = default;
  virtual void heading(int level, const std::string& text) = 0;
  virtual void paragraph(const std::string& text) = 0;
  virtual void table(const Row& head, const std::vector<Row>& rows) = 0;
  virtual void picture(const std::string& path, const std::string& about) = 0;
  virtual std::string text() && = 0;
};

std::string replaced(std::string text, char character, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(character, at)) != std::string::npos; at += by.size())
    text.replace(at, 1, by);
  return text;
}

class MarkdownPage final : public Page {
 public:
  void heading(int level, const std::string& text) override {
    text_ += fmt::format("{}{:#<{}} {}\n", text_.empty() ? "" : "\n", "", level, escaped(text));
  }
  void paragraph(const std::string& text) override { text_ += fmt::format("\n{}\n", escaped(text)); }
  void table(const Row& head, const std::vector<Row>& rows) override {
    text_ += "\n";
    row(head);
    for (std::size_t column = 0; column < head.size(); ++column) text_ += "|---";
    text_ += "|\n";
    for (const Row& cells : rows) row(cells);
  }
  void picture(const std::string& path, const std::string& about) override {
    text_ += fmt::format("\n![{}]({})\n", escaped(about), path);
  }
  std::string text() && override { return std::move(text_); }

 private:
  static std::string escaped(std::string text) {
    for (const char character : {'\\', '|', '*', '_', '<', '`', '[', ']'})
      text = replaced(std::move(text), character, fmt::format("\\{}", character));
    return text;
  }
  void row(const Row& cells) {
    for (const std::string& cell : cells) text_ += fmt::format("| {} ", escaped(cell));
    text_ += "|\n";
  }

  std::string text_;
};

class HtmlPage final : public Page {
 public:
  static constexpr const char* style =
      "<style>\n"
      "body { font-family: sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; line-height: 1.45; }\n"
      "table { border-collapse: collapse; }\n"
      "th, td { text-align: left; vertical-align: top; padding: 0.3em 0.8em; border-bottom: 1px solid #bbb; }\n"
      "img { max-width: 100%; background: white; }\n"
      "</style>\n</head>\n<body>\n";

  explicit HtmlPage(const std::string& title) {
    text_ = fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n{}",
                        escaped(title), style);
  }
  void heading(int level, const std::string& text) override {
    element(fmt::format("h{}", level), text);
    text_ += "\n";
  }
  void paragraph(const std::string& text) override {
    element("p", text);
    text_ += "\n";
  }
  void table(const Row& head, const std::vector<Row>& rows) override {
    text_ += "<table>\n";
    row("th", head);
    for (const Row& cells : rows) row("td", cells);
    text_ += "</table>\n";
  }
  void picture(const std::string& path, const std::string& about) override {
    text_ += fmt::format("<p><img src=\"{}\" alt=\"{}\"></p>\n", escaped(path), escaped(about));
  }
  std::string text() && override { return std::move(text_) + "</body>\n</html>\n"; }

 private:
  static std::string escaped(std::string text) {
    text = replaced(std::move(text), '&', "&amp;");
    text = replaced(std::move(text), '<', "&lt;");
    text = replaced(std::move(text), '>', "&gt;");
    return replaced(std::move(text), '"', "&quot;");
  }
  void element(const std::string& name, const std::string& text) {
    text_ += fmt::format("<{0}>{1}</{0}>", name, escaped(text));
  }
  void row(const std::string& cell_name, const Row& cells) {
    text_ += "<tr>";
    for (const std::string& cell : cells) element(cell_name, cell);
    text_ += "</tr>\n";
  }

  std::string text_;
};

std::string number_text(double number) {
  const double size = std::abs(number);
  return size < 0.1 ? fmt::format("{:.4f}", number) : fmt::format("{:.{}f}", number, size < 100 ? 3 : 1);
}

std::string value_text(const SweepSummary& value) {
  if (value.n == 0) return "not measured";
  if (std::isnan(value.low))
    return fmt::format("{} ({} seed{})", number_text(value.mean), value.n, value.n == 1 ? "" : "s");
  return fmt::format("{} [{}, {}] ({} seeds)", number_text(value.mean), number_text(value.low), number_text(value.high),
                     value.n);
}

std::string p_text(double p) {
  constexpr double least = 1e-4;
  return p < least ? "< 0.0001" : fmt::format("{:.2g}", p);
}

// "none found, p = 0.4, Holm = 1 (3 pairs)": whether a comparison found a difference from 0.
std::string difference_text(const DecidedCell& cell, double adjusted) {
  if (!cell.test) return "";
  const char* const found = cell.found_no_difference() ? "none found" : "found";
  if (cell.test->all_same) return fmt::format("{}, the same in all {} seeds", found, cell.test->n);
  if (std::isnan(cell.test->p)) return "not tested";
  const std::string p = p_text(cell.test->p), holm = p_text(adjusted);
  return fmt::format("{}, p {}{}, Holm {}{} ({} pairs)", found, p.starts_with('<') ? "" : "= ", p,
                     holm.starts_with('<') ? "" : "= ", holm, cell.test->n);
}

// The p of every comparison of a figure after Holm's correction, by claim and cell; NaN for what compares nothing.
std::vector<std::vector<double>> adjusted_p(std::span<const DecidedClaim> claims) {
  std::vector<double> all;
  for (const DecidedClaim& claim : claims)
    for (const DecidedCell& cell : claim.cells)
      all.push_back(cell.test ? cell.test->p : std::numeric_limits<double>::quiet_NaN());
  const std::vector<double> adjusted = holm_adjusted(all);
  std::vector<std::vector<double>> by_claim;
  auto next = adjusted.begin();
  for (const DecidedClaim& claim : claims) {
    const auto end = next + std::ssize(claim.cells);
    by_claim.emplace_back(next, end);
    next = end;
  }
  return by_claim;
}

std::string measure_text(const Claim& claim) {
  const auto found = std::ranges::find(sweep_measures(), claim.measure, &SweepMeasure::name);
  return found->label + (found->unit.empty() ? "" : ", " + found->unit);
}

std::vector<Row> claim_rows(std::span<const ReportedFigure> figures) {
  std::vector<Row> rows;
  for (const ReportedFigure& reported : figures) {
    for (std::size_t index = 0; index < reported.figure->claims.size(); ++index) {
      const Claim& claim = reported.figure->claims[index];
      rows.push_back({reported.figure->article, reported.figure->paper, claim.text, claim.paper,
                      to_string(reported.claims.empty() ? Verdict::undecided : reported.claims[index].verdict)});
    }
  }
  return rows;
}

// "< 0.004", or of each cell its own.
std::string condition_text(const Claim& claim) {
  const bool own = std::ranges::any_of(claim.cells, [](const ClaimCell& cell) { return cell.inequality.has_value(); });
  return own ? "as the table says" : to_string(claim.inequality);
}

void write_claim(Page& page, const Claim& claim, const DecidedClaim& decided, const std::vector<double>& adjusted) {
  page.heading(3, claim.text + ": " + to_string(decided.verdict));
  page.paragraph(fmt::format(
      "The paper: {}. Measured: {}, {} over seeds and its 95 % interval; the claim holds where it is {}.", claim.paper,
      measure_text(claim), claim.over_seeds == OverSeeds::median ? "median" : "mean", condition_text(claim)));
  const bool compares =
      std::ranges::any_of(decided.cells, [](const DecidedCell& cell) { return cell.test.has_value(); });
  const bool own = condition_text(claim) != to_string(claim.inequality);
  Row head = {"Where", "Paper", "Measured"};
  if (own) head.push_back("Holds where");
  if (compares) head.push_back("Difference from 0");
  head.insert(head.end(), {"Verdict", "Run to look at"});
  std::vector<Row> rows;
  for (std::size_t index = 0; index < claim.cells.size(); ++index) {
    const DecidedCell& cell = decided.cells[index];
    const ClaimCell& asked = claim.cells[index];
    Row row = {asked.name, asked.paper, value_text(cell.value)};
    if (own) row.push_back(to_string(claim.inequality_of(asked)));
    if (compares) row.push_back(difference_text(cell, adjusted[index]));
    row.push_back(to_string(cell.verdict));
    row.push_back(cell.verdict == Verdict::holds || cell.points.empty() ? "" : cell.points.front());
    rows.push_back(std::move(row));
  }
  page.table(head, rows);
}

void write_figure(Page& page, const ReportedFigure& reported) {
  const ReproducedFigure& figure = *reported.figure;
  page.heading(2, (figure.article.empty() ? "" : figure.article + ", ") + figure.paper + ": " + figure.title);
  page.paragraph(figure.about);
  for (const std::string& trouble : reported.troubles) page.paragraph(fmt::format("Not complete: {}", trouble));
  for (const std::string& picture : reported.pictures) page.picture(picture, figure.title);
  std::string files;
  for (const std::string& file : reported.numbers) files += (files.empty() ? "" : ", ") + file;
  if (!files.empty()) page.paragraph(fmt::format("Numbers: {}. Runs: {}.", files, reported.runs));
  const auto adjusted = adjusted_p(reported.claims);
  for (std::size_t index = 0; index < reported.claims.size(); ++index)
    write_claim(page, figure.claims[index], reported.claims[index], adjusted[index]);
}

// "From Markov to Laplace and Motif-Mamba, reproduced".
std::string title_of(std::span<const ReportedFigure> figures) {
  std::vector<std::string> articles;
  for (const ReportedFigure& reported : figures) {
    const std::string& article = reported.figure->article;
    if (!article.empty() && std::ranges::count(articles, article) == 0) articles.push_back(article);
  }
  return articles.empty() ? "Reproduced figures" : fmt::format("{}, reproduced", fmt::join(articles, " and "));
}

std::string written(Page&& page, const ReportHead& head, std::span<const ReportedFigure> figures) {
  const std::vector<Row> rows = claim_rows(figures);
  const auto count = [&](Verdict verdict) {
    return std::ranges::count_if(rows, [&](const Row& row) { return row.back() == to_string(verdict); });
  };
  page.heading(1, title_of(figures));
  page.paragraph(fmt::format("Mambarium {}, budget {}, {}, {}, {}.", head.version, head.budget, head.machine, head.date,
                             head.duration));
  page.paragraph(fmt::format(
      "{} claims: {} hold, {} do not hold, in {} no difference was found, {} are not decidable at this budget.",
      rows.size(), count(Verdict::holds), count(Verdict::does_not_hold), count(Verdict::no_difference),
      count(Verdict::undecided)));
  page.table({"Paper", "Where", "Claim", "The paper's value", "Here"}, rows);
  for (const ReportedFigure& figure : figures) write_figure(page, figure);
  return std::move(page).text();
}

}  // namespace

std::string report_markdown(const ReportHead& head, std::span<const ReportedFigure> figures) {
  return written(MarkdownPage(), head, figures);
}

std::string report_html(const ReportHead& head, std::span<const ReportedFigure> figures) {
  return written(HtmlPage(title_of(figures)), head, figures);
}

}  // namespace mambarium
