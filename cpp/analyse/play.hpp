// Plays a schedule step by step under rendezvous semantics, without time.
#pragma once

#include <functional>
#include <vector>

#include "../schedule/schedule.hpp"

namespace hockney {

struct Stuck {
    int rank;
    std::size_t step;
    bool started;  // a message that nobody takes or sends; otherwise a step that can never start
};

class Player {
  public:
    explicit Player(const Schedule& schedule) : schedule_(schedule) {}

    // Called when a step starts; copies and reductions are complete at once.
    std::function<void(int rank, std::size_t step)> on_start;
    // Called when a message moves.
    std::function<void(int from, std::size_t send, int to, std::size_t receive)> on_message;

    // Returns what never completes: empty where there is no deadlock.
    std::vector<Stuck> play();

  private:
    const Schedule& schedule_;
};

}  // namespace hockney
