#include "types.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lenient.hpp"

namespace hockney {
namespace {

// Handles are numbers or pointers; a few are known, which are found by their bits without asking the library.
template <class Handle, class Value>
class Known {
  public:
    void add(Handle handle, const Value& value) {
        Entry& entry = at(handle);
        entry = {true, handle, value};
    }
    const Value* find(Handle handle) const {
        const Entry& entry = const_cast<Known*>(this)->at(handle);
        return entry.is_used ? &entry.value : nullptr;
    }

  private:
    struct Entry {
        bool is_used = false;
        Handle handle{};
        Value value{};
    };
    static constexpr std::size_t places = 256;  // several times as many as there are predefined types

    Entry& at(Handle handle) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &handle, sizeof handle);
        std::size_t place = (bits * 0x9E3779B97F4A7C15ULL) >> 56;
        while (entries_[place].is_used && entries_[place].handle != handle) place = (place + 1) % places;
        return entries_[place];
    }

    Entry entries_[places];
};

// Never destroyed: programs may call MPI until the very end.
auto& types = *new Known<MPI_Datatype, Type>;
auto& operators = *new Known<MPI_Op, Operator>;

Bytes size_of(MPI_Datatype type) {
    MPI_Count size_B = 0;
    return PMPI_Type_size_x(type, &size_B) == MPI_SUCCESS ? static_cast<Bytes>(size_B) : 0;
}

void measure(MPI_Datatype type, Type& made) {
    MPI_Aint lower = 0, extent = 0, first = 0, length = 0;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &first, &length);
    if (first < 0 || first + length > extent || extent > INT_MAX) return;
    made.extent_B = extent;
    made.end_B = first + length;
}

void learn(MPI_Datatype type, Family family) {
    if (type == MPI_DATATYPE_NULL) return;  // a type of Fortran that this library was built without
    Type made;
    made.family = family;
    made.size_B = size_of(type);
    if (made.size_B <= 0) return;
    measure(type, made);
    made.is_dense = made.extent_B == made.size_B;
    types.add(type, made);
}

void learn(MPI_Op op, int families) { operators.add(op, {true, true, static_cast<std::uint8_t>(families)}); }

// Whether a derived type is nothing but others that follow one another. Of others it is not looked further:
// blocks may lie in another order than that in which they are sent.
bool is_repetition(MPI_Datatype type) {
    if (const Type* known = types.find(type)) return known->is_dense;
    int integers = 0, addresses = 0, inner = 0, combiner = 0;
    PMPI_Type_get_envelope(type, &integers, &addresses, &inner, &combiner);
    if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) return false;
    if (inner != 1 || integers > 1 || addresses > 0) return false;
    int count = 0;
    MPI_Aint none = 0;
    MPI_Datatype of = MPI_DATATYPE_NULL;
    PMPI_Type_get_contents(type, integers, 0, 1, &count, &none, &of);
    const bool is_dense = is_repetition(of);
    int of_integers = 0, of_addresses = 0, of_inner = 0, of_combiner = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(of, &of_integers, &of_addresses, &of_inner, &of_combiner);
    if (of_combiner != MPI_COMBINER_NAMED) PMPI_Type_free(&of);
    return is_dense;
}

}  // namespace

