#include "program.hpp"

#include <algorithm>
#include <string>

#include "uneven.hpp"
#include "workload.hpp"

namespace hockney {

std::uint32_t Sizes::index(Bytes size_B) {
    if (latest_ < size_B_.size() && size_B_[latest_] == size_B) return latest_;
    const auto known = index_.try_emplace(size_B, static_cast<std::uint32_t>(size_B_.size()));
    latest_ = known.second ? add(size_B) : known.first->second;
    return latest_;
}

std::uint32_t Sizes::index(Bytes size_B, const Terms& terms) {
    if (terms.are_usual()) return index(size_B);
    const auto known =
        unusual_index_.try_emplace({size_B, terms}, static_cast<std::uint32_t>(size_B_.size()));
    if (known.second) unusual_[add(size_B)] = terms;
    return known.first->second;
}

std::uint32_t Sizes::add(Bytes size_B) {
    if (size_B_.size() > most_sizes)
        throw TooLarge("messages have more than " + std::to_string(most_sizes) +
                       " different sizes\nround sizes to fewer, or leave out ranks or messages");
    size_B_.push_back(size_B);
    return static_cast<std::uint32_t>(size_B_.size() - 1);
}

void Writer::begin(std::vector<Act>& acts, Uneven* uneven) {
    acts.clear();
    acts_ = &acts;
    uneven_ = uneven;
    steps_.clear();
    awaited_ = 0;
    latest_ = {};
    goes_back_ = false;
}

void Writer::take(Kind kind, int peer, int tag, const Region& region, const Steps& after) {
    await(after);
    const auto i = static_cast<std::uint32_t>(steps_.size());
    const std::uint32_t size = uneven_ != nullptr ? uneven_->index(region) : sizes_.index(region.length_B);
    Op waiting = Op::finish;
    switch (kind) {
        case Kind::send:
            acts_->emplace_back(peer, tag, i, size, Op::send);
            if (rendezvous_) waiting = Op::sent;
            break;
        case Kind::receive:
            if (rendezvous_) acts_->emplace_back(peer, tag, i, size, Op::post);
            waiting = Op::receive;
            break;
        case Kind::copy:
            acts_->emplace_back(peer, tag, i, size, Op::copy);
            break;
        case Kind::reduce:
            acts_->emplace_back(peer, tag, i, size, Op::reduce);
    }
    steps_.emplace_back(peer, tag, i, size, waiting);
}

void Writer::work(Bytes ticks, const Steps& after) {
    await(after);
    const auto i = static_cast<std::uint32_t>(steps_.size());
    const std::uint32_t size = sizes_.index(1);
    acts_->emplace_back(ticks, i, size);
    steps_.emplace_back(-1, 0, i, size, Op::finish);
}

void Writer::take(const RankSchedule& schedule) {
    for (const Step& step : schedule.steps)
        take(step.kind, step.peer, step.tag, step.kind == Kind::send ? step.from : step.into, step.after);
}

void Writer::end() {
    looked_ += steps_.size();
    std::size_t last = SIZE_MAX;
    for (Act& step : steps_) last = await(step, Op::receive, last);
    for (Act& step : steps_) await(step, Op::sent, SIZE_MAX);
    if (goes_back_) mark_overtaken();
}

void Writer::await(const Steps& after) {
    if (after.is_copy_of(latest_)) return;
    latest_ = after;
    looked_ += static_cast<std::size_t>(after.end() - after.begin());
    std::size_t last = SIZE_MAX;
    for (const int before : after)
        if (before >= 0) last = await(steps_[static_cast<std::size_t>(before)], Op::receive, last);
    if (!rendezvous_) return;
    for (const int before : after)
        if (before >= 0) await(steps_[static_cast<std::size_t>(before)], Op::sent, SIZE_MAX);
}

// `last`: the receive so far that ends the group, SIZE_MAX before the first.
std::size_t Writer::await(Act& step, Op op, std::size_t last) {
    if (step.op != op) return last;
    if (last != SIZE_MAX) (*acts_)[last].is_last = false;
    acts_->push_back(step);
    step.op = Op::finish;
    if (op == Op::receive) {
        goes_back_ = goes_back_ || step.step < awaited_;
        awaited_ = std::max(awaited_, step.step);
    }
    return acts_->size() - 1;
}

// Receives that are waited for together do not overtake one another.
void Writer::mark_overtaken() {
    std::uint32_t before = 0, through = 0;  // the last receive of the list in earlier groups, and in this one
    bool is_disordered = false;
    for (Act& act : *acts_) {
        if (act.op != Op::receive) continue;
        act.is_overtaken = act.step < before;
        is_disordered = is_disordered || act.is_overtaken;
        through = std::max(through, act.step);
        if (act.is_last) before = through;
    }
    for (Act& act : *acts_) act.is_disordered = is_disordered;
}

void as_usual(const Sizes& sizes, const Costs& costs, const CostCurves& curves, std::vector<double>& counts) {
    for (std::size_t size = 0; size < costs.sizes(); ++size) {
        const Terms terms = sizes.terms(size);
        if (terms.are_usual()) continue;
        const auto first = counts.begin() + static_cast<std::ptrdiff_t>(costs.entry(size, 0));
        std::for_each(first, first + static_cast<std::ptrdiff_t>(costs.row()),
                      [&](double& count) { count *= terms.factor; });
        for (std::size_t locality = 0; terms.is_synchronous && locality < curves.message.size(); ++locality) {
            const auto handshake = static_cast<std::size_t>(Term::handshake);
            if (curves.message[locality][handshake].at(sizes.all()[size]) >= 0) continue;
            // It is a message without data: sizes begin with 0.
            double& count = counts[costs.entry(size, locality) + handshake];
            counts[costs.entry(0, locality) + static_cast<std::size_t>(Term::transfer)] += count;
            count = 0;
        }
    }
}

}  // namespace hockney
