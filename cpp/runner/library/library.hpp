// The MPI library's own algorithms: found through MPI_T's control variables, and put to use on a communicator
// of their own. Nothing here asks which library it is; a family of variables is there or it is not.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hockney {

// What an algorithm asks for. Outside of it the library would do something else without a word, or fail.
enum class Need {
    two_ranks,
    even_ranks,
    power_of_two_ranks,
    element_per_rank,          // as many elements as ranks
    element_per_power_of_two,  // as many elements as the largest power of two within the ranks
    segment_per_rank,          // a segment size of which the vector holds one for each rank
    segment_per_half,          // at least one segment, or element, in each half of the vector
    one_node,                  // and shared memory: its first call maps some, or the selection had no effect
    several_nodes,             // with two ranks or more, and as many, on each, or the call is passed on
};

struct LibraryAlgorithm {
    std::string operation;  // "bcast"
    std::string name;       // "tuned:binomial"
    bool segmented = false;
    long segment_B = 0;  // what the library has set; 0: whole
    int radix = 0;       // the default; 0 where it takes none
    // What is written to select it; the values come from the library's own lists.
    std::vector<std::pair<std::string, long>> variables;
    std::string segment_variable, radix_variable;
    // Open MPI: the component that shall serve the communicator.
    std::string component;
    // Open MPI: of the components that can serve a communicator, that of the highest priority does.
    long priority = 0;
    // The library looks at its variables at every call on any communicator (MPICH), not when one is made
    // (Open MPI).
    bool read_at_every_call = false;
    // An algorithm of MPI_Ibcast and its like, to be waited for.
    bool nonblocking = false;
    std::vector<Need> needs;
};

// Sorted by operation and name. Local.
const std::vector<LibraryAlgorithm>& library_algorithms();

// Why the algorithm would not do this call of `elements` elements of `element_B` bytes, "" where nothing is
// known against it. `one_node` and `several_nodes` are checked when it is selected.
std::string refusal(const LibraryAlgorithm& algorithm, int ranks, long elements, long element_B,
                    long segment_B);

// An algorithm in use: a duplicate of a communicator on which it serves its operation. Errors on that
// communicator come back as return codes. One at a time; both ends are collective.
class Selection {
  public:
    // The library's own choice.
    explicit Selection(MPI_Comm comm);
    // `segment_B` and `radix` 0: not segmented, the default radix. Throws std::runtime_error, on all ranks
    // alike, where the library does not let itself be told or the algorithm does not work on this
    // communicator.
    Selection(const LibraryAlgorithm& algorithm, long segment_B, int radix, MPI_Comm comm);
    ~Selection();
    Selection(const Selection&) = delete;
    Selection& operator=(const Selection&) = delete;

    MPI_Comm comm() const { return comm_; }
    // Whether the algorithm was seen at work here, beyond the library's taking the values; false for the
    // library's own choice, too.
    bool proved() const { return proved_; }
    // Whether the operation is to be started and waited for, instead of called.
    bool nonblocking() const { return nonblocking_; }

    // The algorithm is in force from begin() to end(), on all ranks: around the operation itself and nothing
    // else, because MPICH uses it meanwhile on every communicator. Local and cheap; without effect where it
    // is not needed.
    void begin();
    void end();

  private:
    struct Settings;
    std::unique_ptr<Settings> settings_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    bool at_every_call_ = false, nonblocking_ = false, proved_ = false;
};

// A family of variables, each in a file of its own: appends what it finds.
struct RegisterLibraryFamily {
    explicit RegisterLibraryFamily(void (*find)(std::vector<LibraryAlgorithm>&));
};

}  // namespace hockney
