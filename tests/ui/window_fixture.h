// A window on a session on the fake worker, ready for clicks and keys.
#pragma once

#include <QApplication>
#include <QCursor>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QTest>
#include <memory>

#include "fake_machine.h"
#include "session_fixture.h"
#include "ui/main_window.h"
#include "ui/notice_area.h"
#include "ui/panel_area.h"
#include "ui/session/application_settings.h"
#include "ui/transport_bar.h"

namespace mambarium {

class WindowFixture {
 public:
  // On the fake worker. As after earlier starts (no hint) unless `first_start`.
  explicit WindowFixture(const QString& worker_options = {}, bool first_start = false)
      : WindowFixture(Command{}, {}, worker_options, first_start) {}
  static WindowFixture onCommand(const QString& command) { return WindowFixture(Command{}, command, {}, false); }
  ~WindowFixture() { close(); }

  void open() {
    session = std::make_unique<Session>();
    const auto settings = openSettings();
    session->restore(*settings);
    window = std::make_unique<MainWindow>(*session);
    window->restore(*settings);
    window->resize(1280, 800);
    QCursor::setPos(0, 0);  // on no panel, whose caption would take the sentence's place
    window->show();
    QVERIFY(QTest::qWaitForWindowExposed(window.get()));
    QApplication::setActiveWindow(window.get());
  }
  void close() {
    if (window) window->close();
    window.reset();
    session.reset();
  }
  void reopen() {
    close();
    open();
  }

  Run* run() const { return session->runs().current(); }
  QPushButton* play() const { return window->transport().playButton(); }
  template <class Widget>
  Widget* child(const char* name) const {
    return window->findChild<Widget*>(QLatin1String(name));
  }
  QString sentence() const { return child<QLabel>("sentence")->text(); }
  void click(QWidget* widget) const { QTest::mouseClick(widget, Qt::LeftButton); }
  void set(std::string_view key, const PropertyValue& value) const { session->draft().edit(key, value); }
  // A run small enough for a test and large enough to learn something.
  void makeSmall(std::int64_t steps) const {
    set("task.length", std::int64_t{64});
    set("training.batch", std::int64_t{32});
    set("training.steps", steps);
    set("training.eval_every", std::int64_t{25});
    set("training.checkpoint_every", std::int64_t{50});
  }
  std::vector<NoticeBar*> notices() const { return window->notices().bars(); }
  QPushButton* noticeButton(const QString& text) const {
    for (const NoticeBar* const bar : notices()) {
      for (QPushButton* const button : bar->findChildren<QPushButton*>()) {
        if (button->text() == text) return button;
      }
    }
    return nullptr;
  }

  FakeMachine machine;
  std::unique_ptr<Session> session;
  std::unique_ptr<MainWindow> window;

 private:
  struct Command {};
  WindowFixture(Command, const QString& command, const QString& worker_options, bool first_start) {
    Machine used = machine.machine(worker_options);
    if (!command.isEmpty()) used.command = command;
    const auto settings = openSettings();
    saveMachines(*settings, {{used}, 0});
    settings->setValue(QStringLiteral("window/hint-shown"), !first_start);
    open();
  }
};

}  // namespace mambarium
