// Puts each of the library's algorithms to use and tells what happened: results, return codes and messages.
// Rank 0 reads lines and answers each with "@hockney " and JSON:
//   list
//   run OPERATION ALGORITHM ELEMENTS SEGMENT_B RADIX ROOT REPETITIONS
//   quit
// ELEMENTS are floats for reductions, bytes otherwise; of the whole vector or of one rank's block, as MPI
// counts them.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "json.hpp"
#include "library/library.hpp"
#include "library/shared_memory.hpp"
#include "library/sockets.hpp"
#include "library/traffic.hpp"

namespace hockney {
namespace {

// What was sent has left, and its arrival is known to the sender, after this time; only single calls are
// counted.
constexpr useconds_t settle_us = 50000;

struct Order {
    std::string operation, algorithm;
    long elements = 0, segment_B = 0;
    int radix = 0, root = 0, repetitions = 1;
};

int value(int rank, long i) { return static_cast<int>((rank * 31 + i * 7) % 97); }

// One call with data that is checked; bytes and floats go through the same code.
template <typename T>
class Trial {
  public:
    Trial(Order order, const Selection& selection, MPI_Datatype type)
        : order_(std::move(order)),
          comm_(selection.comm()),
          type_(type),
          nonblocking_(selection.nonblocking()) {
        const MPI_Comm comm = comm_;
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &ranks_);
        const auto n = static_cast<std::size_t>(order_.elements) * static_cast<std::size_t>(ranks_);
        in_.resize(n);
        out_.resize(n);
        counts_.assign(static_cast<std::size_t>(ranks_), count());
    }

    int run() {
        const int n = count(), root = order_.root;
        const std::string& op = order_.operation;
        if (nonblocking_) return start_and_wait();
        if (op == "bcast") return MPI_Bcast(out_.data(), n, type_, root, comm_);
        if (op == "scatter") return MPI_Scatter(in_.data(), n, type_, out_.data(), n, type_, root, comm_);
        if (op == "gather") return MPI_Gather(in_.data(), n, type_, out_.data(), n, type_, root, comm_);
        if (op == "allgather") return MPI_Allgather(in_.data(), n, type_, out_.data(), n, type_, comm_);
        if (op == "alltoall") return MPI_Alltoall(in_.data(), n, type_, out_.data(), n, type_, comm_);
        if (op == "reduce") return MPI_Reduce(in_.data(), out_.data(), n, type_, MPI_SUM, root, comm_);
        if (op == "allreduce") return MPI_Allreduce(in_.data(), out_.data(), n, type_, MPI_SUM, comm_);
        if (op == "reduce_scatter")
            return MPI_Reduce_scatter(in_.data(), out_.data(), counts_.data(), type_, MPI_SUM, comm_);
        return MPI_Barrier(comm_);
    }

    bool right() const {
        const std::string& op = order_.operation;
        const long n = order_.elements;
        const bool at_root = rank_ == order_.root;
        if (op == "bcast") return holds(n, [&](long i) { return value(order_.root, i); });
        if (op == "scatter") return holds(n, [&](long i) { return value(order_.root, rank_ * n + i); });
        if (op == "gather") return !at_root || holds(n * ranks_, [&](long i) { return from(i); });
        if (op == "allgather") return holds(n * ranks_, [&](long i) { return from(i); });
        if (op == "alltoall")
            return holds(n * ranks_,
                         [&](long i) { return value(static_cast<int>(i / n), rank_ * n + i % n); });
        if (op == "reduce") return !at_root || holds(n, [&](long i) { return sum(i); });
        if (op == "allreduce") return holds(n, [&](long i) { return sum(i); });
        if (op == "reduce_scatter") return holds(n, [&](long i) { return sum(rank_ * n + i); });
        return true;
    }

    void fill() {
        for (std::size_t i = 0; i < in_.size(); ++i)
            in_[i] = static_cast<T>(value(rank_, static_cast<long>(i)));
        std::fill(out_.begin(), out_.end(), static_cast<T>(101));
        if (order_.operation == "bcast" && rank_ == order_.root) out_ = in_;
    }

  private:
    int start_and_wait() {
        const int n = count(), root = order_.root;
        const std::string& op = order_.operation;
        MPI_Request request = MPI_REQUEST_NULL;
        int code = MPI_ERR_OTHER;
        if (op == "bcast") code = MPI_Ibcast(out_.data(), n, type_, root, comm_, &request);
        if (op == "allgather")
            code = MPI_Iallgather(in_.data(), n, type_, out_.data(), n, type_, comm_, &request);
        if (op == "reduce")
            code = MPI_Ireduce(in_.data(), out_.data(), n, type_, MPI_SUM, root, comm_, &request);
        if (op == "allreduce")
            code = MPI_Iallreduce(in_.data(), out_.data(), n, type_, MPI_SUM, comm_, &request);
        return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
    }
    int count() const { return static_cast<int>(order_.elements); }
    int from(long i) const { return value(static_cast<int>(i / order_.elements), i % order_.elements); }
    int sum(long i) const {
        int total = 0;
        for (int rank = 0; rank < ranks_; ++rank) total += value(rank, i);
        return total;
    }
    template <typename Expected>
    bool holds(long n, Expected expected) const {
        for (long i = 0; i < n; ++i)
            if (out_[static_cast<std::size_t>(i)] != static_cast<T>(expected(i))) return false;
        return true;
    }

