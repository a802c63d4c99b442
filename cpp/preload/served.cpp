#include "served.hpp"

#include <cstddef>
#include <cstring>

#include "room.hpp"

namespace hockney {
namespace {

// A buffer from an address of its own on: MPICH refuses to pack what lies at MPI_BOTTOM, by absolute
// addresses.
class Addressed {
  public:
    Addressed(const Data& data, const void* from)
        : at(const_cast<void*>(from)), count(static_cast<int>(data.count)), type(data.type) {
        if (from != MPI_BOTTOM || data.count == 0) return;
        MPI_Aint first = 0, length = 0;
        PMPI_Type_get_true_extent(data.type, &first, &length);
        const MPI_Aint back = -first;
        PMPI_Type_create_hindexed(1, &count, &back, data.type, &type);
        PMPI_Type_commit(&type);
        std::memcpy(&at, &first, sizeof at);
        count = 1;
        is_made_ = true;
    }
    ~Addressed() {
        if (is_made_) PMPI_Type_free(&type);
    }
    Addressed(const Addressed&) = delete;
    Addressed& operator=(const Addressed&) = delete;

    void* at;
    int count;
    MPI_Datatype type;

  private:
    bool is_made_ = false;
};

// The first of two that is an error.
int first_error(int one, int other) { return one != MPI_SUCCESS ? one : other; }

// The root of a broadcast sends from its own buffer, unless the schedule writes there too.
bool is_copied(const Prepared& prepared, const Data& output) {
    return output.is_kept && output.staged_B == 0 && prepared.writes_output;
}

// Data without its gaps goes back by way of where it has none.
bool is_packed_back(const Data& output) {
    return output.staged_B != 0 && output.spread_B != 0 && !output.is_kept;
}

int pack(const Data& data, const void* from, std::byte* into, MPI_Comm comm) {
    int position = 0;
    const Addressed packed(data, from);
    return PMPI_Pack(packed.at, packed.count, packed.type, into, static_cast<int>(data.staged_B), &position,
                     comm);
}

// Where the executor finds a buffer's data: less than INT_MAX bytes, as larger calls are the library's.
std::byte* staged(const Data& data, Room& room, MPI_Comm comm, int& code) {
    if (data.staged_B == 0) return static_cast<std::byte*>(data.at);
    std::byte* const stage = room.part(data.staged_B);
    if (data.spread_B != 0)
        std::memcpy(stage, data.at, static_cast<std::size_t>(data.spread_B));
    else
        code = first_error(code, pack(data, data.at, stage, comm));
    return stage;
}

}  // namespace

Bytes taken_B(const Prepared& prepared, const Asked& asked, const Data& input, const Data& output) {
    Bytes sum_B = Room::rounded_B(prepared.scratch_B) + Room::rounded_B(input.staged_B) +
                  Room::rounded_B(output.staged_B);
    if (is_copied(prepared, output)) sum_B += Room::rounded_B(asked.bytes);
    if (is_packed_back(output)) sum_B += Room::rounded_B(output.staged_B);
    return sum_B;
}

int run(Prepared& prepared, const Asked& asked, const Data& input, const Data& output, MPI_Comm comm) {
    // In place, and at the root of a broadcast, the output holds data already; what else it holds is
    // overwritten.
    int code = MPI_SUCCESS;
    Room room(taken_B(prepared, asked, input, output));
    std::byte* const scratch = room.part(prepared.scratch_B);
    std::byte* const from = staged(input, room, comm, code);
    std::byte* into = staged(output, room, comm, code);
    if (is_copied(prepared, output))
        into = static_cast<std::byte*>(
            std::memcpy(room.part(asked.bytes), output.at, static_cast<std::size_t>(asked.bytes)));
    code = first_error(code, prepared.program->run(from, into, scratch, asked.element, asked.op));
    if (output.staged_B != 0 && !output.is_kept) {
        // Data alone goes back: what lies in the gaps is the program's.
        const std::byte* bytes = into;
        if (is_packed_back(output)) {
            std::byte* const packed = room.part(output.staged_B);
            code = first_error(code, pack(output, into, packed, comm));
            bytes = packed;
        }
        int position = 0;
        const Addressed wanted(output, output.at);
        code = first_error(code, PMPI_Unpack(bytes, static_cast<int>(output.staged_B), &position, wanted.at,
                                             wanted.count, wanted.type, comm));
    }
    return code;
}

}  // namespace hockney
