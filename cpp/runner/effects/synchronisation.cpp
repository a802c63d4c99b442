// synchronisation: whether a send waits for its receiver, and whether a message travels before it is
// received.
//
//   effect operation=synchronisation members=0,1 bytes=1024 receiver=present|absent patience_s=2e-4 tries=9
//
// S of LogGPS (Ino, Fujimoto, Hagihara, PPoPP 2001) is the size above which a send waits for its receiver.
// Some libraries wait earlier where the receiver computes: its part of the work is then missing, not the
// receive. Both are asked, by where the receiver is meanwhile.
#include <algorithm>
#include <vector>

#include "../clock.hpp"
#include "effect.hpp"
#include "synchronisation/late.hpp"

namespace hockney::effect_synchronisation {
namespace {

constexpr int tag = 1;
// A send that needs no receiver is done when its data are in the network: several times a transfer is enough.
constexpr double patience_transfers = 4;
constexpr double absence_patiences = 10;
// How many tries may be spoilt by a suspended process for each that is wanted.
constexpr int most_per_try = 4;

// Half the time there and back with both sides waiting, on rank 0 of the pair.
std::vector<double> transfers(int tries, const Payload& payload, Buffer& buffer, MPI_Comm pair) {
    const int rank = rank_of(pair);
    std::vector<double> times_s;
    for (int each = 0; each <= tries; ++each) {
        const double start = now_s();
        for (const int turn : {0, 1}) {
            if (turn == rank)
                MPI_Send(buffer.next(), payload.count(), payload.type(), 1 - rank, tag, pair);
            else
                MPI_Recv(buffer.next(), payload.count(), payload.type(), 1 - rank, tag, pair,
                         MPI_STATUS_IGNORE);
        }
        // The first warms up.
        if (each > 0) times_s.push_back((now_s() - start) / 2);
    }
    return times_s;
}

std::string run(const Request& request, MPI_Comm comm) {
    const auto bytes = static_cast<std::size_t>(request.whole("bytes", 0));
    const long tries = request.whole("tries", 1, 1000);
    double patience_s = request.positive("patience_s");
    const auto receiver = static_cast<Receiver>(request.choice("receiver", {"absent", "present"}));
    require_memory(static_cast<double>(Buffer::total_B(bytes, 0)), comm);
    const int rank = rank_of(comm);
    const Payload payload(bytes);
    Buffer buffer(bytes, 0);
    buffer.fill(0, 0);
    const std::vector<double> transfers_s = transfers(static_cast<int>(tries), payload, buffer, comm);
    patience_s =
        std::max(patience_s, patience_transfers * *std::min_element(transfers_s.begin(), transfers_s.end()));
    MPI_Bcast(&patience_s, 1, MPI_DOUBLE, 0, comm);
    const double absence_s = absence_patiences * patience_s;

    long done = 0, valid = 0, spoilt = 0;
    std::vector<double> sending_s, receiving_s;
    bool is_right = true;
    std::vector<std::size_t> counted;
    Rounds rounds(comm);
    // The sender decides for both.
    while (rounds.next(valid < tries && valid + spoilt < most_per_try * tries)) {
        if (rank == 1) buffer.poison(0, 0);
        const Late late = send_to_late(receiver, patience_s, absence_s, payload, buffer, comm);
        if (rank == 1 && !buffer.holds(0, 0)) is_right = false;
        if (late.is_valid) {
            counted.push_back(static_cast<std::size_t>(valid + spoilt));
            ++valid;
            if (late.is_done) ++done;
            sending_s.push_back(late.sending_s);
            receiving_s.push_back(late.receiving_s);
        } else {
            ++spoilt;
        }
    }
    is_right = all_agree(is_right, comm);

    JsonObject record;
    record.add("type", "record").add("done", done).add("valid", valid).add("spoilt", spoilt);
    record.add("patience_s", patience_s).add("absence_s", receiver == Receiver::absent ? absence_s : 0.0);
    record.add("transfers_s", transfers_s);
    record.add("sending_s", sending_s).add("receiving_s", receiving_s);
    References references = rounds.references();
    references.renumber(counted);
    references.add_to(record);
    return record.add("verified", is_right).str();
}

const RegisterEffect registered("synchronisation", {run});

}  // namespace
}  // namespace hockney::effect_synchronisation