    Order order_;
    MPI_Comm comm_;
    MPI_Datatype type_;
    bool nonblocking_;
    int rank_ = 0, ranks_ = 0;
    std::vector<T> in_, out_;
    std::vector<int> counts_;
};

template <typename T>
std::string run_as(const Order& order, const LibraryAlgorithm* algorithm, MPI_Datatype type, MPI_Comm world) {
    const long shared_before = shared_B();
    std::unique_ptr<Selection> selection;
    if (algorithm == nullptr) {
        selection = std::make_unique<Selection>(world);
    } else {
        selection = std::make_unique<Selection>(*algorithm, order.segment_B, order.radix, world);
    }
    Trial<T> trial(order, *selection, type);
    trial.fill();
    selection->begin();
    int code = trial.run();  // connections are made, trees are cached
    selection->end();
    bool right = trial.right();
    MPI_Barrier(world);
    if (order.repetitions == 1) usleep(settle_us);
    const auto before = sent_by_connection();
    const TrafficMeter meter(selection->comm());
    for (int i = 0; i < order.repetitions; ++i) {
        trial.fill();
        if (order.repetitions > 1) MPI_Barrier(world);
        selection->begin();
        code = std::max(code, trial.run());
        selection->end();
        right = trial.right() && right;
    }
    const auto traffic = meter.since();
    const long shared_more = shared_B() - shared_before;
    if (order.repetitions == 1) usleep(settle_us);
    const auto now = sent_by_connection();
    int worst = 0, good = 0, mine = right ? 1 : 0;
    MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, world);
    MPI_Allreduce(&mine, &good, 1, MPI_INT, MPI_MIN, world);
    JsonObject answer;
    answer.add("type", "run").add("failed", worst != MPI_SUCCESS).add("right", good == 1);
    answer.add("shared_more_B", shared_more);
    answer.raw("sockets_B", matrix_json(sent_to_ranks(before, now, world), world));
    if (traffic) {
        answer.raw("messages", matrix_json(traffic->messages, world))
            .raw("bytes", matrix_json(traffic->bytes, world));
    }
    return answer.str();
}

const LibraryAlgorithm* find(const Order& order) {
    for (const LibraryAlgorithm& algorithm : library_algorithms())
        if (algorithm.operation == order.operation && algorithm.name == order.algorithm) return &algorithm;
    if (order.algorithm != "default")
        throw std::runtime_error("unknown " + order.operation + " " + order.algorithm);
    return nullptr;
}

std::string run(const std::string& line, MPI_Comm world) {
    std::istringstream words(line);
    std::string word;
    Order order;
    words >> word >> order.operation >> order.algorithm >> order.elements >> order.segment_B >> order.radix >>
        order.root >> order.repetitions;
    int ranks = 0;
    MPI_Comm_size(world, &ranks);
    try {
        const LibraryAlgorithm* algorithm = find(order);
        const bool reduces = order.operation.find("reduce") != std::string::npos;
        const long element_B = reduces ? static_cast<long>(sizeof(float)) : 1;
        const std::string reason =
            algorithm == nullptr ? ""
                                 : refusal(*algorithm, ranks, order.elements, element_B, order.segment_B);
        if (!reason.empty()) throw std::runtime_error(reason);
        return reduces ? run_as<float>(order, algorithm, MPI_FLOAT, world)
                       : run_as<unsigned char>(order, algorithm, MPI_BYTE, world);
    } catch (const std::runtime_error& error) {
        return JsonObject().add("type", "refused").add("message", error.what()).str();
    }
}

std::string list() {
    std::string entries;
    for (const LibraryAlgorithm& algorithm : library_algorithms()) {
        std::string variables;
        for (const auto& [name, value] : algorithm.variables)
            variables += (variables.empty() ? "" : ",") + json_string(name + "=" + std::to_string(value));
        JsonObject entry;
        entry.add("operation", algorithm.operation).add("name", algorithm.name);
        entry.add("segmented", algorithm.segmented).add("radix", algorithm.radix);
        entry.raw("variables", "[" + variables + "]");
        entries += (entries.empty() ? "" : ",") + entry.str();
    }
    return JsonObject().add("type", "list").raw("algorithms", "[" + entries + "]").str();
}

void serve(MPI_Comm world) {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    for (;;) {
        std::string line = "quit";
        if (rank == 0) std::getline(std::cin, line);
        char buffer[512] = "";
        line.copy(buffer, sizeof buffer - 1);
        MPI_Bcast(buffer, sizeof buffer, MPI_CHAR, 0, world);
        line = buffer;
        if (line == "quit") return;
        const std::string answer = line == "list" ? list() : run(line, world);
        if (rank == 0) std::cout << "@hockney " << answer << std::endl;
    }
}

}  // namespace
}  // namespace hockney

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    hockney::serve(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
