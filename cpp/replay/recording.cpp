#include "recording.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace hockney {
namespace {

// Of the character that begins there; 0 where it is none, or one that a terminal obeys.
std::ptrdiff_t character_B(const std::uint8_t* at, const std::uint8_t* end) {
    if (*at < 0x80) return *at >= ' ' && *at < 127 ? 1 : 0;
    const std::ptrdiff_t length_B = *at >= 0xF0 ? 4 : *at >= 0xE0 ? 3 : 2;
    if (end - at < length_B) return 0;
    std::uint32_t code = *at & (0x7FU >> length_B);
    for (std::ptrdiff_t i = 1; i < length_B; ++i) {
        if ((at[i] & 0xC0U) != 0x80) return 0;
        code = code << 6U | (at[i] & 0x3FU);
    }
    const std::uint32_t least = length_B == 4 ? 0x10000 : length_B == 3 ? 0x800 : 0xA0;
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    return *at >= 0xC0 && *at < 0xF8 && code >= least && code < 0x110000 && !is_surrogate ? length_B : 0;
}

}  // namespace

std::string shown(const std::uint8_t* first, const std::uint8_t* end) {
    std::string text;
    for (end = std::find(first, end, std::uint8_t{0}); first != end;) {
        const std::ptrdiff_t length_B = character_B(first, end);
        if (length_B == 0) text += '?';
        text.append(first, first + length_B);
        first += std::max<std::ptrdiff_t>(length_B, 1);
    }
    return text;
}

MappedFile::MappedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK);  // a pipe would wait for a writer
    if (file < 0) throw TraceFault(path + " cannot be read\ncheck the name and its rights");
    struct stat status{};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(file);
        throw TraceFault(path + " is no file\n" + record_anew);
    }
    size_B_ = static_cast<std::size_t>(status.st_size);
    void* memory =
        size_B_ == 0 ? MAP_FAILED : mmap(nullptr, size_B_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    close(file);
    if (memory == MAP_FAILED) throw TraceFault(path + " is empty\n" + record_anew);
    at_ = static_cast<const std::uint8_t*>(memory);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : at_(std::exchange(other.at_, nullptr)), size_B_(other.size_B_) {}

MappedFile::~MappedFile() {
    if (at_ != nullptr) munmap(const_cast<std::uint8_t*>(at_), size_B_);
}

bool CollectiveCall::operator<(const CollectiveCall& other) const {
    return std::tie(operation, ranks, bytes, element_B, is_commutative) <
           std::tie(other.operation, other.ranks, other.bytes, other.element_B, other.is_commutative);
}

Recording::Recording(const std::string& folder) {
    std::uint32_t ranks = 1;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::string path = folder + "/" + std::to_string(rank) + ".events";
        if (access(path.c_str(), F_OK) != 0)
            throw TraceFault(rank == 0 ? folder + " is no trace: it has no 0.events\n" + record_anew
                                       : path + " is missing: the run had " + std::to_string(ranks) +
                                             " ranks\nbring it here, or " + record_anew);
        files_.emplace_back(path);
        trace::Header header{};
        const auto size_B = static_cast<std::size_t>(files_.back().end() - files_.back().begin());
        std::memcpy(&header, files_.back().begin(), std::min(size_B, sizeof header));
        if (header.version != trace::version && size_B >= sizeof header)
            throw TraceFault(path + " is of version " + std::to_string(header.version) + ", not " +
                             std::to_string(trace::version) + "\n" + record_anew);
        if (rank == 0) ranks = header.ranks;
        if (size_B < sizeof header || std::memcmp(header.magic, trace::magic, sizeof trace::magic) != 0 ||
            header.rank != rank || header.ranks != ranks || ranks == 0 || ranks > most_ranks_held)
            throw TraceFault(path + " is no trace of rank " + std::to_string(rank) + " of " +
                             std::to_string(ranks) + "\n" + record_anew);
        has_cpu_ = (rank == 0 || has_cpu_) && (header.flags & trace::has_cpu_times) != 0;
        hosts_.push_back(shown(std::begin(header.host), std::end(header.host)));
        if (rank == 0) mpi_ = shown(std::begin(header.mpi), std::end(header.mpi));
        headers_.push_back(header);
    }
    ranks_.resize(files_.size());
    for (int rank = 0; rank < this->ranks(); ++rank) survey(rank);
}

