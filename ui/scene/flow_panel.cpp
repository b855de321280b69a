#include "ui/scene/flow_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QScopeGuard>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/plots/number_text.h"
#include "ui/scene/fixed_point_label.h"
#include "ui/scene/flow_labels.h"
#include "ui/scene/flow_plane_label.h"
#include "ui/scene/flow_plane_marks.h"

namespace mambarium {

namespace {

constexpr std::array field_names = {"near_rest", "steady_state", "minimum_norm", "empirical"};
constexpr int milliseconds_a_token = 90;
constexpr double lowest_with_hint = 320;  // pixels of the design

QString coordinates(std::span<const double> z) {
  QStringList numbers;
  for (const double number : z) numbers << significantText(number, 3);
  return QStringLiteral("(%1)").arg(numbers.join(QStringLiteral(", ")));
}

// options["which"]; throws std::invalid_argument as setOptions does.
std::array<std::int64_t, 3> whichFrom(const nlohmann::json& options, const std::array<std::int64_t, 3>& current) {
  constexpr std::int64_t most_coordinates = 1024;
  const auto found = options.find("which");
  if (found == options.end()) return current;
  std::array<std::int64_t, 3> which{};
  const auto isCoordinate = [&](const nlohmann::json& number) {
    return number.is_number_integer() && number >= 0 && number < most_coordinates;
  };
  bool is_right = found->is_array() && found->size() == which.size() && std::ranges::all_of(*found, isCoordinate);
  if (is_right) which = found->get<std::array<std::int64_t, 3>>();
  is_right = is_right && which[0] != which[1] && which[0] != which[2] && which[1] != which[2];
  if (!is_right)
    throw std::invalid_argument(
        "flow: option \"which\" must be three different coordinates of z from 0, like [0, 1, 3]");
  return which;
}

}  // namespace

FlowPanel::FlowPanel(QWidget* parent)
    : ChannelPanel(QStringLiteral("flow"), tr("Flow"),
                   tr("The flow of the coupled state will appear here: streamlines of z, and a sequence running "
                      "through them. Press Play (Space) to train a Motif-Mamba."),
                   {.layer_name = tr("Layer of the flow"),
                    .layer_tip = tr("Which layer's coupling is shown"),
                    .channel_name = tr("Channel of the flow"),
                    .channel_tip = tr("Which channel's state is shown")},
                   parent) {
  setAlongTokens(true, false);
  // Cells are of unit size: the speed has axes of its own behind those of z.
  speed_cells_ = new CellMap(rect()->axis(QCPAxis::atTop), rect()->axis(QCPAxis::atRight));
  speed_cells_->setLayer(QStringLiteral("background"));
  ball_ = new QCPGraph(xAxis(), yAxis());
  fixed_mark_ = new QCPGraph(xAxis(), yAxis());
  fixed_label_ = new FlowPlaneLabel(rect());
  plane_marks_ = new FlowPlaneMarks(rect());
  const auto rects = chart()->axisRects();
  QCPAxisRect* const strip = *std::ranges::find_if(rects, [this](QCPAxisRect* other) { return other != rect(); });
  held_mark_ = new QCPItemRect(chart());
  held_mark_->setObjectName(QStringLiteral("flowHeld"));
  held_mark_->setLayer(QLatin1String(Chart::highlight_layer));
  held_mark_->setClipAxisRect(strip);
  for (auto* const corner : {held_mark_->topLeft, held_mark_->bottomRight}) {
    corner->setAxes(strip->axis(QCPAxis::atBottom), strip->axis(QCPAxis::atLeft));
    corner->setAxisRect(strip);
    corner->setTypeX(QCPItemPosition::ptPlotCoords);
    corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
  }
  held_mark_->setVisible(false);
  ball_->setLayer(QLatin1String(Chart::highlight_layer));
  for (QCPGraph* const mark : {ball_, fixed_mark_}) mark->setLineStyle(QCPGraph::lsNone);
  addControls();
  playing_.setInterval(milliseconds_a_token);
  connect(&playing_, &QTimer::timeout, this, &FlowPanel::advance);
  connect(chart(), &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
    const QPointF at = event->position();
    if (!study_ || study_->dimension != 2 || !rect()->rect().contains(at.toPoint())) return;
    read({xAxis()->pixelToCoord(at.x()), yAxis()->pixelToCoord(at.y())});
    draw();
    chart()->requestReplot();
  });
  updateChoices();
}

