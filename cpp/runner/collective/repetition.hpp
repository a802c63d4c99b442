// One repetition of a collective after another, each from a start that its ranks agree on.
#pragma once

#include <cstddef>
#include <random>

#include "group.hpp"
#include "ready.hpp"

namespace hockney {

// A rank's entry into one repetition and its exit, on its own clock.
struct EntryExit {
    double entry_s, exit_s;
    bool late, preempted;
    int root;
};

// Runs one repetition after another on this rank. `group`: the ranks that start together; those of the call
// are some of them, or all.
class RepetitionLoop {
  public:
    RepetitionLoop(const ReadyCall& ready, const Group& group, bool windows);

    EntryExit once();

    // Sets the slack by what an agreement costs here.
    void gauge();
    // Seconds from the latest arrival to the start, within limits.
    void set_slack(double slack_s);
    double slack_s() const { return slack_s_; }

  private:
    // The local time at which all start: a little after the latest arrival.
    double agree_on_start();

    const ReadyCall& ready_;
    const Group& group_;
    bool windows_;
    std::minstd_rand random_;
    double slack_s_;
    std::size_t next_ = 0;
};

}  // namespace hockney
