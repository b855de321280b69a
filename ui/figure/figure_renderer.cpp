#include "ui/figure/figure_renderer.h"

#include <qcustomplot.h>

#include <QBuffer>
#include <QFileInfo>
#include <QPageSize>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <cmath>
#include <stdexcept>

#include "mambarium/version.h"
#include "ui/figure/figure_layout.h"

namespace mambarium {
namespace {

constexpr int pdf_resolution = 1200;
constexpr int svg_resolution = 2540;  // a hundredth of a millimetre
constexpr const char* font_family = "Mambarium Sans";
constexpr const char* font_fallbacks = "Mambarium Sans, Inter, Helvetica, Arial, sans-serif";

QString documentTitle(const Figure& figure, const Panel& panel) {
  return figure.title.isEmpty() ? panel.title() : figure.title;
}

// The painter's units are device dots; `scale` of them make a figure unit.
void paint(const Figure& figure, const Panel& panel, QCPPainter& painter, double scale) {
  const FigureLayout layout(figure);
  const Theme& theme = layout.theme();
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  painter.setMode(QCPPainter::pmNonCosmetic);
  painter.setRenderHint(QPainter::LosslessImageRendering);
  painter.setRenderHint(QPainter::TextAntialiasing);
  painter.scale(scale, scale);
  painter.fillRect(QRectF(QPointF(0, 0), layout.page()).adjusted(-1, -1, 1, 1), theme.panel());
  painter.setPen(theme.text());
  if (!figure.title.isEmpty()) {
    painter.setFont(theme.titleFont());
    painter.drawText(layout.title(), Qt::AlignLeft | Qt::AlignVCenter, figure.title);
  }
  if (!figure.caption.isEmpty()) {
    painter.setFont(theme.smallFont());
    painter.drawText(layout.caption(), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, figure.caption);
  }
  painter.translate(layout.plot().topLeft());
  for (QCustomPlot* plot : panel.plots()) plot->toPainter(&painter, layout.plot().width(), layout.plot().height());
}

// Qt rounds a PDF's page to whole points, up to 0.18 mm off. The numbers are exchanged without moving a byte after
// them.
void setExactPage(QByteArray& pdf, const QSizeF& points) {
  const QByteArray before = "/MediaBox [0 0 ";
  const auto start = pdf.indexOf(before);
  const auto end = start < 0 ? -1 : pdf.indexOf(']', start);
  if (end < 0) return;
  const auto room = end - start - before.size();
  QByteArray size = QByteArray::number(points.width(), 'f', 6) + ' ' + QByteArray::number(points.height(), 'f', 6);
  size = size.leftJustified(room, ' ');
  if (size.size() == room) pdf.replace(start + before.size(), room, size);
}

QByteArray csvField(QString text) {
  const bool quoted = text.contains(u',') || text.contains(u'"') || text.contains(u'\n') || text.contains(u'\r');
  return (quoted ? u'"' + text.replace(u'"', QStringLiteral("\"\"")) + u'"' : text).toUtf8();
}

QByteArray csvLine(const QStringList& fields) {
  QByteArrayList line;
  for (const QString& field : fields) line << csvField(field);
  return line.join(',') + '\n';
}

}  // namespace

QByteArray figurePdf(const Figure& figure) {
  const auto panel = makeFigurePanel(figure);
  const QSizeF exact(figure.style.width_mm / 25.4 * 72, figure.style.height_mm / 25.4 * 72);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer);
    writer.setCreator(QStringLiteral("Mambarium %1").arg(QLatin1String(version)));
    writer.setTitle(documentTitle(figure, *panel));
    writer.setResolution(pdf_resolution);
    writer.setPageSize(QPageSize(exact, QPageSize::Point, {}, QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    QCPPainter painter;
    if (!painter.begin(&writer)) throw std::runtime_error("The PDF could not be made.");
    // Qt measures down from a page of whole points; the page will end at the exact height instead.
    const double whole_height = writer.pageLayout().fullRectPoints().height();
    painter.translate(0, (whole_height - exact.height()) / 72 * pdf_resolution);
    paint(figure, *panel, painter, pdf_resolution / Theme::figure_units_per_inch);
  }
  setExactPage(bytes, exact);
  return bytes;
}

QByteArray figureSvg(const Figure& figure) {
  const auto panel = makeFigurePanel(figure);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  const QSize size(static_cast<int>(std::lround(figure.style.width_mm * svg_resolution / 25.4)),
                   static_cast<int>(std::lround(figure.style.height_mm * svg_resolution / 25.4)));
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setResolution(svg_resolution);
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(0, 0), size));
  generator.setTitle(documentTitle(figure, *panel));
  generator.setDescription(panel->caption());
  {
    QCPPainter painter;
    if (!painter.begin(&generator)) throw std::runtime_error("The SVG could not be made.");
    paint(figure, *panel, painter, svg_resolution / Theme::figure_units_per_inch);
  }
  return bytes.replace(font_family, font_fallbacks);
}