void FlowPanel::addControls() {
  view_box_ = addChoice({tr("Plane"), tr("Space")}, tr("View of the flow"),
                        tr("Plane: two coordinates of z. Space: in 3-D, to be turned with the mouse."));
  view_box_->setCurrentIndex(in_space_ ? 1 : 0);
  field_box_ =
      addChoice({tr("Near rest"), tr("Steady state"), tr("Smallest state"), tr("As it went")}, tr("Field"),
                tr("Near rest: the state stays as near to where the input leads it as z allows; the fixed point "
                   "is exact. Steady state: the state follows z at once; so is its. Smallest state: the "
                   "smallest with this z; its zero is not the model's. As it went: mean steps of the sequence "
                   "itself. λ: the eigenvalues of the field at its fixed point, rates of z per unit of the state's "
                   "own time, of which a token takes dt; of Steady state, per relaxation of the state."));
  axes_box_ = addChoice({tr("Coordinates"), tr("Main axes")}, tr("Axes"),
                        tr("Coordinates of z, or the directions in which it moves most"));
  axes_box_->setVisible(false);
  for (std::size_t axis = 0; axis < coordinate_boxes_.size(); ++axis) {
    coordinate_boxes_[axis] = addChoice({}, tr("Coordinate along axis %1").arg(axis + 1),
                                        tr("Which coordinate of z runs along axis %1").arg(axis + 1));
    connect(coordinate_boxes_[axis], &QComboBox::activated, this,
            [this, axis](int index) { chooseCoordinate(axis, index); });
  }
  beside_box_ = addChoice({tr("Alone")}, tr("Run beside this one"),
                          tr("The field of another run beside this one, seen from the same place. Look at that run "
                             "once, so that its field is known."));
  glyphs_box_ =
      addToggle(tr("Arrows"), tr("Arrows"),
                tr("Where the flow goes: heads on the streamlines of the plane, in space arrows of v(z)"), glyphs_);

  play_ = new QToolButton(this);
  play_->setText(tr("Run through"));
  play_->setObjectName(QStringLiteral("flowPlay"));
  play_->setCheckable(true);
  play_->setAccessibleName(tr("Run through the sequence"));
  play_->setToolTip(tr("Let z run through the sequence token by token, the field with it"));
  hold_ = new QToolButton(this);
  hold_->setText(tr("Hold input"));
  hold_->setObjectName(QStringLiteral("flowHold"));
  hold_->setCheckable(true);
  hold_->setAccessibleName(tr("Hold the input"));
  hold_->setToolTip(tr("Keep the field of the present token's input while z goes on"));
  reading_label_ = addTextRow(QStringLiteral("flowReading"));
  note_label_ = addTextRow(QStringLiteral("flowNote"));
  for (QToolButton* const button : {play_, hold_}) {
    button->setFocusPolicy(Qt::TabFocus);
    footer()->addWidget(button);
  }
  footer()->addWidget(channelBox());
  footer()->addStretch(1);
  choices_row_ = new QWidget(this);
  auto* const choices_layout = new QHBoxLayout(choices_row_);
  choices_layout->setContentsMargins(12, 0, 12, 4);
  choices_layout->setSpacing(8);
  for (QComboBox* const box :
       {axes_box_, coordinate_boxes_[0], coordinate_boxes_[1], coordinate_boxes_[2], beside_box_})
    choices_layout->addWidget(box);
  choices_layout->addStretch(1);
  auto* const column = qobject_cast<QVBoxLayout*>(layout());
  column->insertWidget(column->count() - 1, choices_row_);
  setTabOrderBelow({axes_box_, coordinate_boxes_[0], coordinate_boxes_[1], coordinate_boxes_[2], beside_box_, play_,
                    hold_, channelBox()});

  connect(view_box_, &QComboBox::activated, this, [this](int index) {
    in_space_ = index == 1;
    redraw();
  });
  connect(field_box_, &QComboBox::activated, this, [this](int index) {
    field_ = static_cast<FlowFieldChoice>(index);
    redraw();
  });
  connect(axes_box_, &QComboBox::activated, this, [this](int index) {
    principal_ = index == 1;
    redraw();
  });
  connect(beside_box_, &QComboBox::activated, this, [this](int index) {
    beside_ = beside_box_->itemData(index).toString().toStdString();
    redraw();
  });
  connect(glyphs_box_, &QToolButton::toggled, this, [this](bool on) {
    glyphs_ = on;
    redraw();
  });
  connect(play_, &QToolButton::toggled, this, &FlowPanel::play);
  connect(hold_, &QToolButton::toggled, this, [this](bool on) {
    held_.reset();
    if (on) held_ = inputToken();
    redraw();
  });
  connect(this, &Panel::optionsChanged, this, [this] { tell({}); });
  compareByAnswers();
}

