// One rank's events.
#include <algorithm>

#include "recording.hpp"

namespace hockney {

RankReader::RankReader(const Recording& recording, int rank, Recording* survey)
    : recording_(recording),
      rank_(rank),
      survey_(survey),
      at_(recording.files_[static_cast<std::size_t>(rank)].begin()),
      end_(recording.files_[static_cast<std::size_t>(rank)].end()) {
    const trace::Header& header = recording.headers_[static_cast<std::size_t>(rank)];
    has_cpu_ = (header.flags & trace::has_cpu_times) != 0;
    overhead_wall_ns_ = header.overhead_wall_ns;
    overhead_cpu_ns_ = header.overhead_cpu_ns;
    at_ += trace::header_B;
}

const RankTrace& RankReader::known() const { return recording_.rank(rank_); }

void RankReader::fail(const std::string& what, const char* hint) const {
    throw TraceFault("rank " + std::to_string(rank_) + ", event " + std::to_string(number_) + ": " + what +
                     "\n" + (hint == nullptr ? record_anew : hint));
}

std::uint64_t RankReader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint8_t next = byte();
        value |= std::uint64_t{next & 0x7FU} << shift;
        if (next < 0x80) return value;
    }
    fail("a number has more than 64 bits");
}

std::int64_t RankReader::signed_varint() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

std::uint8_t RankReader::byte() {
    if (at_ == end_) throw CutOff();
    return *at_++;
}

std::uint64_t RankReader::number_below(std::uint64_t end, const char* what) {
    const std::uint64_t value = varint();
    if (value >= end) fail(std::string(what) + " " + std::to_string(value) + " is none that it knows");
    return value;
}

Bytes RankReader::bytes() {
    return static_cast<Bytes>(number_below(std::uint64_t{1} << 53U, "a number of bytes"));
}

std::string RankReader::text() {
    const std::uint64_t length = varint();
    if (length > static_cast<std::uint64_t>(end_ - at_)) throw CutOff();
    const std::string text = shown(at_, at_ + length);
    at_ += length;
    return text;
}

std::vector<std::int32_t> RankReader::members() {
    std::vector<std::int32_t> all;
    std::int64_t after = 0;
    for (std::uint64_t runs = varint(); runs > 0; --runs) {
        std::int64_t first = 0;
        if (__builtin_add_overflow(after, signed_varint(), &first)) first = -1;
        const std::uint64_t length = varint();
        if (first < 0 || first >= recording_.ranks() ||
            length > static_cast<std::uint64_t>(recording_.ranks() - first) ||
            all.size() + length > static_cast<std::uint64_t>(recording_.ranks()))
            fail("a communicator has ranks that the run does not have");
        for (std::uint64_t i = 0; i < length; ++i)
            all.push_back(static_cast<std::int32_t>(first) + static_cast<std::int32_t>(i));
        after = first + static_cast<std::int64_t>(length);
    }
    return all;
}

void RankReader::define_communicator() {
    Communicator place;
    const std::uint64_t number = varint();
    place.own = static_cast<std::int32_t>(number_below(std::uint64_t{1} << 30U, "a rank"));
    const auto ordinal = static_cast<std::int64_t>(number_below(std::uint64_t{1} << 62U, "communicator"));
    const std::uint8_t flags = byte();
    std::vector<std::int32_t> own = members(), remote;
    if ((flags & 1U) != 0) remote = members();
    if (place.own >= static_cast<std::int32_t>(own.size())) fail("it is no member of its communicator");
    if ((flags & 2U) != 0)
        for (std::vector<std::int32_t>* ends : {&place.sources, &place.destinations})
            for (std::uint64_t count = varint(); count > 0; --count)
                ends->push_back(static_cast<std::int32_t>(number_below(own.size(), "neighbour")));
    if (survey_ == nullptr) return;
    RankTrace& mine = survey_->ranks_[static_cast<std::size_t>(rank_)];
    if (number != mine.communicator.size()) fail("its communicators are not numbered one after another");
    place.members = survey_->group(std::move(own));
    std::array<std::int64_t, 3> key{survey_->groups_.at(*place.members), -1, ordinal};
    if ((flags & 1U) != 0) {
        place.remote = survey_->group(std::move(remote));
        key[1] = survey_->groups_.at(*place.remote);
        if (key[1] < key[0]) std::swap(key[0], key[1]);
    }
    place.number =
        survey_->communicators_.try_emplace(key, static_cast<std::int32_t>(survey_->communicators_.size()))
            .first->second;
    mine.communicator.push_back(std::move(place));
}

