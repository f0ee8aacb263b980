"""Proves that a drive is another's only as long as the other lives, whichever folder its lease lies in."""

import json
import os

from assay.host.lease import Lease
from assay.media.emulated.attached_drives import drives
from tests.builders import an_installation


def test_a_drive_of_another_state_folder_is_left_alone_until_its_owner_is_gone(tmp_path):
    here = an_installation(tmp_path, tmp_path / "parts", state=tmp_path / "here")
    with Lease(tmp_path / "elsewhere", "medium") as lease:
        home = lease.make_directory(here.parts / "work" / f"assay-{lease.id}")
        (home / "lease").write_text(str(lease.file))
        os.utime(home, (0, 0))
        assert drives(here) == []
        content = json.loads(lease.file.read_text())
        content["owner"][2:] = [1 << 22, 0]
        lease.file.write_text(json.dumps(content))
        assert [(kept.id, kept.state) for kept in drives(here)] == [(lease.id, "foreign")]