// Above the footer, of as many lines as the text needs.
QLabel* FlowPanel::addTextRow(const QString& name) {
  auto* const row = new QLabel(this);
  row->setObjectName(name);
  row->setTextFormat(Qt::PlainText);
  row->setWordWrap(true);
  row->setMinimumWidth(1);
  row->setContentsMargins(12, 0, 12, 2);
  row->setVisible(false);
  auto* const column = qobject_cast<QVBoxLayout*>(layout());
  column->insertWidget(column->count() - 1, row);
  return row;
}

void FlowPanel::setRowText(QLabel* row, const QString& text) {
  row->setText(text);
  row->setToolTip(text);
  row->setVisible(!text.isEmpty());
}

void FlowPanel::tell(const QString& sentence) {
  note_ = sentence;
  updateNote();
}

void FlowPanel::updateNote() {
  QStringList lines;
  for (const QString& line : {second_fault_, note_})
    if (!line.isEmpty()) lines << line;
  setRowText(note_label_, lines.join(u'\n'));
}

nlohmann::json FlowPanel::options() const {
  return withChannel({{"view", in_space_ ? "space" : "plane"},
                      {"field", field_names[static_cast<std::size_t>(field_)]},
                      {"dimension", dimension_},
                      {"principal", principal_},
                      {"which", which_},
                      {"glyphs", glyphs_},
                      {"hold", held_.value_or(-1)},
                      {"lines", lines_}});
}

void FlowPanel::setOptions(const nlohmann::json& options) {
  constexpr std::int64_t most_tokens = 65535, most_lines = 1000;
  const std::int64_t probe = probeFrom(options);
  const std::string view = optionChoice(options, "flow", "view", in_space_ ? "space" : "plane", {"plane", "space"});
  const std::string field = optionChoice(options, "flow", "field", field_names[static_cast<std::size_t>(field_)],
                                         {field_names[0], field_names[1], field_names[2], field_names[3]});
  const bool principal = optionBool(options, "flow", "principal", principal_);
  const bool glyphs = optionBool(options, "flow", "glyphs", glyphs_);
  const std::int64_t dimension = optionInteger(options, "flow", "dimension", dimension_, 2, 3);
  const auto which = whichFrom(options, which_);
  const Chosen channel = channelFrom(options);
  const std::int64_t hold = optionInteger(options, "flow", "hold", held_.value_or(-1), -1, most_tokens);
  lines_ = optionInteger(options, "flow", "lines", lines_, 0, most_lines);
  setProbe(probe);
  in_space_ = view == "space";
  field_ = static_cast<FlowFieldChoice>(std::ranges::find(field_names, field) - field_names.begin());
  principal_ = principal;
  glyphs_ = glyphs;
  dimension_ = dimension;
  which_ = which;
  choose(channel);
  held_.reset();
  if (hold >= 0) held_ = hold;
  const QSignalBlocker glyphs_blocker(glyphs_box_), hold_blocker(hold_);
  view_box_->setCurrentIndex(in_space_ ? 1 : 0);
  field_box_->setCurrentIndex(static_cast<int>(field_));
  axes_box_->setCurrentIndex(principal_ ? 1 : 0);
  glyphs_box_->setChecked(glyphs_);
  hold_->setChecked(held_.has_value());
  redraw();
}

std::int64_t FlowPanel::inputToken() const {
  const auto last = static_cast<std::int64_t>(answer_.tokens.size()) - 1;
  return std::clamp<std::int64_t>(held_.value_or(cursor_ >= 0 ? cursor_ : last), 0, std::max<std::int64_t>(last, 0));
}

FlowChoices FlowPanel::choices() const {
  return {.field = field_,
          .dimension = drawsSpace() ? dimension_ : 2,
          .principal = principal_,
          .which = which_,
          .token = inputToken(),
          .lines = lines_};
}

bool FlowPanel::drawsSpace() const {
  return in_space_ && isVisible() && answer_.z.shape.size() == 2 && answer_.z.shape[1] > 1 && VtkWidget::available();
}

bool FlowPanel::prepare(const PanelChange& change) {
  auto nothing_to_draw = qScopeGuard([this] { leaveSpace(); });
  if (change.inspected) {
    readAnswer(answer_);
    setWindow(answer_.window);
    reading_.reset();
  }
  if (change.runs || change.inspected) updateChoices();
  if (answer_.tokens.empty()) {
    study_.reset();
    updateCoordinates();
    return false;
  }
  restudy();
  nothing_to_draw.dismiss();
  return true;
}

