// Planning and running. The plan follows the listed order: before a step starts, what it depends on is waited
// for. That order is free of deadlock, because the verifier plays schedules in just this way
// (analyse/play.cpp).
#include "program.hpp"

#include <algorithm>
#include <cstring>

namespace hockney {

Program::Program(const RankSchedule& schedule, MPI_Comm comm, MPI_Datatype element, int most)
    : comm_(comm), element_(element), most_(most) {
    MPI_Aint lower_bound = 0;
    MPI_Type_get_extent(element, &lower_bound, &element_B_);
    int* upper_bound = nullptr;
    int found = 0;
    MPI_Comm_get_attr(comm, MPI_TAG_UB, &upper_bound, &found);
    largest_tag_ = found != 0 ? *upper_bound : 32767;  // what the standard guarantees
    plan(schedule);
    join_starts_and_waits();
    join_exchanges();
}

Bytes Program::held_B() const {
    constexpr std::size_t node_B = sizeof(Payload) + 8 * sizeof(void*);  // of the map, and what it points to
    return static_cast<Bytes>(instructions_.capacity() * sizeof(Instruction) +
                              requests_.capacity() * sizeof(MPI_Request) + payloads_.size() * node_B);
}

const Payload& Program::payload(Bytes length_B) {
    auto& known = payloads_[length_B];
    if (!known) known = std::make_unique<Payload>(static_cast<std::size_t>(length_B));
    return *known;
}

Program::End Program::end_of(const Step& step, Bytes length_B) {
    // Tags repeat after very many messages between two ranks; MPI keeps messages of one tag in order.
    const int tag = largest_tag_ == 0 ? 0 : step.tag % largest_tag_;
    return {step.peer, tag, payload(length_B).count(), payload(length_B).type()};
}

void Program::start(const Step& step, std::size_t request) {
    Instruction made{};
    made.request = request;
    made.from_memory = static_cast<std::uint8_t>(step.from.memory);
    made.into_memory = static_cast<std::uint8_t>(step.into.memory);
    made.from_B = static_cast<std::size_t>(step.from.offset_B);
    made.into_B = static_cast<std::size_t>(step.into.offset_B);
    made.length_B = static_cast<std::size_t>(step.into.length_B);
    switch (step.kind) {
        case Kind::send:
            made.op = Op::isend;
            made.to = end_of(step, step.from.length_B);
            break;
        case Kind::receive:
            made.op = Op::irecv;
            made.from = end_of(step, step.into.length_B);
            break;
        case Kind::copy:
            made.op = Op::copy;
            break;
        case Kind::reduce:
            made.op = Op::reduce;
            return reduce(made, step.into.length_B);
    }
    instructions_.push_back(made);
}

void Program::reduce(Instruction next, Bytes length_B) {
    for (Bytes left = length_B / element_B_; left > 0; left -= next.count) {
        next.count = static_cast<int>(std::min<Bytes>(left, most_));
        instructions_.push_back(next);
        const auto done_B = static_cast<std::size_t>(next.count) * static_cast<std::size_t>(element_B_);
        next.from_B += done_B;
        next.into_B += done_B;
    }
}

void Program::wait_for(const std::vector<std::size_t>& requests) {
    if (requests.empty()) return;
    const auto [first, last] = std::minmax_element(requests.begin(), requests.end());
    const std::size_t span = *last - *first + 1;
    Instruction made{};
    // One call for many requests; a call each where they lie among others that must not be waited for yet.
    if (requests.size() > 2 && span == requests.size()) {
        made.op = Op::wait_all;
        made.request = *first;
        made.count = static_cast<int>(span);
        instructions_.push_back(made);
        return;
    }
    // The latest start is waited for first: then the two can become one blocking call.
    std::vector<std::size_t> latest_first(requests);
    std::sort(latest_first.rbegin(), latest_first.rend());
    for (const std::size_t request : latest_first) {
        made.op = Op::wait;
        made.request = request;
        instructions_.push_back(made);
    }
}

void Program::plan(const RankSchedule& schedule) {
    std::vector<std::size_t> request_of(schedule.steps.size());
    std::vector<char> pending(schedule.steps.size(), 0);
    const auto wait_for_steps = [&](std::vector<std::size_t> steps) {
        steps.erase(
            std::remove_if(steps.begin(), steps.end(), [&](std::size_t s) { return pending[s] == 0; }),
            steps.end());
        std::sort(steps.begin(), steps.end());
        steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
        std::vector<std::size_t> requests;
        for (const std::size_t step : steps) {
            requests.push_back(request_of[step]);
            pending[step] = 0;
        }
        wait_for(requests);
    };
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        wait_for_steps(std::vector<std::size_t>(step.after.begin(), step.after.end()));
        request_of[i] = requests_.size();
        start(step, requests_.size());
        if (step.kind != Kind::send && step.kind != Kind::receive) continue;
        requests_.push_back(MPI_REQUEST_NULL);
        pending[i] = 1;
        all.push_back(i);
    }
    wait_for_steps(all);
}

