// A rank's schedule made ready to run: every datatype, tag and wait is decided beforehand, so that the timed
// part allocates nothing and looks nothing up.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "../../schedule/schedule.hpp"
#include "../buffers.hpp"

namespace hockney {

class Program {
  public:
    // MPI counts elements with an int.
    static constexpr int most_elements = 1 << 30;

    // `comm` must outlive the program. `element` is the datatype that reductions add up, `most` of them
    // in one call; a schedule's bytes count its extent.
    Program(const RankSchedule& schedule, MPI_Comm comm, MPI_Datatype element, int most = most_elements);

    // Runs the steps on these memories, and returns when all are complete: MPI_SUCCESS, or the first error
    // where the communicator returns them. The steps after it run all the same, as other ranks wait for them.
    int run(std::byte* input, std::byte* output, std::byte* scratch) {
        return run(input, output, scratch, element_, MPI_SUM);
    }
    // The same with another operator, and a datatype of the same extent.
    int run(std::byte* input, std::byte* output, std::byte* scratch, MPI_Datatype element, MPI_Op op);

    // Memory that it takes.
    Bytes held_B() const;

  private:
    enum class Op : std::uint8_t { isend, irecv, send, receive, exchange, wait, wait_all, copy, reduce };

    // One end of a message.
    struct End {
        int peer = 0, tag = 0, count = 0;
        MPI_Datatype type = MPI_BYTE;
    };

    struct Instruction {
        Op op;
        std::uint8_t from_memory = 0, into_memory = 0;
        End to, from;
        std::size_t from_B = 0, into_B = 0;
        std::size_t length_B = 0;  // of a copy
        std::size_t request = 0;   // the first one for wait_all
        int count = 0;             // requests of wait_all, elements of reduce
    };

    void plan(const RankSchedule& schedule);
    void start(const Step& step, std::size_t request);
    void reduce(Instruction next, Bytes length_B);
    void wait_for(const std::vector<std::size_t>& requests);
    void join_starts_and_waits();
    void join_exchanges();
    End end_of(const Step& step, Bytes length_B);
    const Payload& payload(Bytes length_B);

    MPI_Comm comm_;
    MPI_Datatype element_;
    MPI_Aint element_B_ = 1;
    int most_ = most_elements;
    int largest_tag_ = 0;
    std::vector<Instruction> instructions_;
    std::vector<MPI_Request> requests_;
    std::map<Bytes, std::unique_ptr<Payload>> payloads_;
};

}  // namespace hockney
