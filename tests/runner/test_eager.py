"""The eager limit as each library states it."""

from __future__ import annotations

from hockney.runner.eager import eager_limits_B

OPENMPI_5 = {"btl_sm_eager_limit": "4096", "btl_vader_eager_limit": "4096", "btl_tcp_eager_limit": "65536"}


def test_open_mpi_states_one_for_each_channel() -> None:
    assert eager_limits_B("openmpi", OPENMPI_5) == {"shared_memory": 4096, "network": 65536}
    assert eager_limits_B("openmpi", {"btl_vader_eager_limit": "8192"}) == {"shared_memory": 8192}


def test_a_variant_without_shared_memory_uses_the_networks() -> None:
    tcp = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]
    assert eager_limits_B("openmpi", OPENMPI_5, tcp) == {"shared_memory": 65536, "network": 65536}
    assert eager_limits_B("openmpi", OPENMPI_5, ["--mca", "btl", "sm,self"])["shared_memory"] == 4096
    assert eager_limits_B("openmpi", OPENMPI_5, ["--mca", "btl", "^tcp"])["shared_memory"] == 4096


def test_a_choice_by_environment_or_exclusion_counts_too() -> None:
    assert eager_limits_B("openmpi", OPENMPI_5, [], {"OMPI_MCA_btl": "tcp,self"})["shared_memory"] == 65536
    assert eager_limits_B("openmpi", OPENMPI_5, ["--mca", "btl", "^sm,vader"])["shared_memory"] == 65536
    assert eager_limits_B("openmpi", OPENMPI_5, ["--mca", "pml", "ucx"]) == {}
    assert eager_limits_B("openmpi", OPENMPI_5, [], {"OMPI_MCA_pml": "cm"}) == {}


def test_defaults_that_say_nothing_say_nothing() -> None:
    assert eager_limits_B("mpich", {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "-1"}) == {}
    assert eager_limits_B("mpich", {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "16384"}) == {"network": 16384}
    assert eager_limits_B("unknown", OPENMPI_5) == {}
