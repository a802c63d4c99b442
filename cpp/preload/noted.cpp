#include "noted.hpp"

#include "noted_groups.hpp"

namespace hockney {
namespace {

// Of the one call that is written. Never destroyed: programs may call MPI until the very end.
auto& kept_handles = *new std::vector<MPI_Request>;
auto& own_statuses = *new std::vector<MPI_Status>;

bool is_rooted(trace::Operation operation) {
    return operation <= trace::reduce || operation == trace::gatherv || operation == trace::scatterv;
}

}  // namespace

std::vector<MPI_Request>& Completes::handles() { return kept_handles; }

void Completes::keep(const trace::Visit& visit, int count, MPI_Request* requests, MPI_Status** statuses,
                     int of_them) {
    if (!visit.is_traced()) return;
    kept_handles.assign(requests, requests + std::max(0, count));
    requests_ = requests;
    // MPI_STATUSES_IGNORE may be another address.
    const bool is_ignored = *statuses == MPI_STATUS_IGNORE || *statuses == MPI_STATUSES_IGNORE;
    if (is_ignored && trace::requests().need_status()) {
        own_statuses.resize(static_cast<std::size_t>(std::max(1, of_them)));
        *statuses = own_statuses.data();
    }
    statuses_ = *statuses;
}

void Completes::write_completed(const trace::Visit& visit, int count, const int* indices) const {
    struct Completed {
        trace::Request request;
        int source, tag;
    };
    static auto &completed = *new std::vector<Completed>, &cancelled = *new std::vector<Completed>;
    completed.clear();
    cancelled.clear();
    for (int i = 0; i < count; ++i) {
        const int at = indices != nullptr ? indices[i] : i;
        Completed one{};
        const MPI_Request handle = kept_handles[static_cast<std::size_t>(at)];
        if (handle == MPI_REQUEST_NULL || !trace::requests().take(handle, requests_ + at, one.request))
            continue;
        const trace::Request& request = one.request;
        if (request.duplicate != nullptr && *request.duplicate != MPI_COMM_NULL)
            Channel::of(*request.duplicate).traced.number = request.duplicate_number;
        if (request.number < 0) continue;
        int is_cancelled = 0;
        if (request.is_cancelled) PMPI_Test_cancelled(statuses_ + i, &is_cancelled);
        if (request.wild != 0) {
            one.source = statuses_[i].MPI_SOURCE;
            one.tag = statuses_[i].MPI_TAG;
        }
        auto& over = is_cancelled != 0 ? cancelled : completed;
        over.push_back(one);
        if (request.also >= 0) over.push_back({{request.also}, 0, 0});
    }
    // Of a test that found nothing to complete.
    if (flag_ != nullptr && completed.empty() && cancelled.empty()) return visit.skip();
    const std::int64_t latest = trace::requests().latest();
    {
        trace::Event event(trace::wait, visit, 1 + 3 * completed.size());
        event.add(completed.size());
        for (const Completed& one : completed) {
            event.add(latest - one.request.number);
            if (one.request.wild != 0) event.add(one.source, trace::Signed{one.tag});
        }
    }
    for (const Completed& one : cancelled)
        trace::Event(trace::dropped, visit).add(latest - one.request.number, trace::Dropped::cancelled);
}

void Starts::count(Watched&, const char*, const trace::Visit& visit, int) const {
    // Each has its part of the time.
    const double end_s = visit.start_s() + (visit.end_s() - visit.start_s()) / std::max(1, starts);
    for (int i = 0; i < starts; ++i)
        if (const auto started = trace::persistent_requests().find(requests[i]))
            started->watched->add(started->operation, visit.site(), started->bytes, -1, false,
                                  visit.start_s(), end_s);
}

void Starts::write(const trace::Visit& visit) const {
    static auto& started = *new std::vector<std::int64_t>;
    started.clear();
    bool is_named = false;
    for (int i = 0; i < starts; ++i) {
        const auto found = trace::persistent_requests().find(requests[i]);
        is_named |= !found;
        if (!found) continue;
        begin_request(requests + i, found->number >= 0, found->wild);
        if (found->number >= 0) started.push_back(found->number);
    }
    // Those of persistent collectives have a name alone.
    if (started.empty()) return is_named ? write_other(visit) : visit.skip();
    trace::Event event(trace::start, visit, 1 + started.size());
    event.add(started.size());
    for (const std::int64_t number : started) event.add(number);
}

FreesRequest::FreesRequest(const trace::Visit& visit, MPI_Request* request)
    : place(request), handle(*request) {
    // Before another thread may get the same handle.
    trace::persistent_requests().remove(handle);
    if (!visit.is_traced() || !trace::requests().is_cancelled(handle)) return;
    // Nobody else asks whether the cancel succeeded.
    MPI_Status status;
    int is_over = 0;
    PMPI_Request_get_status(handle, &is_over, &status);
    if (is_over != 0) PMPI_Test_cancelled(&status, &is_cancelled);
}

void FreesRequest::write(const trace::Visit& visit) const {
    trace::Request request;
    if (!trace::requests().take(handle, place, request) || request.number < 0) return visit.skip();
    const trace::Dropped why = is_cancelled != 0 ? trace::cancelled : trace::request_freed;
    for (const std::int64_t number : {request.number, request.also})
        if (number >= 0) trace::Event(trace::dropped, visit).add(trace::requests().latest() - number, why);
}

void Group::write(const trace::Visit& visit) const {
    const std::int64_t on = number(visit);
    if (request != nullptr) begin_request(request, on >= 0);
    if (on < 0) return;
    int at_root = is_rooted(operation) ? std::max(0, root) : 0,
        flags = request != nullptr ? trace::non_blocking : 0;
    // Nobody, this one, another of its group, or one of the other group.
    if (is_inter() && is_rooted(operation))
        at_root = root == MPI_ROOT ? 1 : root == MPI_PROC_NULL ? 2 : at_root + 3;
    std::vector<std::uint64_t> numbers;
    for (const std::vector<Bytes>& one : vectors)
        if (!is_inter()) numbers.push_back(trace::vector_number(one));
    if (is_in_place) flags |= trace::in_place;
    if (!is_commutative) flags |= trace::not_commutative;
    if (!numbers.empty()) flags |= trace::has_vectors;
    trace::Event event(trace::collective, visit, 7 + numbers.size());
    event.add(operation, flags, on, at_root, bytes, element_B);
    if (numbers.empty()) return;
    event.add(numbers.size());
    for (const std::uint64_t vector : numbers) event.add(vector);
}

void DuplicatesLater::write(const trace::Visit& visit) const {
    const std::int64_t of = number(visit);
    if (of < 0) return;
    trace::Request under_way{-1, request};
    under_way.duplicate = made;
    under_way.duplicate_number = trace::duplicate_number(comm, *channel);
    trace::requests().add(*request, under_way);
    trace::Event(trace::made, visit).add(of, trace::duplicated, under_way.duplicate_number + 1);
}

}  // namespace hockney
