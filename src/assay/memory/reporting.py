"""Whether the host of this machine takes back memory that lies free.

A virtual machine with free page reporting (virtio-balloon) tells its host of blocks that have been free for about two
seconds, and the host takes them away. Whoever uses a page of them next waits until the host gives one again. That is
the host's work, and counts as processor time of the program that touched the page.
"""

from pathlib import Path

BALLOONS = Path("/sys/bus/virtio/drivers/virtio_balloon")
REPORTING = 5
"""The number of the feature (VIRTIO_BALLOON_F_REPORTING in linux/virtio_balloon.h)."""


def goes_back(balloons: Path = BALLOONS) -> bool:
    """Whether free memory goes back to the host; False too where the kernel tells of no such device."""
    return any(file.read_text()[REPORTING : REPORTING + 1] == "1" for file in balloons.glob("virtio*/features"))
