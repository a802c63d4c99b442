#include "call.hpp"

#include <map>
#include <string>
#include <vector>

#include "../buffers.hpp"

namespace hockney {
namespace {

class LibraryCall : public Call {
  public:
    using Function = int (*)(const LibraryCall&, std::byte* input, std::byte* output, int root);

    LibraryCall(Function function, const Collective& collective, const Problem& problem, MPI_Comm comm_)
        : function_(function),
          comm(comm_),
          payload(static_cast<std::size_t>(problem.bytes)),
          floats(static_cast<int>(problem.bytes / static_cast<Bytes>(sizeof(float)))),
          counts(collective.reduces ? static_cast<std::size_t>(problem.ranks) : 0, floats) {}

    int run(std::byte* input, std::byte* output, int root) override {
        return function_(*this, input, output, root);
    }

  private:
    Function function_;

  public:
    MPI_Comm comm;
    Payload payload;
    int floats;
    std::vector<int> counts;
};

using Library = const LibraryCall&;
using Data = std::byte*;

const std::map<std::string, LibraryCall::Function>& functions() {
    static const std::map<std::string, LibraryCall::Function> all = {
        {"bcast", [](Library c, Data, Data out,
                     int root) { return MPI_Bcast(out, c.payload.count(), c.payload.type(), root, c.comm); }},
        {"scatter",
         [](Library c, Data in, Data out, int root) {
             return MPI_Scatter(in, c.payload.count(), c.payload.type(), out, c.payload.count(),
                                c.payload.type(), root, c.comm);
         }},
        {"gather",
         [](Library c, Data in, Data out, int root) {
             return MPI_Gather(in, c.payload.count(), c.payload.type(), out, c.payload.count(),
                               c.payload.type(), root, c.comm);
         }},
        {"reduce", [](Library c, Data in, Data out,
                      int root) { return MPI_Reduce(in, out, c.floats, MPI_FLOAT, MPI_SUM, root, c.comm); }},
        {"allreduce", [](Library c, Data in, Data out,
                         int) { return MPI_Allreduce(in, out, c.floats, MPI_FLOAT, MPI_SUM, c.comm); }},
        {"allgather",
         [](Library c, Data in, Data out, int) {
             return MPI_Allgather(in, c.payload.count(), c.payload.type(), out, c.payload.count(),
                                  c.payload.type(), c.comm);
         }},
        // As OSU and IMB do it; MPI_Reduce_scatter_block is a collective of its own in the libraries.
        {"reduce_scatter",
         [](Library c, Data in, Data out, int) {
             return MPI_Reduce_scatter(in, out, c.counts.data(), MPI_FLOAT, MPI_SUM, c.comm);
         }},
        {"alltoall",
         [](Library c, Data in, Data out, int) {
             return MPI_Alltoall(in, c.payload.count(), c.payload.type(), out, c.payload.count(),
                                 c.payload.type(), c.comm);
         }},
        {"barrier", [](Library c, Data, Data, int) { return MPI_Barrier(c.comm); }},
    };
    return all;
}

int finish(int started, MPI_Request* request) {
    return started == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : started;
}

// Those of which a library has algorithms of their own.
const std::map<std::string, LibraryCall::Function>& nonblocking_functions() {
    static const std::map<std::string, LibraryCall::Function> all = {
        {"bcast",
         [](Library c, Data, Data out, int root) {
             MPI_Request request;
             return finish(MPI_Ibcast(out, c.payload.count(), c.payload.type(), root, c.comm, &request),
                           &request);
         }},
        {"reduce",
         [](Library c, Data in, Data out, int root) {
             MPI_Request request;
             return finish(MPI_Ireduce(in, out, c.floats, MPI_FLOAT, MPI_SUM, root, c.comm, &request),
                           &request);
         }},
        {"allreduce",
         [](Library c, Data in, Data out, int) {
             MPI_Request request;
             return finish(MPI_Iallreduce(in, out, c.floats, MPI_FLOAT, MPI_SUM, c.comm, &request), &request);
         }},
        {"allgather",
         [](Library c, Data in, Data out, int) {
             MPI_Request request;
             return finish(MPI_Iallgather(in, c.payload.count(), c.payload.type(), out, c.payload.count(),
                                          c.payload.type(), c.comm, &request),
                           &request);
         }},
    };
    return all;
}

}  // namespace

std::unique_ptr<Call> library_call(const Collective& collective, const Problem& problem, MPI_Comm comm,
                                   bool nonblocking) {
    const auto& all = nonblocking ? nonblocking_functions() : functions();
    return std::make_unique<LibraryCall>(all.at(collective.name), collective, problem, comm);
}

}  // namespace hockney