void RankReader::define(trace::Kind kind) {
    if (kind == trace::comm) return define_communicator();
    const std::uint64_t number = varint();
    RankTrace* mine = survey_ == nullptr ? nullptr : &survey_->ranks_[static_cast<std::size_t>(rank_)];
    if (kind == trace::vector) {
        const std::uint64_t count = varint();
        if (count > static_cast<std::uint64_t>(end_ - at_)) throw CutOff();
        std::vector<Bytes> all;
        for (std::uint64_t i = 0; i < count; ++i) all.push_back(bytes());
        if (mine == nullptr) return;
        if (number != mine->vector.size()) fail("its lists of bytes are not numbered one after another");
        return mine->vector.push_back(std::move(all));
    }
    std::string words = text();
    if (mine == nullptr) return;
    // Names of functions are numbered apart from call sites.
    std::vector<std::string>& all = kind == trace::site ? survey_->sites_ : survey_->names_;
    std::vector<std::uint32_t>& local = kind == trace::site ? mine->site : mine->name;
    const auto known = survey_->site_numbers_.try_emplace((kind == trace::site ? "s" : "n") + words,
                                                          static_cast<std::uint32_t>(all.size()));
    if (known.second) all.push_back(std::move(words));
    if (number != local.size()) fail("its call sites or functions are not numbered one after another");
    local.push_back(known.first->second);
}

void RankReader::head(TraceEvent& event) {
    const auto without = [](std::uint64_t time_ns, std::uint64_t taken_ns) {
        return time_ns > taken_ns ? time_ns - taken_ns : 0;
    };
    event.gap_ns = without(varint(), overhead_wall_ns_);
    event.cpu_ns = has_cpu_ ? without(varint(), overhead_cpu_ns_) : event.gap_ns;
    event.inside_ns = varint();
    event.site = known().site.empty() ? (fail("it has no call site"), 0U)
                                      : known().site[number_below(known().site.size(), "call site")];
}

void RankReader::communicator_of(TraceEvent& event) {
    event.communicator = static_cast<std::int32_t>(number_below(known().communicator.size(), "communicator"));
}
std::int32_t RankReader::peer(const TraceEvent& event) {
    return static_cast<std::int32_t>(
        number_below(communicator(event.communicator).peers().size(), "the other rank"));
}
std::int32_t RankReader::peer_or_none(const TraceEvent& event) {
    const std::int64_t value = signed_varint();
    if (value < -1 || value >= static_cast<std::int64_t>(communicator(event.communicator).peers().size()))
        fail("the other rank " + std::to_string(value) + " is none that it knows");
    return static_cast<std::int32_t>(value);
}
std::int32_t RankReader::tag() {
    const std::int64_t value = signed_varint();
    if (value < INT32_MIN || value > INT32_MAX) fail("a tag has more than 32 bits");
    return static_cast<std::int32_t>(value);
}

void RankReader::make(const TraceEvent& event, Request::Of of, bool is_wild) {
    Request request;
    request.of = of;
    request.is_wild = is_wild;
    request.communicator = event.communicator;
    requests_.push_back(request);
}

// Of a request that was made and is not complete.
std::uint64_t RankReader::open_request() {
    const std::uint64_t back = varint();
    if (back >= requests_.size() || requests_[requests_.size() - 1 - back].is_done)
        fail("it waits for a request that never was, or that was complete before");
    return latest_request() - back;
}

void RankReader::forget_complete() {
    // The latest one stays: others are counted from it.
    while (requests_.size() > 1 && requests_.front().is_done) {
        requests_.pop_front();
        ++first_request_;
    }
}

bool RankReader::has_open_receive(std::uint64_t before) const {
    const std::size_t few = std::min<std::size_t>(requests_.size(), 64);
    for (std::size_t i = 0; i < few && first_request_ + i < before; ++i)
        if (!requests_[i].is_done && requests_[i].of == Request::Of::receive) return true;
    return false;
}

void RankReader::collective(TraceEvent& event) {
    const std::uint8_t operation = byte();
    if (operation > trace::neighbor_alltoall) fail("operation " + std::to_string(operation) + " is none");
    event.operation = static_cast<trace::Operation>(operation);
    event.flags = byte();
    communicator_of(event);
    const Communicator& place = communicator(event.communicator);
    // Between groups: 3 and a rank of the other one, or what the rank itself is.
    event.root = static_cast<std::int32_t>(
        number_below(place.peers().size() + (place.remote == nullptr ? 0 : 3), "root"));
    event.bytes = bytes();
    event.element_B = static_cast<std::int32_t>(number_below(std::uint64_t{1} << 31U, "an element of"));
    event.element_B = std::max(event.element_B, 1);
    if (event.bytes % event.element_B != 0) event.element_B = 1;
    if ((event.flags & trace::has_vectors) != 0)
        for (std::uint64_t count = number_below(3, "a number of lists"); count > 0; --count)
            event.numbers.push_back(
                static_cast<std::uint32_t>(number_below(known().vector.size(), "list of bytes")));
    if ((event.flags & trace::non_blocking) != 0) make(event, Request::Of::collective, false);
}

