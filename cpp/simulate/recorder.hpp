// What happens, written down so that it can happen again under other costs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cost.hpp"
#include "room.hpp"
#include "workload.hpp"

namespace hockney {

// Writes down what another sink sees, but where nobody waits: for a message that is its sender's no more once
// it is sent, and that its receiver need not have asked for.
template <class Sink>
class Recorder : public Sink {
  public:
    template <class... OfSink>
    Recorder(std::vector<Event>& events, Room& room, const CostCurves& curves, const Sizes& sizes,
             OfSink&&... of_sink)
        : Sink(std::forward<OfSink>(of_sink)...),
          events_(events),
          room_(room),
          curves_(curves),
          sizes_(sizes),
          // Who sends by streams remembers when it last waited.
          has_streams_(cost_anything(curves, Term::behind)) {}

    void take(const Event* events, std::size_t count) {
        const bool is_end = events->op == Op::post || events->op == Op::sent;
        const bool nobody_waits = (is_end || events->op == Op::send) && is_buffered(*events);
        if (!is_end || !nobody_waits) {
            room_.reserve_next(events_, count);
            events_.insert(events_.end(), events, events + count);
            if (nobody_waits) events_.back().is_first = events_.back().is_buffered = true;
        }
        Sink::take(events, count);
    }

  private:
    bool is_buffered(const Event& event) {
        const std::size_t place = event.size * curves_.message.size() + event.locality;
        if (place >= buffered_.size()) buffered_.resize(place + 1, unknown);
        if (buffered_[place] == unknown) {
            const std::vector<Curve>& terms = curves_.message[event.locality];
            const double handshake_s =
                terms[static_cast<std::size_t>(Term::handshake)].at(sizes_.all()[event.size]);
            buffered_[place] = !has_streams_ && handshake_s == buffered ? 1 : 0;
        }
        return buffered_[place] == 1;
    }

    static constexpr std::int8_t unknown = -1;
    std::vector<Event>& events_;
    Room& room_;
    const CostCurves& curves_;
    const Sizes& sizes_;
    bool has_streams_;
    std::vector<std::int8_t> buffered_;  // by size and locality
};

}  // namespace hockney
