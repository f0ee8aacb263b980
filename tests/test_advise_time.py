"""Proves on two small nights of the made site that advice reads all of it, histories and busy drives, and is timed."""

import pytest
from benchmarks import advise_time


@pytest.mark.slow
def test_advice_on_the_made_site_is_timed(tmp_path, monkeypatch):
    monkeypatch.setattr(advise_time, "NIGHTS", 2)
    result = advise_time.measured(tmp_path, most_tasks=4)
    assert len([*(tmp_path / "done").glob("*.jhist")]) == len([*(tmp_path / "done").glob("application_*")]) == 40
    assert result["tasks"] > 2 * 40 * 2
    assert result["alternatives"] == 11
    assert result["seconds"] > 0
    assert result["most_mib"] > 0
    assert "advice on 40 jobs of 2 nights" in advise_time.sentence(result)
    page = (tmp_path / "advice.html").read_text()
    assert "busy times do not count" not in page, "drives moved what jobs counted"
