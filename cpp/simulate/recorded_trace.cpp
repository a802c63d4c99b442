// What happens, written down once and gone through again under other costs.
#include <algorithm>
#include <stdexcept>

#include "phases.hpp"
#include "rounds.hpp"

namespace hockney {
namespace {

// Writes down what happens, but where nobody waits: for a message that is its sender's no more once it is
// sent, and that its receiver need not have asked for.
class Recorder : public Stream<Plain> {
  public:
    Recorder(std::vector<Event>& events, Room& room, const CostCurves& curves, const Sizes& sizes,
             const Stream<Plain>& stream)
        : Stream<Plain>(stream),
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
        Stream<Plain>::take(events, count);
    }

  private:
    bool is_buffered(const Event& event) {
        if (has_streams_) return false;
        const std::size_t place = event.size * curves_.message.size() + event.locality;
        for (std::size_t size = buffered_.size() / curves_.message.size(); place >= buffered_.size(); ++size)
            for (const std::vector<Curve>& terms : curves_.message)
                buffered_.push_back(terms[static_cast<std::size_t>(Term::handshake)].at(sizes_.all()[size]) ==
                                    buffered);
        return buffered_[place];
    }

    std::vector<Event>& events_;
    Room& room_;
    const CostCurves& curves_;
    const Sizes& sizes_;
    bool has_streams_;
    std::vector<bool> buffered_;  // by size and locality
};

}  // namespace

RecordedTrace::RecordedTrace(const std::vector<Phase>& phases, const CostCurves& curves, Domains domains,
                             Network network)
    : ranks_(static_cast<std::size_t>(phases.front().problem.ranks)),
      phases_(phases.size()),
      localities_(domains.localities()),
      rendezvous_(has_rendezvous(curves)),
      network_(std::move(network)) {
    Programs programs(phases, curves, sizes_, rendezvous_);
    Workload work = workload(phases, programs, curves, sizes_, rendezvous_, true, false);
    work.domains = std::move(domains);
    Room room(most_held_B);
    const bool is_shared = has_sharing(curves, network_);
    if (is_shared) sizes_.index(0);
    Costs costs(localities_);
    Recorder recorder(events_, room, curves, sizes_,
                      {curves, costs, sizes_, ranks_, phases_, rendezvous_, room});
    if (!network_.node_of_rank.empty()) recorder.share(network_);
    is_shared ? take_all<true>(work, recorder, room) : take_all<false>(work, recorder, room);
    events_.shrink_to_fit();
    for (const Event& event : events_)
        if (event.op != Op::work) slots_ = std::max(slots_, static_cast<std::size_t>(event.slot + 1));
}

template <class Time>
void RecordedTrace::play(Evaluator<Time>& evaluator) const {
    if (!network_.node_of_rank.empty()) evaluator.share(network_);
    evaluator.hold(slots_);
    const std::invalid_argument changed(
        "messages that share links, or wait for their receiver, must stay so");
    std::size_t under_way = 0;
    for (std::size_t i = 0; i < events_.size();) {
        const Event& event = events_[i];
        std::size_t end = i + 1;
        while (!events_[end - 1].is_last) ++end;
        if (event.op == Op::enter && (under_way-- == 0 || !evaluator.flows(event))) throw changed;
        if (event.op == Op::send &&
            (event.is_buffered ? evaluator.is_held(event) : !rendezvous_ && evaluator.meets(event)))
            throw changed;
        evaluator.take(&event, end - i);
        under_way += evaluator.departures().size();
        i = end;
    }
    if (under_way > 0) throw changed;
}

std::vector<double> RecordedTrace::finish_s(std::vector<double> table_s) const {
    Costs costs(localities_, std::move(table_s));
    costs.size_B = sizes_.all();
    Room room(most_held_B);
    Evaluator<Plain> evaluator(ranks_, phases_, costs, rendezvous_, room);
    play(evaluator);
    std::vector<double> times_s;
    for (const Plain& time : evaluator.finish()) times_s.push_back(time.s);
    return times_s;
}

std::vector<double> RecordedTrace::gradient(std::vector<double> table_s, const Weigh& weigh) const {
    Costs costs(localities_, std::move(table_s));
    costs.size_B = sizes_.all();
    Room room(most_held_B);
    Evaluator<Traced> evaluator(ranks_, phases_, costs, rendezvous_, room);
    play(evaluator);
    std::vector<double> finish_s, weight(evaluator.trace().size()), counts(costs.time_s.size());
    for (const Traced& time : evaluator.finish()) finish_s.push_back(time.s);
    const std::vector<double> weights = weigh(std::move(finish_s));
    for (std::size_t i = 0; i < weights.size(); ++i)
        if (const std::int32_t node = evaluator.finish()[i].node; node >= 0)
            weight[static_cast<std::size_t>(node)] += weights[i];
    trace_back(evaluator.trace(), weight, counts);
    return counts;
}

}  // namespace hockney
