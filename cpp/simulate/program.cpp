#include "program.hpp"

#include <stdexcept>

namespace hockney {

std::uint16_t Sizes::index(Bytes size_B) {
    if (latest_ < size_B_.size() && size_B_[latest_] == size_B) return static_cast<std::uint16_t>(latest_);
    for (latest_ = 0; latest_ < size_B_.size(); ++latest_)
        if (size_B_[latest_] == size_B) return static_cast<std::uint16_t>(latest_);
    if (latest_ > UINT16_MAX) throw std::length_error("more than 65536 different message sizes");
    size_B_.push_back(size_B);
    return static_cast<std::uint16_t>(latest_);
}

namespace {

class Writer {
  public:
    Writer(const RankSchedule& schedule, bool rendezvous, Sizes& sizes, std::vector<Act>& acts)
        : steps_(schedule.steps), rendezvous_(rendezvous), sizes_(sizes), acts_(acts) {
        static thread_local std::vector<char> done;
        done_ = &done;
        done.assign(steps_.size(), 0);
    }

    void write() {
        for (std::uint32_t i = 0; i < steps_.size(); ++i) {
            wait(steps_[i].after);
            if (steps_[i].kind == Kind::send) add(Op::send, i);
            if (steps_[i].kind == Kind::copy) add(Op::copy, i);
            if (steps_[i].kind == Kind::reduce) add(Op::reduce, i);
            if (steps_[i].kind == Kind::receive && rendezvous_) add(Op::post, i);
        }
        std::size_t last = SIZE_MAX;
        for (std::uint32_t i = 0; i < steps_.size(); ++i) last = await(i, Kind::receive, last);
        for (std::uint32_t i = 0; rendezvous_ && i < steps_.size(); ++i) await(i, Kind::send, SIZE_MAX);
    }

  private:
    template <class Steps>
    void wait(const Steps& steps) {
        std::size_t last = SIZE_MAX;
        for (const int before : steps) last = await(static_cast<std::uint32_t>(before), Kind::receive, last);
        if (!rendezvous_) return;
        for (const int before : steps) await(static_cast<std::uint32_t>(before), Kind::send, SIZE_MAX);
    }

    // `last`: the receive so far that ends the group, SIZE_MAX before the first.
    std::size_t await(std::uint32_t step, Kind kind, std::size_t last) {
        if (steps_[step].kind != kind || (*done_)[step] != 0) return last;
        (*done_)[step] = 1;
        if (last != SIZE_MAX) acts_[last].is_last = false;
        add(kind == Kind::send ? Op::sent : Op::receive, step);
        return acts_.size() - 1;
    }

    void add(Op op, std::uint32_t i) {
        const Step& step = steps_[i];
        const Bytes length_B = step.kind == Kind::send ? step.from.length_B : step.into.length_B;
        acts_.push_back({step.peer, step.tag, i, sizes_.index(length_B), op, true});
    }

    const std::vector<Step>& steps_;
    bool rendezvous_;
    Sizes& sizes_;
    std::vector<Act>& acts_;
    std::vector<char>* done_;
};

}  // namespace

void program_of(const RankSchedule& schedule, bool rendezvous, Sizes& sizes, std::vector<Act>& acts) {
    acts.clear();
    Writer(schedule, rendezvous, sizes, acts).write();
}

}  // namespace hockney
