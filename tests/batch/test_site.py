"""Site files: what they may say, and the one line for what they may not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.factories import refusing

from hockney.batch.site import Site, find
from hockney.errors import RequestError


def written(folder: Path, text: str) -> str:
    (folder / "here.toml").write_text(text)
    return str(folder / "here.toml")


def test_a_site_file_says_all_that_differs(tmp_path: Path) -> None:
    site = find(
        written(
            tmp_path,
            'partition = "fast"\naccount = "proj"\nwalltime = "90min"\ncores_per_node = 64\nexclusive = false\n'
            'options = ["--qos=debug"]\nmodules = ["openmpi/5"]\nsetup = ["ulimit -l unlimited"]\n'
            'mpi = "openmpi"\nlauncher = "srun"\nlauncher_options = ["--mpi=pmix_v4"]\n[environment]\nA = "b"\n',
        )
    )
    assert (site.partition, site.walltime_s, site.cores_per_node) == ("fast", 5400.0, 64)
    assert site.launcher_options == ["--mpi=pmix_v4"]


def test_without_a_file_there_is_an_hour_on_whole_nodes() -> None:
    site = find("")
    assert (site.walltime_s, site.exclusive, site.partition) == (3600.0, True, "")


def test_a_site_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "hockney/sites"
    folder.mkdir(parents=True)
    written(folder, 'partition = "fast"\n')
    assert find("here").partition == "fast"
    with refusing("there is no site 'hree'", "did you mean 'here'?"):
        find("hree")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('partitoin = "fast"', "unknown key 'partitoin'"),
        ('walltime = "soon"', "walltime: 'soon' is not"),
        ("walltime = -1", "walltime: "),
        ("cores_per_node = 0", "cores_per_node: "),
        ('launcher = "srnu"', "no launcher 'srnu': did you mean 'srun'?"),
        ('mpi = "opnmpi"', "'opnmpi' is no MPI"),
        ('modules = "openmpi"', "modules: "),
        ('setup = ["a\\nb"]', "a line of a job script holds no line break"),
        ('[environment]\n"A B" = "c"', "environment.A B"),
        ("partition = ", "is no TOML"),
    ],
)
def test_what_no_site_says_is_refused_in_a_line(text: str, said: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(RequestError) as told:
        find(path)
    assert said in told.value.message
    assert told.value.message.startswith(path)
    assert "\n" not in told.value.message


def test_an_unknown_key_has_the_near_one_in_the_hint(tmp_path: Path) -> None:
    with pytest.raises(RequestError) as told:
        find(written(tmp_path, 'acount = "x"'))
    assert "did you mean 'account'?" in told.value.hint
    # As they are written, not as the model calls them.
    assert "walltime," in told.value.hint


def test_every_key_stands_on_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/batch.md").read_text()
    for name, field in Site.model_fields.items():
        assert f"`{field.alias or name}`" in page, name


def test_partition_account_and_time_may_stand_beside_a_name(tmp_path: Path) -> None:
    path = written(tmp_path, 'partition = "slow"\naccount = "proj"\n')
    site = find(f"{path},partition=fast,walltime=2h")
    assert (site.partition, site.account, site.walltime_s) == ("fast", "proj", 7200.0)
    assert find("walltime=20min").walltime_s == 1200.0


@pytest.mark.parametrize(
    ("text", "said"),
    [("modules=x", "stands in a site file alone"), ("walltime=soon", "walltime"), ("a,b", "names two sites")],
)
def test_what_may_not_stand_beside_a_site_is_refused(text: str, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        find(text)
