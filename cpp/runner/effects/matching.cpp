// matching: what it costs to find a message's receive, or a receive's message, in a queue.
//
//   effect operation=matching members=0,1 queue=posted ahead=64 behind=0 by=tag source=named
//          planted_entry_s=0 repetitions=0 …
//
// `ahead` entries that do not match lie before the one that does, `behind` after it. Timed, for one match:
//   queue=posted      a round trip whose first message meets the posted receives of the second member
//   queue=unexpected  a receive of the second member, whose message has come before, among others
// The others differ by their tag (`by=tag`) or come from the third member (`by=source`). With `source=any`
// every receive takes MPI_ANY_SOURCE. `planted_entry_s` is burnt for each entry ahead.
#include <vector>

#include "../clock.hpp"
#include "effect.hpp"

namespace hockney::effect_matching {
namespace {

// Matches of one sample: the first takes the queue from the cache's cold end, as an application finds it, but
// the clock cannot resolve a single one.
constexpr int targets = 16;
constexpr long most_entries = 16384;  // an MPI has at least 32767 tags
constexpr int target_tag = 1, reply_tag = 2, go_tag = 3, sent_tag = 4, first_other_tag = 100;
constexpr int sender = 0, receiver = 1;

class Queue {
  public:
    Queue(const Request& request, MPI_Comm comm)
        : ahead_(request.whole("ahead", 0, most_entries)),
          behind_(request.whole("behind", 0, most_entries - ahead_)),
          planted_s_(request.real("planted_entry_s") * static_cast<double>(ahead_)),
          is_posted_(request.choice("queue", {"posted", "unexpected"}) == 0),
          is_by_tag_(request.choice("by", {"tag", "source"}) == 0),
          source_(request.choice("source", {"named", "any"}) == 0 ? sender : MPI_ANY_SOURCE),
          comm_(comm),
          rank_(rank_of(comm)) {
        if (ranks_of(comm) != (is_by_tag_ ? 2 : 3))
            throw BadRequest("by=tag takes two members, by=source three");
        if (!is_by_tag_ && source_ != sender)
            throw BadRequest("by=source takes source=named: any source would match them all");
        got_.resize(static_cast<std::size_t>(ahead_ + behind_ + targets));
    }

    double once() { return is_posted_ ? posted() : unexpected(); }

    bool holds() const { return all_agree(wrong_ == 0, comm_); }

  private:
    // Who sends the entries that are not looked for.
    int other() const { return is_by_tag_ ? sender : 2; }
    int other_source() const { return source_ == MPI_ANY_SOURCE ? MPI_ANY_SOURCE : other(); }
    int other_tag(long entry) const {
        return is_by_tag_ ? first_other_tag + static_cast<int>(entry) : target_tag;
    }

    // Entries are numbered: those ahead, those behind, the targets. A message carries its own number.
    void send(long entry) const {
        const bool is_target = entry >= ahead_ + behind_;
        const long number = entry;
        MPI_Send(&number, 1, MPI_LONG, receiver, is_target ? target_tag : other_tag(entry), comm_);
    }
    void check(long entry) {
        if (got_[static_cast<std::size_t>(entry)] != entry) ++wrong_;
        got_[static_cast<std::size_t>(entry)] = -1;
    }
    MPI_Request post(long entry) {
        const bool is_target = entry >= ahead_ + behind_;
        MPI_Request request;
        MPI_Irecv(&got_[static_cast<std::size_t>(entry)], 1, MPI_LONG, is_target ? source_ : other_source(),
                  is_target ? target_tag : other_tag(entry), comm_, &request);
        return request;
    }

    // The second member's word to `from`, and back when everything sent before it has come.
    template <class Send>
    void stage(int from, const Send& send_all) const {
        if (rank_ == receiver) {
            MPI_Send(nullptr, 0, MPI_BYTE, from, go_tag, comm_);
            MPI_Recv(nullptr, 0, MPI_BYTE, from, sent_tag, comm_, MPI_STATUS_IGNORE);
        } else if (rank_ == from) {
            MPI_Recv(nullptr, 0, MPI_BYTE, receiver, go_tag, comm_, MPI_STATUS_IGNORE);
            send_all();
            MPI_Send(nullptr, 0, MPI_BYTE, receiver, sent_tag, comm_);
        }
    }
    void send_range(long first, long end) const {
        for (long entry = first; entry < end; ++entry) send(entry);
    }

    double posted() {
        const long others = ahead_ + behind_;
        std::vector<MPI_Request> waiting, wanted;
        if (rank_ == receiver) {
            for (long entry = 0; entry < ahead_; ++entry) waiting.push_back(post(entry));
            for (long entry = others; entry < others + targets; ++entry) wanted.push_back(post(entry));
            for (long entry = ahead_; entry < others; ++entry) waiting.push_back(post(entry));
        }
        if (rank_ <= receiver) meet(comm_);
        const double start_s = now_s();
        for (long entry = others; entry < others + targets; ++entry) {
            if (rank_ == sender) {
                send(entry);
                MPI_Recv(nullptr, 0, MPI_BYTE, receiver, reply_tag, comm_, MPI_STATUS_IGNORE);
            } else if (rank_ == receiver) {
                MPI_Wait(&wanted[static_cast<std::size_t>(entry - others)], MPI_STATUS_IGNORE);
                stay_away(planted_s_);
                MPI_Send(nullptr, 0, MPI_BYTE, sender, reply_tag, comm_);
            }
        }
        const double taken_s = (now_s() - start_s) / targets;
        stage(other(), [&] { send_range(0, others); });
        if (rank_ == receiver) {
            MPI_Waitall(static_cast<int>(waiting.size()), waiting.data(), MPI_STATUSES_IGNORE);
            for (long entry = 0; entry < others + targets; ++entry) check(entry);
        }
        return rank_ == sender ? taken_s : 0;
    }

    double unexpected() {
        const long others = ahead_ + behind_;
        stage(other(), [&] { send_range(0, ahead_); });
        stage(sender, [&] { send_range(others, others + targets); });
        stage(other(), [&] { send_range(ahead_, others); });
        if (rank_ != receiver) return 0;
        const double start_s = now_s();
        for (long entry = others; entry < others + targets; ++entry) {
            MPI_Recv(&got_[static_cast<std::size_t>(entry)], 1, MPI_LONG, source_, target_tag, comm_,
                     MPI_STATUS_IGNORE);
            stay_away(planted_s_);
        }
        const double taken_s = (now_s() - start_s) / targets;
        for (long entry = 0; entry < others; ++entry)
            MPI_Recv(&got_[static_cast<std::size_t>(entry)], 1, MPI_LONG, other_source(), other_tag(entry),
                     comm_, MPI_STATUS_IGNORE);
        for (long entry = 0; entry < others + targets; ++entry) check(entry);
        return taken_s;
    }

    long ahead_, behind_;
    double planted_s_;
    bool is_posted_, is_by_tag_;
    int source_;
    MPI_Comm comm_;
    int rank_;
    long wrong_ = 0;
    std::vector<long> got_;
};

std::string run(const Request& request, MPI_Comm comm) {
    const StoppingRule rule = repetitions(request);
    Queue queue(request, comm);
    const Repeated repeated = repeat(rule, comm, [&] { return queue.once(); });
    JsonObject record;
    record.add("type", "record").add("targets", targets).add("verified", queue.holds());
    add_times(record, repeated);
    return record.str();
}

const RegisterEffect registered("matching", {run, 3});

}  // namespace
}  // namespace hockney::effect_matching
