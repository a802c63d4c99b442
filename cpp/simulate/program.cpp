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

void Writer::begin(std::vector<Act>& acts) {
    acts.clear();
    acts_ = &acts;
    steps_.clear();
}

void Writer::take(Kind kind, int peer, int tag, Bytes length_B, const Steps& after) {
    std::size_t last = SIZE_MAX;
    for (const int before : after)
        if (before >= 0) last = await(steps_[static_cast<std::size_t>(before)], Op::receive, last);
    if (rendezvous_) {
        for (const int before : after)
            if (before >= 0) await(steps_[static_cast<std::size_t>(before)], Op::sent, SIZE_MAX);
    }
    Act act{peer, tag, static_cast<std::uint32_t>(steps_.size()), sizes_.index(length_B), Op::send};
    bool is_over = false;
    switch (kind) {
        case Kind::send:
            acts_->push_back(act);
            act.op = Op::sent;
            is_over = !rendezvous_;
            break;
        case Kind::receive:
            act.op = Op::post;
            if (rendezvous_) acts_->push_back(act);
            act.op = Op::receive;
            break;
        case Kind::copy:
        case Kind::reduce:
            act.op = kind == Kind::copy ? Op::copy : Op::reduce;
            acts_->push_back(act);
            is_over = true;
    }
    steps_.push_back({act, is_over});
}

void Writer::take(const RankSchedule& schedule) {
    for (const Step& step : schedule.steps)
        take(step.kind, step.peer, step.tag,
             step.kind == Kind::send ? step.from.length_B : step.into.length_B, step.after);
}

void Writer::end() {
    std::size_t last = SIZE_MAX;
    for (Waiting& step : steps_) last = await(step, Op::receive, last);
    for (Waiting& step : steps_) await(step, Op::sent, SIZE_MAX);
}

// `last`: the receive so far that ends the group, SIZE_MAX before the first.
std::size_t Writer::await(Waiting& step, Op op, std::size_t last) {
    if (step.is_over || step.act.op != op) return last;
    step.is_over = true;
    if (last != SIZE_MAX) (*acts_)[last].is_last = false;
    acts_->push_back(step.act);
    return acts_->size() - 1;
}

}  // namespace hockney