// A start whose wait follows at once is a blocking call, which libraries do with less.
void Program::join_starts_and_waits() {
    std::vector<Instruction> joined;
    for (const Instruction& next : instructions_) {
        if (next.op == Op::wait && !joined.empty() && joined.back().request == next.request) {
            Instruction& before = joined.back();
            if (before.op == Op::isend || before.op == Op::irecv) {
                before.op = before.op == Op::isend ? Op::send : Op::receive;
                continue;
            }
        }
        joined.push_back(next);
    }
    instructions_ = std::move(joined);
}

// A receive, a blocking send, and the wait for the receive: MPI_Sendrecv.
void Program::join_exchanges() {
    std::vector<Instruction> joined;
    for (const Instruction& next : instructions_) {
        const std::size_t n = joined.size();
        if (next.op == Op::wait && n >= 2 && joined[n - 2].op == Op::irecv && joined[n - 1].op == Op::send &&
            joined[n - 2].request == next.request) {
            Instruction exchange = joined[n - 1];
            exchange.op = Op::exchange;
            exchange.from = joined[n - 2].from;
            exchange.into_memory = joined[n - 2].into_memory;
            exchange.into_B = joined[n - 2].into_B;
            joined.resize(n - 2);
            joined.push_back(exchange);
            continue;
        }
        joined.push_back(next);
    }
    instructions_ = std::move(joined);
}

int Program::run(std::byte* input, std::byte* output, std::byte* scratch, MPI_Datatype element, MPI_Op op) {
    std::byte* const memories[3] = {input, output, scratch};
    int first = MPI_SUCCESS;
    for (const Instruction& i : instructions_) {
        std::byte* const from = memories[i.from_memory] + i.from_B;
        std::byte* const into = memories[i.into_memory] + i.into_B;
        int code = MPI_SUCCESS;
        switch (i.op) {
            case Op::isend:
                code =
                    MPI_Isend(from, i.to.count, i.to.type, i.to.peer, i.to.tag, comm_, &requests_[i.request]);
                break;
            case Op::irecv:
                code = MPI_Irecv(into, i.from.count, i.from.type, i.from.peer, i.from.tag, comm_,
                                 &requests_[i.request]);
                break;
            case Op::send:
                code = MPI_Send(from, i.to.count, i.to.type, i.to.peer, i.to.tag, comm_);
                break;
            case Op::receive:
                code = MPI_Recv(into, i.from.count, i.from.type, i.from.peer, i.from.tag, comm_,
                                MPI_STATUS_IGNORE);
                break;
            case Op::exchange:
                code = MPI_Sendrecv(from, i.to.count, i.to.type, i.to.peer, i.to.tag, into, i.from.count,
                                    i.from.type, i.from.peer, i.from.tag, comm_, MPI_STATUS_IGNORE);
                break;
            case Op::wait:
                code = MPI_Wait(&requests_[i.request], MPI_STATUS_IGNORE);
                break;
            case Op::wait_all:
                code = MPI_Waitall(i.count, &requests_[i.request], MPI_STATUSES_IGNORE);
                break;
            case Op::copy:
                std::memcpy(into, from, i.length_B);
                break;
            case Op::reduce:
                code = MPI_Reduce_local(from, into, i.count, element, op);
                break;
        }
        if (first == MPI_SUCCESS) first = code;
    }
    return first;
}

}  // namespace hockney