void FlowPanel::restudy() {
  const std::vector<std::string> axes = study_ ? study_->axis_names : std::vector<std::string>();
  study_.reset();
  study_ = mambarium::study(answer_, choices());
  if (!reading_) return;
  // What was read belongs to these axes; in them it follows the field.
  if (axes == study_->axis_names)
    read(std::vector<double>(reading_->z));
  else
    reading_.reset();
}

QString FlowPanel::readingText() const {
  if (reading_) return tr("z = %1, v = %2").arg(coordinates(reading_->z), coordinates(reading_->v));
  // The row is there before the click, so that the field stays under the mouse; in a low panel the field needs it more.
  const bool has_room = height() >= theme().px(lowest_with_hint);
  return has_room && study_ && study_->dimension > 1 ? tr("Click the field to read z and v there.") : QString();
}

void FlowPanel::chooseCoordinate(std::size_t axis, std::int64_t coordinate) {
  for (std::int64_t& other : which_)
    if (other == coordinate) other = which_[axis];
  which_[axis] = coordinate;
  redraw();
}

// Controls are there where they choose something; coordinates do where z has more than are drawn, and they are not
// mixed.
void FlowPanel::updateCoordinates() {
  const std::int64_t r = answer_.z.shape.empty() ? 0 : answer_.z.shape[1];
  const bool is_choice = study_ && r > study_->dimension && !principal_;
  for (std::size_t axis = 0; axis < coordinate_boxes_.size(); ++axis) {
    QComboBox* const box = coordinate_boxes_[axis];
    fillNumbered(box, QStringLiteral("z_%1"), r, which_[axis]);
    for (int index = 0; index < box->count() && box->itemText(index).contains(u'_'); ++index)
      box->setItemText(index, axisNameText(box->itemText(index).toStdString()));
    box->setVisible(is_choice && static_cast<std::int64_t>(axis) < study_->dimension);
  }
  const bool is_there = !answer_.tokens.empty();
  axes_box_->setVisible(r > 2);
  beside_box_->setVisible(beside_box_->count() > 1 && drawsSpace());
  for (QToolButton* const button : {play_, hold_}) button->setVisible(is_there);
  channelBox()->setVisible(is_there || currentRun());
  glyphs_box_->setVisible(study_ && study_->dimension > 1);
  updateRows();
}

void FlowPanel::updateChoices() {
  fillChannels();
  beside_box_->clear();
  beside_box_->addItem(tr("Alone"), QString());
  for (const RunSeries& other : data().runs)
    if (data().others.contains(other.folder)) {
      constexpr int most_letters = 22;
      const QString title = QString::fromStdString(other.title);
      const QFontMetrics metrics = beside_box_->fontMetrics();
      beside_box_->addItem(
          tr("Beside %1").arg(metrics.elidedText(title, Qt::ElideMiddle, most_letters * metrics.averageCharWidth())),
          QString::fromStdString(other.folder));
      beside_box_->setItemData(beside_box_->count() - 1, title, Qt::ToolTipRole);
    }
  const int index = beside_box_->findData(QString::fromStdString(beside_));
  if (index < 0) beside_.clear();
  beside_box_->setCurrentIndex(std::max(index, 0));
  updateCoordinates();
}

void FlowPanel::highlightToken(int position) {
  TokenPanel::highlightToken(position);
  const int wanted = highlightedToken();
  if (wanted == cursor_ || !study_) return;
  cursor_ = wanted;
  if (!held_ && field_ != FlowFieldChoice::empirical) {
    restudy();
    draw();
    chart()->requestReplot();
  } else if (drawsSpace() && space_) {
    space_->setCursor(cursor_ >= 0 ? std::optional<std::int64_t>(cursor_) : std::nullopt);
  }
  drawCursor();
  chart()->replotHighlight();
  updateCaption();
}

void FlowPanel::play(bool on) {
  const QSignalBlocker blocker(play_);
  play_->setChecked(on);
  if (!on) {
    playing_.stop();
  } else if (hasData()) {
    if (cursor_ + 1 >= static_cast<int>(answer_.tokens.size())) cursor_ = -1;
    playing_.start();
    advance();
  }
}

void FlowPanel::advance() {
  const int next = cursor_ + 1;
  if (!hasData() || next >= static_cast<int>(answer_.tokens.size())) {
    play(false);
    return;
  }
  highlightToken(next);
  Q_EMIT tokenHovered(next);
}

void FlowPanel::read(const std::vector<double>& y) {
  const std::vector<double> v = study_->velocity(y);
  reading_.reset();
  if (v.empty()) return;
  reading_ = Reading{y, v};
  read_line_ = streamline(study_->view(), y, study_->box, {.spacing = 0.01, .longest = 3});
}