QImage figureImage(const Figure& figure, double dpi) {
  const auto panel = makeFigurePanel(figure);
  const QSize size(static_cast<int>(std::lround(figure.style.width_mm * dpi / 25.4)),
                   static_cast<int>(std::lround(figure.style.height_mm * dpi / 25.4)));
  QImage image(size, QImage::Format_RGB32);
  if (image.isNull())
    throw std::invalid_argument("a picture of " + std::to_string(size.width()) + " x " + std::to_string(size.height()) +
                                " pixels does not fit in memory: choose fewer dots per inch.");
  const int dots_per_meter = static_cast<int>(std::lround(dpi / 0.0254));
  image.setDotsPerMeterX(dots_per_meter);
  image.setDotsPerMeterY(dots_per_meter);
  QCPPainter painter;
  painter.begin(&image);
  paint(figure, *panel, painter, dpi / Theme::figure_units_per_inch);
  return image;
}

QByteArray figurePng(const Figure& figure) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  figureImage(figure, figure.style.dpi).save(&buffer, "PNG");
  return bytes;
}

QByteArray figureCsv(const Figure& figure) {
  const PanelTable table = makeFigurePanel(figure)->table();
  QByteArray bytes = csvLine(table.columns);
  for (const QStringList& row : table.rows) bytes += csvLine(row);
  return bytes;
}

std::optional<QString> writeFile(const QString& path, const QByteArray& bytes) {
  // Unbuffered and counted: QSaveFile's own buffer loses the error of a disk that fills up in the middle of a write,
  // and would then commit the half.
  QSaveFile file(path);
  bool good = file.open(QIODevice::WriteOnly | QIODevice::Unbuffered);
  for (qsizetype done = 0; good && done < bytes.size();) {
    const qint64 written = file.write(bytes.constData() + done, bytes.size() - done);
    good = written > 0;
    done += written;
  }
  const QString reason = file.errorString();
  if (!good && file.isOpen()) file.cancelWriting();
  if (good && file.commit()) return std::nullopt;
  return QObject::tr("%1 cannot be written: %2.").arg(path, good ? file.errorString() : reason);
}

bool isFigureFormat(const QString& extension) {
  static const QStringList formats = {QStringLiteral("pdf"), QStringLiteral("svg"), QStringLiteral("png"),
                                      QStringLiteral("csv")};
  return formats.contains(extension.toLower());
}

std::optional<QString> saveFigure(const Figure& figure, const QString& path) {
  const QString extension = QFileInfo(path).suffix().toLower();
  if (!isFigureFormat(extension))
    throw std::invalid_argument("the name " + path.toStdString() +
                                " does not say a format: it must end in .pdf, .svg, .png or .csv.");
  if (extension == u"pdf") return writeFile(path, figurePdf(figure));
  if (extension == u"svg") return writeFile(path, figureSvg(figure));
  if (extension == u"png") return writeFile(path, figurePng(figure));
  return writeFile(path, figureCsv(figure));
}

}  // namespace mambarium