void learn_types() {
    // A library that was built without Fortran has handles of its types all the same, which are invalid; not
    // every header has a name for each size.
    const Lenient world(MPI_COMM_WORLD), self(MPI_COMM_SELF);
    for (const MPI_Datatype type :
         {MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT,         MPI_UNSIGNED_SHORT, MPI_INT,
          MPI_UNSIGNED,    MPI_LONG,          MPI_UNSIGNED_LONG, MPI_LONG_LONG,      MPI_UNSIGNED_LONG_LONG,
          MPI_INT8_T,      MPI_INT16_T,       MPI_INT32_T,       MPI_INT64_T,        MPI_UINT8_T,
          MPI_UINT16_T,    MPI_UINT32_T,      MPI_UINT64_T,      MPI_INTEGER,        MPI_INTEGER1,
          MPI_INTEGER2,    MPI_INTEGER4,      MPI_INTEGER8})
        learn(type, integer);
#ifdef MPI_INTEGER16
    learn(MPI_INTEGER16, integer);
#endif
    for (const MPI_Datatype type :
         {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8})
        learn(type, floating);
#ifdef MPI_REAL2
    learn(MPI_REAL2, floating);
#endif
#ifdef MPI_REAL16
    learn(MPI_REAL16, floating);
#endif
    for (const MPI_Datatype type : {MPI_C_BOOL, MPI_LOGICAL}) learn(type, logical);
#ifdef MPI_CXX_BOOL
    learn(MPI_CXX_BOOL, logical);
#endif
#ifdef MPI_LOGICAL1
    learn(MPI_LOGICAL1, logical);
#endif
#ifdef MPI_LOGICAL2
    learn(MPI_LOGICAL2, logical);
#endif
#ifdef MPI_LOGICAL4
    learn(MPI_LOGICAL4, logical);
#endif
#ifdef MPI_LOGICAL8
    learn(MPI_LOGICAL8, logical);
#endif
#ifdef MPI_LOGICAL16
    learn(MPI_LOGICAL16, logical);
#endif
    for (const MPI_Datatype type : {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
                                    MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16})
        learn(type, complex);
#ifdef MPI_CXX_FLOAT_COMPLEX
    learn(MPI_CXX_FLOAT_COMPLEX, complex);
#endif
#ifdef MPI_CXX_DOUBLE_COMPLEX
    learn(MPI_CXX_DOUBLE_COMPLEX, complex);
#endif
#ifdef MPI_CXX_LONG_DOUBLE_COMPLEX
    learn(MPI_CXX_LONG_DOUBLE_COMPLEX, complex);
#endif
#ifdef MPI_COMPLEX4
    learn(MPI_COMPLEX4, complex);
#endif
#ifdef MPI_COMPLEX32
    learn(MPI_COMPLEX32, complex);
#endif
    learn(MPI_BYTE, byte);
    for (const MPI_Datatype type : {MPI_AINT, MPI_OFFSET, MPI_COUNT}) learn(type, multi_language);
    for (const MPI_Datatype type : {MPI_2INT, MPI_SHORT_INT, MPI_LONG_INT, MPI_2INTEGER}) learn(type, pair);
    for (const MPI_Datatype type :
         {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION})
        learn(type, floating_pair);
    // Moved, and not reduced by what is predefined.
    for (const MPI_Datatype type : {MPI_CHAR, MPI_WCHAR, MPI_PACKED, MPI_CHARACTER}) learn(type, no_family);
    learn(MPI_MAX, integer | floating | multi_language);
    learn(MPI_MIN, integer | floating | multi_language);
    learn(MPI_SUM, integer | floating | complex | multi_language);
    learn(MPI_PROD, integer | floating | complex | multi_language);
    for (const MPI_Op op : {MPI_LAND, MPI_LOR, MPI_LXOR}) learn(op, integer | logical);
    for (const MPI_Op op : {MPI_BAND, MPI_BOR, MPI_BXOR}) learn(op, integer | byte | multi_language);
    for (const MPI_Op op : {MPI_MAXLOC, MPI_MINLOC}) learn(op, pair | floating_pair);
    for (const MPI_Op op : {MPI_REPLACE, MPI_NO_OP}) learn(op, no_family);
}

Type type_of(MPI_Datatype type) {
    if (const Type* known = types.find(type)) return *known;
    Type made;
    made.size_B = size_of(type);
    made.is_dense = is_repetition(type);
    measure(type, made);
    return made;
}

Bytes bytes_of(Bytes count, MPI_Datatype type) {
    if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
    const Type* known = types.find(type);
    return product(count, std::max<Bytes>(0, known != nullptr ? known->size_B : size_of(type)));
}

Operator operator_of(MPI_Op op) {
    if (const Operator* known = operators.find(op)) return *known;
    Operator made;
    int is_commutative = 0;
    PMPI_Op_commutative(op, &is_commutative);
    made.is_commutative = is_commutative != 0;
    return made;
}

}  // namespace hockney