void FlowPanel::hover(const QPointF& pixel) {
  if (rect()->rect().contains(pixel.toPoint()) && study_ && study_->dimension == 2) {
    const std::vector<double> y = {xAxis()->pixelToCoord(pixel.x()), yAxis()->pixelToCoord(pixel.y())};
    const std::vector<double> v = study_->velocity(y);
    if (v.empty()) return leave();
    const QString text = tr("z = %1<br>v = %2").arg(coordinates(y), coordinates(v));
    hoverLabel()->showAt(text, pixel, {}, chart()->viewport());
    return;
  }
  TokenPanel::hover(pixel);
}

QString FlowPanel::readout(int position) const {
  const auto r = static_cast<std::size_t>(answer_.z.shape[1]);
  const auto first = answer_.z.data.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(position) * r);
  const std::vector<double> z(first, first + static_cast<std::ptrdiff_t>(r));
  return tr("<br>z = %1").arg(coordinates(z));
}

QString FlowPanel::fixedPointText() const {
  const auto& fixed = study_->whole_fixed_point;
  if (field_ == FlowFieldChoice::empirical) return tr("The field is the mean of the sequence's own steps");
  if (!fixed) return tr("For the input of %1 there is no single fixed point").arg(placeText(inputToken()));
  const QString name = QString::fromStdString(to_text(fixed->stability));
  const QString type = QStringLiteral("%1 %2 (%3)")
                           .arg(name.startsWith(u'u') ? QStringLiteral("an") : QStringLiteral("a"), name,
                                eigenvalueText(fixed->eigenvalues));
  const QString where = study_->inside ? QString() : tr(", outside the picture");
  if (field_ == FlowFieldChoice::minimum_norm)
    return tr("With the smallest state and the input of %1 z would rest at %2, %3%4, which is not where the model does")
        .arg(placeText(inputToken()), coordinates(fixed->z), type, where);
  const QString goes = study_->stable() ? tr("leads z to") : tr("has a fixed point that the state leaves, at");
  return tr("The input of %1 %2 %3, %4%5").arg(placeText(inputToken()), goes, coordinates(fixed->z), type, where);
}

QString FlowPanel::describe() const {
  const QString who = answer_.layer == 0 && layerBox()->count() < 2
                          ? tr("channel %1").arg(answer_.channel + 1)
                          : tr("layer %1, channel %2").arg(answer_.layer + 1).arg(answer_.channel + 1);
  QString text = tr("Flow of z (r = %1) of %2. %3").arg(answer_.z.shape[1]).arg(who, fixedPointText());
  if (cursor_ >= 0)
    text += tr("; after %1 z is at %2").arg(placeText(cursor_), coordinates(study_->path.point(cursor_)));
  text += u'.' + windowText();
  if (drawsSpace()) text += tr(" Export draws the plane; Save… below the picture keeps what is seen here.");
  return text;
}

PanelTable FlowPanel::table() const {
  PanelTable table;
  if (answer_.tokens.empty()) return table;
  const auto n = static_cast<std::size_t>(answer_.A.shape[0]), r = static_cast<std::size_t>(answer_.z.shape[1]);
  table.columns << QStringLiteral("position") << QStringLiteral("token") << QStringLiteral("dt");
  for (std::size_t i = 1; i <= r; ++i) table.columns << QStringLiteral("z%1").arg(i);
  for (std::size_t i = 1; i <= n; ++i) table.columns << QStringLiteral("drive%1").arg(i);
  // Those of the field of all of z: the same for every token, whose input moves the fixed point alone.
  QStringList eigenvalues;
  if (study_ && study_->whole_fixed_point) {
    for (const auto& eigenvalue : study_->whole_fixed_point->eigenvalues) {
      const auto number = eigenvalues.size() / 2 + 1;
      table.columns << QStringLiteral("lambda%1_real").arg(number) << QStringLiteral("lambda%1_imaginary").arg(number);
      eigenvalues << exactText(eigenvalue.real()) << exactText(eigenvalue.imag());
    }
  }
  for (std::size_t t = 0; t < answer_.tokens.size(); ++t) {
    QStringList row = {QString::number(t + 1), QString::number(answer_.tokens[t]), exactText(answer_.dt.data[t])};
    for (std::size_t i = 0; i < r; ++i) row << exactText(answer_.z.data[t * r + i]);
    for (std::size_t i = 0; i < n; ++i) row << exactText(answer_.drive.data[t * n + i]);
    row << eigenvalues;
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace mambarium
