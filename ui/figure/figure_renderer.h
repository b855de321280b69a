// The one way from a figure to bytes: PDF, SVG, PNG, CSV, recipe; and from bytes to a file.
//
// PDF: text is text (fonts embedded as subsets), nothing is rasterised, the page is the figure. SVG: text is text with
// a list of fallback fonts, the size is in mm. PNG: dpi is stored. CSV: the plotted numbers in full precision, comma,
// point, one header line. All of them may throw what makeFigurePanel throws.
#pragma once

#include <QByteArray>
#include <QImage>
#include <optional>

#include "ui/figure/figure.h"

namespace mambarium {

QByteArray figurePdf(const Figure& figure);
QByteArray figureSvg(const Figure& figure);
QImage figureImage(const Figure& figure, double dpi);  // also the preview
QByteArray figurePng(const Figure& figure);            // at figure.style.dpi
QByteArray figureCsv(const Figure& figure);

// Writes atomically: either the whole file is there or the old one is untouched. Returns one sentence on failure.
std::optional<QString> writeFile(const QString& path, const QByteArray& bytes);

// Writes the figure in the format of the path's extension (pdf, svg, png, csv). Failures to write are returned; an
// unknown extension throws std::invalid_argument.
std::optional<QString> saveFigure(const Figure& figure, const QString& path);
bool isFigureFormat(const QString& extension);

}  // namespace mambarium
