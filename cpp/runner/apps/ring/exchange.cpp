#include "exchange.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace hockney {
namespace {

constexpr double request_B = 1024;  // of one persistent request, in any library: generous

class Sendrecv : public RingExchange {
  public:
    explicit Sendrecv(const Neighbours& ring) : ring_(ring) {}

    int hop(Message& rightward, Message& leftward) override {
        // With two processes both neighbours are the same one: each direction has its turn.
        shift(rightward, ring_.right, ring_.left);
        shift(leftward, ring_.left, ring_.right);
        return 2;
    }

  private:
    void shift(Message& message, int to, int from) {
        int arrived = 0;
        MPI_Status status;
        // SimGrid's gives back the tag that was asked for where a process sends to itself.
        const int tag = from == ring_.rank ? message.tag : MPI_ANY_TAG;
        MPI_Sendrecv(&message.value, 1, MPI_INT, to, message.tag, &arrived, 1, MPI_INT, from, tag, ring_.comm,
                     &status);
        message = {arrived, status.MPI_TAG};
    }

    const Neighbours& ring_;
};

class Nonblocking : public RingExchange {
  public:
    explicit Nonblocking(const Neighbours& ring) : ring_(ring) {}

    int hop(Message& rightward, Message& leftward) override {
        // Between two processes messages do not overtake: first posted, first sent, is what goes to the
        // right.
        std::array<int, 2> arrived{};
        std::array<MPI_Request, 4> requests{};
        std::array<MPI_Status, 4> statuses{};
        MPI_Irecv(&arrived[0], 1, MPI_INT, ring_.left, MPI_ANY_TAG, ring_.comm, &requests[0]);
        MPI_Irecv(&arrived[1], 1, MPI_INT, ring_.right, MPI_ANY_TAG, ring_.comm, &requests[1]);
        MPI_Isend(&rightward.value, 1, MPI_INT, ring_.right, rightward.tag, ring_.comm, &requests[2]);
        MPI_Isend(&leftward.value, 1, MPI_INT, ring_.left, leftward.tag, ring_.comm, &requests[3]);
        MPI_Waitall(4, requests.data(), statuses.data());
        rightward = {arrived[0], statuses[0].MPI_TAG};
        leftward = {arrived[1], statuses[1].MPI_TAG};
        return 2;
    }

  private:
    const Neighbours& ring_;
};

// A persistent send has one tag for good, and a message keeps the tag of the process that sent it first:
// there is a send for each of those in each direction, and the tag that arrived tells which one is started.
class Persistent : public RingExchange {
  public:
    explicit Persistent(const Neighbours& ring) : receives_{}, sent_{}, arrived_{} {
        MPI_Recv_init(&arrived_[0], 1, MPI_INT, ring.left, MPI_ANY_TAG, ring.comm, &receives_[0]);
        MPI_Recv_init(&arrived_[1], 1, MPI_INT, ring.right, MPI_ANY_TAG, ring.comm, &receives_[1]);
        for (int first = 0; first < ring.ranks; ++first) {
            const int tag = tag_factor * first;
            std::array<MPI_Request, 2> sends{};
            MPI_Send_init(&sent_[0], 1, MPI_INT, ring.right, tag, ring.comm, &sends[0]);
            MPI_Send_init(&sent_[1], 1, MPI_INT, ring.left, tag, ring.comm, &sends[1]);
            sends_.push_back(sends);
        }
    }
    ~Persistent() override {
        for (MPI_Request& receive : receives_) MPI_Request_free(&receive);
        for (auto& sends : sends_)
            for (MPI_Request& send : sends) MPI_Request_free(&send);
    }
    Persistent(const Persistent&) = delete;
    Persistent& operator=(const Persistent&) = delete;

    int hop(Message& rightward, Message& leftward) override {
        sent_ = {rightward.value, leftward.value};
        std::array<MPI_Request, 4> started{receives_[0], receives_[1], send(rightward, 0), send(leftward, 1)};
        std::array<MPI_Status, 4> statuses{};
        // One by one: MPI_Startall may start them in any order.
        for (MPI_Request& request : started) MPI_Start(&request);
        MPI_Waitall(4, started.data(), statuses.data());
        rightward = {arrived_[0], statuses[0].MPI_TAG};
        leftward = {arrived_[1], statuses[1].MPI_TAG};
        return 2;
    }

  private:
    MPI_Request send(const Message& message, std::size_t direction) const {
        // A tag that nobody sent goes on as another wrong one, and is found in the end.
        const auto owner = static_cast<std::size_t>(std::max(message.tag / tag_factor, 0));
        return sends_[std::min(owner, sends_.size() - 1)][direction];
    }

    std::array<MPI_Request, 2> receives_;
    std::vector<std::array<MPI_Request, 2>> sends_;
    std::array<int, 2> sent_, arrived_;
};

}  // namespace

std::unique_ptr<RingExchange> exchange_of(const std::string& way, const Neighbours& ring) {
    if (way == "sendrecv") return std::make_unique<Sendrecv>(ring);
    if (way == "nonblocking") return std::make_unique<Nonblocking>(ring);
    return std::make_unique<Persistent>(ring);
}

double persistent_B(int ranks) { return 2.0 * (ranks + 1) * request_B; }

}  // namespace hockney
