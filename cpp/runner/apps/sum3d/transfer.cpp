#include "transfer.hpp"

#include <algorithm>
#include <vector>

namespace hockney::sum3d {
namespace {

class Pieces : public Transfer {
  public:
    Pieces(const Layout& layout, MPI_Comm comm) : comm_(comm) {
        mine_ = static_cast<int>(layout.elements(rank_of(comm)));
        int offset = 0;
        for (int rank = 0; rank < layout.ranks(); ++rank) {
            counts_.push_back(static_cast<int>(layout.elements(rank)));
            offsets_.push_back(offset);
            offset += counts_.back();
        }
    }

    void scatter(const double* whole, double* part) override {
        MPI_Scatterv(whole, counts_.data(), offsets_.data(), MPI_DOUBLE, part, mine_, MPI_DOUBLE, 0, comm_);
    }

    void gather(const double* part, double* whole) override {
        MPI_Gatherv(part, mine_, MPI_DOUBLE, whole, counts_.data(), offsets_.data(), MPI_DOUBLE, 0, comm_);
    }

  private:
    MPI_Comm comm_;
    int mine_;
    std::vector<int> counts_, offsets_;
};

class Datatypes : public Transfer {
  public:
    Datatypes(const Layout& layout, MPI_Comm comm)
        : comm_(comm),
          nothing_(static_cast<std::size_t>(layout.ranks()), 0),
          of_parts_(nothing_),
          of_whole_(nothing_),
          plain_(nothing_.size(), MPI_DOUBLE),
          blocks_(plain_) {
        const int rank = rank_of(comm);
        of_parts_[0] = static_cast<int>(layout.elements(rank));
        if (rank != 0) return;
        std::fill(of_whole_.begin(), of_whole_.end(), 1);
        for (int other = 0; other < layout.ranks(); ++other) {
            const Box box = layout.box(other);
            int sizes[3], cells[3], start[3];
            for (std::size_t i = 0; i < 3; ++i) {
                sizes[i] = static_cast<int>(layout.sizes()[i]);
                cells[i] = static_cast<int>(box.cells[i]);
                start[i] = static_cast<int>(box.start[i]);
            }
            MPI_Datatype& block = blocks_[static_cast<std::size_t>(other)];
            MPI_Type_create_subarray(3, sizes, cells, start, MPI_ORDER_C, MPI_DOUBLE, &block);
            MPI_Type_commit(&block);
        }
    }

    ~Datatypes() override {
        for (MPI_Datatype& block : blocks_)
            if (block != MPI_DOUBLE) MPI_Type_free(&block);
    }

    void scatter(const double* whole, double* part) override {
        MPI_Alltoallw(whole, of_whole_.data(), nothing_.data(), blocks_.data(), part, of_parts_.data(),
                      nothing_.data(), plain_.data(), comm_);
    }

    void gather(const double* part, double* whole) override {
        MPI_Alltoallw(part, of_parts_.data(), nothing_.data(), plain_.data(), whole, of_whole_.data(),
                      nothing_.data(), blocks_.data(), comm_);
    }

  private:
    MPI_Comm comm_;
    std::vector<int> nothing_, of_parts_, of_whole_;
    std::vector<MPI_Datatype> plain_, blocks_;
};

}  // namespace

std::unique_ptr<Transfer> by_pieces(const Layout& layout, MPI_Comm comm) {
    return std::make_unique<Pieces>(layout, comm);
}

std::unique_ptr<Transfer> by_datatypes(const Layout& layout, MPI_Comm comm) {
    return std::make_unique<Datatypes>(layout, comm);
}

}  // namespace hockney::sum3d
