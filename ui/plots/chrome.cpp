// The part of Theme that dresses widgets: palette and style sheet.

#include <QApplication>
#include <QStyleFactory>

#include "ui/plots/theme.h"

static void initialiseThemeResource() {
  Q_INIT_RESOURCE(theme);
}

namespace mambarium {

QPalette Theme::palette() const {
  QPalette palette;
  const QColor button = isDark() ? QColor(0x222932) : QColor(0xfdfdfe);
  palette.setColor(QPalette::Window, window());
  palette.setColor(QPalette::WindowText, text());
  palette.setColor(QPalette::Base, panel());
  palette.setColor(QPalette::AlternateBase, window());
  palette.setColor(QPalette::Text, text());
  palette.setColor(QPalette::PlaceholderText, mutedText());
  palette.setColor(QPalette::Button, button);
  palette.setColor(QPalette::ButtonText, text());
  palette.setColor(QPalette::BrightText, warning());
  palette.setColor(QPalette::ToolTipBase, panel());
  palette.setColor(QPalette::ToolTipText, text());
  palette.setColor(QPalette::Highlight, accent());
  palette.setColor(QPalette::HighlightedText, accentText());
  palette.setColor(QPalette::Link, accent());
  palette.setColor(QPalette::LinkVisited, accent());
  palette.setColor(QPalette::Light, isDark() ? QColor(0x2c343d) : QColor(Qt::white));
  palette.setColor(QPalette::Midlight, grid());
  palette.setColor(QPalette::Mid, line());
  palette.setColor(QPalette::Dark, isDark() ? QColor(0x3a434d) : QColor(0xb4bcc5));
  palette.setColor(QPalette::Shadow, isDark() ? QColor(0x0b0e12) : QColor(0x8a949e));
  const QColor off = isDark() ? QColor(0x6b7682) : QColor(0x98a1ab);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, off);
  palette.setColor(QPalette::Disabled, QPalette::Highlight, line());
  palette.setColor(QPalette::Disabled, QPalette::HighlightedText, off);
  return palette;
}

