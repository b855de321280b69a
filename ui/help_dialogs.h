// The help menu's windows: what this program is, its keys, and the first five minutes. All of them are read, none asks.
#pragma once

#include <QAction>
#include <QDialog>
#include <QList>

namespace mambarium {

QDialog* makeAboutDialog(QWidget* parent);
QDialog* makeShortcutsDialog(const QList<QAction*>& actions, QWidget* parent);
QDialog* makeFirstStepsDialog(QWidget* parent);

}  // namespace mambarium
