#include "solution.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../clock.hpp"
#include "../app.hpp"

namespace hockney::cg {
namespace {

std::string explained(int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return std::string(text, static_cast<std::size_t>(length));
}

// `part` of `whole`, from `first` on, as MPI sees it: its last index is the fastest.
class Subarray {
  public:
    Subarray(const Cells& whole, const Cells& part, const Cells& first) {
        int sizes[3], parts[3], firsts[3];
        for (std::size_t d = 0; d < 3; ++d) {
            sizes[2 - d] = static_cast<int>(whole[d]);
            parts[2 - d] = static_cast<int>(part[d]);
            firsts[2 - d] = static_cast<int>(first[d]);
        }
        MPI_Type_create_subarray(3, sizes, parts, firsts, MPI_ORDER_C, MPI_DOUBLE, &type_);
        MPI_Type_commit(&type_);
    }
    ~Subarray() { MPI_Type_free(&type_); }
    Subarray(const Subarray&) = delete;
    Subarray& operator=(const Subarray&) = delete;
    MPI_Datatype type() const { return type_; }

  private:
    MPI_Datatype type_;
};

}  // namespace

std::string decoded(const std::string& text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '%' && at + 2 < text.size()) {
            plain += static_cast<char>(std::strtol(text.substr(at + 1, 2).c_str(), nullptr, 16));
            at += 2;
        } else {
            plain += text[at];
        }
    }
    return plain;
}

FileTimes write_solution(const std::string& path, const ProcessGrid& grid, const Space& space,
                         const Cells& whole, const double* x, double* scratch) {
    if (is_simulated) throw Refusal("file", "a simulated cluster has no files");
    const int rank = rank_of(grid.comm);
    const std::string part = path + ".part";
    MPI_File file = MPI_FILE_NULL;
    // What one rank could not do is the end of it for all, at the same place.
    const auto agree = [&](bool is_done, const std::string& problem) {
        try {
            require_all(is_done, "file", problem, grid.comm);
        } catch (const Refusal&) {
            if (file != MPI_FILE_NULL) MPI_File_close(&file);
            if (rank == 0) std::remove(part.c_str());
            throw;
        }
    };
    const auto done = [&](int code, const char* doing) {
        agree(code == MPI_SUCCESS, std::string("cannot ") + doing + " " + part + ": " + explained(code));
    };
    const auto opens = [&](bool tries, int flags) {
        const int descriptor = tries ? open(part.c_str(), flags, 0666) : -1;
        const std::string problem = std::strerror(errno);
        if (descriptor >= 0) close(descriptor);
        agree(!tries || descriptor >= 0, "cannot open " + part + ": " + problem);
    };
    // Not every MPI comes back from a collective open that only some ranks can do: each tries by itself
    // first. Only rank 0 makes the file, so that a host with another file system does not find one of its
    // own. A file that an earlier run left there may be longer.
    opens(rank == 0, O_RDWR | O_CREAT | O_TRUNC);
    opens(true, O_RDWR);
    done(MPI_File_open(grid.comm, part.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file), "open");
    const Subarray mine(whole, space.cells, grid.first);
    const Subarray unknowns({space.pitch, space.plane / space.pitch, space.nz}, space.cells, {0, 0, 0});
    char native[] = "native";
    done(MPI_File_set_view(file, 0, MPI_DOUBLE, mine.type(), native, MPI_INFO_NULL), "prepare");
    MPI_Status status;
    FileTimes mine_s;
    MPI_Barrier(grid.comm);
    double start_s = now_s();
    done(MPI_File_write_all(file, x + space.at(0, 0, 0), 1, unknowns.type(), &status), "write");
    MPI_Count written = 0;
    MPI_Get_elements_x(&status, MPI_DOUBLE, &written);
    agree(written == space.nx * space.ny * space.nz, "cannot write all of " + part);
    done(MPI_File_sync(file), "sync");
    mine_s.write_s = now_s() - start_s;
    MPI_Barrier(grid.comm);
    start_s = now_s();
    // Open MPI's own MPI-IO tells of no error where a file system is full: what counts is what can be read.
    done(MPI_File_read_at_all(file, 0, scratch + space.at(0, 0, 0), 1, unknowns.type(), &status),
         "read back");
    mine_s.read_s = now_s() - start_s;
    bool is_same = true;
    for (long z = 0; z < space.nz; ++z)
        for (long y = 0; y < space.ny; ++y) {
            const long row = space.at(0, y, z);
            const std::size_t bytes = static_cast<std::size_t>(space.nx) * sizeof(double);
            is_same = is_same && std::memcmp(x + row, scratch + row, bytes) == 0;
        }
    agree(is_same, "cannot write all of " + part + ": is the file system full?");
    done(MPI_File_close(&file), "close");
    bool is_named = true;
    std::string problem;
    if (rank == 0 && std::rename(part.c_str(), path.c_str()) != 0) {
        is_named = false;
        problem = "cannot rename " + part + ": " + std::strerror(errno);
    }
    agree(is_named, problem);
    FileTimes slowest_s;
    MPI_Allreduce(&mine_s.write_s, &slowest_s.write_s, 1, MPI_DOUBLE, MPI_MAX, grid.comm);
    MPI_Allreduce(&mine_s.read_s, &slowest_s.read_s, 1, MPI_DOUBLE, MPI_MAX, grid.comm);
    return slowest_s;
}

}  // namespace hockney::cg