bool RankReader::ends(const std::string& why) {
    is_through_ = true;
    if (survey_ != nullptr) survey_->ranks_[static_cast<std::size_t>(rank_)].ends = why;
    return false;
}

bool RankReader::next(TraceEvent& event) {
    if (is_through_) return false;
    const std::uint64_t whole = number_;
    try {
        return read(event);
    } catch (const CutOff&) {
        number_ = whole;
        return ends("it is cut off in event " + std::to_string(whole + 1));
    }
}

bool RankReader::read(TraceEvent& event) {
    trace::Kind kind = trace::nothing;
    for (;;) {
        kind = at_ == end_ ? trace::nothing : static_cast<trace::Kind>(*at_++);
        if (kind == trace::nothing) return ends("it ends after event " + std::to_string(number_));
        if (kind > trace::vector) break;
        define(kind);
    }
    ++number_;
    event.kind = kind;
    event.flags = 0;
    event.communicator = -1;
    event.numbers.clear();
    event.completed.clear();
    head(event);
    switch (kind) {
        case trace::send:
        case trace::isend:
        case trace::send_init:
            communicator_of(event);
            event.out.peer = peer(event);
            event.out.tag = tag();
            event.out.bytes = bytes();
            event.flags = byte();
            if (kind == trace::isend) make(event, Request::Of::send, false);
            if (kind == trace::send_init)
                persistent_.push_back({true, event.flags, event.communicator, event.out});
            return true;
        case trace::recv:
            communicator_of(event);
            event.in.peer = peer(event);
            event.in.tag = tag();
            event.in.bytes = bytes();
            return true;
        case trace::irecv:
        case trace::recv_init:
            communicator_of(event);
            event.flags = byte();
            event.in.peer = (event.flags & 1U) != 0 ? -1 : peer(event);
            event.in.tag = (event.flags & 2U) != 0 ? 0 : tag();
            event.in.bytes = bytes();
            if (kind == trace::irecv) make(event, Request::Of::receive, (event.flags & 3U) != 0);
            if (kind == trace::recv_init)
                persistent_.push_back({false, event.flags, event.communicator, event.in});
            return true;
        case trace::sendrecv:
            communicator_of(event);
            event.out = {peer_or_none(event), tag(), bytes()};
            event.in = {peer_or_none(event), tag(), bytes()};
            return true;
        case trace::wait:
        case trace::dropped: {
            const std::uint64_t count = kind == trace::wait ? varint() : 1;
            for (std::uint64_t i = 0; i < count; ++i) {
                TraceEvent::Completed done{open_request(), {}};
                Request& request = this->request(done.number);
                request.is_done = true;
                if (request.is_wild && kind == trace::wait) {
                    event.communicator = request.communicator;
                    done.from.peer = peer(event);
                    done.from.tag = tag();
                }
                event.completed.push_back(done);
            }
            if (kind == trace::dropped) event.flags = byte();
            return true;
        }
        case trace::start:
            for (std::uint64_t count = varint(); count > 0; --count) {
                const auto number =
                    static_cast<std::uint32_t>(number_below(persistent_.size(), "persistent request"));
                const Persistent& of = persistent_[number];
                event.communicator = of.communicator;
                make(event, of.is_send ? Request::Of::send : Request::Of::receive,
                     !of.is_send && (of.flags & 3U) != 0);
                event.numbers.push_back(number);
            }
            return true;
        case trace::probe:
        case trace::mprobe:
            communicator_of(event);
            event.in.peer = peer(event);
            event.in.tag = tag();
            return true;
        case trace::imrecv:
            make(event, Request::Of::nothing, false);
            return true;
        case trace::mrecv:
            return true;
        case trace::collective:
            collective(event);
            return true;
        case trace::made:
            communicator_of(event);
            event.flags = byte();
            // MPI_Comm_create_group is called by the members alone: they synchronise with each other.
            if (const auto made = number_below(known().communicator.size() + 1, "communicator");
                event.flags == trace::created)
                event.communicator = static_cast<std::int32_t>(made) - 1;
            return true;
        case trace::freed:
            communicator_of(event);
            return true;
        case trace::other:
            event.name = known().name.empty() ? (fail("it has no function"), 0U)
                                              : known().name[number_below(known().name.size(), "function")];
            return true;
        case trace::finalize:
            is_through_ = true;
            return true;
        case trace::limit:
            ends("its file reached the limit at event " + std::to_string(number_));
            return true;
        case trace::refused:
            fail("two threads were in MPI at once: " + text(), threads);
        default:
            fail("a record of kind " + std::to_string(static_cast<int>(kind)) + " is none");
    }
}

}  // namespace hockney
