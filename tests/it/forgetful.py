"""Tables of which somebody takes rows away behind the server's back."""

import subprocess


class Forgetful:
    """Somebody removes a table when all has been put, and leaves a single line in its place."""

    def _write(self, path, pieces):
        super()._write(path, pieces)
        table = self.location(path.rpartition("/")[0])
        for arguments in (("-rm", "-r", "-skipTrash", table), ("-put", "-d", "-", f"{table}/left")):
            command = [str(self._hadoop), "fs", *arguments]
            subprocess.run(command, env=self._environment, input=b"left\n", check=True, capture_output=True)
