// Functions that are watched and never served, by name: what they have for arguments is known from MPI's
// header.
#pragma once

// clang-format off
// X(name, words, operation, shape): at most 8 arguments or 16; what a profile calls it, or "" where it has
// none of it (of a persistent request, each start of it); and what is noted of it (noted.hpp). In MPI 4 each has a form with counts that may be larger.
#define HOCKNEY_SIZED_WATCHED(X) \
    X(Send, 8, "send", Sends<trace::standard>) X(Bsend, 8, "bsend", Sends<trace::buffered>) \
    X(Ssend, 8, "ssend", Sends<trace::synchronous>) X(Rsend, 8, "rsend", Sends<trace::ready>) \
    X(Isend, 8, "isend", Sends<trace::standard>) X(Ibsend, 8, "ibsend", Sends<trace::buffered>) \
    X(Issend, 8, "issend", Sends<trace::synchronous>) X(Irsend, 8, "irsend", Sends<trace::ready>) \
    X(Send_init, 8, "isend", SendsLater<trace::standard>) X(Bsend_init, 8, "ibsend", SendsLater<trace::buffered>) \
    X(Ssend_init, 8, "issend", SendsLater<trace::synchronous>) X(Rsend_init, 8, "irsend", SendsLater<trace::ready>) \
    X(Recv, 8, "recv", Receives) X(Irecv, 8, "irecv", Posts<false>) X(Recv_init, 8, "irecv", Posts<true>) \
    X(Mrecv, 8, "mrecv", TakesMessage) X(Imrecv, 8, "imrecv", TakesMessage) \
    X(Sendrecv, 16, "sendrecv", Exchanges) X(Sendrecv_replace, 16, "sendrecv_replace", Exchanges) \
    X(Isendrecv, 16, "isendrecv", ExchangesLater) X(Isendrecv_replace, 16, "isendrecv_replace", ExchangesLater) \
    X(Allgatherv, 8, "allgatherv", Allgathers) X(Gatherv, 16, "gatherv", Gathers) \
    X(Scatterv, 16, "scatterv", Scatters) X(Alltoallv, 16, "alltoallv", Exchanged) \
    X(Alltoallw, 16, "alltoallw", Exchanged) X(Scan, 8, "scan", Everyones<trace::scan>) \
    X(Exscan, 8, "exscan", Everyones<trace::exscan>) X(Ibcast, 8, "ibcast", Rooted<trace::bcast>) \
    X(Ireduce, 8, "ireduce", Rooted<trace::reduce>) X(Iscatter, 16, "iscatter", Rooted<trace::scatter>) \
    X(Igather, 16, "igather", Rooted<trace::gather>) \
    X(Iallreduce, 8, "iallreduce", Everyones<trace::allreduce>) \
    X(Iallgather, 8, "iallgather", Everyones<trace::allgather>) \
    X(Ialltoall, 8, "ialltoall", Everyones<trace::alltoall>) \
    X(Ireduce_scatter, 8, "ireduce_scatter", Everyones<trace::reduce_scatter>) \
    X(Ireduce_scatter_block, 8, "ireduce_scatter_block", Everyones<trace::reduce_scatter>) \
    X(Iscan, 8, "iscan", Everyones<trace::scan>) X(Iexscan, 8, "iexscan", Everyones<trace::exscan>) \
    X(Iallgatherv, 16, "iallgatherv", Allgathers) X(Igatherv, 16, "igatherv", Gathers) \
    X(Iscatterv, 16, "iscatterv", Scatters) X(Ialltoallv, 16, "ialltoallv", Exchanged) \
    X(Ialltoallw, 16, "ialltoallw", Exchanged) \
    X(Neighbor_allgather, 8, "neighbor_allgather", Neighbours<trace::neighbor_allgather>) \
    X(Neighbor_allgatherv, 8, "neighbor_allgatherv", Neighbours<trace::neighbor_allgather>) \
    X(Neighbor_alltoall, 8, "neighbor_alltoall", Neighbours<trace::neighbor_alltoall>) \
    X(Neighbor_alltoallv, 16, "neighbor_alltoallv", Neighbours<trace::neighbor_alltoall>) \
    X(Neighbor_alltoallw, 16, "neighbor_alltoallw", Neighbours<trace::neighbor_alltoall>) \
    X(Ineighbor_allgather, 8, "ineighbor_allgather", Neighbours<trace::neighbor_allgather>) \
    X(Ineighbor_allgatherv, 16, "ineighbor_allgatherv", Neighbours<trace::neighbor_allgather>) \
    X(Ineighbor_alltoall, 8, "ineighbor_alltoall", Neighbours<trace::neighbor_alltoall>) \
    X(Ineighbor_alltoallv, 16, "ineighbor_alltoallv", Neighbours<trace::neighbor_alltoall>) \
    X(Ineighbor_alltoallw, 16, "ineighbor_alltoallw", Neighbours<trace::neighbor_alltoall>)