QString Theme::styleSheet() const {
  QString sheet = QStringLiteral(R"(
QWidget[role="panel"] { background: %panel; border: 1px solid %line; border-radius: 6px; }
QWidget[role="sidebar"] { background: %window; }
QLabel { background: transparent; border: none; }
QLabel[role="hint"] { color: %muted; }
QLabel[role="title"] { font-weight: 600; }
QLabel[role="warning"] { color: %warning; }
QPushButton { padding: 5px 12px; border: 1px solid %line; border-radius: 5px; background: %button; color: %text; }
QPushButton:hover { border-color: %strong; }
QPushButton:pressed { background: %grid; }
QPushButton:focus { border-color: %accent; }
QPushButton::menu-indicator { image: url(:/theme/down-%kind.svg); width: 9px; height: 9px; subcontrol-origin: border; subcontrol-position: center right; right: 8px; }
QPushButton[menu="true"] { padding-right: 24px; }
QPushButton:disabled { color: %off; }
QPushButton[primary="true"] { background: %accent; border-color: %accent; color: %on-accent; font-weight: 600; }
QPushButton[primary="true"]:disabled { background: %grid; border-color: %line; color: %off; }
QPushButton[primary="true"]:focus { border: 2px solid %text; padding: 4px 11px; }
QLineEdit, QAbstractSpinBox, QComboBox { border: 1px solid %strong; border-radius: 4px; padding: 3px 6px; background: %panel; color: %text; selection-background-color: %accent; selection-color: %on-accent; }
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus, QComboBox:on { border-color: %accent; }
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled { border-color: %line; background: %window; color: %off; }
QAbstractSpinBox { padding-right: 2px; }
QAbstractSpinBox QLineEdit, QComboBox QLineEdit { border: none; padding: 0; background: transparent; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { subcontrol-origin: border; width: 18px; border: none; background: transparent; }
QAbstractSpinBox::up-button { subcontrol-position: top right; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; }
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover { background: %grid; border-radius: 3px; }
QAbstractSpinBox::up-arrow { image: url(:/theme/up-%kind.svg); width: 9px; height: 9px; }
QAbstractSpinBox::down-arrow, QComboBox::down-arrow { image: url(:/theme/down-%kind.svg); width: 9px; height: 9px; }
QComboBox::drop-down { subcontrol-origin: border; subcontrol-position: center right; width: 20px; border: none; }
QComboBox QAbstractItemView { border: 1px solid %line; background: %panel; color: %text; selection-background-color: %accent; selection-color: %on-accent; outline: none; }
QCheckBox, QRadioButton { spacing: 7px; }
QCheckBox::indicator, QRadioButton::indicator { width: 13px; height: 13px; border: 1px solid %strong; background: %panel; }
QCheckBox::indicator { border-radius: 3px; }
QRadioButton::indicator { border-radius: 7px; }
QCheckBox::indicator:checked { background: %accent; border-color: %accent; image: url(:/theme/check-%kind.svg); }
QRadioButton::indicator:checked { width: 7px; height: 7px; border: 4px solid %accent; }
QCheckBox::indicator:indeterminate { background: %line; border-color: %accent; }
QCheckBox::indicator:focus, QRadioButton::indicator:focus, QCheckBox::indicator:hover { border-color: %accent; }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { border-color: %line; background: %window; image: none; }
QCheckBox::indicator:checked:disabled { background: %line; }
QToolButton { padding: 3px 7px; border: 1px solid transparent; border-radius: 4px; background: transparent; color: %muted; }
QToolButton:hover { background: %grid; color: %text; }
QToolButton:checked { background: %grid; border-color: %line; color: %text; }
QToolButton:focus { border-color: %accent; }
QToolButton:disabled { color: %off; }
QToolBar { background: transparent; border: none; padding: 0 4px 4px 4px; spacing: 2px; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { padding: 7px 14px; border: none; border-bottom: 2px solid transparent; color: %muted; background: transparent; }
QTabBar::tab:selected { color: %text; border-bottom-color: %accent; }
QTabBar::tab:hover { color: %text; }
QTabBar::tab:focus { color: %accent; }
QTabWidget::pane { border: none; border-top: 1px solid %line; }
QSplitter::handle { background: transparent; }
QSplitter::handle:hover { background: %line; }
QMenuBar { background: %window; color: %text; }
QMenuBar::item { padding: 4px 8px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected { background: %grid; }
QMenu { background: %panel; border: 1px solid %line; padding: 4px; color: %text; }
QMenu::item { padding: 5px 24px 5px 12px; border-radius: 4px; }
QMenu::item:selected { background: %accent; color: %on-accent; }
QMenu::item:disabled { color: %off; }
QMenu::separator { height: 1px; background: %line; margin: 4px 8px; }
QToolTip { background: %panel; color: %text; border: 1px solid %line; padding: 4px 6px; }
QStatusBar { background: %window; color: %muted; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QStatusBar::item { border: none; }
QScrollArea { border: none; background: transparent; }
QScrollBar:vertical { width: 12px; background: transparent; }
QScrollBar:horizontal { height: 12px; background: transparent; }
QScrollBar::handle { background: %strong; border: 3px solid transparent; border-radius: 6px; }
QScrollBar::handle:vertical { min-height: 28px; border: none; margin: 2px 3px; border-radius: 3px; }
QScrollBar::handle:horizontal { min-width: 28px; border: none; margin: 3px 2px; border-radius: 3px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: %line; }
QSlider::sub-page:horizontal { background: %accent; border-radius: 2px; }
QSlider::sub-page:horizontal:disabled { background: %line; }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -6px 0; border-radius: 8px; background: %panel; border: 1px solid %strong; }
QSlider::handle:horizontal:focus { border: 2px solid %accent; }
QSlider::handle:horizontal:disabled { border-color: %line; }
QProgressBar { border: none; border-radius: 3px; background: %line; max-height: 6px; text-align: center; }
QProgressBar::chunk { border-radius: 3px; background: %accent; }
)");
  const std::initializer_list<std::pair<const char*, QColor>> colors = {
      {"%on-accent", accentText()},
      {"%accent", accent()},
      {"%warning", warning()},
      {"%window", window()},
      {"%panel", panel()},
      {"%strong", isDark() ? QColor(0x4a5561) : QColor(0xb4bcc5)},
      {"%muted", mutedText()},
      {"%grid", grid()},
      {"%line", line()},
      {"%text", text()},
      {"%off", palette().color(QPalette::Disabled, QPalette::Text)},
      {"%button", palette().color(QPalette::Button)}};
  sheet.replace(QLatin1String("%kind"), isDark() ? QStringLiteral("dark") : QStringLiteral("light"));
  for (const auto& [name, color] : colors) sheet.replace(QLatin1String(name), color.name());
  return sheet;
}

void Theme::applyTo(QApplication& application) const {
  loadFonts();
  initialiseThemeResource();
  application.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  application.setPalette(palette());
  application.setFont(font());
  application.setStyleSheet(styleSheet());
}

}  // namespace mambarium
