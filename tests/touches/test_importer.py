"""An importer is one file, its test and a heading of one page."""

from __future__ import annotations

from pathlib import Path

from tests.touches.conftest import Tree

TEXT = """Now starting the main loop
  0:         1 bytes   4311 times -->      4.00 Mbps in       2.00 usec
  1:      1000 bytes   5566 times -->   2666.67 Mbps in       3.00 usec
  2:   1000000 bytes     55 times -->   7984.03 Mbps in    1002.00 usec
"""


def test_an_importer_is_one_file_and_a_heading(tree: Tree, tmp_path: Path) -> None:
    text, campaign, page = tmp_path / "np.txt", tmp_path / "campaign", tmp_path / "page.html"
    text.write_text(TEXT, encoding="utf-8")
    with tree.with_example("importer") as touched:
        assert touched.added == ["src/hockney/importers/netpipe.py", "tests/importers/test_netpipe.py"]
        assert touched.edited == ["docs/reference/importers.md"]
        assert "netpipe" in tree.hockney("import", "--help")
        summary = tree.json("import", text, "-o", campaign, "--system", "s")
        assert [(file["format"], file["records"]) for file in summary["files"]] == [("netpipe", 3)]
        tree.hockney("report", campaign, "-o", page)
        assert "netpipe" in page.read_text(encoding="utf-8").lower()
    gone = tree.json("import", text, "-o", tmp_path / "other", code=2)["error"]
    assert "no benchmark result" in gone["message"]
    assert "netpipe" not in gone["hint"]