#define HOCKNEY_UNSIZED_WATCHED(X) \
    X(Wait, 8, "wait", Completes) X(Waitall, 8, "waitall", Completes) \
    X(Waitany, 8, "waitany", CompletesOne) X(Waitsome, 8, "waitsome", CompletesSome<true>) \
    X(Test, 8, "", Completes) X(Testall, 8, "", Completes) X(Testany, 8, "", CompletesOne) \
    X(Testsome, 8, "", CompletesSome<false>) X(Start, 8, "start", Starts) X(Startall, 8, "start", Starts) \
    X(Request_free, 8, "", FreesRequest) X(Cancel, 8, "", Cancels) X(Request_get_status, 8, "", Looks) \
    X(Probe, 8, "", Probes<trace::probe>) \
    X(Iprobe, 8, "", Probes<trace::probe>) X(Mprobe, 8, "", Probes<trace::mprobe>) \
    X(Improbe, 8, "", Probes<trace::mprobe>) X(Ibarrier, 8, "ibarrier", Everyones<trace::barrier>) \
    X(Comm_dup, 8, "", Makes<trace::duplicated>) X(Comm_dup_with_info, 8, "", Makes<trace::duplicated>) \
    X(Comm_idup, 8, "", DuplicatesLater) X(Comm_split, 8, "", Makes<trace::split>) \
    X(Comm_split_type, 8, "", Makes<trace::split>) X(Comm_create, 8, "", Makes<trace::created>) \
    X(Comm_create_group, 8, "", Makes<trace::created>) X(Cart_create, 8, "", Makes<trace::with_topology>) \
    X(Cart_sub, 8, "", Makes<trace::split>) X(Graph_create, 8, "", Makes<trace::with_topology>) \
    X(Dist_graph_create, 16, "", Makes<trace::with_topology>) \
    X(Dist_graph_create_adjacent, 16, "", Makes<trace::with_topology>) \
    X(Intercomm_create, 8, "", Makes<trace::joined_groups>) \
    X(Intercomm_merge, 8, "", Makes<trace::joined_groups>) X(Comm_free, 8, "", FreesComm) \
    X(Comm_disconnect, 8, "", FreesComm)

// X(name): what is only named in a trace: one-sided communication, files, other worlds, and what is new in MPI 4.
// The former also with counts that may be larger.
#define HOCKNEY_SIZED_NAMED(X) \
    X(Win_create) X(Win_allocate) X(Win_allocate_shared) X(Put) X(Get) X(Accumulate) X(Get_accumulate) \
    X(Rput) X(Rget) X(Raccumulate) X(Rget_accumulate) X(File_read) X(File_read_all) X(File_read_at) \
    X(File_read_at_all) X(File_read_shared) X(File_read_ordered) X(File_write) X(File_write_all) \
    X(File_write_at) X(File_write_at_all) X(File_write_shared) X(File_write_ordered) X(File_iread) \
    X(File_iread_at) X(File_iread_shared) X(File_iread_all) X(File_iread_at_all) X(File_iwrite) \
    X(File_iwrite_at) X(File_iwrite_shared) X(File_iwrite_all) X(File_iwrite_at_all) \
    X(File_read_all_begin) X(File_read_at_all_begin) X(File_read_ordered_begin) X(File_write_all_begin) \
    X(File_write_at_all_begin) X(File_write_ordered_begin) \
    X(Bcast_init) X(Scatter_init) X(Scatterv_init) X(Gather_init) X(Gatherv_init) X(Reduce_init) \
    X(Allreduce_init) X(Allgather_init) X(Allgatherv_init) X(Reduce_scatter_init) \
    X(Reduce_scatter_block_init) X(Alltoall_init) X(Alltoallv_init) X(Alltoallw_init) X(Scan_init) \
    X(Exscan_init) X(Neighbor_allgather_init) X(Neighbor_allgatherv_init) X(Neighbor_alltoall_init) \
    X(Neighbor_alltoallv_init) X(Neighbor_alltoallw_init)
#define HOCKNEY_NAMED(X) \
    X(Win_create_dynamic) X(Win_free) X(Win_fence) X(Win_start) X(Win_complete) X(Win_post) X(Win_wait) \
    X(Win_lock) X(Win_lock_all) X(Win_unlock) X(Win_unlock_all) X(Win_flush) X(Win_flush_all) \
    X(Win_flush_local) X(Win_flush_local_all) X(Win_sync) X(Fetch_and_op) X(Compare_and_swap) \
    X(File_open) X(File_close) X(File_delete) X(File_set_size) X(File_preallocate) X(File_set_view) \
    X(File_sync) X(File_seek) X(File_seek_shared) X(File_read_all_end) X(File_read_at_all_end) \
    X(File_read_ordered_end) X(File_write_all_end) X(File_write_at_all_end) X(File_write_ordered_end) \
    X(Comm_spawn) X(Comm_spawn_multiple) X(Comm_accept) X(Comm_connect) X(Comm_join) \
    X(Barrier_init) X(Psend_init) X(Precv_init) X(Pready) X(Pready_range) X(Pready_list)
// clang-format on
