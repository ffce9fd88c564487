// Provisional: a value of a dialogue that a request has changed before its pass is committed.
//
// Requests behind that one already see the new value. If the commit fails, they fail with it, and the
// value is again what it was. A pass that is executed again is another matter: then the whole state of
// the dialogue returns, see Dialogue::undo_changes(). Belongs to the dialogue and its thread.
#pragma once

#include <optional>
#include <utility>

namespace hs::passes {

template <class T>
class Provisional {
 public:
  const T& get() const { return value_; }
  // Of a request whose reply waits for no commit.
  void set(T value) {
    value_ = std::move(value);
    before_.reset();
  }
  // Of one whose reply waits for the commit.
  void set_until_commit(T value) {
    if (!before_) before_ = std::move(value_);
    value_ = std::move(value);
  }
  void note_committed() { before_.reset(); }
  void note_failed() {
    if (before_) value_ = *std::exchange(before_, {});
  }

 private:
  T value_{};
  std::optional<T> before_;
};

}  // namespace hs::passes