bool Recording::is_whole() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const RankTrace& rank) { return rank.is_whole; });
}

bool Recording::call_of(const TraceEvent& event, const RankTrace& rank, CollectiveCall& call) {
    const Communicator& place = rank.communicator[static_cast<std::size_t>(event.communicator)];
    if (place.remote != nullptr || place.ranks() < 2) return false;
    call = {event.operation, place.ranks(), event.bytes, event.element_B,
            (event.flags & trace::not_commutative) == 0};
    if (event.kind == trace::made) {
        const bool is_split = event.flags == trace::split;
        call = {is_split ? trace::allgather : trace::allreduce, place.ranks(), is_split ? 8 : 4,
                is_split ? 1 : 4, true};
        return true;
    }
    if ((event.flags & trace::has_vectors) != 0 && !event.numbers.empty()) {
        // All ranks know all blocks: of equal ones it is the operation without the v.
        const std::vector<Bytes>& blocks = rank.vector[event.numbers[0]];
        if (event.operation == trace::allgatherv && !blocks.empty() &&
            std::equal(blocks.begin() + 1, blocks.end(), blocks.begin())) {
            call.operation = trace::allgather;
            call.bytes = blocks.front();
        }
        if (event.operation == trace::reduce_scatter) {
            Bytes sum = 0;
            for (const Bytes block : blocks) sum += block;
            const Bytes elements = sum / event.element_B / place.ranks();
            call.bytes = std::max<Bytes>(elements, sum > 0 ? 1 : 0) * event.element_B;
        }
    }
    if (call.operation > trace::barrier) return false;
    return call.bytes > 0 || call.operation == trace::barrier;
}

void Recording::survey(int rank) {
    RankTrace& mine = ranks_[static_cast<std::size_t>(rank)];
    RankReader reader(*this, rank, this);
    TraceEvent event;
    const MappedFile& file = files_[static_cast<std::size_t>(rank)];
    const trace::Header& header = headers_[static_cast<std::size_t>(rank)];
    if (header.state == trace::refusing) {
        const auto text_B = std::min<std::ptrdiff_t>(header.text_B, file.end() - file.begin());
        reader.fail("two threads were in MPI at once: " + shown(file.end() - text_B, file.end()), threads);
    }
    while (reader.next(event)) {
        mine.events = reader.number();
        mine.wall_ns += event.gap_ns + event.inside_ns;
        mine.computing_ns += event.cpu_ns;
        for (const TraceEvent::Completed& done : event.completed) {
            const Request& request = reader.request(done.number);
            if (request.is_wild && event.kind == trace::wait)
                mine.resolved.emplace_back(done.number, done.from);
            if (event.kind == trace::dropped && event.flags == trace::cancelled)
                mine.dropped.push_back(done.number);
        }
        reader.forget_complete();
        const bool is_send = event.kind <= trace::isend || event.kind == trace::send_init;
        if (is_send && event.flags == trace::synchronous) ++synchronous_;
        if (event.kind == trace::other) {
            Other& other = others_[names_[event.name]];
            ++other.calls;
            other.time_s += 1e-9 * static_cast<double>(event.inside_ns);
        }
        CollectiveCall call{};
        if (event.communicator >= 0 && (event.kind == trace::collective || event.kind == trace::made)) {
            if (reader.communicator(event.communicator).remote != nullptr) {
                ++between_groups_;
            } else if (call_of(event, mine, call)) {
                const auto known = call_numbers_.try_emplace(call, static_cast<std::int32_t>(calls_.size()));
                if (known.second) calls_.emplace_back(call, 0);
                ++calls_[static_cast<std::size_t>(known.first->second)].second;
            }
        }
    }
    mine.is_whole = mine.ends.empty();
    std::sort(mine.resolved.begin(), mine.resolved.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::sort(mine.dropped.begin(), mine.dropped.end());
}

const std::vector<std::int32_t>* Recording::group(std::vector<std::int32_t>&& members) {
    const auto known = groups_.try_emplace(std::move(members), static_cast<std::int32_t>(members_.size()));
    if (known.second) members_.push_back(known.first->first);
    return &members_[static_cast<std::size_t>(known.first->second)];
}

}  // namespace hockney
